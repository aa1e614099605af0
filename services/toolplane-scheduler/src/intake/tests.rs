//! What requests are read as.

use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::json::JsonLimits;
use toolplane_records::vocabulary::{Band, ContextModifierPolicy, OrderingPolicy, SiblingFailurePolicy, YieldPolicy};
use toolplane_runtime::Caller;

use super::*;

const LIMITS: SpecLimits = SpecLimits {
    json: JsonLimits { max_bytes: 1 << 20, max_depth: 64, max_nodes: 10_000 },
    max_deadline_ms: 1_000_000,
    shards: crate::storage::Shards::ONE,
};

fn spec() -> v1::InvocationSpec {
    v1::InvocationSpec { surface_id: "s".into(), tool_name: "n.t".into(), ..Default::default() }
}

fn read(spec: v1::InvocationSpec) -> Result<CallSpec, Vec<String>> {
    CallSpec::decode(Some(spec), &Caller::unauthenticated(), &LIMITS).map_err(fields)
}

fn batch(calls: usize) -> v1::BatchSpec {
    let call = v1::BatchCall { spec: Some(spec()), ..Default::default() };
    v1::BatchSpec { calls: vec![call; calls], ..Default::default() }
}

fn read_batch(spec: v1::BatchSpec) -> Result<BatchSpec, Vec<String>> {
    BatchSpec::decode(Some(spec), &Caller::unauthenticated(), &LIMITS).map_err(fields)
}

fn fields(error: CallError) -> Vec<String> {
    let CallError::Invalid(faults) = error else { panic!("{error:?}") };
    faults.into_iter().map(|fault| fault.field).collect()
}

#[test]
fn every_wrong_field_of_a_call_is_named() {
    let wrong = v1::InvocationSpec {
        surface_id: "not an id".into(),
        tool_name: String::new(),
        surface_moment: "1".into(),
        declaration_digest: "sha256:12".into(),
        priority: "soon".into(),
        session_ref: "a\nb".into(),
        lock_domain: "d".repeat(201),
        timeout_ms: 1_000_001,
        resource_locks: vec![v1::ResourceLock { key: String::new(), mode: "half".into(), mode_code: 0 }],
        ..Default::default()
    };
    let expected = [
        "spec.surface_id",
        "spec.tool_name",
        "spec.surface_moment",
        "spec.declaration_digest",
        "spec.timeout_ms",
        "spec.priority",
        "spec.session_ref",
        "spec.lock_domain",
        "spec.resource_locks[0].key",
        "spec.resource_locks[0].mode",
    ];
    assert_eq!(read(wrong).unwrap_err(), expected);
    assert_eq!(CallSpec::decode(None, &Caller::unauthenticated(), &LIMITS).map_err(fields).unwrap_err(), ["spec"]);
}

/// A call that is asked for again after an upgrade is found by the digest it was accepted with.
#[test]
fn the_digest_of_a_request_stays_what_it_was() {
    let full = v1::InvocationSpec {
        timeout_ms: 5,
        native_call_id: "toolu_1".into(),
        actor_ref: "ann".into(),
        session_ref: "s1".into(),
        lock_domain: "d1".into(),
        resource_locks: vec![v1::ResourceLock { key: "a".into(), mode: "exclusive".into(), ..Default::default() }],
        priority: "interactive".into(),
        assurance: Some(v1::CallAssurance { verdict: "sure".into(), ..Default::default() }),
        ..spec()
    };
    for (spec, digest) in [
        (spec(), "b7d2e5df6858d66cb7219ececb26d49bd101525e7e6092ea205589353c7903f3"),
        (full, "864383528d5f352ff46b82d416ef7462b1fa4d1e3bd5b2a5e9ed655c90ca7a1a"),
    ] {
        assert_eq!(read(spec).unwrap().repeat.digest.hex(), digest);
    }
}

