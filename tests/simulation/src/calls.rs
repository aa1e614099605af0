//! The calls of a simulated run.

use std::sync::Arc;

use toolplane_lifecycle::{Acceptance, Preparation};
use toolplane_records::SmolStr;
use toolplane_records::batch::{Batch, BatchMember, BatchPlace};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::ids::{ApprovalId, BatchId, DecisionId, InvocationId, InvocationKey, TenantId, ToolId};
use toolplane_records::invocation::{DispatchFacts, InputRefs, InputSafety};
use toolplane_records::payload::{Digest, JsonPayload, PayloadRef};
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::scheduling::{ResourceLock, SchedulerPolicy};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{
    Band, Behavior, ExecutionKind, InterruptBehavior, LockMode, OrderingPolicy, SiblingFailurePolicy, StartGuard,
};

use toolplane_scheduler::simulation::{DispatchPlan, InlineLimits, PlannedExecution, PlannedMatching, PlannedTool};

use crate::random::Random;

/// Everything that makes a difference to how a call is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// May be executed again.
    pub idempotent: bool,
    /// Needs the key `k` of its lock domain.
    pub lock: Option<LockMode>,
    /// A person is asked first.
    pub approval: bool,
    /// The tool asks a question while it runs.
    pub asks: bool,
    /// Can be canceled while it runs.
    pub cancelable: bool,
    /// How urgent it is.
    pub band: Band,
}

/// A call the client wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedCall {
    /// Its id, made from the client's key.
    pub id: InvocationId,
    /// Whose it is.
    pub tenant: TenantId,
    /// What it is.
    pub kind: Kind,
}

impl WantedCall {
    /// Its name in the store.
    pub fn key(&self) -> InvocationKey {
        InvocationKey::new(&self.tenant, &self.id)
    }
}

/// A batch the client wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedBatch {
    /// Its id.
    pub id: BatchId,
    /// Its calls, with the positions of those they depend on.
    pub calls: Vec<(WantedCall, Vec<u32>)>,
    /// The policy over them.
    pub policy: SchedulerPolicy,
}

/// A random call.
pub fn call(number: usize, random: &mut Random) -> WantedCall {
    let kind = Kind {
        idempotent: random.below(10) < 6,
        lock: match random.below(10) {
            0 => Some(LockMode::Exclusive),
            1 => Some(LockMode::Shared),
            _ => None,
        },
        approval: random.once_in(20),
        asks: number % 10 == 7,
        cancelable: !random.once_in(3),
        band: [Band::Interactive, Band::Normal, Band::Background][random.index(3)],
    };
    WantedCall {
        id: InvocationId::from_trusted(format!("inv_{number:04}")),
        tenant: TenantId::from_trusted(["a", "b"][random.index(2)]),
        kind,
    }
}

/// A random batch; its calls are numbered from `first`.
pub fn batch(number: usize, first: usize, random: &mut Random) -> WantedBatch {
    let size = 2 + random.index(7);
    let calls = (0..size)
        .map(|index| {
            let mut wanted = call(first + index, random);
            wanted.tenant = TenantId::from_trusted("a");
            let depends = (0..index).filter(|_| random.once_in(5)).map(|other| u32::try_from(other).unwrap_or(0));
            (wanted, depends.collect())
        })
        .collect();
    let orders = [OrderingPolicy::PreserveTerminalOrder, OrderingPolicy::AllowUnordered, OrderingPolicy::Serial];
    let failures =
        [SiblingFailurePolicy::Ignore, SiblingFailurePolicy::CancelSiblings, SiblingFailurePolicy::CancelDependent];
    let policy = SchedulerPolicy {
        schema_version: toolplane_records::schema_version(),
        scheduler_policy_id: format!("policy_{number}"),
        scope: String::new(),
        max_parallel: random.once_in(2).then(|| 1 + u32::try_from(random.below(4)).unwrap_or(0)),
        ordering_policy: Some(orders[random.index(3)]),
        yield_policy: None,
        interrupt_behavior: None,
        sibling_failure_policy: Some(failures[random.index(3)]),
        context_modifier_policy: None,
        resource_locks: Vec::new(),
    };
    WantedBatch { id: BatchId::from_trusted(format!("batch_{number:02}")), calls, policy }
}

