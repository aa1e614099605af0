//! Histories written by hand: a good one that every check passes, and for each check the smallest change that must turn it
//! red, and no other.

use super::{Check, Claim, Verdict, judge, judge_fairness};
use crate::history::*;

mod story;

use story::{Story, call, effect, entered};

#[track_caller]
fn red(story: Story, expected: &[Check]) -> Verdict {
    let verdict = judge(&story.history);
    assert_eq!(verdict.red_checks(), expected, "{}", verdict.shown(20));
    verdict
}

#[test]
fn a_run_that_kept_every_promise_is_green() {
    let verdict = red(Story::good(), &[]);
    assert_eq!((verdict.invocations, verdict.unknown_expected, verdict.refusals), (7, 1, 1));
    assert_eq!(verdict.recoveries_ms, [100, 200], "two calls were met by the kill");
    assert_eq!(verdict.recovery_ms(99), 100, "of two, the longest is the hundredth percent");
}

#[test]
fn lost_calls_are_c1() {
    let mut story = Story::good();
    story.change_call("again", |call| call.course.status = "running".to_owned());
    assert_eq!(red(story, &[Check::C1, Check::C3]).lost, 1);
    let mut story = Story::good();
    story.remove_call("once");
    assert_eq!(red(story, &[Check::C1]).lost, 1);
    let mut story = Story::good();
    story.add(Record::Missing { invocation: "inv_once".to_owned() });
    assert_eq!(red(story, &[Check::C1]).lost, 1);
}

#[test]
fn one_key_is_one_call() {
    let mut story = Story::good();
    story.answer("once", Answer::Accepted { invocation: "inv_other".to_owned(), duplicate: false });
    red(story, &[Check::C1]);
    let mut story = Story::good();
    story.answer("once", Answer::Accepted { invocation: "inv_once".to_owned(), duplicate: false });
    red(story, &[Check::C1]);
    let mut story = Story::good();
    story.answer("once", Answer::Accepted { invocation: "inv_once".to_owned(), duplicate: true });
    red(story, &[]);
}

/// Two hundred thousand calls and two thousand faults, about as many as the full plan has: a check that searched for
/// what it asks of each call would take hours.
#[test]
fn a_long_history_is_judged_as_a_short_one() {
    let mut story = Story::good();
    for number in 0..2_000 {
        let (verb, target) = ("kill".to_owned(), format!("worker-{}", 2 + number % 7));
        story.add(Record::Fault(Fault { verb, target, from_ms: 2_000 + number, until_ms: 2_500 + number }));
    }
    for number in 0..100_000 {
        let key = format!("refused-{number}");
        story.plan(&key, true);
        story.answer(&key, Answer::Exhausted { retry_info: true });
        let key = format!("more-{number}");
        story.plan(&key, true);
        story.answer(&key, Answer::Accepted { invocation: format!("inv_{key}"), duplicate: false });
        let fence = 1_000 + number;
        story.add(Record::Ledger(Effect { fence, ..effect(&key, 1, Edge::Start) }));
        story.add(Record::Ledger(Effect { fence, ..effect(&key, 1, Edge::End) }));
        let mut call = call(&key);
        if let Some(report) = call.result.as_mut().and_then(|result| result.report.as_mut()) {
            report.fence = fence;
        }
        story.add(Record::Call(Box::new(call)));
    }
    let verdict = red(story, &[]);
    assert_eq!((verdict.invocations, verdict.refusals), (100_007, 100_001));
}

#[test]
fn nothing_exists_that_nobody_asked_for() {
    let mut story = Story::good();
    let mut stray = call("stray");
    stray.name.key = "never planned".to_owned();
    story.add(Record::Call(Box::new(stray)));
    red(story, &[Check::C1]);
}