#[test]
fn a_different_request_has_a_different_digest_and_the_same_key_the_same_id() {
    let with = |change: fn(&mut v1::InvocationSpec)| {
        let mut changed = v1::InvocationSpec { idempotency_key: "k".into(), ..spec() };
        change(&mut changed);
        read(changed).unwrap()
    };
    let plain = with(|_| {});
    assert_eq!(plain.repeat.digest, with(|_| {}).repeat.digest);
    let lock = |spec: &mut v1::InvocationSpec| {
        spec.resource_locks = vec![v1::ResourceLock { key: "a".into(), ..Default::default() }];
    };
    let changes: [fn(&mut v1::InvocationSpec); 6] = [
        |spec| spec.tool_name = "n.u".into(),
        |spec| spec.session_ref = "s".into(),
        |spec| spec.lock_domain = "s".into(),
        |spec| spec.priority = "interactive".into(),
        |spec| spec.timeout_ms = 5,
        lock,
    ];
    let mut digests = std::collections::HashSet::from([plain.repeat.digest]);
    for change in changes {
        let changed = with(change);
        assert!(digests.insert(changed.repeat.digest), "{changed:?}");
        assert_eq!(changed.invocation_id, plain.invocation_id);
    }
    let aliases = [("", Band::Normal), ("default", Band::Normal), ("batch", Band::Background)];
    for (word, band) in aliases {
        assert_eq!(read(v1::InvocationSpec { priority: word.into(), ..spec() }).unwrap().scheduling.band, band);
    }
}

#[test]
fn a_batch_says_out_loud_what_its_caller_left_open() {
    let policy = read_batch(batch(2)).unwrap().policy;
    assert_eq!(policy.ordering_policy, Some(OrderingPolicy::PreserveTerminalOrder));
    assert_eq!(policy.yield_policy, Some(YieldPolicy::ProgressImmediateResultsOrdered));
    assert_eq!(policy.sibling_failure_policy, Some(SiblingFailurePolicy::Ignore));
    assert_eq!(policy.context_modifier_policy, Some(ContextModifierPolicy::DeferUntilBatchComplete));
    let unordered =
        v1::SchedulerPolicy { ordering_policy: v1::OrderingPolicy::AllowUnordered.into(), ..Default::default() };
    let policy = read_batch(v1::BatchSpec { policy: Some(unordered), ..batch(2) }).unwrap().policy;
    assert_eq!(policy.yield_policy, Some(YieldPolicy::UnorderedStreaming));
}

#[test]
fn modifiers_of_calls_that_may_run_beside_others_are_not_honoured_serially() {
    use v1::{ContextModifierPolicy as Policy, OrderingPolicy as Order};
    let modifiers = |ordering: Order, calls: usize, max_parallel: Option<u32>| {
        let policy = v1::SchedulerPolicy {
            ordering_policy: ordering.into(),
            context_modifier_policy: Policy::AllowSerialOnly.into(),
            max_parallel,
            ..Default::default()
        };
        let spec = read_batch(v1::BatchSpec { policy: Some(policy), ..batch(calls) }).unwrap();
        spec.calls[0].spec.member.as_ref().unwrap().context_modifier_policy
    };
    let (allowed, forbidden) = (Some(ContextModifierPolicy::AllowSerialOnly), Some(ContextModifierPolicy::Forbid));
    assert_eq!(modifiers(Order::PreserveTerminalOrder, 2, None), forbidden);
    assert_eq!(modifiers(Order::PreserveTerminalOrder, 2, Some(1)), allowed);
    assert_eq!(modifiers(Order::PreserveTerminalOrder, 1, None), allowed);
    assert_eq!(modifiers(Order::Serial, 5, Some(4)), allowed);
}

#[test]
fn what_is_wrong_with_one_call_is_told_by_its_place() {
    let mut wrong = batch(4);
    wrong.calls[1].spec = None;
    wrong.calls[2].depends_on = vec![0, 2];
    wrong.calls[2].sibling_failure_policy = 77;
    wrong.calls[3].spec.as_mut().unwrap().idempotency_key = "own".into();
    wrong.policy = Some(v1::SchedulerPolicy { max_parallel: Some(0), ..Default::default() });
    let expected = [
        "spec.policy.max_parallel",
        "spec.calls[1].spec",
        "spec.calls[2].depends_on[1]",
        "spec.calls[2].sibling_failure_policy",
        "spec.calls[3].spec.idempotency_key",
    ];
    assert_eq!(read_batch(wrong).unwrap_err(), expected);
    assert_eq!(read_batch(batch(0)).unwrap_err(), ["spec.calls"]);
    assert_eq!(read_batch(batch(65)).unwrap_err(), ["spec.calls"]);
    let mut twice = batch(2);
    for call in &mut twice.calls {
        call.spec.as_mut().unwrap().invocation_id = "inv_1".into();
    }
    assert_eq!(read_batch(twice).unwrap_err(), ["spec.calls[1].spec.invocation_id"]);
    let mut large = batch(5);
    for call in &mut large.calls {
        let text = format!("{{\"a\":\"{}\"}}", "x".repeat(1_000_000));
        call.spec.as_mut().unwrap().model_input =
            Some(v1::JsonPayload { body: Some(Body::Inline(text.into())), ..Default::default() });
    }
    assert_eq!(read_batch(large).unwrap_err(), ["spec.calls"]);
}