/// What is known of a wanted call before it is judged.
pub fn acceptance(wanted: &WantedCall, place: Option<BatchPlace>) -> Acceptance {
    let digest = input().digest();
    let input = PayloadRef {
        uri: format!("payload:{}/{}", wanted.id, digest.hex()).into(),
        media_type: "application/json".into(),
        digest,
        size_bytes: 2,
    };
    let locks = wanted.kind.lock.map(|mode| ResourceLock { key: "k".to_owned(), mode });
    Acceptance {
        invocation_id: wanted.id.clone(),
        tenant: wanted.tenant.clone(),
        tool_id: ToolId::from_trusted("tool_1"),
        tool_name: "tool".into(),
        surface_id: None,
        surface_moment: None,
        native_call_id: None,
        native_ids: Default::default(),
        inputs: InputRefs { model: input.clone(), observable: None, permission: None, call: Some(input) },
        actor_ref: None,
        runtime_refs: Vec::new(),
        telemetry_refs: Vec::new(),
        scheduler_policy_ref: None,
        idempotency_key: Some(wanted.id.to_string().into()),
        request_digest: digest,
        deadline_at: None,
        safety: InputSafety { is_idempotent: wanted.kind.idempotent, ..InputSafety::default() },
        mutations: Vec::new(),
        session_ref: None,
        band: wanted.kind.band,
        lock_domain: locks.is_some().then(|| "session:s".into()),
        resource_locks: locks.into_iter().collect(),
        inherited_taints: Vec::new(),
        background: false,
        held_by_batch: place.is_some(),
        hooks: Vec::new(),
        caller_ref: None,
        caller_actor: None,
        keeping: Default::default(),
        assurance: None,
        permission_mode: None,
        batch: place,
    }
}

/// Where the preparation of a wanted call leads.
pub fn preparation(wanted: &WantedCall, now: Timestamp) -> Preparation {
    let dispatch = DispatchFacts {
        pool: "native".into(),
        plan_digest: plan_digest(),
        timeout_ms: 8_000,
        supports_cancel: wanted.kind.cancelable,
        interrupt_behavior: InterruptBehavior::Block,
        max_attempts: if wanted.kind.idempotent { 5 } else { 1 },
        start_guard: StartGuard::Store,
        retry_on_timeout: false,
        quarantine_key: None,
        context_modifier_policy: None,
        policy_digest: SmolStr::default(),
        permit_until: None,
        denied_paths: toolplane_records::decision::DeniedPaths::default(),
    };
    if wanted.kind.approval {
        Preparation::Asked {
            decision: decision(&wanted.id, Behavior::Ask, now),
            approval_id: ApprovalId::from_trusted(approval_of(&wanted.id)),
            expires_at: now.plus_millis(10_000),
            dispatch,
        }
    } else {
        Preparation::Ready { decision: decision(&wanted.id, Behavior::Allow, now), dispatch }
    }
}

/// What every call runs with.
pub fn input() -> JsonPayload {
    JsonPayload::from_checked(&b"{}"[..])
}

/// How every call runs.
pub fn plan() -> Arc<DispatchPlan> {
    Arc::new(DispatchPlan {
        tool: PlannedTool {
            tool_id: ToolId::from_trusted("tool_1"),
            full_name: "tool".to_owned(),
            declaration_digest: Digest::of(b"declaration"),
        },
        execution: PlannedExecution {
            kind: ExecutionKind::EmbeddedRuntime,
            binding: ExecutionBinding::Native { name: "sim.tool".to_owned() },
            sandboxed: false,
            sandbox_profile: None,
            timeout_ms: 8_000,
        },
        inline: InlineLimits { max_chars: 1_000, max_bytes: 1_000 },
        supports_cancel: true,
        supports_context_modifiers: false,
        matching: PlannedMatching::default(),
        output_schema: None,
        declared: Default::default(),
    })
}

#[expect(clippy::expect_used, reason = "a plan is plain data")]
fn plan_digest() -> Digest {
    plan().encode().expect("a plan can be written").1
}

/// The question about a call that a person is asked about.
pub fn approval_of(id: &InvocationId) -> String {
    format!("approval_{id}")
}

/// The record of a wanted batch, of which nothing has been released.
pub fn batch_record(wanted: &WantedBatch, now: Timestamp) -> Batch {
    let member = |(call, depends_on): &(WantedCall, Vec<u32>)| BatchMember {
        invocation_id: call.id.clone(),
        tool_name: "tool".to_owned(),
        depends_on: depends_on.clone(),
        sibling_failure_policy: None,
        interrupt_behavior: InterruptBehavior::Block,
        background: false,
        released: false,
        ended: None,
        yield_seq: None,
        canceled_by: None,
        discarded: false,
    };
    Batch {
        schema_version: toolplane_records::schema_version(),
        batch_id: wanted.id.clone(),
        tenant: TenantId::from_trusted("a"),
        policy: wanted.policy.clone(),
        session_ref: None,
        lock_domain: None,
        request_digest: Digest::of(wanted.id.as_str().as_bytes()),
        idempotency_key: None,
        created_at: now,
        members: wanted.calls.iter().map(member).collect(),
        next_yield: 0,
        yields: 0,
        ended_at: None,
    }
}

/// A decision about a call.
pub fn decision(id: &InvocationId, behavior: Behavior, now: Timestamp) -> PermissionDecision {
    PermissionDecision::new(DecisionId::from_trusted(format!("decision_{id}_{behavior}")), id.clone(), behavior, now)
}
