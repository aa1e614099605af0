//! The outcome of a whole run of the fault tests: one line for people, one file for programs.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::check::{Verdict, Violation};
use crate::scenario::Outcome;
use crate::trouble::Trouble;

/// One part of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
    /// Its name in the test plan.
    pub id: String,
    /// On which store.
    pub store: String,
    /// Calls that were accepted.
    pub invocations: u64,
    /// Processes that were killed.
    pub kills: u64,
    /// How long it took, judgement included.
    pub seconds: f64,
    /// What was wrong.
    pub violations: Vec<Violation>,
}

/// The whole run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Calls that were accepted.
    pub invocations: u64,
    /// Processes that were killed.
    pub kills: u64,
    /// Accepted calls that were lost.
    pub lost: u64,
    /// Calls with more than one end.
    pub double_terminal: u64,
    /// Calls that must not run twice and did.
    pub double_start: u64,
    /// Reports and writes under an old lease that were taken.
    pub stale_accepted: u64,
    /// Entries left behind.
    pub leaks: u64,
    /// Unknown outcomes with a reason.
    pub unknown_expected: u64,
    /// Unknown outcomes without one.
    pub unknown_unexpected: u64,
    /// Refusals for want of room.
    pub refusals: u64,
    /// Mutants that were noticed.
    pub mutants_killed: u64,
    /// Mutants that were run.
    pub mutants_total: u64,
    /// Half of the calls that a fault hit went on within this, in milliseconds.
    pub recovery_p50_ms: u64,
    /// Nearly all of them did within this.
    pub recovery_p99_ms: u64,
    /// Names of parts that were red, of mutants that lived, and of parts that could not be run.
    pub red: Vec<String>,
    /// The parts.
    pub parts: Vec<Part>,
    #[serde(skip)]
    total: Verdict,
}

impl Report {
    /// Adds a part.
    pub fn add(&mut self, id: &str, store: &str, outcome: Result<Outcome, Trouble>, took: Duration) {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(trouble) => {
                println!("{id:<10} {store:<9} could not be run: {trouble}");
                return self.red.push(format!("{id}/{store}: {trouble}"));
            }
        };
        let verdict = outcome.verdict;
        let word = if verdict.is_green() { "green" } else { "RED" };
        println!(
            "{id:<10} {store:<9} {word:<5} {:>7} calls {:>4} kills {:>6.1} s  recovery p50 {} ms, p99 {} ms",
            verdict.invocations,
            outcome.kills,
            took.as_secs_f64(),
            verdict.recovery_ms(50),
            verdict.recovery_ms(99),
        );
        if !verdict.is_green() {
            println!("{}", verdict.shown(12));
            self.red.push(format!("{id}/{store}"));
        }
        self.parts.push(Part {
            id: id.to_owned(),
            store: store.to_owned(),
            invocations: verdict.invocations,
            kills: outcome.kills,
            seconds: took.as_secs_f64(),
            violations: verdict.violations.iter().take(50).cloned().collect(),
        });
        self.kills += outcome.kills;
        self.total.add(verdict);
        self.sum();
    }

    /// Adds the fate of a mutant.
    pub fn mutant(&mut self, name: &str, killed: bool, noticed: &str) {
        println!("mutant {name:<22} {} ({noticed})", if killed { "noticed" } else { "LIVES" });
        self.mutants_total += 1;
        self.mutants_killed += u64::from(killed);
        if !killed {
            self.red.push(format!("mutant {name}"));
        }
    }

    fn sum(&mut self) {
        let total = &self.total;
        self.invocations = total.invocations;
        self.lost = total.lost;
        self.double_terminal = total.double_terminal;
        self.double_start = total.double_start;
        self.stale_accepted = total.stale_accepted;
        self.leaks = total.leaks;
        self.unknown_expected = total.unknown_expected;
        self.unknown_unexpected = total.unknown_unexpected;
        self.refusals = total.refusals;
        self.recovery_p50_ms = total.recovery_ms(50);
        self.recovery_p99_ms = total.recovery_ms(99);
    }

    /// Nothing was wrong.
    pub fn is_green(&self) -> bool {
        self.red.is_empty()
    }

    /// The line.
    pub fn line(&self) -> String {
        format!(
            "{} invocations, {} kills: {} lost, {} double terminal, {} double start, {} stale accepted, {} leaks, \
             {} unknown as expected, {} not; {} refusals; recovery p50 {} ms, p99 {} ms; mutants {}/{}; {}",
            self.invocations,
            self.kills,
            self.lost,
            self.double_terminal,
            self.double_start,
            self.stale_accepted,
            self.leaks,
            self.unknown_expected,
            self.unknown_unexpected,
            self.refusals,
            self.recovery_p50_ms,
            self.recovery_p99_ms,
            self.mutants_killed,
            self.mutants_total,
            if self.is_green() { "green".to_owned() } else { format!("RED: {}", self.red.join(", ")) },
        )
    }

    /// Writes the file, and the folder it lies in.
    pub fn write(&self, path: &Path) -> Result<(), Trouble> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(Trouble::file(folder))?;
        }
        let text = serde_json::to_string_pretty(self).map_err(|error| Trouble::Said(error.to_string()))?;
        std::fs::write(path, text).map_err(Trouble::file(path))
    }
}
