//! `cargo xtask bench decide`: what a permission decision costs with few and with many rules, inside a process and over
//! gRPC, beside a raw gRPC echo of as many bytes.
//!
//! Client and server are processes of their own, with one connection. No call is asked about, so nothing is stored.

mod calls;
mod inside;
mod over;
mod rules;

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use toolplane_testkit::Problem;

use super::echo;
use super::load;

/// Numbers of rules.
const RULES: [usize; 3] = [10, 1_000, 10_000];
/// Rules beside the organisation's policies.
const BESIDE_POLICIES: usize = 1_000;
/// Rules about commands that a command which cannot be read is decided under.
const ABOUT_COMMANDS: usize = 1_000;
/// Requests in flight at a time.
const CONCURRENCY: [usize; 2] = [1, 64];
/// About as many bytes as a request to decide has.
const FILLER: &[u8] = &[b' '; 700];

/// How the bench runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long each case runs.
    #[arg(long, default_value_t = 2)]
    seconds: u64,
    /// Where the figures go.
    #[arg(long, default_value = "target/bench/decide.json")]
    out: PathBuf,
}

/// One row of the figures.
#[derive(Clone, Debug, Serialize)]
struct Row {
    case: &'static str,
    rules: usize,
    /// Policies in Cedar beside the rules.
    policies: usize,
    concurrency: usize,
    decisions_per_s: f64,
    p50_us: f64,
    p99_us: f64,
    /// Above the echo at the same concurrency.
    over_echo_p50_us: Option<f64>,
}

/// What was measured, in whatever way.
#[derive(Clone, Copy, Debug)]
struct Figures {
    per_second: f64,
    p50_us: f64,
    p99_us: f64,
}

pub(crate) async fn run(args: &Args) -> Result<(), Problem> {
    let time = Duration::from_secs(args.seconds.max(1));
    let mut rows = Vec::new();
    for count in RULES {
        rows.push(row("in process", count, 0, 1, inside::run(&rules::rules(count), None, calls::all(), time)?, None));
    }
    let rules = rules::about_commands(ABOUT_COMMANDS);
    rows.push(row("unreadable", ABOUT_COMMANDS, 0, 1, inside::run(&rules, None, calls::unreadable(), time)?, None));
    let policies = inside::policies()?;
    let figures = inside::run(&rules::rules(BESIDE_POLICIES), Some(policies), calls::all(), time)?;
    rows.push(row("in process", BESIDE_POLICIES, rules::POLICIES, 1, figures, None));

    let mut echoes = Vec::new();
    let server = echo::Server::start().await?;
    for concurrency in CONCURRENCY {
        let caller = server.caller();
        let measured = load::run(concurrency, time, move || caller.clone().call(FILLER)).await?;
        let figures = Figures::of(&measured);
        echoes.push((concurrency, figures.p50_us));
        rows.push(row("echo", 0, 0, concurrency, figures, None));
    }
    drop(server);

    let sets = RULES.into_iter().map(|count| (count, 0)).chain([(BESIDE_POLICIES, rules::POLICIES)]);
    for (count, policies) in sets {
        let bed = over::Bed::start(count, policies > 0).await?;
        for (concurrency, echo) in &echoes {
            let caller = bed.caller();
            let measured = load::run(*concurrency, time, move || caller.clone().decide()).await?;
            rows.push(row("gRPC", count, policies, *concurrency, Figures::of(&measured), Some(*echo)));
        }
    }
    show(&rows);
    show_policies(&rows);
    super::write(&args.out, &rows)
}

impl Figures {
    fn of(measured: &load::Measured) -> Self {
        let at = |percent| measured.percentile(percent) as f64;
        Self { per_second: measured.per_second(), p50_us: at(50), p99_us: at(99) }
    }
}

fn row(
    case: &'static str,
    rules: usize,
    policies: usize,
    concurrency: usize,
    figures: Figures,
    echo: Option<f64>,
) -> Row {
    let rounded = |figure: f64| (figure * 10.0).round() / 10.0;
    Row {
        case,
        rules,
        policies,
        concurrency,
        decisions_per_s: figures.per_second.round(),
        p50_us: rounded(figures.p50_us),
        p99_us: rounded(figures.p99_us),
        over_echo_p50_us: echo.map(|echo| rounded(figures.p50_us - echo)),
    }
}

/// What the organisation's policies add to a decision, by the rows with as many rules and without policies.
fn show_policies(rows: &[Row]) {
    for with in rows.iter().filter(|row| row.policies > 0) {
        let same = |row: &&Row| (row.case, row.rules, row.concurrency) == (with.case, with.rules, with.concurrency);
        if let Some(without) = rows.iter().filter(same).find(|row| row.policies == 0) {
            let added = with.p50_us - without.p50_us;
            println!(
                "{}, {} in flight: {} policies add {added:.0} us at p50",
                with.case, with.concurrency, with.policies
            );
        }
    }
}

fn show(rows: &[Row]) {
    println!("case         rules  policies  in flight  decisions/s    p50 us    p99 us   p50 above the echo, us");
    for row in rows {
        println!(
            "{:<10} {:>7} {:>9} {:>10} {:>12.0} {:>9.1} {:>9.1}   {}",
            row.case,
            row.rules,
            row.policies,
            row.concurrency,
            row.decisions_per_s,
            row.p50_us,
            row.p99_us,
            row.over_echo_p50_us.map_or_else(|| "-".to_owned(), |above| format!("{above:.0}")),
        );
    }
}
