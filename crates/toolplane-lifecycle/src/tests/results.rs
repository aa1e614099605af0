//! What a terminal result says.

use toolplane_records::ids::ToolId;
use toolplane_records::vocabulary::*;
use toolplane_records::{codes, stored};

use super::fixtures::*;
use crate::*;

#[test]
fn an_empty_output_is_said_not_left_out() {
    let done = Command::Complete {
        lease: key(&ready(true, true).invocation),
        outcome: outcome(ResultStatus::Succeeded, None),
    };
    let mut commands = started(true);
    commands.push((5, done));
    let result = run(ready(true, true).invocation, commands).terminal.unwrap().result;
    assert_eq!(result.model_facing_content, vec![toolplane_records::result::ContentBlock::Empty]);
}

#[test]
fn repeating_is_called_safe_only_where_it_is() {
    for (idempotent, side_effects, expected) in [
        (true, None, Recoverability::RetrySafe),
        (false, None, Recoverability::VerifyBeforeRetry),
        (false, Some("none"), Recoverability::RetrySafe),
    ] {
        let mut failed = error(ErrorClass::ExecutionFailed);
        failed.recoverability = Recoverability::RetrySafe;
        failed.side_effects = side_effects.map(str::to_owned);
        let record = ready(idempotent, true).invocation;
        let done = Command::Complete { lease: key(&record), outcome: outcome(ResultStatus::Failed, Some(failed)) };
        let mut commands = started(idempotent);
        commands.push((5, done));
        let result = run(record, commands).terminal.unwrap().result;
        assert_eq!(result.error.unwrap().recoverability, expected, "{idempotent} {side_effects:?}");
    }
}

#[test]
fn nothing_follows_a_terminal_status() {
    for from in InvocationStatus::ALL.iter().filter(|status| status.is_terminal()) {
        assert!(InvocationStatus::ALL.iter().all(|to| !is_legal(Some(*from), *to)), "{from}");
    }
}

#[test]
fn a_tool_ended_for_its_output_has_failed_and_one_whose_output_is_not_kept_has_not() {
    for (code, status) in [
        ("exec.output_limit", InvocationStatus::Failed),
        (codes::RESULT_TOO_LARGE.as_str(), InvocationStatus::Succeeded),
    ] {
        let mut too_large = error(ErrorClass::ResultTooLarge);
        too_large.error_code = code.to_owned();
        let record = ready(false, true).invocation;
        let done = Command::Complete { lease: key(&record), outcome: outcome(ResultStatus::TooLarge, Some(too_large)) };
        let mut commands = started(false);
        commands.push((5, done));
        let last = run(record, commands);
        assert_eq!(last.invocation.status, status, "{code}");
        assert_eq!(last.terminal.unwrap().result.is_error, status == InvocationStatus::Failed);
    }
}

/// Stores keep parts of earlier values for as long as they live: the name of a tool that does not exist is in none of them.
#[test]
fn nothing_that_tells_of_a_tool_that_does_not_exist_is_kept_beyond_its_call() {
    const NAME: &str = "sk-live-0123456789";
    let unknown = ToolId::from_trusted(format!("unknown:{NAME}"));
    let asked = Acceptance { tool_id: unknown, tool_name: NAME.into(), ..acceptance(true) };
    let mut refused = error(ErrorClass::UnknownTool);
    refused.message = NAME.to_owned();
    let ended = accept(asked, Preparation::Unresolved { error: refused, blocked: false }, at(0)).unwrap();
    let mut told = vec![Vec::new()];
    stored::write(&ended.invocation, &mut told[0]).unwrap();
    for event in &ended.events {
        told.push(Vec::new());
        stored::write(event, told.last_mut().unwrap()).unwrap();
    }
    let holds = |bytes: &[u8]| bytes.windows(NAME.len()).any(|part| part == NAME.as_bytes());
    assert!(told.len() > 3 && holds(&told[0]) && holds(&told[1]));
    assert!(told.iter().filter_map(|bytes| stored::without_texts(bytes)).all(|kept| !holds(&kept)));
}
