use super::*;

fn ids() -> DecisionIds {
    DecisionIds {
        decision_id: DecisionId::from_trusted("persist_1"),
        invocation_id: InvocationId::from_trusted("inv_1"),
        result_id: None,
    }
}

#[track_caller]
fn check(policy: PersistencePolicy, bytes: u64, chars: Option<u64>, expected: (PersistenceStrategy, &str)) {
    let record =
        decide(&policy, &OutputFacts { bytes, chars, legible: chars.is_some() }, ids(), Timestamp::from_millis(7));
    assert_eq!((record.strategy, record.reason.as_str()), expected, "{bytes} bytes, {chars:?} chars under {policy:?}");
    assert_eq!(record.original_size_bytes, bytes);
    assert_eq!(record.redaction_state, Some(RedactionState::None));
    assert_eq!(record.created_at.as_millis(), 7);
}

fn policy() -> PersistencePolicy {
    PersistencePolicy { max_inline_bytes: 10, max_persist_bytes: 100, ..PersistencePolicy::default() }
}

#[test]
fn both_inline_bounds_must_hold() {
    check(policy(), 10, Some(10), (PersistenceStrategy::Inline, REASON_FITS));
    check(policy(), 11, Some(5), (PersistenceStrategy::PreviewAndPersist, REASON_LARGE));
    let short = PersistencePolicy { max_inline_chars: Some(3), ..policy() };
    check(short.clone(), 9, Some(3), (PersistenceStrategy::Inline, REASON_FITS));
    check(short, 9, Some(4), (PersistenceStrategy::PreviewAndPersist, REASON_LARGE));
}

#[test]
fn nothing_is_inline_whatever_the_policy_says() {
    check(policy(), 0, Some(0), (PersistenceStrategy::Inline, REASON_FITS));
    check(PersistencePolicy { never_persist: true, ..policy() }, 0, None, (PersistenceStrategy::Inline, REASON_FITS));
}

#[test]
fn large_output_is_previewed_or_only_named() {
    let only_named = PersistencePolicy { large: LargeOutput::RefOnly, max_inline_bytes: 0, ..policy() };
    check(only_named.clone(), 0, None, (PersistenceStrategy::RefOnly, REASON_BINARY));
    let never = PersistencePolicy { never_persist: true, ..only_named };
    check(never, 0, None, (PersistenceStrategy::NeverPersist, REASON_OPTED_OUT));
    check(
        PersistencePolicy { large: LargeOutput::RefOnly, ..policy() },
        50,
        Some(50),
        (PersistenceStrategy::RefOnly, REASON_LARGE),
    );
    check(policy(), 5, None, (PersistenceStrategy::RefOnly, REASON_BINARY));
}

#[test]
fn bytes_that_are_not_text_are_kept_however_few_they_are() {
    for (bytes, strategy, reason) in [
        (&b"caf\xe9 is closed today\n"[..], PersistenceStrategy::PreviewAndPersist, REASON_NOT_TEXT),
        (&b"\x7fELF\0\xff"[..], PersistenceStrategy::RefOnly, REASON_BINARY),
        (&b"\xff\xfe\xfd"[..], PersistenceStrategy::RefOnly, REASON_BINARY),
        ("caf\u{e9}".as_bytes(), PersistenceStrategy::Inline, REASON_FITS),
    ] {
        let facts = OutputFacts::of_bytes(bytes, bytes.len() as u64);
        let record = decide(&PersistencePolicy::default(), &facts, ids(), Timestamp::from_millis(7));
        assert_eq!((record.strategy, record.reason.as_str()), (strategy, reason), "{bytes:?}");
    }
}

#[test]
fn an_opted_out_tool_is_never_kept() {
    let opted_out = PersistencePolicy { never_persist: true, ..policy() };
    check(opted_out.clone(), 10, Some(10), (PersistenceStrategy::Inline, REASON_FITS));
    check(opted_out.clone(), 11, Some(11), (PersistenceStrategy::NeverPersist, REASON_OPTED_OUT));
    check(opted_out, 1000, None, (PersistenceStrategy::NeverPersist, REASON_OPTED_OUT));
}

#[test]
fn what_the_store_may_not_keep_is_dropped_with_a_reason() {
    check(policy(), 100, Some(100), (PersistenceStrategy::PreviewAndPersist, REASON_LARGE));
    check(policy(), 101, Some(101), (PersistenceStrategy::DropWithReason, REASON_TOO_LARGE));
    check(policy(), 101, None, (PersistenceStrategy::DropWithReason, REASON_TOO_LARGE));
}
