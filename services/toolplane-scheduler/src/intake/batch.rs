//! Reading a batch: all its calls, or a list of everything that is wrong with them.

use std::collections::BTreeSet;
use std::sync::Arc;

use toolplane_proto::v1;
use toolplane_records::SmolStr;
use toolplane_records::batch::{BatchMember, BatchPlace};
use toolplane_records::ids::{BatchId, TenantId};
use toolplane_records::payload::Digest;
use toolplane_records::scheduling::SchedulerPolicy;
use toolplane_records::vocabulary::{
    ContextModifierPolicy, InterruptBehavior, OrderingPolicy, SiblingFailurePolicy, YieldPolicy,
};
use toolplane_runtime::Caller;

use super::fields::Fields;
use super::locks;
use super::spec::{BatchPlacement, CallSpec, SpecLimits};
use crate::error::CallError;
use crate::identity::{Home, digest_of};
use crate::storage::Shards;

/// Most calls of one batch.
const MAX_CALLS: usize = 64;
/// Most bytes of all arguments of a batch: it is stored as one change.
const MAX_INPUT_BYTES: u64 = 4 * 1024 * 1024;
/// Name of the policy where the caller gives none.
const DEFAULT_POLICY: &str = "default";

/// A batch whose every field is well formed.
#[derive(Clone, Debug)]
pub(crate) struct BatchSpec {
    /// Owner.
    pub tenant: TenantId,
    /// Id of the batch: the caller's, or made from its idempotency key, or new.
    pub batch_id: BatchId,
    /// The calls in their order.
    pub calls: Vec<BatchCall>,
    /// The policy, with every default filled in.
    pub policy: SchedulerPolicy,
    /// The caller's key.
    pub idempotency_key: Option<SmolStr>,
    /// The session its calls belong to.
    pub session_ref: Option<SmolStr>,
    /// Where the locks of its calls apply, when the caller says so.
    pub lock_domain: Option<SmolStr>,
    /// Digest of everything that makes this request this request.
    pub digest: Digest,
    /// Whether a batch with this id may exist already.
    pub may_exist: bool,
}

/// One call of a batch.
#[derive(Clone, Debug)]
pub(crate) struct BatchCall {
    /// The call.
    pub spec: CallSpec,
    /// Positions of earlier calls that must succeed first, ascending.
    pub depends_on: Vec<u32>,
    /// What a failure of this call does to the others, when it is not what the policy says.
    pub sibling_failure_policy: Option<SiblingFailurePolicy>,
}

impl BatchSpec {
    /// Reads a batch `caller` sent, naming every field that is wrong, e.g. `spec.calls[3].spec.tool_name`.
    pub(crate) fn decode(
        spec: Option<v1::BatchSpec>,
        caller: &Arc<Caller>,
        limits: &SpecLimits,
    ) -> Result<Self, CallError> {
        let Some(spec) = spec else { return Err(CallError::invalid("spec", "must be given")) };
        let mut fields = Fields::within("spec");
        let idempotency_key = fields.text("idempotency_key", spec.idempotency_key);
        let session_ref = fields.short_text("session_ref", spec.session_ref, locks::MAX_NAME);
        let lock_domain = fields.short_text("lock_domain", spec.lock_domain, locks::MAX_NAME);
        let own_id = match spec.batch_id.as_str() {
            "" => None,
            id => fields.take("batch_id", BatchId::given(id)),
        };
        if spec.calls.is_empty() || spec.calls.len() > MAX_CALLS {
            fields.add("calls", format!("must have 1 to {MAX_CALLS} entries"));
        }
        fields.enter("spec.policy".to_owned());
        let policy = policy(spec.policy.unwrap_or_default(), &mut fields);
        let may_exist = own_id.is_some() || idempotency_key.is_some();
        let domain = locks::domain_of_batch(lock_domain.as_deref(), session_ref.as_deref());
        let home = Home::of(limits.shards, &caller.tenant, domain.as_deref());
        fields.enter("spec".to_owned());
        let batch_id = match own_id {
            Some(id) => home.batch_of_own(id, idempotency_key.as_deref()),
            None => home.new_batch(idempotency_key.as_deref()),
        };
        let shared = BatchContext {
            caller: Arc::clone(caller),
            batch_id,
            policy,
            idempotency_key,
            session_ref,
            lock_domain,
            count: spec.calls.len(),
        };
        let calls: Vec<Option<BatchCall>> = spec
            .calls
            .into_iter()
            .take(MAX_CALLS)
            .enumerate()
            .map(|(index, call)| shared.call(index, call, limits, &mut fields))
            .collect();
        fields.enter("spec".to_owned());
        check_together(&calls, &mut fields);
        fields.into_result()?;
        let calls: Option<Vec<BatchCall>> = calls.into_iter().collect();
        let calls = calls.ok_or_else(|| CallError::Internal("a missing field was not reported".to_owned()))?;
        Ok(shared.into_spec(calls, may_exist))
    }

