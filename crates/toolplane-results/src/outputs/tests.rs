use std::sync::{Arc, Mutex};

use bytes::Bytes;
use toolplane_records::ids::{DecisionId, InvocationId};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::PersistenceStrategy;

use super::*;
use crate::decide::{self, DecisionIds};
use crate::preview::{PreviewLimits, Sampler};

/// Keeps what it is given in memory, or refuses it.
#[derive(Debug, Default)]
struct Shelf {
    refuses: bool,
    kept: Mutex<Vec<(String, Bytes)>>,
}

impl Keep for &Shelf {
    async fn keep(&self, name: &str, media_type: &str, body: Body) -> Option<PayloadRef> {
        let bytes = match body {
            Body::Held(bytes) => bytes,
            Body::File(file) => std::fs::read(&file.path).unwrap().into(),
        };
        if self.refuses {
            return None;
        }
        let (uri, media_type) = (format!("test:{name}").into(), media_type.into());
        let payload = PayloadRef { uri, media_type, digest: Digest::of(&bytes), size_bytes: bytes.len() as u64 };
        self.kept.lock().expect("nobody panics with it").push((name.to_owned(), bytes));
        Some(payload)
    }
}

fn ids() -> DecisionIds {
    DecisionIds {
        decision_id: DecisionId::from_trusted("persist_1"),
        invocation_id: InvocationId::from_trusted("inv_1"),
        result_id: None,
    }
}

fn keeper(shelf: &Shelf, all_bytes: u64, handling: Handling) -> Keeper<&Shelf> {
    let bounds = OutputBounds { one_bytes: 100, one_chars: None, all_bytes, max_persist_bytes: 1_000 };
    Keeper::new(shelf, ids(), bounds, handling, Timestamp::from_millis(7))
}

fn text(length: usize) -> ContentBlock {
    ContentBlock::Text { text: "x".repeat(length) }
}

fn strategies(outputs: &Outputs) -> Vec<(&str, PersistenceStrategy)> {
    outputs.decided.iter().map(|decided| (decided.name.as_str(), decided.decision.strategy)).collect()
}

#[tokio::test]
async fn outputs_of_one_ending_share_one_bound() {
    let shelf = Shelf::default();
    let mut keeper = keeper(&shelf, 150, Handling::default());
    for _ in 0..3 {
        keeper.show(text(80), None).await;
    }
    let outputs = keeper.finish();
    // The first is whole; what is left is too little for the others.
    assert_eq!(outputs.content[0], text(80));
    let expected =
        [("result", PersistenceStrategy::PreviewAndPersist), ("result-2", PersistenceStrategy::PreviewAndPersist)];
    assert_eq!(strategies(&outputs), expected);
    assert_eq!(outputs.loss, None);
}

#[tokio::test]
async fn a_view_is_shown_and_its_bytes_are_kept_however_few() {
    let shelf = Shelf::default();
    let mut keeper = keeper(&shelf, 150, Handling::default());
    let bytes = Bytes::from_static(b"caf\xe9");
    let whole = Whole {
        media_type: "application/octet-stream".to_owned(),
        body: Body::Held(bytes.clone()),
        end: None,
        total_bytes: 4,
        is_shown: false,
    };
    keeper.show(ContentBlock::Text { text: "caf\u{FFFD}".to_owned() }, Some(whole)).await;
    let outputs = keeper.finish();
    assert_eq!(*shelf.kept.lock().unwrap(), [("result".to_owned(), bytes)]);
    assert_eq!(outputs.decided[0].decision.original_size_bytes, 4);
    let ContentBlock::Text { text } = &outputs.content[0] else { panic!("{:?}", outputs.content) };
    assert!(text.starts_with("caf\u{FFFD}"), "{text}");
}

#[tokio::test]
async fn what_is_not_kept_makes_a_success_a_partial_one() {
    let lost = async |refuses, length| {
        let shelf = Shelf { refuses, ..Shelf::default() };
        let mut keeper = keeper(&shelf, 150, Handling::default());
        keeper.show(text(length), None).await;
        keeper.finish().loss.map(|loss| loss.ending().0)
    };
    assert_eq!(lost(false, 500).await, None);
    assert_eq!(lost(true, 500).await, Some(ResultStatus::PartialSucceeded));
    assert_eq!(lost(false, 1_001).await, Some(ResultStatus::TooLarge));
}

