//! Many runs, each of another seed.

use toolplane_simulation::{Mutant, Settings, run};

/// Runs the seeds of one quarter of the thousand; the test runner takes the quarters side by side.
fn quarter(number: u64) {
    let (mut accepted, mut deaths, mut executions) = (0, 0, 0);
    for seed in (1..=1_000).filter(|seed| seed % 4 == number) {
        let report = run(Settings::of(seed));
        assert_eq!(report.broken, [], "seed {seed}");
        accepted += report.accepted;
        deaths += report.deaths;
        executions += report.executions;
    }
    // A run in which nothing happens proves nothing.
    assert!(accepted > 250 * 24 && deaths > 250 && executions > 250 * 15, "{accepted} {deaths} {executions}");
}

#[test]
fn promises_hold_in_the_first_quarter_of_seeds() {
    quarter(0);
}

#[test]
fn promises_hold_in_the_second_quarter_of_seeds() {
    quarter(1);
}

#[test]
fn promises_hold_in_the_third_quarter_of_seeds() {
    quarter(2);
}

#[test]
fn promises_hold_in_the_fourth_quarter_of_seeds() {
    quarter(3);
}

#[test]
fn the_same_seed_gives_the_same_run_to_the_last_byte() {
    for seed in 1..=20 {
        let settings = Settings { keep_trace: true, ..Settings::of(seed) };
        let (first, second) = (run(settings), run(settings));
        assert!(first.trace.len() > 1_000, "seed {seed} does something");
        assert_eq!(first.trace, second.trace, "seed {seed}");
        assert_eq!(first.hash, second.hash, "seed {seed}");
    }
    assert_ne!(run(Settings::of(1)).hash, run(Settings::of(2)).hash, "another seed is another run");
}

/// A check that cannot fail proves nothing: each of these rules is broken on purpose, and has to be noticed.
#[test]
fn a_broken_rule_is_noticed() {
    for mutant in [Mutant::DropFence, Mutant::RepeatNonIdempotent, Mutant::SkipDedupe, Mutant::BargeLocks] {
        let noticed = (1..=200).any(|seed| {
            let settings = Settings { mutant: Some(mutant), ..Settings::of(seed) };
            !run(settings).broken.is_empty()
        });
        assert!(noticed, "{mutant:?} goes unnoticed");
    }
}
