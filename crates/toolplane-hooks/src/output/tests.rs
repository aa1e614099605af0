use proptest::prelude::*;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{Behavior, HookEvent, PersistenceStrategy};

use super::{HookOutput, read, refused};
use crate::bounds::{MAX_ANSWER_BYTES, MAX_TEXT_CHARS};

const PRE: HookEvent = HookEvent::PreToolUse;
const POST: HookEvent = HookEvent::PostToolUse;

#[track_caller]
fn said(event: HookEvent, text: &str) -> HookOutput {
    read(event, text.as_bytes()).unwrap()
}

#[track_caller]
fn fails(event: HookEvent, text: &str) -> &'static str {
    read(event, text.as_bytes()).unwrap_err().code()
}

fn hint(output: &HookOutput) -> Option<(Behavior, &str)> {
    output.permission.as_ref().map(|hint| (hint.behavior, hint.message.as_str()))
}

#[test]
fn nothing_text_and_what_cannot_be_read() {
    assert_eq!(said(PRE, " \n"), HookOutput::default());
    assert_eq!(said(PRE, "{}"), HookOutput::default());
    assert_eq!(said(POST, "two\nlines\n").additional_context, ["two\nlines"]);
    for bad in ["{", "{]", r#"{"continue":false"#, r#"{"a":1,"a":2}"#, "{} {}"] {
        assert_eq!(fails(PRE, bad), "hooks.bad_answer", "{bad}");
    }
    assert_eq!(read(PRE, b"\xff").unwrap_err().code(), "hooks.bad_answer");
    assert_eq!(fails(PRE, &"x".repeat(MAX_ANSWER_BYTES + 1)), "hooks.answer_too_large");
    assert_eq!(fails(PRE, &format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100))), "hooks.bad_answer");
}

