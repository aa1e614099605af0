//! Batches, lock domains and scheduler policies.

use toolplane_records::batch::{Batch, BatchMember};
use toolplane_records::locks::{LockDomain, Ticket};
use toolplane_records::payload::Digest;
use toolplane_records::scheduling::{ResourceLock, SchedulerPolicy};
use toolplane_records::vocabulary::{
    ContextModifierPolicy, InterruptBehavior, InvocationStatus, LockMode, OrderingPolicy, SiblingFailurePolicy,
    YieldPolicy,
};

use super::{Sample, at, id, ours, published, some};

const VERSION: &str = "0.2.0";

pub(super) fn samples() -> Vec<Sample> {
    vec![
        ours("batch", &batch(), BATCH),
        ours("lock-domain", &lock_domain(), r#"{"domain":"tenant","tenant":"acme","next_ticket":1}"#),
        published("scheduler-policy", &policy(), r#"{"scheduler_policy_id":"p-1"}"#),
    ]
}

const BATCH: &str = r#"{"batch_id":"b-1","tenant":"default","policy":{"scheduler_policy_id":"p"},
    "request_digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "created_at":"2026-05-17T06:40:00Z"}"#;

pub(super) fn lock(key: &str, mode: LockMode) -> ResourceLock {
    ResourceLock { key: key.to_owned(), mode }
}

fn batch() -> Batch {
    Batch {
        schema_version: VERSION.into(),
        batch_id: id("bat-1"),
        tenant: id("acme"),
        policy: policy(),
        session_ref: some("s-1"),
        lock_domain: some("session:s-1"),
        request_digest: Digest::of(b"batch"),
        idempotency_key: some("key-2"),
        created_at: at(0),
        members: vec![
            BatchMember {
                invocation_id: id("inv-1"),
                tool_name: "files.read_file".to_owned(),
                depends_on: Vec::new(),
                sibling_failure_policy: Some(SiblingFailurePolicy::CancelSiblings),
                interrupt_behavior: InterruptBehavior::Cancel,
                background: true,
                released: true,
                ended: Some(InvocationStatus::Failed),
                yield_seq: Some(1),
                canceled_by: None,
                discarded: false,
            },
            BatchMember {
                invocation_id: id("inv-2"),
                tool_name: "files.list".to_owned(),
                depends_on: vec![0],
                sibling_failure_policy: None,
                interrupt_behavior: InterruptBehavior::Block,
                background: false,
                released: false,
                ended: Some(InvocationStatus::Canceled),
                yield_seq: None,
                canceled_by: Some(0),
                discarded: true,
            },
        ],
        next_yield: 1,
        yields: 1,
        ended_at: Some(at(40)),
    }
}

fn lock_domain() -> LockDomain {
    LockDomain {
        domain: "session:s-1".into(),
        tenant: id("acme"),
        next_ticket: 3,
        tickets: vec![
            Ticket {
                ticket: 1,
                invocation_id: id("inv-1"),
                locks: vec![lock("context", LockMode::Exclusive)],
                granted: true,
                linger_until: Some(at(15_000)),
            },
            Ticket {
                ticket: 2,
                invocation_id: id("inv-2"),
                locks: vec![lock("context", LockMode::Shared)],
                granted: false,
                linger_until: None,
            },
        ],
    }
}

fn policy() -> SchedulerPolicy {
    SchedulerPolicy {
        schema_version: VERSION.into(),
        scheduler_policy_id: "policy-1".to_owned(),
        scope: "session".to_owned(),
        max_parallel: Some(4),
        ordering_policy: Some(OrderingPolicy::PreserveTerminalOrder),
        yield_policy: Some(YieldPolicy::AllOrdered),
        interrupt_behavior: Some(InterruptBehavior::Cancel),
        sibling_failure_policy: Some(SiblingFailurePolicy::CancelDependent),
        context_modifier_policy: Some(ContextModifierPolicy::DeferUntilBatchComplete),
        resource_locks: vec![lock("file:/workspace", LockMode::Exclusive)],
    }
}