#[test]
fn an_unanswered_submission_may_have_made_a_call_or_none() {
    for exists in [false, true] {
        let mut story = Story::good();
        story.plan("maybe", true);
        story.answer("maybe", Answer::Unknown);
        if exists {
            story.add(Record::Call(Box::new(call("maybe"))));
            story.add(Record::Ledger(effect("maybe", 1, Edge::End)));
        }
        red(story, &[]);
    }
}

#[test]
fn two_results_in_a_log_are_c1() {
    let mut story = Story::good();
    story.change_call("again", |call| {
        call.course.last_seq += 1;
        let again =
            FinalEvent { seq: call.course.last_seq, class: "tool.result.created".to_owned(), ..Default::default() };
        call.course.events.push(again);
    });
    assert_eq!(red(story, &[Check::C1]).double_terminal, 1);
}

#[test]
fn a_result_that_changes_is_c2() {
    let mut story = Story::good();
    let digest = "another".to_owned();
    story.add(Record::Observed { invocation: "inv_once".to_owned(), via: "get".to_owned(), digest });
    assert_eq!(red(story, &[Check::C2]).double_terminal, 1);
}

#[test]
fn illegal_steps_and_gaps_are_c3() {
    let illegal: [fn(&mut FinalCall); 5] = [
        |call| call.course.steps.retain(|step| step.to != "running"),
        |call| call.course.steps[1].seq = 99,
        |call| drop(call.course.events.remove(1)),
        |call| call.course.last_seq += 1,
        |call| call.lease_no = 0,
    ];
    for (index, change) in illegal.into_iter().enumerate() {
        let mut story = Story::good();
        // A call without a report of an execution, so that nothing else can be wrong with it.
        story.change_call("canceled", change);
        let verdict = judge(&story.history);
        assert_eq!(verdict.red_checks(), [Check::C3], "change {index}: {}", verdict.shown(9));
    }
}

#[test]
fn leases_are_numbered_upwards() {
    let mut story = Story::good();
    story.change_call("again", |call| {
        for event in &mut call.course.events {
            event.lease_no = event.lease_no.map(|_| 2);
        }
    });
    red(story, &[Check::C3]);
}

#[test]
fn a_second_start_of_what_must_not_run_twice_is_c4() {
    let mut story = Story::good();
    story.add(Record::Ledger(effect("once", 2, Edge::Start)));
    let verdict = red(story, &[Check::C4]);
    assert_eq!(verdict.double_start, 1);
}

#[test]
fn a_success_without_its_effect_is_c4() {
    for key in ["once", "again"] {
        let mut story = Story::good();
        story.history.entries.retain(|entry| {
            !matches!(&entry.record, Record::Ledger(line) if line.invocation == format!("inv_{key}") && line.edge == Edge::End)
        });
        red(story, &[Check::C4]);
    }
}

#[test]
fn an_unknown_outcome_needs_a_broken_worker() {
    let mut story = Story::good();
    story.history.entries.retain(|entry| !matches!(&entry.record, Record::Fault(_)));
    let verdict = red(story, &[Check::C4]);
    assert_eq!((verdict.unknown_expected, verdict.unknown_unexpected), (0, 1));
    let mut story = Story::good();
    story.change_fault(|fault| fault.target = "worker-9".to_owned());
    red(story, &[Check::C4]);
    let mut story = Story::good();
    story.change_fault(|fault| (fault.from_ms, fault.until_ms) = (90_000, 91_000));
    red(story, &[Check::C4]);
}

#[test]
fn a_holder_of_a_lock_that_nobody_can_renew_may_end_as_unknown() {
    for (locks, away_ms, expected) in [(true, 900, 1), (true, 300, 0), (false, 900, 0)] {
        let mut story = Story::good();
        story.change_fault(|fault| {
            fault.target = "scheduler-1".to_owned();
            (fault.from_ms, fault.until_ms) = (1_295, 1_295 + away_ms);
        });
        if locks {
            story.lock("unknown", "window");
        }
        assert_eq!(judge(&story.history).unknown_expected, expected, "{locks} {away_ms}");
    }
}

