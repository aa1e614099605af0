//! The ambiguity table of the semantics contract (§2.5): every row, for both kinds of tools.

use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::WorkerId;
use toolplane_records::invocation::{InputSafety, Invocation};
use toolplane_records::vocabulary::*;

use super::fixtures::*;
use crate::*;

/// What happens while the call is out at a worker.
#[derive(Clone, Copy, Debug)]
enum Situation {
    ClaimedNotStarted,
    Lost,
    LostWithoutAttemptsLeft,
    GoneByProof,
    TimeoutReported,
    TimeoutReportedAndRetried,
    TimeoutNotReported,
    TimeoutNotReportedAndRetried,
    CanceledThenLost,
    CanceledNeverAnswered,
    Drained,
    LeftBehind,
    LeftBehindWithoutAttemptsLeft,
    PayloadNotKept,
}

struct Row {
    situation: Situation,
    idempotent: bool,
    status: InvocationStatus,
    result: Option<ResultStatus>,
    code: Option<&'static str>,
    side_effects: Option<&'static str>,
    attempts: u32,
}

fn row(
    situation: Situation,
    idempotent: bool,
    status: InvocationStatus,
    said: Option<(ResultStatus, Option<&'static str>, Option<&'static str>)>,
    attempts: u32,
) -> Row {
    let (result, code, side_effects) = match said {
        Some((result, code, side_effects)) => (Some(result), code, side_effects),
        None => (None, None, None),
    };
    Row { situation, idempotent, status, result, code, side_effects, attempts }
}

fn table() -> Vec<Row> {
    use InvocationStatus::{Canceled, Failed, Queued, Succeeded, TimedOut};
    use Situation::*;
    let unknown = Some((ResultStatus::SyntheticError, Some(codes::OUTCOME_UNKNOWN.as_str()), Some("unknown")));
    let exhausted = Some((ResultStatus::SyntheticError, Some(codes::ATTEMPTS_EXHAUSTED.as_str()), None));
    let timed_out = |code| Some((ResultStatus::TimedOut, Some(code), Some("unknown")));
    let canceled = |code| Some((ResultStatus::Canceled, Some(code), Some("unknown")));
    let partial = Some((ResultStatus::PartialSucceeded, None, None));
    vec![
        row(ClaimedNotStarted, true, Queued, None, 0),
        row(ClaimedNotStarted, false, Queued, None, 0),
        row(Lost, true, Queued, None, 1),
        row(Lost, false, Failed, unknown, 1),
        row(LostWithoutAttemptsLeft, true, Failed, exhausted, 1),
        row(LostWithoutAttemptsLeft, false, Failed, unknown, 1),
        row(GoneByProof, true, Queued, None, 1),
        row(GoneByProof, false, Failed, unknown, 1),
        row(TimeoutReported, true, TimedOut, timed_out("exec.timeout"), 1),
        row(TimeoutReported, false, TimedOut, timed_out("exec.timeout"), 1),
        row(TimeoutReportedAndRetried, true, Queued, None, 1),
        row(TimeoutReportedAndRetried, false, TimedOut, timed_out("exec.timeout"), 1),
        row(TimeoutNotReported, true, TimedOut, timed_out(codes::TIMEOUT_UNACKNOWLEDGED.as_str()), 1),
        row(TimeoutNotReported, false, TimedOut, timed_out(codes::TIMEOUT_UNACKNOWLEDGED.as_str()), 1),
        row(TimeoutNotReportedAndRetried, true, Queued, None, 1),
        row(TimeoutNotReportedAndRetried, false, TimedOut, timed_out(codes::TIMEOUT_UNACKNOWLEDGED.as_str()), 1),
        row(CanceledThenLost, true, Canceled, canceled(codes::CANCEL_WORKER_LOST.as_str()), 1),
        row(CanceledThenLost, false, Canceled, canceled(codes::CANCEL_WORKER_LOST.as_str()), 1),
        row(CanceledNeverAnswered, true, Canceled, canceled(codes::CANCEL_UNACKNOWLEDGED.as_str()), 1),
        row(CanceledNeverAnswered, false, Canceled, canceled(codes::CANCEL_UNACKNOWLEDGED.as_str()), 1),
        row(Drained, true, Queued, None, 0),
        row(Drained, false, Failed, unknown, 1),
        row(LeftBehind, true, Queued, None, 1),
        row(LeftBehind, false, Failed, unknown, 1),
        row(LeftBehindWithoutAttemptsLeft, true, Failed, unknown, 1),
        row(LeftBehindWithoutAttemptsLeft, false, Failed, unknown, 1),
        row(PayloadNotKept, true, Succeeded, partial, 1),
        row(PayloadNotKept, false, Succeeded, partial, 1),
    ]
}