    /// The members as the batch's record keeps them. `interrupts` holds the interrupt behaviour of each call.
    pub(crate) fn members(&self, interrupts: &[InterruptBehavior]) -> Vec<BatchMember> {
        let interrupts = interrupts.iter().copied().chain(std::iter::repeat(InterruptBehavior::Block));
        let member = |(call, interrupt_behavior): (&BatchCall, InterruptBehavior)| BatchMember {
            invocation_id: call.spec.invocation_id.clone(),
            tool_name: call.spec.tool.name.to_string(),
            depends_on: call.depends_on.clone(),
            sibling_failure_policy: call.sibling_failure_policy,
            interrupt_behavior,
            background: call.spec.scheduling.background,
            released: false,
            ended: None,
            yield_seq: None,
            canceled_by: None,
            discarded: false,
        };
        self.calls.iter().zip(interrupts).map(member).collect()
    }
}

/// What the calls of a batch have in common.
struct BatchContext {
    caller: Arc<Caller>,
    batch_id: BatchId,
    policy: SchedulerPolicy,
    idempotency_key: Option<SmolStr>,
    session_ref: Option<SmolStr>,
    lock_domain: Option<SmolStr>,
    count: usize,
}

impl BatchContext {
    fn call(&self, index: usize, call: v1::BatchCall, limits: &SpecLimits, fields: &mut Fields) -> Option<BatchCall> {
        let place = format!("spec.calls[{index}]");
        fields.enter(place.clone());
        let depends_on = depends_on(index, call.depends_on, fields);
        let sibling_failure_policy = word("sibling_failure_policy", call.sibling_failure_policy, fields);
        fields.enter(format!("{place}.spec"));
        let own_id = call.spec.as_ref().is_some_and(|spec| !spec.invocation_id.is_empty());
        // Where its id has to lie is said by the batch, which is in one place with its session and lock domain.
        let own = SpecLimits { shards: Shards::ONE, ..*limits };
        let mut spec = CallSpec::read(call.spec, &self.caller, &own, fields)?;
        for (field, own, shared) in [
            ("idempotency_key", &mut spec.repeat.idempotency_key, &self.idempotency_key),
            ("session_ref", &mut spec.context.session_ref, &self.session_ref),
            ("lock_domain", &mut spec.scheduling.lock_domain, &self.lock_domain),
        ] {
            if own.is_some() && own != shared {
                fields.add(field, "is the batch's: leave it out here, or give the same");
            }
            own.clone_from(shared);
        }
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let home = Home::of_batch(limits.shards, &self.caller.tenant, &self.batch_id);
        spec.invocation_id = match own_id {
            true => home.call_of_own(spec.invocation_id, None),
            false => home.new_member(&self.batch_id, index),
        };
        let (own, policy) = (&mut spec.scheduling, &self.policy);
        own.resource_locks = locks::merge([own.resource_locks.as_slice(), &policy.resource_locks].concat());
        own.scheduler_policy_ref.get_or_insert_with(|| policy.scheduler_policy_id.clone().into());
        spec.member = Some(BatchPlacement {
            place: BatchPlace { batch_id: self.batch_id.clone(), index },
            interrupt_behavior: self.policy.interrupt_behavior,
            context_modifier_policy: self.modifiers(),
            parallel: !self.is_one_at_a_time(),
        });
        Some(BatchCall { spec, depends_on, sibling_failure_policy })
    }

    /// What happens to the context modifiers of one call. Where calls may run beside each other, "serial only" honours
    /// none: which of them happened to run alone must not decide what the context becomes.
    fn modifiers(&self) -> Option<ContextModifierPolicy> {
        match self.policy.context_modifier_policy {
            Some(ContextModifierPolicy::AllowSerialOnly) if !self.is_one_at_a_time() => {
                Some(ContextModifierPolicy::Forbid)
            }
            policy => policy,
        }
    }

    /// Whether no two of its calls run beside each other.
    fn is_one_at_a_time(&self) -> bool {
        toolplane_lifecycle::batch::max_parallel(&self.policy) == 1 || self.count == 1
    }

