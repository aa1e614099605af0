//! What a call shows before its end: partial results, and the stages of calls nobody waits for.

use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::event::LogEvent;
use toolplane_records::invocation::Invocation;
use toolplane_records::partial::MAX_PARTIAL_RESULTS;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::*;

use super::fixtures::*;
use crate::*;

fn running(idempotent: bool) -> Invocation {
    run(ready(idempotent, true).invocation, started(idempotent)).invocation
}

fn show(record: &Invocation, text: &str, resume_token: Option<&str>) -> Command {
    let partial = ReportedPartial {
        content: vec![ContentBlock::Text { text: text.into() }],
        append: true,
        resume_token: resume_token.map(str::to_owned),
    };
    Command::Partial { lease: key(record), partial }
}

fn told(events: &[LogEvent]) -> Vec<(EventClass, String)> {
    let data = |event: &LogEvent| event.data.as_ref().map(|data| data.text().to_owned()).unwrap_or_default();
    events.iter().map(|event| (event.class, data(event))).collect()
}

#[test]
fn a_partial_result_is_a_status_an_event_and_a_reference() {
    let record = running(false);
    let first = apply(&record, show(&record, "page 1", None), at(10)).unwrap();
    assert_eq!(first.invocation.status, InvocationStatus::PartialResult);
    let (class, data) = told(&first.events).pop().unwrap();
    assert_eq!(class, EventClass::PartialResult);
    for part in [r#""partial_id":"inv_1:r1""#, r#""sequence":1"#, r#""text":"page 1""#, r#""append":true"#] {
        assert!(data.contains(part), "{part}: {data}");
    }
    // The second one is no new status, and progress after it names it.
    let record = first.invocation;
    let second = apply(&record, show(&record, "page 2", None), at(20)).unwrap().invocation;
    assert_eq!(second.status_transitions.len(), record.status_transitions.len());
    let step = Command::Progress { lease: key(&second), progress: progress() };
    let step = apply(&second, step, at(30)).unwrap();
    assert!(told(&step.events)[0].1.contains(r#""partial_result_refs":["inv_1:r2"]"#));
    // It is no end: the call asks, and ends as any other.
    let input = InputRequest { input_id: "in_1".into(), prompt: "?".into(), schema: None, ttl_ms: 1_000 };
    let asks = Command::RequestInput { lease: key(&second), input };
    let asks = apply(&second, asks, at(40)).unwrap().invocation;
    assert_eq!(asks.status, InvocationStatus::NeedsInput);
    let ended = apply(&second, complete(&second, ResultStatus::Succeeded, None), at(50)).unwrap();
    assert_eq!(ended.invocation.status, InvocationStatus::Succeeded);
}

#[test]
fn there_are_no_more_than_their_bound_and_none_without_the_lease() {
    let mut record = running(false);
    let mut stale = key(&record);
    stale.lease_no += 1;
    let fenced = Command::Partial { lease: stale, partial: ReportedPartial::default() };
    assert_eq!(apply(&record, fenced, at(5)).unwrap_err(), Refusal::Fenced);
    record.partial_seq = MAX_PARTIAL_RESULTS;
    assert_eq!(apply(&record, show(&record, "x", None), at(10)).unwrap_err(), Refusal::NothingToDo);
    let waiting = ready(false, true).invocation;
    let early = run(waiting, vec![(1, Command::Claim(grant(1)))]).invocation;
    assert!(matches!(apply(&early, show(&early, "x", None), at(10)), Err(Refusal::Illegal { .. })));
}

#[test]
fn a_call_that_is_repeated_knows_how_far_it_came() {
    let record = running(true);
    let record = apply(&record, show(&record, "x", Some("row 500")), at(10)).unwrap().invocation;
    let record = apply(&record, show(&record, "y", None), at(11)).unwrap().invocation;
    let again = apply(&record, Command::Fire(Timer::Lease), at(1_000_000)).unwrap().invocation;
    assert_eq!(again.status, InvocationStatus::Queued);
    assert_eq!((again.resume_token.as_deref(), again.partial_seq), (Some("row 500"), 2));
}

#[test]
fn a_call_in_the_background_tells_each_stage() {
    let acceptance = Acceptance { background: true, ..acceptance(false) };
    let mut transition = asked(acceptance, dispatch(false, true));
    let mut stages = Vec::new();
    let mut note = |transition: &Transition| {
        for (class, data) in told(&transition.events) {
            if class == EventClass::Progress {
                assert!(data.contains(r#""task_id":"inv_1""#), "{data}");
                let status = data.split(r#""status":""#).nth(1).and_then(|rest| rest.split('"').next());
                stages.push(status.unwrap_or_default().to_owned());
            }
        }
    };
    note(&transition);
    let commands: [fn(&Invocation) -> Command; 4] = [
        approve,
        |_| Command::Claim(grant(1)),
        |record| Command::Start { lease: key(record), lease_ms: LEASE_MS },
        |record| show(record, "so far", None),
    ];
    for (at_ms, command) in (1..).zip(commands) {
        transition = apply(&transition.invocation, command(&transition.invocation), at(at_ms)).unwrap();
        note(&transition);
    }
    let input = InputRequest { input_id: "in_1".into(), prompt: "?".into(), schema: None, ttl_ms: 1_000 };
    let asks = Command::RequestInput { lease: key(&transition.invocation), input };
    transition = apply(&transition.invocation, asks, at(10)).unwrap();
    note(&transition);
    let answer = Command::ProvideInput { input_id: "in_1".into(), input: None, by: String::new() };
    transition = apply(&transition.invocation, answer, at(11)).unwrap();
    note(&transition);
    let end = complete(&transition.invocation, ResultStatus::Succeeded, None);
    transition = apply(&transition.invocation, end, at(12)).unwrap();
    note(&transition);
    let expected = [
        "waiting_for_permission",
        "queued",
        "started",
        "backgrounded",
        "partial_result",
        "running",
        "waiting_for_input",
        "running",
        "completed",
    ];
    assert_eq!(stages, expected);
    assert_eq!(transition.events.last().unwrap().class, EventClass::Succeeded, "the end is said last");
}

#[test]
fn what_a_stream_called_that_is_thrown_away_is_discarded() {
    let fallback = || Command::RequestCancel {
        requested_by: "agent".into(),
        message: "the model's stream broke".into(),
        abort_reason: AbortReason::Fallback,
    };
    let waiting = ready(false, true).invocation;
    let ended = apply(&waiting, fallback(), at(1)).unwrap();
    let result = ended.terminal.unwrap().result;
    let error = result.error.unwrap();
    assert_eq!((result.status, error.error_class), (ResultStatus::Discarded, ErrorClass::StreamingFallbackDiscarded));
    assert_eq!((error.abort_reason, error.can_retry), (Some(AbortReason::Fallback), Some(true)));

    let record = running(false);
    let record = apply(&record, fallback(), at(1)).unwrap().invocation;
    let stopped = ToolError::of(codes::CANCELED, "stopped");
    let ended = apply(&record, complete(&record, ResultStatus::Canceled, Some(stopped)), at(2)).unwrap();
    let result = ended.terminal.unwrap().result;
    let class = result.error.unwrap().error_class;
    assert_eq!((result.status, class), (ResultStatus::Discarded, ErrorClass::StreamingFallbackDiscarded));
    assert_eq!(ended.invocation.status, InvocationStatus::Canceled);
}

#[test]
fn a_failure_says_what_to_do_about_it() {
    for (idempotent, wanted, retry) in [(true, "Make the same call again", true), (false, "Find out whether", false)] {
        let record = running(idempotent);
        let mut broken = error(ErrorClass::ExecutionFailed);
        broken.recoverability = Recoverability::RetrySafe;
        let ended = apply(&record, complete(&record, ResultStatus::Failed, Some(broken)), at(9)).unwrap();
        let error = ended.terminal.unwrap().result.error.unwrap();
        assert_eq!(error.can_retry, Some(retry));
        assert!(error.recovery_suggestion.unwrap().starts_with(wanted), "{idempotent}");
    }
}