#[tokio::test]
async fn structured_content_is_shown_in_whole_or_not_at_all() {
    let shelf = Shelf::default();
    let value = JsonPayload::of(&serde_json::json!({"a": 1}));
    let mut keeper = keeper(&shelf, 150, Handling::default());
    assert_eq!(keeper.structured(value.clone(), false).await, Some(value.clone()));
    assert_eq!(keeper.structured(value, true).await, None);
    let outputs = keeper.finish();
    assert!(matches!(outputs.content[..], [ContentBlock::PersistedOutputRef { .. }]), "{:?}", outputs.content);
    assert_eq!(strategies(&outputs), [(STRUCTURED, PersistenceStrategy::RefOnly)]);
}

#[tokio::test]
async fn what_somebody_says_of_all_outputs_holds() {
    let shelf = Shelf::default();
    let by_reference = Handling { by_reference: true, reason: Some("said"), ..Handling::default() };
    let mut referred = keeper(&shelf, 150, by_reference);
    referred.show(text(10), None).await;
    let outputs = referred.finish();
    assert!(matches!(outputs.content[..], [ContentBlock::PersistedOutputRef { .. }]), "{:?}", outputs.content);
    assert_eq!(outputs.decided[0].decision.reason, "said");

    let shelf = Shelf::default();
    let mut shown = keeper(&shelf, 150, Handling { never_persist: true, ..Handling::default() });
    shown.show(text(500), None).await;
    assert_eq!(strategies(&shown.finish()), [("result", PersistenceStrategy::NeverPersist)]);
    assert!(shelf.kept.lock().unwrap().is_empty());
}

fn bytes(media_type: &str, bytes: &'static [u8]) -> Whole {
    let total_bytes = bytes.len() as u64;
    let bytes = Bytes::from_static(bytes);
    Whole { media_type: media_type.to_owned(), body: Body::Held(bytes), end: None, total_bytes, is_shown: false }
}

#[tokio::test]
async fn a_picture_is_one_and_the_text_stands_for_it_where_it_is_not_kept() {
    let said = ContentBlock::Text { text: "[image: image/png, 3 bytes]".to_owned() };
    let shelf = Shelf::default();
    let mut keeper_of = keeper(&shelf, 150, Handling::default());
    for media_type in ["image/png", "audio/wav", "video/mp4", "application/zip", "application/x-unknown"] {
        keeper_of.show(said.clone(), Some(bytes(media_type, b"\x89PN"))).await;
    }
    let kinds: Vec<&str> = keeper_of.finish().content.iter().map(kind).collect();
    assert_eq!(kinds, ["image", "audio", "video", "file", "persisted_output_ref"]);
    let refuses = Shelf { refuses: true, ..Shelf::default() };
    let mut keeper = keeper(&refuses, 150, Handling::default());
    keeper.show(said.clone(), Some(bytes("image/png", b"\x89PN"))).await;
    let outputs = keeper.finish();
    assert_eq!(outputs.content, [said]);
    assert!(outputs.loss.is_some(), "a picture that is not kept is lost");
}

#[tokio::test]
async fn a_file_that_was_left_is_named_and_lost_where_it_is_not_kept() {
    let shelf = Shelf::default();
    let mut keeper_of = keeper(&shelf, 150, Handling::default());
    keeper_of.artifact("out/a.csv", &bytes("text/csv", b"a,b")).await;
    let outputs = keeper_of.finish();
    let [ContentBlock::ArtifactRef { artifact }] = &outputs.content[..] else { panic!("{:?}", outputs.content) };
    let kept = artifact.payload.as_ref().unwrap();
    assert_eq!((artifact.artifact_id.as_str(), artifact.media_type.as_str()), ("out/a.csv", "text/csv"));
    assert_eq!((artifact.uri.as_str(), artifact.digest, kept.size_bytes), (&*kept.uri, Some(kept.digest), 3));
    assert_eq!(
        (outputs.decided[0].name.as_str(), &*outputs.decided[0].decision.reason),
        ("artifact", "artifact_of_tool")
    );
    let refuses = Shelf { refuses: true, ..Shelf::default() };
    let mut keeper = keeper(&refuses, 150, Handling::default());
    keeper.artifact("out/a.csv", &bytes("text/csv", b"a,b")).await;
    let outputs = keeper.finish();
    assert!(outputs.content.is_empty() && outputs.loss.is_some(), "{outputs:?}");
}

