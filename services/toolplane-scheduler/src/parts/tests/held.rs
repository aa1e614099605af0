//! Holds and deletions: what must not go does not, and what goes leaves its tombstone.

use toolplane_records::vocabulary::InvocationStatus;
use toolplane_store::{Family, ScoreRange};

use super::retire::{gone, run_to_end};
use super::*;
use crate::keeping::{DeletionRequest, HoldScope, LegalHold, Undeleted};

const REQUEST: DeletionRequest<'static> = DeletionRequest { by: "alice", reason: "erasure request 4" };

fn hold(scope: HoldScope) -> LegalHold {
    let set_at = toolplane_records::time::Timestamp::from_millis(1);
    LegalHold { scope, reason: "case 17".to_owned(), set_by: "bob".to_owned(), set_at }
}

#[tokio::test(start_paused = true)]
async fn a_hold_keeps_a_call_from_retention_and_deletion_until_it_is_cleared() {
    let tenant = TenantId::unauthenticated();
    let bench = Bench::with(Arc::new(memory()), PartsOptions { retention_ms: 50, key_window_ms: 0, ..options() }).await;
    let scope = HoldScope::Invocation(InvocationId::from_trusted("inv_held"));
    assert!(bench.parts.holds.set(&tenant, &hold(scope.clone())).await.unwrap());
    let _worker = bench.eager_worker("w1", 1).await;
    run_to_end(&bench, ask("inv_held")).await;
    run_to_end(&bench, ask("inv_free")).await;
    gone(&bench, "inv_free").await;
    assert!(bench.parts.calls.records().get(&call_key("inv_held")).await.is_ok());
    let refused = bench.parts.deletions.delete(&call_key("inv_held"), REQUEST).await.unwrap_err();
    assert!(matches!(refused, Undeleted::Held), "{refused}");
    // Another on the same changes nothing, and says so by what stays.
    let again = LegalHold { reason: "another".to_owned(), ..hold(scope.clone()) };
    assert!(bench.parts.holds.set(&tenant, &again).await.unwrap());
    assert_eq!(bench.parts.holds.of(&tenant).await.unwrap(), [hold(scope.clone())]);
    assert!(bench.parts.holds.clear(&tenant, &scope).await.unwrap());
    assert!(!bench.parts.holds.clear(&tenant, &scope).await.unwrap());
    gone(&bench, "inv_held").await;
    assert_eq!(bench.parts.deletions.tombstone(&call_key("inv_held")).await.unwrap(), None, "its time was over");
}

#[tokio::test(start_paused = true)]
async fn a_deleted_call_leaves_a_tombstone_and_no_text() {
    let tenant = TenantId::unauthenticated();
    let bench = Bench::with(Arc::new(memory()), PartsOptions { key_window_ms: 0, ..options() }).await;
    let living = bench.parts.deletions.delete(&call_key("inv_a"), REQUEST).await.unwrap_err();
    assert!(matches!(living, Undeleted::NotFound), "{living}");
    let _worker = bench.eager_worker("w1", 1).await;
    run_to_end(&bench, ask("inv_a")).await;
    bench.parts.workers.list()[0].drain();
    bench.admit(ask("inv_waits")).await.unwrap();
    let living = bench.parts.deletions.delete(&call_key("inv_waits"), REQUEST).await.unwrap_err();
    assert!(matches!(living, Undeleted::Living(InvocationStatus::Queued)), "{living}");
    let record = bench.parts.calls.records().get(&call_key("inv_a")).await.unwrap();
    let left = bench.parts.deletions.delete(&call_key("inv_a"), REQUEST).await.unwrap();
    assert_eq!(
        (left.status, left.events, left.request_digest),
        (record.status, record.last_seq, record.request_digest)
    );
    assert!(left.result_digest.is_some() && left.input_digests.contains(&record.inputs.model.digest));
    assert_eq!((left.deleted_by.as_str(), left.reason.as_str()), (REQUEST.by, REQUEST.reason));
    assert_eq!(bench.parts.deletions.tombstone(&call_key("inv_a")).await.unwrap(), Some(left.clone()));
    assert_eq!(bench.parts.deletions.page(&tenant, ScoreRange::all()).await.unwrap(), (vec![left], None));
    for family in [Family::Invocation, Family::Result, Family::Payload, Family::Decision, Family::Evidence] {
        let rest = bench.store.keys(family, None, 100).await.unwrap();
        assert!(rest.iter().all(|(id, _)| !id.contains("inv_a")), "{family}");
    }
    assert_eq!(bench.store.events("invocation/inv_a", 1, 10).await.unwrap().head_seq, 0);
    let again = bench.parts.deletions.delete(&call_key("inv_a"), REQUEST).await.unwrap_err();
    assert!(matches!(again, Undeleted::NotFound), "{again}");
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_tenant_with_its_own_time_stay_as_long_as_that_says() {
    let named = TenantId::from_trusted("acme");
    let tenant_retention_ms = BTreeMap::from([(named.clone(), 86_400_000)]);
    let short = PartsOptions { retention_ms: 50, key_window_ms: 0, tenant_retention_ms, ..options() };
    let bench = Bench::with(Arc::new(memory()), short).await;
    let _worker = bench.eager_worker("w1", 1).await;
    let of_acme = Ask { tenant: "acme", ..ask("inv_a") };
    let key = InvocationKey::new(&named, &InvocationId::from_trusted("inv_a"));
    let watch = bench.parts.watchers.watch_new(&key);
    bench.admit(of_acme).await.unwrap();
    follow(watch).await;
    run_to_end(&bench, ask("inv_b")).await;
    gone(&bench, "inv_b").await;
    assert!(bench.parts.calls.records().get(&key).await.is_ok());
}
