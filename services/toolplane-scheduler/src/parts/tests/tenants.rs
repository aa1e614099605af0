//! Ids belong to tenants, and leases to workers: neither is of use to others.

use toolplane_lifecycle::Holder;
use toolplane_records::ids::{DERIVATIONS, MAX_GIVEN_ID_LEN};
use toolplane_store::{Commit, Expect, Family, IndexOp, RecordKey, ScoreRange, Write};
use toolplane_store_embedded::{EmbeddedOptions, EmbeddedStore};

use super::*;

fn of(tenant: &'static str, id: &str) -> InvocationKey {
    InvocationKey::new(&TenantId::from_trusted(tenant), &InvocationId::from_trusted(id))
}

/// Everything about two calls of the same id, of two tenants, on one worker and at the same time.
#[tokio::test(start_paused = true)]
async fn two_tenants_use_one_id_and_never_meet() {
    let bench = Bench::new().await;
    let (_link, mut messages) = bench.worker(4, vec![]).await;
    let tenants = ["default", "acme", "acme/eu"];
    let mut leases = Vec::new();
    for tenant in tenants {
        let admitted = bench.admit(Ask { tenant, key: Some("same".into()), ..ask("inv_same") }).await.unwrap();
        assert!(matches!(admitted, Admitted::New(_)), "{tenant} is told of another's call");
        let (record, lease, _) = offered(&mut messages).await;
        assert_eq!((record.tenant.as_str(), lease.call()), (tenant, of(tenant, "inv_same")));
        assert_eq!(lease.lease_id.tenant(), record.tenant, "the lease itself says whose it is");
        leases.push(lease);
    }
    assert!(matches!(bench.parts.calls.records().get(&of("globex", "inv_same")).await, Err(RecordError::NotFound)));

    let [first, second, third] = &leases[..] else { panic!("three leases") };
    let watches = tenants.map(|tenant| bench.parts.watchers.watch_new(&of(tenant, "inv_same")));
    // The lease of one says nothing about the call of another, even if a worker claims it does.
    for other in [second, third] {
        let stolen = LeaseKey { tenant: other.tenant.clone(), ..first.clone() };
        assert!(matches!(finish(&bench.parts.calls, &stolen).await, Err(RecordError::Refused { .. })));
    }
    finish(&bench.parts.calls, first).await.unwrap();
    assert!(bench.parts.calls.leased(second).await.is_ok() && bench.parts.calls.leased(third).await.is_ok());
    let cancel = |_: &Invocation| Command::RequestCancel {
        requested_by: "acme".into(),
        message: String::new(),
        abort_reason: AbortReason::UserInterruption,
    };
    bench.parts.calls.command(&second.call(), cancel).await.unwrap();
    finish(&bench.parts.calls, third).await.unwrap();
    finish(&bench.parts.calls, second).await.unwrap();
    for (tenant, watch) in tenants.into_iter().zip(watches) {
        let (log, terminal) = follow(watch).await;
        assert_eq!(terminal.result.status, ResultStatus::Succeeded);
        let canceled = log.iter().any(|event| event.class == EventClass::ExtCancelRequested);
        assert_eq!(canceled, tenant == "acme", "the cancellation of one is in the log of {tenant}");
        let listed = bench
            .parts
            .calls
            .records()
            .list(&TenantId::from_trusted(tenant), &Default::default(), None, 10)
            .await
            .unwrap();
        assert_eq!(listed.records.len(), 1, "{tenant}");
        assert_eq!(listed.records[0].tenant.as_str(), tenant);
        assert_eq!(
            bench.parts.calls.records().inputs(&listed.records[0]).await.unwrap().call.unwrap().bytes().as_ref(),
            b"{\"a\":1}"
        );
        let decision = &listed.records[0].permission_decision_refs[0];
        assert!(
            bench
                .parts
                .calls
                .records()
                .decision(&TenantId::from_trusted(tenant), decision.as_str())
                .await
                .unwrap()
                .is_some()
        );
    }
    let asked_again = bench.admit(Ask { tenant: "acme", key: Some("same".into()), ..ask("inv_same") }).await.unwrap();
    assert!(matches!(asked_again, Admitted::Exists(record) if record.tenant.as_str() == "acme"));
}

