//! Pipeline phases 1 to 7: from a caller's request to an admission that can be stored.
//!
//! Nothing is written here. Until the admission is stored, every failure is an error of the request; from
//! then on every ending is a result.

mod asker;
mod assess;
mod batch;
mod decide;
mod defaults;
mod fields;
mod hooks;
mod inputs;
mod locks;
mod refusals;
mod request;
mod resolve;
mod reuse;
mod spec;
#[cfg(test)]
mod tests;
mod tool;
mod trust;

use std::sync::Arc;

use toolplane_hooks::Hooks;
use toolplane_lifecycle::accept;
use toolplane_proto::v1;
use toolplane_records::payload::JsonPayload;
use toolplane_records::refs::TelemetryRef;
use toolplane_records::vocabulary::HookEvent;

use crate::calls::Admission;
use crate::dispatch::{Decisions, Quarantine, Workers};
use crate::error::CallError;
use crate::storage::Storage;
use crate::taints::SessionTaints;

pub(crate) use batch::BatchSpec;
pub(crate) use decide::{PermissionPeer, RulesNow};
pub(crate) use resolve::{SurfacePeer, follow_catalog};
pub(crate) use spec::{CallSpec, SpecLimits};
pub(crate) use tool::ToolLimits;

pub(crate) use asker::Asker;
pub(crate) use decide::{PermissionAnswer, denial};
pub(crate) use inputs::{Author, Inputs};
pub(crate) use locks::locks_again;
pub(crate) use refusals::tool_changed;
pub(crate) use request::{DecidedCall, caller_context, decision_request};
pub(crate) use resolve::{Resolved, Terms, ToolAddress};
pub(crate) use reuse::{KnownRules, RulesInForce};
pub(crate) use tool::CallableTool;

/// The points of a call at which this role asks hooks.
pub(crate) const HOOK_EVENTS: &[HookEvent] = &[HookEvent::PreToolUse];

/// Prepares calls: knows the surface and permission services, the hooks, and which pools workers serve.
#[derive(Clone, Debug)]
pub(crate) struct Preparer {
    surface: SurfacePeer,
    permission: PermissionPeer,
    hooks: Hooks,
    clock: Storage,
    decisions: Arc<dyn Decisions>,
    workers: Arc<Workers>,
    quarantine: Arc<Quarantine>,
    taints: SessionTaints,
}

impl Preparer {
    /// A preparer that asks these two services, and these hooks at [`HOOK_EVENTS`]. Whether a call can be run at all is seen
    /// from `workers` and `quarantine`, and what its session was given from `taints`.
    pub(crate) fn new(
        surface: SurfacePeer,
        permission: PermissionPeer,
        hooks: Hooks,
        clock: Storage,
        decisions: Arc<dyn Decisions>,
        workers: Arc<Workers>,
        (quarantine, taints): (Arc<Quarantine>, SessionTaints),
    ) -> Self {
        Self { surface, permission, hooks, clock, decisions, workers, quarantine, taints }
    }

    /// Resolves, validates and decides `spec`. Returns an error when a service or the store does not answer, and when the request is wrong.
    pub(crate) async fn prepare(
        &self,
        spec: &CallSpec,
        telemetry_refs: Vec<TelemetryRef>,
    ) -> Result<Box<Admission>, CallError> {
        let now = self.clock.now().await?;
        // Whatever changes from here on is later than what is decided.
        let decided = Some(self.decisions.moment());
        let assessed = self.assess(spec, telemetry_refs, now, false).await?;
        let mut transition = accept(assessed.acceptance, assessed.preparation, now)
            .map_err(|refusal| CallError::Internal(format!("acceptance refused: {refusal}")))?;
        let policies = &mut transition.invocation.policy_refs;
        policies.extend_from_slice(&spec.context.policy_refs);
        let of_surface = assessed.terms.policy_refs.iter().filter(|policy| !spec.context.policy_refs.contains(policy));
        policies.extend(of_surface.cloned());
        let ended = transition.invocation.status.is_terminal();
        let facts = (!ended && !assessed.asker.is_anybody()).then(|| JsonPayload::of(&assessed.asker));
        Ok(Box::new(Admission {
            transition,
            payloads: assessed.payloads,
            decisions: assessed.word.into_iter().map(|word| word.decision).collect(),
            plan: assessed.plan.filter(|_| !ended),
            traceparent: None,
            facts,
            decided,
        }))
    }

    /// What would happen to `spec`. Hooks are asked; nothing is accepted, stored or parked.
    pub(crate) async fn explain(&self, spec: CallSpec) -> Result<v1::ExplainInvocationResponse, CallError> {
        let now = self.clock.now().await?;
        let assessed = self.assess(&spec, Vec::new(), now, true).await?;
        let word = assessed.word.as_ref();
        Ok(v1::ExplainInvocationResponse {
            decision: word.map(|word| (&word.decision).into()),
            explanation: word.and_then(|word| word.explanation.as_ref()).map(Into::into),
            approval: word.and_then(|word| word.approval.as_ref()).map(Into::into),
            error: assess::error_of(&assessed.preparation).filter(|_| word.is_none()).map(Into::into),
            hooks: assessed.acceptance.hooks.iter().map(Into::into).collect(),
        })
    }

    /// The surface service.
    pub(crate) fn surface(&self) -> &SurfacePeer {
        &self.surface
    }

    /// The permission service.
    pub(crate) fn permission(&self) -> &PermissionPeer {
        &self.permission
    }
}
