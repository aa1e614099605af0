//! Retention by class: what goes before its call, what says so, and what is left for later elsewhere.

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use toolplane_records::keeping::RemovedRecords;
use toolplane_store::{Expect, Family, RecordKey};

use super::retire::{gone, run_to_end};
use super::*;
use crate::keeping::{DeletionRequest, HoldScope, KeepRule, LegalHold};
use crate::storage::commit::Builder;

const REQUEST: DeletionRequest<'static> = DeletionRequest { by: "alice", reason: "erasure request 4" };

/// Remembers what was to be forgotten; away as long as it says so.
#[derive(Default)]
struct Asked {
    forgotten: Mutex<Vec<String>>,
    away: std::sync::atomic::AtomicBool,
}

impl Questions for Asked {
    fn forget<'a>(
        &'a self,
        _: &'a TenantId,
        call: &'a InvocationId,
        approvals: &'a [ApprovalId],
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            if self.away.load(std::sync::atomic::Ordering::SeqCst) {
                return Err("away".to_owned());
            }
            self.forgotten.lock().push(format!("{call} {}", approvals[0]));
            Ok(())
        })
    }
}

fn keeps(keep: &[(RecordClass, i64)]) -> Vec<KeepRule> {
    vec![KeepRule { keep_ms: keep.iter().copied().collect(), ..KeepRule::default() }]
}

async fn bench(rules: Vec<KeepRule>, asked: &Arc<Asked>) -> Bench {
    let store: Arc<dyn Store> = Arc::new(memory());
    let options = PartsOptions { retention_rules: rules, key_window_ms: 0, ..options() };
    let outside = Outside { questions: asked.clone(), ..outside() };
    let Opened { parts, loops, .. } = Parts::open(store.clone(), objects(), options, outside).await.unwrap();
    let audit = loops.audit.clone();
    let running = tokio::spawn(async move { loops.run(std::future::pending()).await });
    Bench { parts, audit, store, running }
}

/// The record of a call once it says that something is gone.
async fn without(bench: &Bench, id: &str, classes: usize) -> Arc<Invocation> {
    for _ in 0..500 {
        let record = bench.parts.calls.records().get(&call_key(id)).await.unwrap();
        if record.keeping.removed.len() >= classes {
            return record;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("everything of {id} is still there");
}

/// Lets the record of an ended call say that people were asked about it.
async fn asked_about(bench: &Bench, id: &str) {
    let key = keys::invocation(&call_key(id));
    let call = bench.parts.calls.records().load(&call_key(id)).await.unwrap();
    let mut record = Invocation::clone(&call.record);
    record.approval_request_ref = Some(ApprovalId::from_trusted("appr_1"));
    let mut builder = Builder::default();
    builder.compare(key.clone(), Expect::Version(call.version));
    builder.put_record(key, &record).unwrap();
    bench.parts.calls.storage().write(builder.done(true)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn classes_go_before_their_call_and_its_record_says_which() {
    let rules = keeps(&[(RecordClass::Inputs, 50), (RecordClass::Events, 60), (RecordClass::Calls, 5_000)]);
    let bench = bench(rules, &Arc::default()).await;
    let _worker = bench.eager_worker("w1", 1).await;
    run_to_end(&bench, ask("inv_a")).await;
    let record = without(&bench, "inv_a", 2).await;
    let classes: Vec<_> = record.keeping.removed.iter().map(|gone: &RemovedRecords| gone.class).collect();
    assert_eq!(classes, [RecordClass::Inputs, RecordClass::Events]);
    let records = bench.parts.calls.records();
    assert!(records.inputs(&record).await.unwrap().model.is_none());
    assert_eq!(records.log(&record.key()).await.unwrap(), []);
    assert_eq!(records.decisions_after(&record, 0, 10).await.unwrap().len(), 1, "it goes with the call");
    assert!(records.result(&record.key()).await.unwrap().is_some());
    let stays = bench.parts.stays.of(&record).await.unwrap();
    let told: Vec<_> = stays.iter().map(|stay| (stay.class, stay.removed_at.is_some())).collect();
    assert_eq!(told, [(RecordClass::Inputs, true), (RecordClass::Events, true), (RecordClass::Calls, false)]);
    assert_eq!(stays[2].source.to_string(), "scheduler.retention[0]");
    gone(&bench, "inv_a").await;
    let left = bench.store.keys(Family::Invocation, None, 10).await.unwrap();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(start_paused = true)]
async fn a_hold_keeps_every_class_until_it_is_cleared() {
    let bench = bench(keeps(&[(RecordClass::Inputs, 50)]), &Arc::default()).await;
    let (tenant, scope) = (TenantId::unauthenticated(), HoldScope::Invocation(InvocationId::from_trusted("inv_held")));
    let hold = LegalHold {
        scope: scope.clone(),
        reason: "case 17".to_owned(),
        set_by: "bob".to_owned(),
        set_at: toolplane_records::time::Timestamp::from_millis(1),
    };
    assert!(bench.parts.holds.set(&tenant, &hold).await.unwrap());
    let _worker = bench.eager_worker("w1", 1).await;
    run_to_end(&bench, ask("inv_held")).await;
    run_to_end(&bench, ask("inv_free")).await;
    without(&bench, "inv_free", 1).await;
    let record = bench.parts.calls.records().get(&call_key("inv_held")).await.unwrap();
    assert_eq!(record.keeping.removed, []);
    assert!(bench.parts.calls.records().inputs(&record).await.unwrap().model.is_some());
    assert_eq!(bench.parts.stays.of(&record).await.unwrap()[0].held.as_deref(), Some("case 17"));
    assert!(bench.parts.holds.clear(&tenant, &scope).await.unwrap());
    without(&bench, "inv_held", 1).await;
}

#[tokio::test(start_paused = true)]
async fn what_people_were_asked_goes_with_the_call_also_when_it_cannot_be_removed_at_once() {
    let asked = Arc::<Asked>::default();
    let bench = bench(Vec::new(), &asked).await;
    let _worker = bench.eager_worker("w1", 1).await;
    run_to_end(&bench, ask("inv_a")).await;
    run_to_end(&bench, ask("inv_quiet")).await;
    asked_about(&bench, "inv_a").await;
    asked.away.store(true, std::sync::atomic::Ordering::SeqCst);
    let left = bench.parts.deletions.delete(&call_key("inv_a"), REQUEST).await.unwrap();
    assert_eq!(left.approval_ids, [ApprovalId::from_trusted("appr_1")]);
    bench.parts.deletions.delete(&call_key("inv_quiet"), REQUEST).await.unwrap();
    assert_eq!(bench.members(keys::UNREMOVED).await, ["inv_a"], "nobody was asked about the other");
    asked.away.store(false, std::sync::atomic::Ordering::SeqCst);
    for _ in 0..500 {
        if bench.members(keys::UNREMOVED).await.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(*asked.forgotten.lock(), ["inv_a appr_1"]);
    let rest = RecordKey::new(Family::Meta, "unremoved/inv_a");
    assert!(bench.store.get(&rest).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn questions_may_go_before_their_call() {
    let asked = Arc::<Asked>::default();
    let bench = bench(keeps(&[(RecordClass::Questions, 400), (RecordClass::Calls, 5_000)]), &asked).await;
    let _worker = bench.eager_worker("w1", 1).await;
    run_to_end(&bench, ask("inv_a")).await;
    asked_about(&bench, "inv_a").await;
    without(&bench, "inv_a", 1).await;
    gone(&bench, "inv_a").await;
    assert_eq!(*asked.forgotten.lock(), ["inv_a appr_1"], "and not once more with the call");
}
