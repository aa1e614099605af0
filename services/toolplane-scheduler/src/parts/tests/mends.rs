//! Faults in the store and around it: damaged records, lost index entries, starts the store forgot.

use toolplane_store::{Commit, IndexOp, RecordKey, ScoreRange};

use super::shared::damage;
use super::*;

async fn change(store: &dyn Store, index: Vec<IndexOp>) {
    store.commit(Commit { index, ..Commit::default() }).await.unwrap();
}

async fn becomes(bench: &Bench, index: &str, expected: &[&str]) {
    let mut found = Vec::new();
    for _ in 0..1_000 {
        found = bench.members(index).await;
        if found == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{index} holds {found:?}, not {expected:?}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_set_aside_and_stops_nobody() {
    let bench = Bench::new().await;
    for id in ["inv_bad", "inv_missing", "inv_good"] {
        bench.admit(ask(id)).await.unwrap();
    }
    // Another process damages one record, loses another and puts nonsense into the queue and the timers.
    let again = Bench::over(bench.store.clone()).await;
    drop(bench);
    damage(&*again.store, keys::invocation(&call_key("inv_bad")), b"{").await;
    let missing = keys::invocation(&call_key("inv_missing"));
    let writes = vec![toolplane_store::Write::Delete { key: missing }];
    again.store.commit(Commit { writes, ..Commit::default() }).await.unwrap();
    let queue = again.store.indexes("queue/").await.unwrap().remove(0);
    let nonsense = |index: &str| IndexOp::Put { index: index.into(), score: 1, member: "no id!".into() };
    change(&*again.store, vec![nonsense(&queue), nonsense("timers/lease"), nonsense("timers/deadline")]).await;
    let (_link, mut messages) = again.worker(8, vec![]).await;
    assert_eq!(offered(&mut messages).await.0.invocation_id.as_str(), "inv_good");
    becomes(&again, &queue, &[]).await;
    becomes(&again, &format!("undecodable/{queue}"), &["no id!", "inv_bad"]).await;
    becomes(&again, "undecodable/timers/deadline", &["no id!"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_record_that_changed_at_rest_stops_nobody_and_is_named_by_lists() {
    let store = Arc::new(memory());
    let bench = Bench::over(store.clone()).await;
    for id in ["inv_bad", "inv_good"] {
        bench.admit(ask(id)).await.unwrap();
    }
    let again = Bench::over(store.clone()).await;
    drop(bench);
    let bad = call_key("inv_bad");
    store.spoil(&keys::invocation(&bad));
    let (_link, mut messages) = again.worker(8, vec![]).await;
    assert_eq!(offered(&mut messages).await.0.invocation_id.as_str(), "inv_good");
    let queue = store.indexes("queue/").await.unwrap();
    assert!(queue.is_empty(), "{queue:?}");
    let filter = CallFilter::default();
    let page = again.parts.calls.records().list(&TenantId::unauthenticated(), &filter, None, 10).await.unwrap();
    let listed: Vec<_> = page.records.iter().map(|record| record.invocation_id.as_str()).collect();
    assert_eq!((listed, page.damaged), (vec!["inv_good"], vec!["inv_bad".to_owned()]));
    let refused = again.parts.calls.records().get(&bad).await.unwrap_err();
    assert!(matches!(&refused, RecordError::Store(error) if error.code() == "store.damaged"), "{refused:?}");
}

/// Makes the calls look as if they had been unchanged long enough for the audit.
async fn still(store: &dyn Store, ids: &[&str]) {
    for id in ids {
        let key = keys::invocation(&call_key(id));
        let stored = store.get(&key).await.unwrap().unwrap();
        let mut record: Invocation = toolplane_records::stored::read(&stored.bytes).unwrap();
        for step in &mut record.status_transitions {
            step.at = step.at.plus_millis(-60_000);
        }
        let bytes = serde_json::to_vec(&record).unwrap().into();
        let writes = vec![toolplane_store::Write::Put { key, bytes }];
        store.commit(Commit { writes, ..Commit::default() }).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn the_audit_puts_lost_entries_back_and_takes_leaked_places_away() {
    let store: Arc<dyn Store> = Arc::new(memory());
    let bench = Bench::over(store.clone()).await;
    bench.admit(ask("inv_queued")).await.unwrap();
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    offered(&mut messages).await;
    bench.admit(ask("inv_waits")).await.unwrap();
    drop(bench);
    still(&*store, &["inv_queued", "inv_waits"]).await;
    let queue = store.indexes("queue/").await.unwrap().remove(0);
    let remove = |index: &str, member: &str| IndexOp::Remove { index: index.into(), member: member.into() };
    let leak = IndexOp::Put { index: "running/tenant/default".into(), score: 1, member: "inv_waits".into() };
    change(
        &*store,
        vec![
            remove(&queue, "inv_waits"),
            remove("timers/lease", "inv_queued"),
            remove("waiting/default", "inv_waits"),
            leak,
        ],
    )
    .await;
    let bench = Bench::over(store).await;
    becomes(&bench, &queue, &["inv_waits"]).await;
    becomes(&bench, "timers/lease", &["inv_queued"]).await;
    becomes(&bench, "waiting/default", &["inv_waits"]).await;
    becomes(&bench, "running/tenant/default", &[]).await;
    let repairs = bench.audit.repairs();
    assert_eq!(repairs, 4);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(bench.audit.repairs(), repairs, "what is right is left alone");
}

/// Between the scan of an index and the read of a record a call may be claimed.
#[tokio::test(start_paused = true)]
async fn what_was_claimed_while_it_was_looked_at_is_no_fault() {
    let member = super::shared::Cluster::new().member();
    let bench = Bench::over(member.clone()).await;
    bench.admit(ask("inv_a")).await.unwrap();
    let (queue, waiting) = (member.indexes("queue/").await.unwrap().remove(0), "waiting/default");
    let entry = async |index| member.scan(index, ScoreRange::all(), 1).await.unwrap().remove(0);
    let (queued, waited) = (entry(&queue).await, entry(waiting).await);
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    offered(&mut messages).await;
    // Taken for one that should not be in its queue, it costs no commit.
    let before = member.commits.load(std::sync::atomic::Ordering::Relaxed);
    let queue = keys::QueueName::parse(&queue).unwrap();
    assert!(bench.parts.calls.leave_queue(&queue, &call_key("inv_a"), &queued).await, "it is gone");
    assert_eq!(member.commits.load(std::sync::atomic::Ordering::Relaxed), before);
    still(&*member, &["inv_a"]).await;
    // Another one waits, so that this index is looked at.
    bench.admit(ask("inv_b")).await.unwrap();
    // In memory the call is as it was before.
    drop(bench);
    let bench = Bench::over(member.clone()).await;
    *member.overtaken.lock() = Some((waiting.to_owned(), waited));
    while member.overtaken.lock().is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(bench.audit.repairs(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_not_called_over_by_a_scheduler_that_just_came() {
    let store: Arc<dyn Store> = Arc::new(memory());
    let short = || PartsOptions { lease_ms: 600, offer_ms: 100, ..options() };
    let bench = Bench::with(store.clone(), short()).await;
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    bench.admit(Ask { idempotent: false, ..ask("inv_a") }).await.unwrap();
    let (_, lease, _) = offered(&mut messages).await;
    let start = |_: &Invocation| Command::Start { lease: lease.clone(), lease_ms: 600 };
    bench.parts.calls.command(&lease.call(), start).await.unwrap();
    drop(bench);
    // No worker could renew while no scheduler was there.
    tokio::time::sleep(Duration::from_millis(800)).await;
    let later = Bench::with(store, short()).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let renew = |_: &Invocation| Command::Renew { lease: lease.clone(), lease_ms: 600 };
    later.parts.calls.command(&lease.call(), renew).await.expect("the lease is still good");
    let (_, terminal) = follow(later.parts.watchers.watch(&lease.call(), 1).await.unwrap()).await;
    assert_eq!(terminal.result.error.clone().unwrap().error_code, "exec.outcome_unknown", "and then it ends");
}

#[tokio::test(start_paused = true)]
async fn a_start_the_store_forgot_is_not_repeated() {
    let objects = objects();
    let guarded = || Ask { idempotent: false, guard: StartGuard::Object, ..ask("inv_a") };
    let first = Bench::whole(Arc::new(memory()), objects.clone(), options()).await;
    let (_link, mut messages) = first.worker(1, vec![]).await;
    first.admit(guarded()).await.unwrap();
    let (_, lease, _) = offered(&mut messages).await;
    assert!(matches!(first.parts.starts.start(&lease, 15_000).await.unwrap(), Started::Granted));
    assert!(matches!(first.parts.starts.start(&lease, 15_000).await.unwrap(), Started::Granted), "asked again");
    // The store loses everything; the caller submits again, as it was never answered.
    let second = Bench::whole(Arc::new(memory()), objects, options()).await;
    let (_link, mut messages) = second.worker(1, vec![]).await;
    second.admit(guarded()).await.unwrap();
    let (_, lease, _) = offered(&mut messages).await;
    assert!(matches!(second.parts.starts.start(&lease, 15_000).await.unwrap(), Started::Ended(_)));
    let end = second.parts.calls.records().result(&lease.call()).await.unwrap().unwrap();
    assert_eq!(end.result.error.unwrap().error_code, "exec.outcome_unknown");
}

#[tokio::test(start_paused = true)]
async fn poison_is_kept_out_for_a_while_by_every_scheduler() {
    let cluster = super::shared::Cluster::new();
    let bench = Bench::over(cluster.member()).await;
    let other = Bench::over(cluster.member()).await;
    let mut admission = bench.admission(ask("inv_a")).await;
    let key = toolplane_records::payload::Digest::of(b"version and input");
    admission.transition.invocation.dispatch.as_mut().unwrap().quarantine_key = Some(key);
    bench.parts.admissions.admit(admission).await.unwrap();
    for worker in ["w1", "w2", "w3"] {
        let (link, mut messages) = bench.worker_named(worker, 1, vec![]).await;
        let (_, lease, _) = offered(&mut messages).await;
        let renew = |_: &Invocation| Command::Renew { lease: lease.clone(), lease_ms: 15_000 };
        bench.parts.calls.command(&lease.call(), renew).await.unwrap();
        link.drain();
        lost::end_leases(&bench.parts.calls, &WorkerId::from_trusted(worker), "restarted").await.unwrap();
        let record = bench.parts.calls.records().get(&lease.call()).await.unwrap();
        if record.status.is_terminal() {
            break;
        }
    }
    let end = bench.parts.calls.records().result(&call_key("inv_a")).await.unwrap().expect("it was given up");
    assert_eq!(end.result.error.unwrap().error_code, "exec.poison_quarantined");
    assert!(bench.parts.quarantine.until(&key).is_some());
    for _ in 0..500 {
        if other.parts.quarantine.until(&key).is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the other scheduler never heard of it: {:?}", RecordKey::new(toolplane_store::Family::Meta, "quarantine"));
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_like_one_that_workers_died_of_is_not_tried() {
    let bench = Bench::new().await;
    let key = toolplane_records::payload::Digest::of(b"version and input");
    for id in ["inv_a", "inv_b"] {
        let mut admission = bench.admission(ask(id)).await;
        admission.transition.invocation.dispatch.as_mut().unwrap().quarantine_key = (id == "inv_a").then_some(key);
        bench.parts.admissions.admit(admission).await.unwrap();
    }
    bench.parts.quarantine.add(key, bench.parts.calls.now().await.unwrap().plus_millis(60_000));
    // Both wait, the twin first; a worker comes.
    let (_link, mut messages) = bench.worker(8, vec![]).await;
    assert_eq!(offered(&mut messages).await.0.invocation_id.as_str(), "inv_b");
    let (_, end) = follow(bench.parts.watchers.watch(&call_key("inv_a"), 1).await.unwrap()).await;
    let error = end.result.error.clone().unwrap();
    assert_eq!((error.error_code.as_str(), error.error_class), ("exec.poison_quarantined", ErrorClass::PolicyBlocked));
    assert!(error.retry_after_ms.is_some_and(|wait| wait > 0), "{error:?}");
}

/// The scheduler that hears of a worker's death need not be the one the worker was connected to.
#[tokio::test(start_paused = true)]
async fn what_arrived_is_known_to_every_scheduler_when_the_stream_ends() {
    let cluster = super::shared::Cluster::new();
    let bench = Bench::over(cluster.member()).await;
    let other = Bench::over(cluster.member()).await;
    bench.admit(ask("inv_seen")).await.unwrap();
    bench.admit(ask("inv_unseen")).await.unwrap();
    let (link, mut messages) = bench.worker_named("w1", 2, vec![]).await;
    let mut leases = Vec::new();
    for _ in 0..2 {
        leases.push(offered(&mut messages).await.1);
    }
    link.drain();
    let seen = leases.iter().find(|lease| lease.invocation_id.as_str() == "inv_seen").unwrap();
    bench.parts.calls.note_receipt(seen).await;
    bench.parts.workers.disconnect(&link);
    receipts::keep(&bench.parts.calls, &link).await;
    lost::end_leases(&other.parts.calls, &WorkerId::from_trusted("w1"), "restarted").await.unwrap();
    let losses = async |id| other.parts.calls.records().get(&call_key(id)).await.unwrap().worker_losses;
    assert_eq!((losses("inv_seen").await, losses("inv_unseen").await), (1, 0));
}

/// A scheduler that is slow may take the hello of a stream that its worker has given up after that of the stream it opened instead.
#[tokio::test(start_paused = true)]
async fn a_stream_that_was_given_up_takes_no_worker_with_it() {
    let bench = Bench::new().await;
    let (read, mut messages) = bench.worker_named("w1", 1, vec![]).await;
    let (given_up, unread) = bench.worker_named("w1", 1, vec![]).await;
    // It was not known yet that nobody reads it: the call is given to it, and the worker has it nevertheless.
    bench.admit(ask("inv_a")).await.unwrap();
    while given_up.in_flight().is_empty() {
        tokio::task::yield_now().await;
    }
    drop(unread);
    bench.parts.workers.disconnect(&given_up);
    bench.parts.fleet.left(&given_up, false).await;
    assert!(Arc::ptr_eq(&bench.parts.workers.here(&read.info.worker_id).unwrap(), &read));
    assert_eq!(read.in_flight(), [call_key("inv_a")], "what it has counts for the stream that is left");
    let recorded = bench.parts.fleet.recorded().await.unwrap();
    assert!(!recorded[0].is_lost(|_| true), "{recorded:?}");
    bench.parts.workers.unassign(&call_key("inv_a"));
    bench.parts.queues.ring();
    bench.admit(ask("inv_b")).await.unwrap();
    assert_eq!(offered(&mut messages).await.0.invocation_id.as_str(), "inv_b");
    // The last one takes it with it.
    drop(messages);
    bench.parts.workers.disconnect(&read);
    bench.parts.fleet.left(&read, false).await;
    assert!(!bench.parts.workers.is_here(&read.info.worker_id));
    assert!(bench.parts.fleet.recorded().await.unwrap()[0].is_lost(|_| true));
}

#[tokio::test(start_paused = true)]
async fn what_arrived_counts_when_its_worker_starts_again_at_once() {
    let bench = Bench::new().await;
    bench.admit(ask("inv_a")).await.unwrap();
    let (link, mut messages) = bench.worker_named("w1", 1, vec![]).await;
    let (_, lease, _) = offered(&mut messages).await;
    link.drain();
    bench.parts.calls.note_receipt(&lease).await;
    lost::end_leases(&bench.parts.calls, &WorkerId::from_trusted("w1"), "restarted").await.unwrap();
    assert_eq!(bench.parts.calls.records().get(&lease.call()).await.unwrap().worker_losses, 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_back_waits_again() {
    let bench = Bench::new().await;
    bench.admit(ask("inv_a")).await.unwrap();
    let waiting = keys::waiting(&toolplane_records::ids::TenantId::unauthenticated());
    let (link, mut messages) = bench.worker(1, vec![]).await;
    let (_, lease, _) = offered(&mut messages).await;
    assert_eq!(bench.members(&waiting).await, Vec::<String>::new());
    link.drain();
    let give_back = |_: &Invocation| Command::Release { lease: lease.clone(), reason: "drain".to_owned() };
    bench.parts.calls.command(&lease.call(), give_back).await.unwrap();
    assert_eq!(bench.members(&waiting).await, ["inv_a"]);
}