#[test]
fn permission_decisions_in_every_spelling() {
    for (word, behavior) in
        [("allow", Behavior::Allow), ("deny", Behavior::Deny), ("ask", Behavior::Ask), ("defer", Behavior::Ask)]
    {
        let text = format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{word}",
                "permissionDecisionReason":"because"}}}}"#
        );
        assert_eq!(hint(&said(PRE, &text)), Some((behavior, "because")), "{word}");
    }
    assert_eq!(hint(&said(PRE, r#"{"decision":"block","reason":"no"}"#)), Some((Behavior::Deny, "no")));
    assert_eq!(hint(&said(PRE, r#"{"decision":"approve"}"#)), Some((Behavior::Allow, "")));
    let flat = r#"{"permission_result":{"behavior":"ask","message":"sure?"}}"#;
    assert_eq!(hint(&said(PRE, flat)), Some((Behavior::Ask, "sure?")));
    // Two words in one answer: the stricter one.
    let both = r#"{"decision":"approve","permission_result":{"behavior":"deny"},
        "hookSpecificOutput":{"permissionDecision":"ask"}}"#;
    assert_eq!(hint(&said(PRE, both)), Some((Behavior::Deny, "")));
    for bad in [
        r#"{"decision":"maybe"}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"yes"}}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":true}}"#,
        r#"{"hookSpecificOutput":[]}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse"}}"#,
        r#"{"permission_result":{"behavior":"perhaps"}}"#,
        r#"{"continue":"no"}"#,
    ] {
        assert_eq!(fails(PRE, bad), "hooks.bad_answer", "{bad}");
    }
}

#[test]
fn stops_inputs_and_context() {
    let stop = said(PRE, r#"{"continue":false,"stopReason":"enough","suppressOutput":true,"systemMessage":"hm"}"#);
    assert_eq!((stop.stop.unwrap().reason.as_str(), stop.messages), ("enough", vec!["hm".to_owned()]));
    assert!(said(PRE, r#"{"continue":true,"stopReason":"x"}"#).stop.is_none());
    assert_eq!(said(PRE, r#"{"stop":{"reason":"r"}}"#).stop.unwrap().reason, "r");
    let input =
        said(PRE, r#"{"hookSpecificOutput":{"updatedInput":{"n":123456789012345678901},"additionalContext":"see"}}"#);
    assert_eq!(input.updated_input.unwrap().text(), r#"{"n":123456789012345678901}"#);
    assert_eq!(input.additional_context, ["see"]);
    let flat =
        said(PRE, r#"{"updated_input":{"a":1},"additional_context":["x",{"text":"y"},{"z":1}],"progress":["p"]}"#);
    assert_eq!(flat.additional_context, ["x", "y", r#"{"z":1}"#]);
    assert_eq!((flat.updated_input.unwrap().text(), flat.progress), (r#"{"a":1}"#, vec!["p".to_owned()]));
}

#[test]
fn answers_to_permission_requests() {
    let event = HookEvent::PermissionRequest;
    let allow = said(
        event,
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow",
            "updatedInput":{"a":2},"updatedPermissions":[{"type":"addRules"}]}}}"#,
    );
    assert_eq!(hint(&allow), Some((Behavior::Allow, "")));
    assert_eq!(allow.updated_input.unwrap().text(), r#"{"a":2}"#);
    assert!(allow.notes[0].contains("updatedPermissions"), "{:?}", allow.notes);
    let deny = r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"no","interrupt":true}}}"#;
    let deny = said(event, deny);
    assert_eq!((hint(&deny), deny.stop.as_ref().unwrap().reason.as_str()), (Some((Behavior::Deny, "no")), "no"));
}

#[test]
fn outputs_after_the_call() {
    let text = |text: &str| vec![ContentBlock::Text { text: text.to_owned() }];
    for key in ["updatedToolOutput", "updatedMCPToolOutput"] {
        let said = said(POST, &format!(r#"{{"hookSpecificOutput":{{"{key}":"clean"}}}}"#));
        assert_eq!(said.updated_output.unwrap().content, text("clean"), "{key}");
    }
    assert_eq!(said(POST, r#"{"updated_output":"clean"}"#).updated_output.unwrap().content, text("clean"));
    let block = said(POST, r#"{"decision":"block","reason":"look again"}"#);
    assert_eq!((block.block.as_deref(), block.permission), (Some("look again"), None));
    assert_eq!(fails(POST, r#"{"updated_output":{"content":[{"type":"image"}]}}"#), "hooks.bad_answer");
    let event = HookEvent::ResultPersistence;
    let kept = said(event, r#"{"persistence":"ref_only"}"#);
    assert_eq!(kept.persistence, Some(PersistenceStrategy::RefOnly));
    let dropped = said(event, r#"{"decision":"block","reason":"secret"}"#);
    assert_eq!(dropped.persistence, Some(PersistenceStrategy::DropWithReason));
    assert_eq!(fails(event, r#"{"persistence":"everything"}"#), "hooks.bad_answer");
}

#[test]
fn classifiers_say_how_sure_they_are() {
    let said =
        said(PRE, r#"{"classifier":{"classifier_ref":"c1","confidence":0.25,"behavior":"deny","reason":"odd"}}"#);
    let classified = said.classifier.unwrap();
    assert_eq!((classified.behavior, classified.pending), (Some(Behavior::Deny), false));
    assert_eq!(classified.confidence.unwrap().get(), 0.25);
    for bad in
        [r#"{"classifier":{"confidence":1.5}}"#, r#"{"classifier":{"confidence":"high"}}"#, r#"{"classifier":1}"#]
    {
        assert_eq!(fails(PRE, bad), "hooks.bad_answer", "{bad}");
    }
}

#[test]
fn what_does_nothing_here_is_noted_and_changes_nothing() {
    let late = said(POST, r#"{"updated_input":{},"permission_result":{"behavior":"deny"},"persistence":"redact"}"#);
    assert!(late.updated_input.is_none() && late.permission.is_none() && late.persistence.is_none());
    assert_eq!(late.notes.len(), 3, "{:?}", late.notes);
    let early = said(PRE, r#"{"updated_output":"x","block":"y","surprise":1,"hookSpecificOutput":{"more":2}}"#);
    assert!(early.updated_output.is_none() && early.block.is_none());
    assert_eq!(early.notes.len(), 4, "{:?}", early.notes);
    assert!(early.notes.iter().all(|note| !note.contains('x') && !note.contains('1')), "{:?}", early.notes);
}

#[test]
fn exit_code_two_is_a_refusal_with_a_reason() {
    assert_eq!(hint(&refused(PRE, b" rm is not for you \n")), Some((Behavior::Deny, "rm is not for you")));
    assert_eq!(hint(&refused(HookEvent::PermissionDecision, b"")), Some((Behavior::Deny, "refused without a reason")));
    assert_eq!(refused(POST, b"no").block.as_deref(), Some("no"));
    let kept = refused(HookEvent::ResultPersistence, b"no");
    assert_eq!(kept.persistence, Some(PersistenceStrategy::DropWithReason));
    let long = refused(PRE, "ä".repeat(50_000).as_bytes());
    assert_eq!(long.permission.unwrap().message.chars().count(), MAX_TEXT_CHARS);
}

#[test]
fn context_is_bounded_in_all() {
    let many = vec!["x".repeat(4_000); 5];
    let text =
        serde_json::json!({ "additional_context": many, "message": many, "progress": vec!["p"; 500] }).to_string();
    let said = said(PRE, &text);
    assert_eq!(said.additional_context.iter().map(|text| text.chars().count()).sum::<usize>(), MAX_TEXT_CHARS);
    assert_eq!(said.messages.iter().map(|text| text.chars().count()).sum::<usize>(), MAX_TEXT_CHARS);
    assert_eq!(said.progress.len(), 100);
}

proptest! {
    #[test]
    fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "\\{[\"a-z:{}\\[\\],0-9]{0,80}") {
        for event in HookEvent::ALL {
            let _ = read(*event, &bytes);
            let _ = read(*event, text.as_bytes());
            let _ = refused(*event, &bytes);
        }
    }
}
