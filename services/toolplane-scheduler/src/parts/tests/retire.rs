//! Retention: what goes, what stays, and what is remembered.

use toolplane_records::payload::Digest;
use toolplane_store::Family;

use super::*;

fn brief(retention_ms: i64, key_window_ms: i64) -> PartsOptions {
    PartsOptions { retention_ms, key_window_ms, ..options() }
}

pub(super) async fn run_to_end(bench: &Bench, call: Ask) {
    let watch = bench.parts.watchers.watch_new(&call_key(&call.id));
    bench.admit(call).await.unwrap();
    follow(watch).await;
}

pub(super) async fn gone(bench: &Bench, id: &str) {
    let id = call_key(id);
    for _ in 0..500 {
        if matches!(bench.parts.calls.records().get(&id).await, Err(RecordError::NotFound)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{id} is still kept");
}

#[tokio::test(start_paused = true)]
async fn an_ended_call_goes_with_everything_that_belongs_to_it_and_a_living_one_stays() {
    let bench = Bench::with(Arc::new(memory()), brief(50, 0)).await;
    let _worker = bench.eager_worker("w1", 1).await;
    run_to_end(&bench, ask("inv_a")).await;
    bench.parts.workers.list()[0].drain();
    bench.admit(ask("inv_waits")).await.unwrap();
    gone(&bench, "inv_a").await;
    for family in [Family::Result, Family::Payload, Family::Decision, Family::Meta, Family::Evidence] {
        let left = bench.store.keys(family, None, 100).await.unwrap();
        let left: Vec<_> = left.into_iter().map(|(id, _)| id).filter(|id| id.contains("inv_a")).collect();
        assert_eq!(left, Vec::<String>::new(), "{family}");
    }
    let log = bench.store.events("invocation/inv_a", 1, 10).await.unwrap();
    assert_eq!(log.head_seq, 0);
    assert_eq!(bench.members("invocations/default").await, ["inv_waits"]);
    assert!(bench.parts.calls.records().get(&call_key("inv_waits")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_key_is_remembered_longer_than_its_call() {
    let bench = Bench::with(Arc::new(memory()), brief(50, 2_000)).await;
    let _worker = bench.eager_worker("w1", 1).await;
    run_to_end(&bench, ask("inv_a")).await;
    gone(&bench, "inv_a").await;
    let again = bench.admit(ask("inv_a")).await.unwrap_err();
    assert!(matches!(again, RecordError::KeyExpired { .. }), "{again}");
    let mut other = bench.admission(ask("inv_a")).await;
    other.transition.invocation.request_digest = Digest::of(b"another request");
    let reused = bench.parts.admissions.admit(other).await.unwrap_err();
    assert!(matches!(reused, RecordError::KeyReused { .. }), "{reused}");
    // When the window is over, the key is as good as new.
    for _ in 0..500 {
        match bench.admit(ask("inv_a")).await {
            Ok(Admitted::New(_)) => return,
            Err(RecordError::KeyExpired { .. }) => tokio::time::sleep(Duration::from_millis(20)).await,
            other => panic!("{other:?}"),
        }
    }
    panic!("the key was never forgotten");
}

/// A call with an id of its own and a key is met by its key, under whatever id, and as long as other calls.
#[tokio::test(start_paused = true)]
async fn the_key_of_a_call_with_an_id_of_its_own_leads_to_it() {
    let bench = Bench::with(Arc::new(memory()), brief(50, 2_000)).await;
    let _worker = bench.eager_worker("w1", 1).await;
    let with_key = |id: &str| Ask { key: Some("k".into()), ..ask(id) };
    run_to_end(&bench, with_key("inv_a")).await;
    let Admitted::Exists(known) = bench.admit(with_key("inv_b")).await.unwrap() else { panic!("ran twice") };
    assert_eq!(known.invocation_id.as_str(), "inv_a");
    bench.admit(Ask { key: Some("k2".into()), ..ask("inv_b") }).await.unwrap();
    gone(&bench, "inv_a").await;
    let again = bench.admit(with_key("inv_c")).await.unwrap_err();
    assert!(matches!(again, RecordError::KeyExpired { .. }), "{again}");
    let mut other = bench.admission(with_key("inv_c")).await;
    other.transition.invocation.request_digest = Digest::of(b"another request");
    let reused = bench.parts.admissions.admit(other).await.unwrap_err();
    assert!(matches!(reused, RecordError::KeyReused { .. }), "{reused}");
    for _ in 0..500 {
        match bench.admit(with_key("inv_c")).await {
            Ok(Admitted::New(_)) => return,
            Err(RecordError::KeyExpired { .. }) => tokio::time::sleep(Duration::from_millis(20)).await,
            other => panic!("{other:?}"),
        }
    }
    panic!("the key was never forgotten");
}

#[tokio::test(start_paused = true)]
async fn a_dated_key_older_than_the_window_is_refused_unless_its_call_is_there() {
    let bench = Bench::with(Arc::new(memory()), brief(86_400_000, 60_000)).await;
    let now = bench.parts.calls.now().await.unwrap().as_millis();
    let dated = |age_ms: i64| {
        let seconds = u64::try_from((now - age_ms) / 1000).unwrap();
        uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, 0)).to_string()
    };
    let old = bench.admit(Ask { key: Some(dated(120_000)), ..ask("inv_old") }).await.unwrap_err();
    assert!(matches!(old, RecordError::KeyExpired { .. }), "{old}");
    bench.admit(Ask { key: Some(dated(10_000)), ..ask("inv_young") }).await.unwrap();
    let known = bench.admit(Ask { key: Some(dated(120_000)), ..ask("inv_young") }).await.unwrap();
    assert!(matches!(known, Admitted::Exists(_)));
    bench.admit(Ask { key: Some("any text".into()), ..ask("inv_plain") }).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_archive_is_written_before_anything_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let objects = PayloadStore::local(folder.path(), Default::default()).unwrap();
    let options = PartsOptions { archive: true, ..brief(50, 0) };
    let bench = Bench::whole(Arc::new(memory()), objects, options).await;
    let _worker = bench.eager_worker("w1", 1).await;
    run_to_end(&bench, ask("inv_a")).await;
    gone(&bench, "inv_a").await;
    let mut lines = Vec::new();
    let days = std::fs::read_dir(folder.path().join("archive")).unwrap();
    for day in days {
        for file in std::fs::read_dir(day.unwrap().path()).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            lines.extend(text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()));
        }
    }
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["invocation"]["invocation_id"], "inv_a");
    assert_eq!(lines[0]["result"]["result"]["status"], "succeeded");
    assert_eq!(lines[0]["inputs"]["model"]["a"], 1);
    assert!(lines[0]["events"].as_array().unwrap().len() > 3);
}