#[test]
fn members_share_session_domain_key_and_policy_locks_and_their_ids_follow_from_the_key() {
    let lock = |key: &str| v1::ResourceLock { key: key.into(), ..Default::default() };
    let mut given = v1::BatchSpec {
        idempotency_key: "k".into(),
        session_ref: "s".into(),
        lock_domain: "d".into(),
        policy: Some(v1::SchedulerPolicy { resource_locks: vec![lock("all")], ..Default::default() }),
        ..batch(3)
    };
    given.calls[1].spec.as_mut().unwrap().resource_locks = vec![lock("own")];
    let (one, other) = (read_batch(given.clone()).unwrap(), read_batch(given).unwrap());
    assert_eq!((&one.batch_id, one.digest), (&other.batch_id, other.digest));
    for (call, again) in one.calls.iter().zip(&other.calls) {
        assert_eq!(call.spec.invocation_id, again.spec.invocation_id);
        assert_eq!(
            (call.spec.context.session_ref.as_deref(), call.spec.scheduling.lock_domain.as_deref()),
            (Some("s"), Some("d"))
        );
        assert_eq!(call.spec.repeat.idempotency_key.as_deref(), Some("k"));
    }
    let keys = |index: usize| {
        one.calls[index].spec.scheduling.resource_locks.iter().map(|lock| lock.key.as_str()).collect::<Vec<_>>()
    };
    assert_eq!((keys(0), keys(1)), (vec!["all"], vec!["all", "own"]));
    let single = read(v1::InvocationSpec { idempotency_key: "k".into(), ..spec() }).unwrap();
    assert!(
        one.calls.iter().all(|call| call.spec.invocation_id != single.invocation_id),
        "keys of batches are their own"
    );
}

#[test]
fn a_call_is_held_to_the_scope_of_its_surface() {
    let resolved = v1::ResolvedTool { scope_refs: vec!["session:a".to_owned()], ..Default::default() };
    let terms = Terms::from(&resolved);
    let code = |session: &str| {
        let call = read(v1::InvocationSpec { session_ref: session.into(), ..spec() }).unwrap();
        assess::against(&terms, &call).map(|error| (error.error_code.to_string(), error.field_violations))
    };
    assert_eq!(code("a"), None);
    for other in ["b", ""] {
        let (code, fields) = code(other).unwrap();
        assert_eq!((code.as_str(), fields[0].field.as_str()), ("surface.out_of_scope", "spec.session_ref"));
    }
    // What helps is told for the form that is held.
    let resolved = v1::ResolvedTool { scope_refs: vec!["agent:a".to_owned()], ..Default::default() };
    let call = read(v1::InvocationSpec { actor_ref: "b".into(), ..spec() }).unwrap();
    let cure = assess::against(&Terms::from(&resolved), &call).unwrap().recovery_suggestion.unwrap();
    assert!(cure.contains("`toolplane invoke --actor ID`"), "{cure}");
    let plain = Terms::from(&v1::ResolvedTool::default());
    assert!(assess::against(&plain, &read(spec()).unwrap()).is_none());
}

#[test]
fn a_call_is_held_to_the_scopes_of_all_surfaces_above_its_own() {
    let above = |surface_id: &str, form: &str| v1::SurfaceAbove {
        surface_id: surface_id.to_owned(),
        scope_refs: vec![format!("{form}:a")],
        ..Default::default()
    };
    let above = vec![above("surf_p", "workspace"), above("surf_q", "task")];
    let terms = Terms::from(&v1::ResolvedTool { above, ..Default::default() });
    let message = |refs: &[&str]| {
        let runtime_refs = refs.iter().map(|text| (*text).to_owned()).collect();
        let call = read(v1::InvocationSpec { runtime_refs, ..spec() }).unwrap();
        assess::against(&terms, &call).map(|error| error.message)
    };
    assert_eq!(message(&["task:a", "workspace:a"]), None);
    for (refs, id) in [(vec!["task:a"], "surf_p"), (vec!["workspace:a"], "surf_q"), (vec![], "surf_p")] {
        let message = message(&refs).unwrap();
        assert!(message.contains(&format!("(says the surface `{id}`, which this one is within)")), "{message}");
    }
}