#[test]
fn what_may_run_twice_never_ends_as_unknown() {
    let mut story = Story::good();
    story.change_call("again", |call| {
        if let Some(result) = &mut call.result {
            result.error_code = "exec.outcome_unknown".to_owned();
        }
    });
    red(story, &[Check::C4]);
}

#[test]
fn the_report_of_an_old_lease_is_c5() {
    let mut story = Story::good();
    story.change_call("again", |call| {
        let report = call.result.as_mut().and_then(|result| result.report.as_mut()).unwrap();
        (report.lease_no, report.fence) = (1, effect("again", 1, Edge::End).fence);
    });
    story.add(Record::Ledger(effect("again", 1, Edge::End)));
    assert_eq!(red(story, &[Check::C5]).stale_accepted, 1);
}

#[test]
fn fences_of_a_resource_and_of_leases_grow() {
    let mut story = Story::good();
    story.add(entered("once", 1, AccessStep::Write));
    assert_eq!(red(story, &[Check::C5]).stale_accepted, 1);
    let mut story = Story::good();
    let mut line = effect("canceled", 1, Edge::Start);
    line.fence = effect("once", 1, Edge::Start).fence;
    story.add(Record::Ledger(line));
    red(story, &[Check::C5]);
}

#[test]
fn two_inside_one_lock_are_c6() {
    let mut story = Story::good();
    story.add(entered("locked-1", 800, AccessStep::Enter));
    story.add(entered("locked-2", 801, AccessStep::Enter));
    red(story, &[Check::C6]);
    // The first one's process was stopped: it cannot leave, and its fence keeps it from doing harm.
    let mut story = Story::good();
    story.add(entered("locked-1", 800, AccessStep::Enter));
    story.add(entered("locked-2", 801, AccessStep::Enter));
    let (verb, target) = ("stop".to_owned(), "worker-1".to_owned());
    story.add(Record::Fault(Fault { verb, target, from_ms: 0, until_ms: u64::MAX }));
    red(story, &[]);
    // It went away first.
    let mut story = Story::good();
    story.add(entered("locked-1", 800, AccessStep::Enter));
    story.add(entered("locked-1", 800, AccessStep::Gone));
    story.add(entered("locked-2", 801, AccessStep::Enter));
    red(story, &[]);
}

#[test]
fn grants_against_the_order_of_tickets_are_c6() {
    let mut story = Story::good();
    story.change_call("locked-1", |call| call.locks.granted_ms = Some(9_000));
    red(story, &[Check::C6]);
}

#[test]
fn batches_are_handed_out_as_declared() {
    let bad: [fn(&mut FinalBatch); 3] = [
        |batch| batch.members[0].yield_seq = None,
        |batch| batch.members[0].yield_seq = Some(2),
        |batch| batch.members.swap(0, 1),
    ];
    for change in bad {
        let mut story = Story::good();
        story.change_batch(change);
        red(story, &[Check::C7]);
    }
    let mut story = Story::good();
    story.change_batch(|batch| {
        batch.ordered = false;
        batch.members.swap(0, 1);
    });
    red(story, &[]);
}

#[test]
fn nothing_runs_after_the_end_and_nobody_pays_for_a_sibling_that_succeeded() {
    let mut story = Story::good();
    story.change_call("canceled", |call| {
        call.course.last_seq += 1;
        let late = FinalEvent {
            seq: call.course.last_seq,
            class: "tool.invocation.progress".to_owned(),
            ..Default::default()
        };
        call.course.events.push(late);
    });
    red(story, &[Check::C7]);
    let mut story = Story::good();
    story.change_call("locked-1", |call| {
        call.result.as_mut().unwrap().error_class = "sibling_canceled".to_owned();
    });
    red(story, &[Check::C7]);
}

