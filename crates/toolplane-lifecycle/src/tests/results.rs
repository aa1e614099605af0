//! What a terminal result says.

use toolplane_records::codes;
use toolplane_records::vocabulary::*;

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