    fn into_spec(self, calls: Vec<BatchCall>, may_exist: bool) -> BatchSpec {
        let digest = self.digest(&calls);
        let Self { caller, batch_id, policy, idempotency_key, session_ref, lock_domain, .. } = self;
        let tenant = caller.tenant.clone();
        BatchSpec { tenant, batch_id, calls, policy, idempotency_key, session_ref, lock_domain, digest, may_exist }
    }

    fn digest(&self, calls: &[BatchCall]) -> Digest {
        let mut parts = vec![
            serde_json::to_vec(&self.policy).unwrap_or_default(),
            self.session_ref.as_deref().unwrap_or_default().into(),
            self.lock_domain.as_deref().unwrap_or_default().into(),
        ];
        for call in calls {
            parts.push(call.spec.repeat.digest.as_bytes().to_vec());
            parts.push(call.depends_on.iter().flat_map(|index| index.to_be_bytes()).collect());
            parts.push(call.sibling_failure_policy.map(|policy| policy.as_str().into()).unwrap_or_default());
        }
        digest_of(&parts)
    }
}

/// The caller's policy, with what it leaves open said out loud.
fn policy(given: v1::SchedulerPolicy, fields: &mut Fields) -> SchedulerPolicy {
    let ordering =
        word("ordering_policy", given.ordering_policy, fields).unwrap_or(OrderingPolicy::PreserveTerminalOrder);
    let unordered = ordering == OrderingPolicy::AllowUnordered;
    let default_yield =
        if unordered { YieldPolicy::UnorderedStreaming } else { YieldPolicy::ProgressImmediateResultsOrdered };
    let yields = word("yield_policy", given.yield_policy, fields).unwrap_or(default_yield);
    if given.max_parallel == Some(0) {
        fields.add("max_parallel", "must be at least 1; leave it out for no bound");
    }
    let one_at_a_time = ordering == OrderingPolicy::Serial || given.max_parallel == Some(1);
    let default_modifiers = match one_at_a_time {
        true => ContextModifierPolicy::AllowSerialOnly,
        false => ContextModifierPolicy::DeferUntilBatchComplete,
    };
    SchedulerPolicy {
        schema_version: toolplane_records::schema_version(),
        scheduler_policy_id: fields
            .text("scheduler_policy_id", given.scheduler_policy_id)
            .unwrap_or_else(|| DEFAULT_POLICY.into())
            .to_string(),
        scope: fields.text("scope", given.scope).unwrap_or_default().to_string(),
        max_parallel: given.max_parallel,
        ordering_policy: Some(ordering),
        yield_policy: Some(yields),
        interrupt_behavior: word("interrupt_behavior", given.interrupt_behavior, fields),
        sibling_failure_policy: Some(
            word("sibling_failure_policy", given.sibling_failure_policy, fields)
                .unwrap_or(SiblingFailurePolicy::Ignore),
        ),
        context_modifier_policy: Some(
            word("context_modifier_policy", given.context_modifier_policy, fields).unwrap_or(default_modifiers),
        ),
        resource_locks: locks::read("resource_locks", given.resource_locks, fields),
    }
}

fn word<W: toolplane_proto::convert::word::Word>(field: &str, number: i32, fields: &mut Fields) -> Option<W> {
    match toolplane_proto::convert::word::optional_closed(field, number) {
        Ok(word) => word,
        Err(error) => {
            fields.add(&error.field, error.rule);
            None
        }
    }
}

/// Edges to earlier calls only, so that there are no rings.
fn depends_on(index: usize, given: Vec<u32>, fields: &mut Fields) -> Vec<u32> {
    for (place, edge) in given.iter().enumerate() {
        if *edge as usize >= index {
            fields.add(&format!("depends_on[{place}]"), "must be the position of an earlier call");
        }
    }
    given.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
}

/// Rules that no call breaks alone.
fn check_together(calls: &[Option<BatchCall>], fields: &mut Fields) {
    let mut ids = BTreeSet::new();
    for (index, call) in calls.iter().enumerate() {
        if let Some(call) = call
            && !ids.insert(&call.spec.invocation_id)
        {
            fields.add(&format!("calls[{index}].spec.invocation_id"), "is the id of an earlier call of the batch");
        }
    }
    let bytes: u64 = calls.iter().flatten().map(|call| call.spec.model_input.size()).sum();
    if bytes > MAX_INPUT_BYTES {
        fields.add("calls", format!("must not have more than {MAX_INPUT_BYTES} bytes of arguments together"));
    }
}