#[tokio::test]
async fn a_resource_is_shown_where_it_is_small_and_kept_where_it_is_not() {
    let resource = |text: Option<String>, payload| ContentBlock::EmbeddedResource {
        uri: "test://a".to_owned(),
        media_type: "text/plain".to_owned(),
        text,
        payload,
    };
    let shelf = Shelf::default();
    let mut keeper = keeper(&shelf, 150, Handling::default());
    keeper.show(resource(Some("small".to_owned()), None), None).await;
    keeper.show(resource(Some("x".repeat(200)), None), None).await;
    keeper.show(resource(None, None), Some(bytes("application/zip", b"PK"))).await;
    let outputs = keeper.finish();
    assert_eq!(outputs.content[0], resource(Some("small".to_owned()), None));
    for (block, size) in outputs.content[1..].iter().zip([200, 2]) {
        assert_eq!((block.text(), block.payload().map(|kept| kept.size_bytes)), (None, Some(size)));
    }
    assert_eq!(outputs.loss, None);
}

#[tokio::test]
async fn a_diff_is_shown_without_its_texts_where_there_is_no_room_for_them() {
    let shelf = Shelf::default();
    let diff = |text: Option<String>| ContentBlock::Diff {
        text: "+a".to_owned(),
        path: "a".to_owned(),
        lines: vec![1],
        old_text: None,
        new_text: text,
    };
    let mut keeper = keeper(&shelf, 100, Handling::default());
    keeper.show(diff(Some("a".repeat(50))), None).await;
    keeper.show(diff(Some("a".repeat(99))), None).await;
    assert_eq!(keeper.finish().content, [diff(Some("a".repeat(50))), diff(None)]);
}

fn kind(block: &ContentBlock) -> &'static str {
    match block {
        ContentBlock::Text { .. } => "text",
        ContentBlock::Image { .. } => "image",
        ContentBlock::Audio { .. } => "audio",
        ContentBlock::Video { .. } => "video",
        ContentBlock::File { .. } => "file",
        ContentBlock::PersistedOutputRef { .. } => "persisted_output_ref",
        _ => "other",
    }
}

#[tokio::test]
async fn an_output_on_disk_is_shown_by_its_two_ends_and_kept_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    let lines: String = (0..400_000).map(|line| format!("line {line}\n")).collect();
    std::fs::write(&path, &lines).unwrap();
    let mut sample = Sampler::new(PreviewLimits::default());
    lines.as_bytes().chunks(4_099).for_each(|piece| sample.push(piece));
    let (digest, size_bytes) = (Digest::of(lines.as_bytes()), lines.len() as u64);
    let on_disk = Arc::new(OutputOnDisk { path, size_bytes, digest, sample });
    let whole = Whole {
        media_type: "text/plain; charset=utf-8".to_owned(),
        body: Body::File(on_disk),
        end: None,
        total_bytes: size_bytes,
        is_shown: false,
    };
    let shelf = Shelf::default();
    let bounds = OutputBounds { one_bytes: 1_000, one_chars: None, all_bytes: 1_000, max_persist_bytes: 1 << 30 };
    let mut keeper = Keeper::new(&shelf, ids(), bounds, Handling::default(), Timestamp::default());
    // The text that comes with it knows of no more than what was in memory.
    keeper.show(ContentBlock::Text { text: "line 0\n[... left out ...]\nline 399999\n".to_owned() }, Some(whole)).await;
    let outputs = keeper.finish();
    let decision = &outputs.decided[0].decision;
    assert_eq!((decision.strategy, decision.original_size_bytes), (PersistenceStrategy::PreviewAndPersist, size_bytes));
    assert_eq!(decision.reason, decide::REASON_LARGE);
    let ContentBlock::Text { text } = &outputs.content[0] else { panic!("{:?}", outputs.content) };
    assert!(text.starts_with("line 0\n") && text.ends_with("line 399999\n") && text.len() <= 600, "{text}");
    let (head, rest) = text.split_once("[... ").unwrap();
    let (omitted, tail) = rest.split_once(" bytes").unwrap();
    let tail = tail.split_once("...]\n").unwrap().1;
    assert_eq!(omitted.replace(',', "").parse::<usize>().unwrap(), lines.len() - head.len() - tail.len());
    assert_eq!(shelf.kept.lock().unwrap()[0].1, lines.as_bytes());
}