fn timeout() -> ToolError {
    let mut error = ToolError::of(toolplane_records::codes::EXEC_TIMEOUT, "too slow");
    error.side_effects = Some("unknown".into());
    error
}

/// What a worker says of a tool that did not stop while it shut down.
fn left_behind() -> ToolError {
    let mut error = ToolError::of(codes::OUTCOME_UNKNOWN, "the worker ended before the tool did");
    error.side_effects = Some("unknown".into());
    error
}

fn play(situation: Situation, idempotent: bool) -> Transition {
    let mut facts = dispatch(true, true);
    match situation {
        Situation::LostWithoutAttemptsLeft | Situation::LeftBehindWithoutAttemptsLeft => facts.max_attempts = 1,
        Situation::TimeoutReportedAndRetried | Situation::TimeoutNotReportedAndRetried => facts.retry_on_timeout = true,
        _ => {}
    }
    let preparation = Preparation::Ready { decision: decision(Behavior::Allow), dispatch: facts };
    let record = accept(acceptance(idempotent), preparation, at(0)).unwrap().invocation;
    let record = apply(&record, Command::Claim(grant(1)), at(1)).unwrap().invocation;
    let started = |record: &Invocation| {
        let start = Command::Start { lease: key(record), lease_ms: LEASE_MS };
        apply(record, start, at(2)).unwrap().invocation
    };
    let lost = Command::Fire(Timer::Lease);
    match situation {
        Situation::ClaimedNotStarted => apply(&record, lost, at(20_000)).unwrap(),
        Situation::Lost | Situation::LostWithoutAttemptsLeft => apply(&started(&record), lost, at(20_000)).unwrap(),
        Situation::GoneByProof => {
            let gone = Command::WorkerGone { worker_id: WorkerId::from_trusted("w"), incarnation: "1".into() };
            apply(&started(&record), gone, at(10)).unwrap()
        }
        Situation::TimeoutReported | Situation::TimeoutReportedAndRetried => {
            let record = started(&record);
            apply(&record, complete(&record, ResultStatus::TimedOut, Some(timeout())), at(30_100)).unwrap()
        }
        Situation::TimeoutNotReported | Situation::TimeoutNotReportedAndRetried => {
            apply(&started(&record), Command::Fire(Timer::Execution), at(40_100)).unwrap()
        }
        Situation::CanceledThenLost => {
            let canceled = apply(&started(&record), cancel_request(), at(10)).unwrap().invocation;
            apply(&canceled, lost, at(20_000)).unwrap()
        }
        Situation::CanceledNeverAnswered => {
            let canceled = apply(&started(&record), cancel_request(), at(10)).unwrap().invocation;
            apply(&canceled, Command::Fire(Timer::Cancel), at(60_010)).unwrap()
        }
        Situation::Drained => {
            let record = started(&record);
            apply(&record, Command::Release { lease: key(&record), reason: "draining".into() }, at(10)).unwrap()
        }
        Situation::LeftBehind | Situation::LeftBehindWithoutAttemptsLeft => {
            let record = started(&record);
            apply(&record, complete(&record, ResultStatus::SyntheticError, Some(left_behind())), at(10)).unwrap()
        }
        Situation::PayloadNotKept => {
            let record = started(&record);
            apply(&record, complete(&record, ResultStatus::PartialSucceeded, None), at(10)).unwrap()
        }
    }
}

