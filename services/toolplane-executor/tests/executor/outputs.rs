//! Outputs too large for a report.

use std::sync::atomic::Ordering;

use toolplane_proto::v1::content_block::Block;
use toolplane_proto::v1::{ExecutionOutcome, PersistenceStrategy};
use toolplane_records::payload::Digest;

use crate::calls::texts;
use crate::fake::{Fake, MAX_INLINE};
use crate::worker::{Call, Worker, toolbox};

/// About 230 KB of lines: far more than is shown, and less than the sandbox keeps.
const MANY_LINES: &str = "seq 1 40000";

async fn run(fake: &mut Fake, call: Call) -> ExecutionOutcome {
    let _worker = Worker::start(&fake.url).await;
    let mut connection = fake.connection().await;
    let (lease, offer) = call.offer("large");
    connection.send(offer);
    connection.done(&lease).await
}

fn whole() -> String {
    (1..=40_000).map(|number| format!("{number}\n")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_output_is_kept_before_it_is_reported() {
    let mut fake = Fake::start().await;
    // The first try fails: it must be repeated, not given up.
    fake.uploads.failures.store(1, Ordering::SeqCst);
    let outcome = run(&mut fake, Call::shell(MANY_LINES)).await;
    assert_eq!((outcome.status.as_str(), outcome.error), ("succeeded", None));
    let kept = fake.uploads.kept.lock().unwrap().get("result").cloned().expect("uploaded before the report");
    assert_eq!(kept, whole().as_bytes());

    let persisted = outcome.persisted.iter().find(|output| output.name == "result").expect("the decision is told");
    assert_eq!(persisted.strategy(), PersistenceStrategy::PreviewAndPersist);
    assert_eq!(persisted.original_size_bytes, kept.len() as u64);
    let payload = persisted.payload.clone().expect("it says where");
    assert_eq!(payload.digest, Digest::of(&kept).to_string());
    let refers = |block: &Block| matches!(block, Block::PersistedOutputRef(kept) if *kept == payload);
    assert!(outcome.content.iter().filter_map(|block| block.block.as_ref()).any(refers));
    let preview = texts(&outcome.content).concat();
    assert!(preview.starts_with("1\n2\n") && preview.trim_end().ends_with("40000"), "{preview}");
    assert!(preview.contains("omitted") && preview.len() as u64 <= MAX_INLINE);
    assert!(texts(&outcome.model_facing_content).concat().contains(&payload.uri), "the model is told where");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_kept_makes_a_success_partial_never_a_failure() {
    let mut fake = Fake::start().await;
    fake.uploads.refuse.store(true, Ordering::SeqCst);
    let outcome = run(&mut fake, Call::shell(MANY_LINES)).await;
    assert_eq!((outcome.status.as_str(), outcome.is_error), ("partial_succeeded", false));
    let error = outcome.error.expect("it says what is missing");
    assert_eq!((error.error_code.as_str(), error.error_class.as_str()), ("result.not_kept", "partial_failure"));
    assert!(error.message.contains(&Digest::of(whole().as_bytes()).to_string()), "{}", error.message);
    let lost = &outcome.persisted[0];
    assert_eq!((lost.strategy(), lost.payload.as_ref()), (PersistenceStrategy::DropWithReason, None));
    assert!(texts(&outcome.content).concat().starts_with("1\n2\n"), "a preview is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_stays_away_is_waited_for_only_so_long() {
    let mut fake = Fake::start().await;
    fake.uploads.failures.store(u32::MAX, Ordering::SeqCst);
    let worker = Worker::start_with(&fake.url, toolbox().await, |options| {
        options.persist_timeout = std::time::Duration::from_millis(1);
    });
    let mut connection = fake.connection().await;
    let (lease, offer) = Call::shell(MANY_LINES).offer("away");
    connection.send(offer);
    let outcome = connection.done(&lease).await;
    assert_eq!((outcome.status.as_str(), outcome.is_error), ("partial_succeeded", false));
    let tried = u32::MAX - fake.uploads.failures.load(Ordering::SeqCst);
    assert!(tried > 2, "{tried} tries");
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_structured_content_is_kept_whole_or_not_shown() {
    let mut fake = Fake::start().await;
    let input = serde_json::json!({ "text": "x".repeat(6000) }).to_string();
    let outcome = run(&mut fake, Call::native("native.echo", &input)).await;
    assert_eq!((outcome.status.as_str(), outcome.structured_content), ("succeeded", None));
    assert_eq!(fake.uploads.kept.lock().unwrap()["structured_content"], input.as_bytes());
    let names: Vec<_> = outcome.persisted.iter().map(|output| output.name.as_str()).collect();
    assert_eq!(names, ["result", "structured_content"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_are_kept_as_the_tool_gave_them() {
    let mut fake = Fake::start().await;
    let script = "head -c 100000 /dev/urandom | tee bytes; cksum < bytes > sum";
    let outcome = run(&mut fake, Call::shell(&format!("{script}; printf 'caf\\351\\n' >&2"))).await;
    assert_eq!((outcome.status.as_str(), outcome.error), ("succeeded", None));
    let kept = fake.uploads.kept.lock().unwrap().clone();
    assert_eq!((kept["result"].len(), &kept["stderr"][..]), (100_000, &b"caf\xe9\n"[..]));
    let of = |name: &str| outcome.persisted.iter().find(|output| output.name == name).unwrap();
    assert_eq!((of("result").strategy(), of("result").original_size_bytes), (PersistenceStrategy::RefOnly, 100_000));
    assert_eq!(of("stderr").strategy(), PersistenceStrategy::PreviewAndPersist);
    let payload = of("result").payload.clone().unwrap();
    assert_eq!((payload.digest, payload.size_bytes), (Digest::of(&kept["result"]).to_string(), 100_000));
    let log = outcome.content.iter().find_map(|block| match &block.block {
        Some(Block::Log(log)) => Some(log.text.clone()),
        _ => None,
    });
    let shown = log.unwrap_or_default();
    assert!(shown.contains("caf\u{fffd}") && shown.contains("this is a view"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_of_too_much_output_is_what_the_tool_gave() {
    let mut fake = Fake::start().await;
    let call = Call::shell("seq 1 4000000").change(|dispatch| {
        let limits = toolplane_proto::v1::OutputLimits { max_output_bytes: Some(20 << 20), ..Default::default() };
        dispatch.output_limits = Some(limits);
    });
    let outcome = run(&mut fake, call).await;
    assert_eq!(outcome.status, "too_large");
    let kept = fake.uploads.kept.lock().unwrap().clone();
    let whole: String = (1..=4_000_000).map(|number| format!("{number}\n")).collect();
    assert_eq!(kept["result"], whole.as_bytes()[..kept["result"].len()], "its beginning");
    let end = String::from_utf8(kept["result-end"].clone().into()).unwrap();
    assert!(whole.contains(&end), "and a later part, without a word in between");
    let files = outcome.content.iter().filter(|block| matches!(block.block, Some(Block::File(_)))).count();
    assert_eq!(files, 1);
}
