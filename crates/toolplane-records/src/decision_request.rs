//! The question that is put to the permission role: may this caller call this tool with this input? (ours)

use std::sync::Arc;

use bytes::Bytes;
use smol_str::SmolStr;

use crate::assurance::CallAssurance;
use crate::decision::decision_id;
use crate::explanation::{ClassifierCheck, HookVerdict};
use crate::ids::{ApprovalId, DecisionId, InvocationId, SurfaceId, TenantId};
use crate::invocation::InputSafety;
use crate::json::JsonLimits;
use crate::mode::Mode;
use crate::payload::{Digest, JsonPayload};
use crate::taint::Taint;
use crate::time::Timestamp;
use crate::tool_facts::ToolFacts;
use crate::vocabulary::Behavior;

/// One call that wants to run, and all its decision is made from. Texts that are not known are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionRequest {
    /// The call.
    pub invocation_id: InvocationId,
    /// Who calls, and from where.
    pub caller: CallerContext,
    /// What is called.
    pub tool: CalledTool,
    /// What it is called with.
    pub input: DecidedInput,
    /// What is known of the effects of the call.
    pub safety: SafetyClaims,
    /// What others say of the call.
    pub signals: CallSignals,
    /// When it was asked; the permission role's own clock when it is not said.
    pub asked_at: Option<Timestamp>,
    /// Until when an answer is of use.
    pub deadline_at: Option<Timestamp>,
    /// The approval the call has already.
    pub approval_ref: Option<ApprovalId>,
    /// Decide and explain, and leave nothing behind.
    pub dry_run: bool,
}

/// Who calls, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerContext {
    /// Owner of the call.
    pub tenant: TenantId,
    /// The person or program that calls.
    pub actor_ref: SmolStr,
    /// The authenticated caller; empty without authentication.
    pub caller_ref: SmolStr,
    /// Roles of the caller.
    pub roles: Vec<String>,
    /// The session of the call.
    pub session_ref: SmolStr,
    /// The surface it is called in, when it is called in one.
    pub surface_id: Option<SurfaceId>,
    /// The policies that surface names.
    pub surface_policies: Vec<SmolStr>,
    /// Permission mode of the caller; none when the caller names none.
    pub mode: Option<Mode>,
    /// There is a person who can answer a question.
    pub can_ask: bool,
}

/// The tool of a call, and the exact version of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledTool {
    /// The tool.
    pub facts: Arc<ToolFacts>,
    /// Digest of its registration.
    pub declaration_digest: Digest,
    /// Its registration as JSON, as the one who asks sent it: unchecked, because it is looked at only when people are asked.
    pub registration_json: Option<Bytes>,
}

/// The input of a call: what is seen of it, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedInput {
    /// The input as rules and people see it.
    pub shown: JsonPayload,
    /// JSON pointers of what is not shown in it.
    pub redacted: Vec<String>,
    /// Digest of what the executor would get.
    pub call_digest: Digest,
}

/// What is known of the effects of a call, and who vouches for it. Facts are named as interfaces name them, `is_read_only`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SafetyClaims {
    /// Safety facts of this input.
    pub facts: Option<InputSafety>,
    /// Those of them that are only defaults.
    pub unknown: Vec<String>,
    /// Those of them the cluster found itself.
    pub trusted: Vec<String>,
}

/// What others than rules say of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSignals {
    /// What hooks said, in order.
    pub hooks: Vec<HookVerdict>,
    /// What a safety classifier said.
    pub classifier: Option<ClassifierCheck>,
    /// What the agent says of its own certainty.
    pub assurance: Option<CallAssurance>,
    /// What the platform knows to taint the call. None where it cannot know all of it: the call belongs to no session, and names
    /// nothing that is tainted.
    pub taints: Option<Vec<Taint>>,
}

impl CallSignals {
    /// Whether nobody says anything of the call. That a session is followed and nothing was found in it is no word about the call.
    pub fn is_silent(&self) -> bool {
        let Self { hooks, classifier, assurance, taints } = self;
        let clean = taints.as_ref().is_none_or(Vec::is_empty);
        hooks.is_empty() && classifier.is_none() && assurance.is_none() && clean
    }

    /// What is known to taint the call.
    pub fn found_taints(&self) -> &[Taint] {
        self.taints.as_deref().unwrap_or_default()
    }
}

impl DecisionRequest {
    /// The id of a decision that follows from this question: the same question under the same rules, decided alike by the same voice
    /// (a source of rules, an approval), has a decision of the same id.
    pub fn decision_id(&self, policy_digest: &str, behavior: Behavior, voice: &str) -> DecisionId {
        let (input, declaration) = (self.input.call_digest.to_string(), self.tool.declaration_digest.to_string());
        let after = self.approval_ref.as_ref().map(|approval| approval.as_str()).unwrap_or_default();
        let facts = [&input, &declaration, policy_digest, behavior.as_str(), voice, after];
        decision_id(&self.invocation_id, &facts)
    }

    /// A call of `tool` with `input`, all of which is shown, and of which nothing else is known.
    pub fn new(invocation_id: InvocationId, caller: CallerContext, tool: CalledTool, input: JsonPayload) -> Self {
        Self {
            invocation_id,
            caller,
            tool,
            input: DecidedInput { call_digest: input.digest(), shown: input, redacted: Vec::new() },
            safety: SafetyClaims::default(),
            signals: CallSignals::default(),
            asked_at: None,
            deadline_at: None,
            approval_ref: None,
            dry_run: false,
        }
    }
}

impl CallerContext {
    /// A caller of `tenant` of whom nothing else is known, with a person who can answer questions.
    pub fn of(tenant: TenantId) -> Self {
        Self {
            tenant,
            actor_ref: SmolStr::default(),
            caller_ref: SmolStr::default(),
            roles: Vec::new(),
            session_ref: SmolStr::default(),
            surface_id: None,
            surface_policies: Vec::new(),
            mode: None,
            can_ask: true,
        }
    }
}

impl CalledTool {
    /// The version of a tool whose registration has this digest, and did not come along.
    pub fn of(facts: impl Into<Arc<ToolFacts>>, declaration_digest: Digest) -> Self {
        Self { facts: facts.into(), declaration_digest, registration_json: None }
    }

    /// The registration, if it came along, is JSON within the default limits, and is what the digest is made over.
    pub fn registration(&self) -> Option<JsonPayload> {
        let registration = JsonPayload::ingest(self.registration_json.clone()?, &JsonLimits::default()).ok()?;
        (registration.digest() == self.declaration_digest).then_some(registration)
    }
}
