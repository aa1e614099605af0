//! Pipeline phases 1 to 7: from a caller's request to an admission the engine can store.
//!
//! Nothing is written here. Until the engine has stored the admission, every failure is an error of the request; from
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
mod mode;
mod refusals;
mod resolve;
mod spec;
#[cfg(test)]
mod tests;
mod tool;

use toolplane_hooks::Hooks;
use toolplane_lifecycle::accept;
use toolplane_proto::v1;
use toolplane_records::payload::JsonPayload;
use toolplane_records::refs::TelemetryRef;
use toolplane_records::vocabulary::HookEvent;

use crate::engine::{Admission, Engine};
use crate::error::CallError;

pub use batch::BatchSpec;
pub use decide::PermissionPeer;
pub use resolve::{SurfacePeer, follow_catalog};
pub use spec::{CallSpec, Member, SpecLimits};
pub use tool::ToolLimits;

pub(crate) use asker::{Asker, actor};
pub(crate) use decide::{Question, Word, denial};
pub(crate) use inputs::{Author, Inputs};
pub(crate) use locks::locks_again;
pub(crate) use refusals::tool_changed;
pub(crate) use resolve::{Place, Resolved};
pub(crate) use spec::new_id;
pub(crate) use tool::CallableTool;

/// The points of a call at which this role asks hooks.
pub const HOOK_EVENTS: &[HookEvent] = &[HookEvent::PreToolUse];

/// Prepares calls: knows the surface and permission services, the hooks, and which pools workers serve.
#[derive(Clone, Debug)]
pub struct Preparer {
    surface: SurfacePeer,
    permission: PermissionPeer,
    hooks: Hooks,
}

impl Preparer {
    /// A preparer that asks these two services, and these hooks at [`HOOK_EVENTS`].
    pub fn new(surface: SurfacePeer, permission: PermissionPeer, hooks: Hooks) -> Self {
        Self { surface, permission, hooks }
    }

    /// Resolves, validates and decides `spec`.
    pub async fn prepare(
        &self,
        engine: &Engine,
        spec: CallSpec,
        telemetry_refs: Vec<TelemetryRef>,
    ) -> Result<Admission, CallError> {
        let now = engine.now().await?;
        // Whatever changes from here on is later than what is decided.
        let decided = engine.moment();
        toolplane_faultpoint::point("scheduler.mid_prepare");
        let assessed = self.assess(engine, &spec, telemetry_refs, now, false).await?;
        let mut transition = accept(assessed.acceptance, assessed.preparation, now)
            .map_err(|refusal| CallError::Internal(format!("acceptance refused: {refusal}")))?;
        transition.invocation.policy_refs.extend(spec.policy_refs);
        let ended = transition.invocation.status.is_terminal();
        let facts = (!ended && !assessed.asker.is_anybody()).then(|| JsonPayload::of(&assessed.asker));
        Ok(Admission {
            transition,
            payloads: assessed.payloads,
            decisions: assessed.word.into_iter().map(|word| word.decision).collect(),
            plan: assessed.plan.filter(|_| !ended),
            traceparent: None,
            facts,
            decided,
        })
    }

    /// What would become of `spec`. Hooks are asked; nothing is accepted, stored or parked.
    pub(crate) async fn explain(
        &self,
        engine: &Engine,
        spec: CallSpec,
    ) -> Result<v1::ExplainInvocationResponse, CallError> {
        let now = engine.now().await?;
        let assessed = self.assess(engine, &spec, Vec::new(), now, true).await?;
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
