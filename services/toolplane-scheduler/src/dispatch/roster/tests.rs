//! What schedulers that share a store know of each other's workers.

use tokio::sync::mpsc;
use toolplane_store::MemoryStore;

use super::*;
use crate::environment::Environment;

fn link(worker: &str, incarnation: &str, at: i64) -> WorkerLink {
    let info = WorkerInfo {
        image: String::new(),
        credentials: None,
        worker_id: WorkerId::from_trusted(worker),
        incarnation: incarnation.into(),
        version: "1".to_owned(),
        slots: 4,
        pools: vec!["shell".to_owned()],
        native_tools: Vec::new(),
        gaps: Vec::new(),
        posture: None,
        connected_at: Timestamp::from_millis(at),
        actor: None,
    };
    WorkerLink::new(info, mpsc::unbounded_channel().0)
}

/// The workers, each with whether it is lost where only `living` lives.
async fn known(roster: &Roster, living: &[&str]) -> Vec<(String, bool, i64)> {
    let all = roster.all().await.unwrap();
    let told = |one: RecordedWorker| {
        (one.info.worker_id.to_string(), one.is_lost(|name| living.contains(&name)), one.seen_at.as_millis())
    };
    all.into_iter().map(told).collect()
}

fn rosters() -> (Roster, Roster) {
    let store = Storage::new(Arc::new(MemoryStore::default()), Environment::real());
    (Roster::new(store.clone(), "a".to_owned()), Roster::new(store, "b".to_owned()))
}

#[tokio::test]
async fn every_scheduler_knows_the_workers_of_all() {
    let (a, b) = rosters();
    a.enlist(&link("w1", "i", 5)).await;
    b.enlist(&link("w2", "i", 7)).await;
    let both = [("w1".to_owned(), false, 5), ("w2".to_owned(), false, 7)];
    assert_eq!(known(&a, &["a", "b"]).await, both);
    assert_eq!(known(&b, &["a", "b"]).await, both);
    // A scheduler that died takes its workers with it, until they come back.
    assert_eq!(known(&b, &["b"]).await[0], ("w1".to_owned(), true, 5));
    b.enlist(&link("w1", "i", 9)).await;
    assert_eq!(known(&b, &["b"]).await[0], ("w1".to_owned(), false, 9));
}

#[tokio::test]
async fn who_goes_without_a_word_is_lost_and_who_says_goodbye_is_not() {
    let (a, b) = rosters();
    let (silent, polite) = (link("w1", "i", 5), link("w2", "i", 5));
    a.enlist(&silent).await;
    a.enlist(&polite).await;
    silent.seen(Timestamp::from_millis(40));
    a.left(&silent, false).await;
    a.left(&polite, true).await;
    assert_eq!(known(&b, &["a", "b"]).await, [("w1".to_owned(), true, 40)]);
    // It comes back with another scheduler before the first one notices that it left.
    b.enlist(&link("w1", "i", 50)).await;
    a.left(&silent, false).await;
    assert_eq!(known(&b, &["a", "b"]).await, [("w1".to_owned(), false, 50)]);
}

#[tokio::test]
async fn the_end_of_a_stream_is_not_overwritten_by_what_was_known_before() {
    let (a, b) = rosters();
    let (ended, going) = (Arc::new(link("w1", "i", 5)), Arc::new(link("w2", "i", 5)));
    a.enlist(&ended).await;
    a.enlist(&going).await;
    let stale = a.read().await.unwrap();
    a.left(&ended, false).await;
    going.seen(Timestamp::from_millis(40));
    let writes = [&ended, &going].map(|link| RecordedWorker::new(link, "a").put().unwrap());
    a.update(writes.into(), &stale).await.unwrap();
    let lost_and_seen = [("w1".to_owned(), true, 5), ("w2".to_owned(), false, 40)];
    assert_eq!(known(&b, &["a", "b"]).await, lost_and_seen);
    // Nor by a list of streams that was made before.
    a.refresh(&[ended, going], Timestamp::from_millis(100_000)).await.unwrap();
    assert_eq!(known(&b, &["a", "b"]).await, lost_and_seen);
}

#[tokio::test]
async fn records_are_brought_up_to_date_and_forgotten_after_a_day() {
    let (a, _) = rosters();
    let (here, lost) = (Arc::new(link("w1", "i", 5)), link("w2", "i", 5));
    a.enlist(&here).await;
    a.enlist(&lost).await;
    a.left(&lost, false).await;
    here.seen(Timestamp::from_millis(70_000));
    a.refresh(std::slice::from_ref(&here), Timestamp::from_millis(70_000)).await.unwrap();
    assert_eq!(known(&a, &["a"]).await, [("w1".to_owned(), false, 70_000), ("w2".to_owned(), true, 5)]);
    here.seen(Timestamp::from_millis(80_000));
    a.refresh(std::slice::from_ref(&here), Timestamp::from_millis(80_000)).await.unwrap();
    assert_eq!(known(&a, &["a"]).await[0].2, 70_000, "not every time it is asked for");
    let tomorrow = Timestamp::from_millis(REMEMBERED_MS + 1_000);
    a.refresh(std::slice::from_ref(&here), tomorrow).await.unwrap();
    assert_eq!(known(&a, &["a"]).await, [("w1".to_owned(), false, 80_000)]);
}

/// A stream that was left may look open for a while: the scheduler that has the newer one tells of the worker.
#[tokio::test]
async fn a_record_stays_that_of_the_scheduler_with_the_newest_stream() {
    let (a, b) = rosters();
    let (old, new) = (Arc::new(link("w1", "i", 5)), Arc::new(link("w1", "i", 50)));
    a.enlist(&old).await;
    b.enlist(&new).await;
    a.refresh(std::slice::from_ref(&old), Timestamp::from_millis(70_000)).await.unwrap();
    let id = WorkerId::from_trusted("w1");
    let recorded = a.one(&id).await.unwrap().unwrap();
    assert_eq!((recorded.scheduler.as_str(), recorded.info.connected_at.as_millis()), ("b", 50));
    assert!(recorded.is_newer_than(&old, "a") && !recorded.is_newer_than(&new, "b"));
    // Once that stream has ended, what is still connected counts again.
    b.left(&new, false).await;
    a.refresh(std::slice::from_ref(&old), Timestamp::from_millis(140_000)).await.unwrap();
    assert_eq!(a.one(&id).await.unwrap().unwrap().scheduler, "a");
}

/// Workers that say much of themselves, more than one commit may hold.
#[tokio::test]
async fn many_workers_with_long_hellos_are_kept_up_to_date() {
    let (a, _) = rosters();
    let talkative = |number: i32| {
        let mut link = link(&format!("w{number:02}"), "i", 5);
        link.info.native_tools = vec!["x".repeat(1024 * 1024)];
        Arc::new(link)
    };
    let links: Vec<_> = (0..20).map(talkative).collect();
    links.iter().for_each(|link| link.seen(Timestamp::from_millis(1_000_000)));
    a.refresh(&links, Timestamp::from_millis(1_000_000)).await.unwrap();
    assert_eq!(known(&a, &["a"]).await.len(), 20);
}
