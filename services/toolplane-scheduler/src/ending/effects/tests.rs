use toolplane_hooks::fold::{Failed, HookText, Keeping};
use toolplane_hooks::{Folded, HookFailure, Replacement};
use toolplane_records::error::ToolError;
use toolplane_records::hook::ToolHook;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{ErrorClass, HookEvent, PersistenceStrategy, Recoverability, ResultStatus};

use super::{Effects, MAX_CONTEXT_CHARS, MAX_RECORDS_BYTES};
use crate::ending::report::Report;

const SECRET: &str = "s3cret";

fn succeeded() -> Report {
    let text = || vec![ContentBlock::Text { text: SECRET.to_owned() }];
    let mut report = Report::of(ResultStatus::Succeeded, None);
    report.output.content = text();
    report.output.structured_content = Some(JsonPayload::of(&[SECRET]));
    report.words.facing = text();
    report.beside.context_modifiers = vec![JsonPayload::of(SECRET)];
    report
}

fn failed() -> Report {
    let class = ErrorClass::ExecutionFailed;
    let mut error = ToolError::new(toolplane_records::codes::EXIT_CODE, class, Recoverability::NotRetryable, SECRET);
    error.native_error_ref = Some(SECRET.to_owned());
    error.side_effects = Some("unknown".to_owned());
    Report { status: ResultStatus::Failed, error: Some(error), ..succeeded() }
}

fn said(text: &str) -> HookText {
    HookText { hook_id: "h".to_owned(), text: text.to_owned() }
}

fn applied(mut outcome: Report, folded: Folded) -> (Report, Effects) {
    let mut effects = Effects::default();
    effects.apply(&mut outcome, folded);
    (outcome, effects)
}

#[track_caller]
fn nothing_is_left_of_it(outcome: &Report) {
    // Debug of a payload shows no bytes, so they are looked at too.
    let values =
        outcome.output.structured_content.iter().chain(&outcome.beside.context_modifiers).map(JsonPayload::text);
    let shown = format!("{outcome:?} {}", values.collect::<String>());
    assert!(!shown.contains(SECRET), "{shown}");
}

#[test]
fn a_failed_hook_withholds_everything_and_says_that_the_effect_is_done() {
    let failure = Failed { hook_id: "h".to_owned(), failure: HookFailure::ExitCode { code: 1 } };
    let folded = Folded { failed: Some(failure), keeping: Keeping::Drop, ..Folded::default() };
    let (outcome, effects) = applied(succeeded(), folded.clone());
    nothing_is_left_of_it(&outcome);
    let error = outcome.error.as_ref().unwrap();
    assert_eq!((outcome.status, error.error_class), (ResultStatus::Failed, ErrorClass::HookBlocked));
    assert_eq!((error.error_code.as_str(), error.side_effects.as_deref()), ("hooks.failed", Some("completed")));
    let withheld = effects.withheld.unwrap();
    assert_eq!((withheld.strategy, withheld.bytes), (PersistenceStrategy::DropWithReason, 10));
    // A failure stays the failure it was.
    let (outcome, _) = applied(failed(), folded);
    nothing_is_left_of_it(&outcome);
    let error = outcome.error.unwrap();
    assert_eq!((outcome.status, error.error_code.as_str()), (ResultStatus::Failed, "exec.exit_code"));
    assert_eq!(error.side_effects.as_deref(), Some("unknown"));
    let (mut outcome, mut effects) = (succeeded(), Effects::default());
    effects.unasked(&mut outcome, "the worker ends");
    nothing_is_left_of_it(&outcome);
    assert_eq!(outcome.error.unwrap().error_code, "hooks.failed");
}

#[test]
fn a_replaced_output_leaves_nothing_of_the_first() {
    let replacement = Replacement::of(JsonPayload::of("clean")).unwrap();
    let folded = Folded { updated_output: Some(replacement.clone()), ..Folded::default() };
    for given in [succeeded(), failed()] {
        let (status, error) = (given.status, given.error.clone());
        let (outcome, effects) = applied(given, folded.clone());
        assert_eq!(outcome.output.content, [ContentBlock::Text { text: "clean".to_owned() }]);
        assert!(
            outcome.output.structured_content.is_none()
                && outcome.beside.context_modifiers.is_empty()
                && effects.redacted
        );
        assert_eq!((outcome.status, outcome.error), (status, error), "how it ended is not the hook's word");
    }
    // Replaced and marked as redacted: the replacement stays.
    let folded = Folded { keeping: Keeping::Redact, ..folded };
    let (outcome, _) = applied(succeeded(), folded);
    assert_eq!((outcome.status, outcome.output.content), (ResultStatus::Redacted, replacement.content));
}

#[test]
fn ways_of_keeping() {
    let keep = |keeping| Folded { keeping, blocks: vec![said("too personal")], ..Folded::default() };
    let (outcome, effects) = applied(succeeded(), keep(Keeping::Redact));
    nothing_is_left_of_it(&outcome);
    assert_eq!((outcome.status, outcome.error.is_none()), (ResultStatus::Redacted, true));
    assert_eq!(effects.withheld.unwrap().strategy, PersistenceStrategy::Redact);
    let (outcome, _) = applied(succeeded(), keep(Keeping::Drop));
    nothing_is_left_of_it(&outcome);
    let error = outcome.error.unwrap();
    assert_eq!((outcome.status, error.error_class), (ResultStatus::Redacted, ErrorClass::ResultRedacted));
    assert!(error.message.contains("too personal"), "{error:?}");
    for keeping in [Keeping::AsUsual, Keeping::NeverPersist, Keeping::RefOnly] {
        let (outcome, effects) = applied(succeeded(), keep(keeping));
        assert_eq!((outcome.status, effects.keeping), (ResultStatus::Succeeded, keeping));
    }
}

#[test]
fn context_is_in_order_and_bounded() {
    let folded = Folded {
        blocks: vec![said("look")],
        additional_context: vec![said("one"), said("two")],
        stop: Some(said("enough")),
        ..Folded::default()
    };
    let (_, effects) = applied(succeeded(), folded.clone());
    assert_eq!(effects.context, ["hook `h`: look", "one", "two", "hook `h` asks to stop: enough"]);
    let long = Folded { additional_context: vec![said(&"x".repeat(9_000)); 4], ..Folded::default() };
    let (_, mut effects) = applied(succeeded(), long);
    effects.apply(&mut succeeded(), folded);
    assert_eq!(effects.context.iter().map(|text| text.chars().count()).sum::<usize>(), MAX_CONTEXT_CHARS);
}

#[test]
fn records_are_bounded_and_none_is_lost() {
    let record = ToolHook {
        schema_version: toolplane_records::schema_version(),
        hook_id: "h".to_owned(),
        hook_event: HookEvent::PostToolUse,
        invocation_id: None,
        tool_id: None,
        matcher: None,
        outputs: vec![JsonPayload::of(&"x".repeat(100_000))],
        permission_result: None,
        updated_input: None,
        additional_context: Vec::new(),
        stop: None,
        updated_output: None,
        started_at: None,
        ended_at: None,
    };
    let (_, effects) = applied(succeeded(), Folded { records: vec![record; 5], ..Folded::default() });
    assert_eq!(effects.records.len(), 5);
    let sizes: Vec<u64> = effects.records.iter().map(|record| JsonPayload::of(record).size()).collect();
    assert!(sizes.iter().sum::<u64>() < MAX_RECORDS_BYTES + 2_000, "{sizes:?}");
    assert!(effects.records[4].outputs[0].text().contains("omitted"));
}
