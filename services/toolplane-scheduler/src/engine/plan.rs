//! Dispatch plans: everything a worker needs to run calls of one tool version, fixed at acceptance.

use std::sync::Arc;

use dashmap::DashMap;
use serde::{Deserialize, Serialize};
use toolplane_records::ids::ToolId;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::vocabulary::{AccessKind, ExecutionKind, ToolKind};

use super::{Engine, EngineError, keys};

/// How calls of one version of one tool are executed. Stored once under its digest and shared by all its calls, so that
/// a later change of the declaration does not change calls that were already accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchPlan {
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    pub tool_name: String,
    /// The version of its registration.
    pub declaration_digest: Digest,
    /// Kind of executor.
    pub execution_kind: ExecutionKind,
    /// What the executor does.
    pub binding: ExecutionBinding,
    /// Must run in a sandbox.
    pub sandboxed: bool,
    /// Which one.
    pub sandbox_profile: Option<String>,
    /// Wall time of one execution, milliseconds.
    pub timeout_ms: u64,
    /// Most characters of a result kept inline.
    pub max_inline_chars: u64,
    /// Most bytes of a result kept inline.
    pub max_inline_bytes: u64,
    /// Whether a running execution can be canceled.
    pub supports_cancel: bool,
    /// Whether what the tool returns as context modifiers may be kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub supports_context_modifiers: bool,
    /// Every other name of the tool, for the matchers of hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Kind of capability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_kind: Option<ToolKind>,
    /// What the tool touches, for the matchers of hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access_kinds: Vec<AccessKind>,
    /// JSON Schema its structured output is held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<JsonPayload>,
}

impl DispatchPlan {
    /// The plan's stored form and the digest it is stored under.
    pub fn encode(&self) -> Result<(Vec<u8>, Digest), serde_json::Error> {
        let bytes = serde_json::to_vec(self)?;
        let digest = Digest::of(&bytes);
        Ok((bytes, digest))
    }
}

/// Plans this process knows to be stored.
#[derive(Debug, Default)]
pub(crate) struct Plans(DashMap<Digest, Arc<DispatchPlan>>);

/// Plans remembered at once; beyond it the memory starts anew.
const MAX_PLANS: usize = 20_000;

impl Plans {
    pub(crate) fn get(&self, digest: &Digest) -> Option<Arc<DispatchPlan>> {
        self.0.get(digest).map(|plan| plan.clone())
    }

    pub(crate) fn knows(&self, digest: &Digest) -> bool {
        self.0.contains_key(digest)
    }

    pub(crate) fn keep(&self, digest: Digest, plan: Arc<DispatchPlan>) {
        if self.0.len() >= MAX_PLANS {
            self.0.clear();
        }
        self.0.insert(digest, plan);
    }
}

impl Engine {
    /// The plan of a call, from memory or from the store; `None` when the call has none.
    pub(crate) async fn plan_of(&self, record: &Invocation) -> Result<Option<Arc<DispatchPlan>>, EngineError> {
        let Some(dispatch) = &record.dispatch else { return Ok(None) };
        if let Some(plan) = self.0.plans.get(&dispatch.plan_digest) {
            return Ok(Some(plan));
        }
        let Some(stored) = self.0.store.get(&keys::plan(&dispatch.plan_digest)).await? else { return Ok(None) };
        let plan: Arc<DispatchPlan> = Arc::new(serde_json::from_slice(&stored.bytes)?);
        self.0.plans.keep(dispatch.plan_digest, plan.clone());
        Ok(Some(plan))
    }
}
