use toolplane_records::ids::{DecisionId, InvocationId};
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};

use super::*;
use crate::decide::{DecisionIds, OutputFacts, PersistencePolicy, REASON_OPTED_OUT, decide};

const LIMITS: PreviewLimits = PreviewLimits { head_bytes: 4, tail_bytes: 4 };

fn decided(policy: &PersistencePolicy, facts: OutputFacts) -> ResultPersistence {
    let ids = DecisionIds {
        decision_id: DecisionId::from_trusted("persist_1"),
        invocation_id: InvocationId::from_trusted("inv_1"),
        result_id: None,
    };
    decide(policy, &facts, ids, Timestamp::from_millis(0))
}

fn small() -> PersistencePolicy {
    PersistencePolicy { max_inline_bytes: 8, ..PersistencePolicy::default() }
}

fn kept(size_bytes: u64) -> PayloadRef {
    PayloadRef {
        uri: "toolplane://payloads/x".into(),
        media_type: "text/plain".into(),
        digest: Digest::of(b"x"),
        size_bytes,
    }
}

fn text(text: &str) -> ContentBlock {
    ContentBlock::Text { text: text.to_owned() }
}

#[track_caller]
fn check(output: &str, policy: &PersistencePolicy, payload: Option<PayloadRef>, expected: &[ContentBlock]) -> Rendered {
    let record = decided(policy, OutputFacts::of_text(output));
    let rendered = render(record, OutputBody::Text(output), &Channel::Answer, payload, LIMITS);
    assert_eq!(rendered.content, expected);
    rendered
}

#[test]
fn empty_is_said_explicitly() {
    let rendered = check("", &small(), None, &[ContentBlock::Empty]);
    assert_eq!(rendered.persistence.strategy, PersistenceStrategy::Inline);
    assert_eq!(summarize(&rendered.content, None), "no output");
    assert_eq!(model_facing(&rendered.content, &[]), [ContentBlock::Empty]);
}

#[test]
fn small_text_is_inline_even_when_a_payload_was_kept() {
    let rendered = check("12345678", &small(), Some(kept(8)), &[text("12345678")]);
    assert_eq!(rendered.persistence.persisted_ref, None);
}

#[test]
fn large_text_is_a_preview_and_a_reference() {
    let preview = "1234\n[... 2 bytes omitted ...]\n7890";
    let blocks = [text(preview), ContentBlock::PersistedOutputRef { payload: kept(10) }];
    let rendered = check("1234567890", &small(), Some(kept(10)), &blocks);
    assert_eq!(rendered.persistence.persisted_ref, Some(kept(10)));
    assert_eq!(rendered.persistence.preview_size_bytes, Some(preview.len() as u64));
    let line = |decision: ResultPersistence| {
        let kept = Decided { name: "result".to_owned(), decision };
        let ContentBlock::Text { text } = model_facing(&rendered.content, &[kept]).remove(1) else {
            panic!("not text")
        };
        text
    };
    let whole = "[the whole output, 10 bytes of text/plain, is kept at toolplane://payloads/x; read it by range]";
    assert_eq!(line(rendered.persistence.clone()), whole);
    // Of another output nothing is said here, and of a cut one that it is.
    let mut of_another = ResultPersistence { original_size_bytes: 12_345, ..rendered.persistence.clone() };
    let cut = whole.replace("the whole output, 10 bytes", "the beginning of the output, 10 of 12,345 bytes");
    assert_eq!(line(of_another.clone()), cut);
    of_another.persisted_ref.as_mut().unwrap().uri = "toolplane://payloads/y".into();
    assert_eq!(line(of_another), whole);
}

#[test]
fn a_lost_payload_is_told_and_not_a_failure() {
    let record = decided(&small(), OutputFacts::of_text("1234567890"));
    let rendered = render(record, OutputBody::Text("1234567890"), &Channel::Answer, None, LIMITS);
    assert_eq!(rendered.persistence.strategy, PersistenceStrategy::DropWithReason);
    assert_eq!(rendered.persistence.reason, REASON_STORE_FAILED);
    let ContentBlock::Text { text } = &rendered.content[0] else { panic!("not text") };
    assert!(text.starts_with("1234\n[... 2 bytes omitted ...]\n7890\n") && text.contains("not kept"), "{text}");
}

#[test]
fn an_opted_out_tool_keeps_no_reference() {
    let policy = PersistencePolicy { never_persist: true, ..small() };
    let record = decided(&policy, OutputFacts::of_text("1234567890"));
    let rendered = render(record, OutputBody::Text("1234567890"), &Channel::Answer, Some(kept(10)), LIMITS);
    assert_eq!(rendered.persistence.strategy, PersistenceStrategy::NeverPersist);
    assert_eq!(rendered.persistence.reason, REASON_OPTED_OUT);
    assert_eq!(rendered.persistence.persisted_ref, None);
    assert_eq!(rendered.content.len(), 1);
}

#[test]
fn binary_output_is_only_a_reference_and_logs_stay_logs() {
    let record = decided(&small(), OutputFacts { bytes: 3, chars: None, legible: false });
    let rendered = render(record, OutputBody::Binary, &Channel::Answer, Some(kept(3)), LIMITS);
    assert_eq!(rendered.content, [ContentBlock::PersistedOutputRef { payload: kept(3) }]);
    assert_eq!(summarize(&rendered.content, None), "3 bytes kept");

    let record = decided(&small(), OutputFacts::of_text("oops"));
    let rendered = render(record, OutputBody::Text("oops"), &Channel::Log("stderr".to_owned()), None, LIMITS);
    assert_eq!(rendered.content, [ContentBlock::Log { text: "oops".to_owned(), stream: "stderr".to_owned() }]);
}

#[test]
fn the_summary_is_one_short_line() {
    assert_eq!(summarize(&[text("\n  first   line \nsecond")], None), "first line");
    let long = "word ".repeat(100);
    let summary = summarize(&[text(&long)], None);
    assert_eq!(summary.chars().count(), MAX_SUMMARY_CHARS);
    let with_ref = [text(&long), ContentBlock::PersistedOutputRef { payload: kept(123_456) }];
    let summary = summarize(&with_ref, None);
    assert!(summary.ends_with("(123,456 bytes kept)") && summary.chars().count() <= MAX_SUMMARY_CHARS, "{summary}");
    let error = ToolError::new(
        toolplane_records::codes::EXIT_CODE,
        ErrorClass::ExecutionFailed,
        Recoverability::ALL[0],
        "exit code 1",
    );
    assert_eq!(summarize(&with_ref, Some(&error)), "exec.exit_code: exit code 1");
}

#[test]
fn a_view_says_that_it_is_one() {
    let record = decided(&small(), OutputFacts { bytes: 5, chars: None, legible: true });
    let rendered = render(record, OutputBody::View("caf\u{fffd}\n"), &Channel::Answer, None, PreviewLimits::default());
    let [ContentBlock::Text { text }] = rendered.content.as_slice() else { panic!("{:?}", rendered.content) };
    assert!(text.starts_with("caf\u{fffd}\n[this is a view") && text.contains("was not kept"), "{text}");
}