#[test]
fn every_row_of_the_ambiguity_table() {
    for row in table() {
        let name = format!("{:?}, idempotent: {}", row.situation, row.idempotent);
        let last = play(row.situation, row.idempotent);
        assert_eq!(last.invocation.status, row.status, "{name}");
        assert_eq!(last.invocation.attempt, row.attempts, "{name}");
        let result = last.terminal.map(|terminal| terminal.result);
        assert_eq!(result.as_ref().map(|result| result.status), row.result, "{name}");
        let error = result.as_ref().and_then(|result| result.error.as_ref());
        assert_eq!(error.map(|error| error.error_code.as_str()), row.code, "{name}");
        assert_eq!(error.and_then(|error| error.side_effects.as_deref()), row.side_effects, "{name}");
        let effect_is_done = matches!(row.situation, Situation::PayloadNotKept);
        assert_eq!(result.is_some_and(|result| !result.is_error), effect_is_done, "{name}");
    }
}

/// A call that may have left an effect behind never hears that trying again is safe.
#[test]
fn an_unknown_outcome_asks_for_a_look_first() {
    for row in table().into_iter().filter(|row| !row.idempotent && row.side_effects == Some("unknown")) {
        let error = play(row.situation, false).terminal.unwrap().result.error.unwrap();
        assert_eq!(error.recoverability, Recoverability::VerifyBeforeRetry, "{:?}", row.situation);
    }
}

/// Nobody is sent to look for an effect where there can be none.
#[test]
fn what_only_reads_may_be_repeated() {
    let asked =
        Acceptance { safety: InputSafety { is_read_only: true, ..InputSafety::default() }, ..acceptance(false) };
    let preparation = Preparation::Ready { decision: decision(Behavior::Allow), dispatch: dispatch(true, true) };
    let record = accept(asked, preparation, at(0)).unwrap().invocation;
    let record = apply(&record, Command::Claim(grant(1)), at(1)).unwrap().invocation;
    let start = Command::Start { lease: key(&record), lease_ms: LEASE_MS };
    let record = apply(&record, start, at(2)).unwrap().invocation;
    for (command, code) in [
        (Command::Fire(Timer::Lease), codes::OUTCOME_UNKNOWN),
        (Command::Release { lease: key(&record), reason: "draining".into() }, codes::OUTCOME_UNKNOWN),
        (complete(&record, ResultStatus::TimedOut, Some(timeout())), codes::EXEC_TIMEOUT),
    ] {
        let error = apply(&record, command, at(20_000)).unwrap().terminal.unwrap().result.error.unwrap();
        let facts = (error.error_code.as_str(), error.side_effects.as_deref(), error.recoverability);
        assert_eq!(facts, (code.as_str(), Some("none"), Recoverability::RetrySafe));
        assert!(!error.message.contains("may or may not"), "{}", error.message);
    }
}

#[test]
fn a_worker_that_leaves_says_why() {
    let error = play(Situation::Drained, false).terminal.unwrap().result.error.unwrap();
    assert_eq!(error.abort_reason, Some(AbortReason::RuntimeShutdown));
}

/// A call that is not seen running holds no lease, no permit and no timer but the one that brings it back.
#[test]
fn a_lost_lease_gives_everything_back() {
    let last = play(Situation::Lost, true);
    let permit = "running/tenant/default".to_owned();
    assert!(last.effects.contains(&Effect::ReturnPermit { index: permit.into() }));
    assert!(last.effects.contains(&Effect::ClearTimer(Timer::Lease)));
    assert!(last.effects.iter().any(|effect| matches!(effect, Effect::SetTimer(Timer::Retry, _))));
    assert!(last.effects.iter().any(|effect| matches!(effect, Effect::Tell(LeaseMessage::Fenced { .. }))));
    assert!(!last.effects.contains(&Effect::Enqueue), "it waits before it is ready");
}