#[test]
fn a_gap_or_a_repetition_of_a_watcher_is_c8() {
    for seqs in [vec![1, 3, 4], vec![1, 1, 2, 3, 4, 5, 6], vec![1, 2, 3]] {
        let mut story = Story::good();
        story.watched(7, "again", 1, seqs, true);
        red(story, &[Check::C8]);
    }
    let mut story = Story::good();
    story.watched(7, "again", 1, vec![1, 2], false);
    story.watched(7, "again", 4, vec![4, 5, 6], true);
    red(story, &[Check::C8]);
    let mut story = Story::good();
    story.watched(7, "again", 1, vec![1, 2], false);
    story.watched(7, "again", 3, vec![3, 4, 5, 6], true);
    red(story, &[]);
}

#[test]
fn a_cluster_that_does_not_recover_is_c9() {
    let mut story = Story::good();
    story.add(Record::Probe { client: 1, ok: false });
    red(story, &[Check::C9]);
    let mut story = Story::good();
    story.add(Record::Drained { target: "scheduler-1".to_owned(), in_time: false });
    red(story, &[Check::C9]);
    let mut story = Story::good();
    story.history.entries.retain(|entry| !matches!(entry.record, Record::Probe { .. }));
    red(story, &[Check::C9]);
}

#[test]
fn what_is_left_behind_is_c11() {
    let mut story = Story::good();
    story.add(Record::Left { index: "running/tenant/default".to_owned(), members: 2 });
    assert_eq!(red(story, &[Check::C11]).leaks, 2);
    let mut story = Story::good();
    story.change_call("once", |call| call.leased = true);
    red(story, &[Check::C11]);
}

#[test]
fn refusals_help_and_leave_nothing() {
    let mut story = Story::good();
    story.answer("refused", Answer::Exhausted { retry_info: false });
    red(story, &[Check::C12]);
    let mut story = Story::good();
    story.add(Record::Call(Box::new(call("refused"))));
    story.add(Record::Ledger(effect("refused", 1, Edge::End)));
    red(story, &[Check::C12]);
}

#[test]
fn a_reference_to_nothing_is_c14() {
    let mut story = Story::good();
    let problem = Some("not found".to_owned());
    story.add(Record::Object { invocation: "inv_once".to_owned(), problem });
    red(story, &[Check::C14]);
}

#[test]
fn shares_and_gaps_are_c13() {
    let claim = |band: &str, tenant: String| Claim { band: band.to_owned(), tenant };
    let turn = |band: &str, of: usize, n: usize| claim(band, format!("t{}", n % of));
    let fair: Vec<_> = (0..100)
        .flat_map(|round: usize| {
            let urgent = (0..8).map(move |n| ("interactive", round * 8 + n));
            let normal = (0..3).map(move |n| ("normal", round * 3 + n));
            urgent.chain(normal).chain([("background", round)])
        })
        .map(|(band, n)| turn(band, 4, n))
        .collect();
    assert!(judge_fairness(&fair).is_green(), "{}", judge_fairness(&fair).shown(5));
    let mut greedy = fair;
    greedy.iter_mut().filter(|claim| claim.band == "interactive").for_each(|claim| claim.tenant = "t0".to_owned());
    greedy.push(claim("interactive", "t1".to_owned()));
    assert_eq!(judge_fairness(&greedy).red_checks(), [Check::C13]);
    let flat: Vec<_> =
        ["interactive", "normal", "background"].into_iter().cycle().take(300).map(|band| turn(band, 1, 0)).collect();
    assert_eq!(judge_fairness(&flat).red_checks(), [Check::C13]);
}

#[test]
fn lines_survive_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.jsonl");
    let recorder = Recorder::create(&path).unwrap();
    let story = Story::good();
    for entry in &story.history.entries {
        recorder.record(entry.record.clone());
    }
    let written = recorder.history();
    assert_eq!(History::read(&path).unwrap().entries, written.entries);
    // A writer that is killed leaves half a line.
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("{\"at_ms\":1,\"ki");
    std::fs::write(&path, text).unwrap();
    assert_eq!(History::read(&path).unwrap().entries.len(), written.entries.len());
}
