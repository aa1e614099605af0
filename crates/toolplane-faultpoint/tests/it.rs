//! The points, met by a process of their own: this program starts itself again with the environment of each case.

use std::process::{Command, Output};

use toolplane_faultpoint::{FAULT_VARIABLE, MUTANT_VARIABLE, Mutant, fails, mutant, point};

/// Says in the child what it is to do.
const CHILD: &str = "TOOLPLANE_FAULTPOINT_CHILD";

/// A file the child arms itself with, differently in its third round.
const FILE: &str = "TOOLPLANE_FAULTPOINT_FILE";

/// What the child does; in the parent nothing.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    for round in 1..=3 {
        println!("round {round}");
        // A test that arms by file changes it between the rounds.
        if let Ok(file) = std::env::var(FILE) {
            let text = if round == 3 { "there:1:err" } else { "there:2:err" };
            std::fs::write(file, text).unwrap();
        }
        point("here");
        if fails("there") {
            println!("failed in {round}");
        }
    }
    let on: Vec<_> = Mutant::ALL.into_iter().filter(|one| mutant(*one)).map(Mutant::name).collect();
    println!("mutants {on:?}");
}

#[expect(clippy::unwrap_used, reason = "a test that cannot start itself has failed")]
fn run(fault: &str, mutant: &str) -> (Output, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child", "--exact", "--nocapture"]).env(CHILD, "1");
    let output = command.env(FAULT_VARIABLE, fault).env(MUTANT_VARIABLE, mutant).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, said)
}

#[test]
fn an_unarmed_process_meets_nothing() {
    let (output, said) = run("", "");
    assert!(output.status.success() && said.contains("round 3") && said.contains("mutants []"), "{said}");
}

#[test]
fn the_armed_passing_ends_the_process_and_no_other_does() {
    let (output, said) = run("elsewhere:1,here:2", "");
    assert!(!output.status.success());
    assert!(said.contains("round 2") && !said.contains("round 3"), "{said}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("fault point here"));
}

#[test]
fn a_failure_is_told_once() {
    let (output, said) = run("there:2:err", "");
    assert!(output.status.success());
    assert_eq!(said.matches("failed in").count(), 1, "{said}");
    assert!(said.contains("failed in 2"), "{said}");
}

#[test]
fn a_file_arms_while_the_process_runs() {
    let file = std::env::temp_dir().join(format!("faultpoint-{}", std::process::id()));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child", "--exact", "--nocapture"]).env(CHILD, "1").env(FILE, &file);
    let output = command.env(FAULT_VARIABLE, format!("@{}", file.display())).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    // The second passing under the first text, and the first under the other.
    assert!(output.status.success() && said.contains("failed in 2") && said.contains("failed in 3"), "{said}");
}

#[test]
fn a_delay_repeats() {
    let start = std::time::Instant::now();
    let (output, _) = run("here:2:delay=60", "");
    assert!(output.status.success());
    assert!(start.elapsed() >= std::time::Duration::from_millis(120), "two of three passings wait");
}

#[test]
fn one_mutant_is_on_at_most_and_unknown_names_end_the_process() {
    let (_, said) = run("", "leak_permit");
    assert!(said.contains("mutants [\"leak_permit\"]"), "{said}");
    for (fault, mutant) in [("", "nobody"), ("here", "")] {
        assert!(!run(fault, mutant).0.status.success(), "{fault} {mutant}");
    }
}