/// A lease is the right of one worker, in one of its starts; its secret alone is worth nothing.
#[tokio::test(start_paused = true)]
async fn a_lease_presented_by_anybody_but_its_holder_changes_nothing() {
    let bench = Bench::new().await;
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    bench.admit(Ask { idempotent: false, ..ask("inv_a") }).await.unwrap();
    let (_, lease, _) = offered(&mut messages).await;
    bench.parts.starts.start(&lease, 15_000).await.unwrap();
    let holder = |worker: &str, incarnation: Option<&str>| Holder {
        worker_id: WorkerId::from_trusted(worker),
        incarnation: incarnation.map(Into::into),
    };
    let before = bench.parts.calls.records().get(&lease.call()).await.unwrap();
    for thief in [holder("w2", Some("first")), holder("w2", None), holder("w1", Some("second"))] {
        let stolen = LeaseKey { holder: thief, ..lease.clone() };
        let progress = serde_json::json!({ "progress_id": "p", "invocation_id": "inv_a", "sequence": 1,
            "status": "running", "timestamp": "2026-01-01T00:00:00Z" });
        let question =
            toolplane_lifecycle::InputRequest { input_id: "q".into(), prompt: "?".into(), schema: None, ttl_ms: 0 };
        let commands = [
            Command::Complete { lease: stolen.clone(), outcome: succeeded("stolen") },
            Command::Start { lease: stolen.clone(), lease_ms: 1 },
            Command::Renew { lease: stolen.clone(), lease_ms: 1_000_000 },
            Command::Release { lease: stolen.clone(), reason: "stolen".into() },
            Command::Progress { lease: stolen.clone(), progress: serde_json::from_value(progress).unwrap() },
            Command::AcknowledgeCancel { lease: stolen.clone(), supported: false },
            Command::RequestInput { lease: stolen.clone(), input: question },
        ];
        for command in commands {
            let refused = bench.parts.calls.command(&lease.call(), |_| command.clone()).await;
            let fenced = matches!(&refused, Err(RecordError::Refused { refusal: Refusal::Fenced, .. }));
            assert!(fenced, "{command:?}: {refused:?}");
        }
        assert!(bench.parts.calls.leased(&stolen).await.is_err(), "an upload would count");
        assert!(
            !bench.parts.calls.records().was_started_by(&stolen).await.unwrap()
                || stolen.holder.worker_id == lease.holder.worker_id
        );
        bench.parts.calls.note_receipt(&stolen).await;
    }
    assert_eq!(*bench.parts.calls.records().get(&lease.call()).await.unwrap(), *before);
    // The worker itself, in a later start that has proved that the earlier one is gone.
    let later = LeaseKey { holder: holder("w1", None), ..lease.clone() };
    assert_eq!(finish(&bench.parts.calls, &later).await.unwrap().status, InvocationStatus::Succeeded);
}

/// Every id at its bound, through a whole life, on every store: nothing that is made from it is too long to be read again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_at_their_bound_live_a_whole_life_on_every_store() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = EmbeddedStore::open(folder.path(), EmbeddedOptions::default()).unwrap();
    let server = toolplane_testkit::redis::RedisServer::start(Default::default()).await.expect("a Redis server");
    let redis = toolplane_store_redis::RedisOptions::standalone(server.url());
    let redis = toolplane_store_redis::RedisStore::open(redis).await.unwrap();
    let stores: [Arc<dyn Store>; 3] = [Arc::new(memory()), Arc::new(embedded), Arc::new(redis)];
    // A slash is what grows most where names are written down.
    let longest = |first: &str| format!("{first}{}", "/".repeat(MAX_GIVEN_ID_LEN - first.len() - 1) + "z");
    let tenant: &'static str = longest("tenant").leak();
    assert!(TenantId::given(tenant).is_ok() && TenantId::given(&format!("{tenant}z")).is_err());
    for store in stores {
        let bench = Bench::over(store).await;
        let (_link, mut messages) = bench.worker_named(&longest("worker"), 1, vec![]).await;
        let call = Ask {
            tenant,
            tool: longest("t")[..200].to_owned().leak(),
            key: Some("k".repeat(256)),
            ..ask(longest("inv_"))
        };
        let id = of(tenant, &call.id);
        bench.admit(call).await.unwrap();
        let (record, lease, _) = offered(&mut messages).await;
        let persistence: toolplane_records::persistence::ResultPersistence =
            serde_json::from_value(serde_json::json!({
                "decision_id": format!("persist_{}", record.invocation_id), "invocation_id": record.invocation_id,
                "strategy": "inline", "original_size_bytes": 1, "reason": "r", "created_at": "2026-01-01T00:00:00Z",
            }))
            .unwrap();
        let outcome = ReportedOutcome { persistence: vec![persistence], ..*succeeded("done") };
        let outcome = Box::new(outcome);
        let complete = |_: &Invocation| Command::Complete { lease: lease.clone(), outcome: outcome.clone() };
        bench.parts.calls.command(&lease.call(), complete).await.unwrap();
        let (log, terminal) = follow(bench.parts.watchers.watch(&id, 1).await.unwrap()).await;
        assert!(!log.is_empty() && terminal.persistence.is_some());
        let found = bench.parts.calls.records().get(&id).await.unwrap();
        assert_eq!(found.status, InvocationStatus::Succeeded);
        for decision in &found.permission_decision_refs {
            assert!(bench.parts.calls.records().decision(&found.tenant, decision.as_str()).await.unwrap().is_some());
        }
        assert!(bench.parts.calls.records().inputs(&found).await.unwrap().model.is_some());
        // As every reader of the wire would.
        assert!(ResultId::parse(found.result_id.as_ref().unwrap().as_str()).is_ok());
        assert!(LeaseId::parse(lease.lease_id.as_str()).is_ok());
        let message = toolplane_proto::v1::Invocation::from(&*found);
        assert!(Invocation::try_from(message).is_ok());
        let kept = toolplane_proto::v1::ResultPersistence::from(terminal.persistence.as_ref().unwrap());
        assert!(toolplane_records::persistence::ResultPersistence::try_from(kept).is_ok());
    }
    assert!(DERIVATIONS.iter().all(|made| made.before.len() + made.after + MAX_GIVEN_ID_LEN <= 256));
}

/// A store of a version in which ids belonged to no tenant: what it holds of other tenants than the first is found
/// where it belongs, goes on, and is out of the way of others.
#[tokio::test(start_paused = true)]
async fn calls_of_an_earlier_version_go_on_under_their_tenants() {
    let store: Arc<dyn Store> = Arc::new(memory());
    let earlier = Bench::over(store.clone()).await;
    let (link, mut messages) = earlier.worker(1, vec![]).await;
    earlier.admit(ask("inv_ended")).await.unwrap();
    let (_, lease, _) = offered(&mut messages).await;
    finish(&earlier.parts.calls, &lease).await.unwrap();
    link.drain();
    earlier.admit(ask("inv_waits")).await.unwrap();
    drop((earlier, messages));
    give_to(&*store, "acme", &["inv_ended", "inv_waits"]).await;

    let bench = Bench::over(store.clone()).await;
    let own = |id| of("acme", id);
    for id in ["inv_ended", "inv_waits"] {
        assert!(
            matches!(bench.parts.calls.records().get(&call_key(id)).await, Err(RecordError::NotFound)),
            "{id} is nobody else's"
        );
        assert_eq!(bench.parts.calls.records().get(&own(id)).await.unwrap().tenant.as_str(), "acme");
        assert!(!bench.parts.calls.records().log(&own(id)).await.unwrap().is_empty());
    }
    assert!(bench.parts.calls.records().result(&own("inv_ended")).await.unwrap().is_some());
    let listed =
        bench.parts.calls.records().list(&TenantId::from_trusted("acme"), &Default::default(), None, 10).await.unwrap();
    assert_eq!(listed.records.len(), 2);
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    let (record, lease, _) = offered(&mut messages).await;
    assert_eq!((record.key(), lease.call()), (own("inv_waits"), own("inv_waits")));
    finish(&bench.parts.calls, &lease).await.unwrap();
    let (log, _) = follow(bench.parts.watchers.watch(&own("inv_waits"), 1).await.unwrap()).await;
    assert_eq!(log.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..=log.len() as u64).collect::<Vec<_>>());
    let left = store.keys(Family::Invocation, None, 10).await.unwrap();
    assert!(left.iter().all(|(name, _)| name.starts_with("acme|")), "{left:?}");
    for index in store.indexes("").await.unwrap().into_iter().filter(|index| index != "schedulers") {
        let bare = bench.members(&index).await.into_iter().find(|member| !member.starts_with("acme|"));
        assert_eq!(bare, None, "in {index}");
    }
    assert_eq!(bench.audit.repairs(), 0);
}

/// Makes calls of the first tenant those of `tenant`, as an earlier version stored them: under the same bare names.
async fn give_to(store: &dyn Store, tenant: &str, ids: &[&str]) {
    let mut commit = Commit::default();
    for id in ids {
        let key = RecordKey::new(Family::Invocation, *id);
        let stored = store.get(&key).await.unwrap().unwrap();
        let mut record: Invocation = toolplane_records::stored::read(&stored.bytes).unwrap();
        assert_ne!(record.tenant.as_str(), tenant);
        record.tenant = TenantId::from_trusted(tenant);
        let given = serde_json::to_vec(&record).unwrap();
        commit.compare.push((key.clone(), Expect::Version(stored.version)));
        commit.writes.push(Write::Put { key, bytes: given.into() });
    }
    for index in store.indexes("").await.unwrap() {
        let given = index.replace("/default", &format!("/{tenant}"));
        for entry in store.scan(&index, ScoreRange::all(), 100).await.unwrap() {
            if given != index && ids.contains(&&*entry.member) {
                let (score, member) = (entry.score, entry.member);
                commit.index.push(IndexOp::Remove { index: index.clone(), member: member.clone() });
                commit.index.push(IndexOp::Put { index: given.clone(), score, member });
            }
        }
    }
    commit.writes.push(Write::Delete { key: RecordKey::new(Family::Meta, "names-by-tenant") });
    store.commit(commit).await.unwrap();
}
