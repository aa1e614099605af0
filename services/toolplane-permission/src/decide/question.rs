//! One call that wants to run, as the permission role is told of it.

use std::sync::Arc;

use toolplane_hooks::HookInput;
use toolplane_matching::{Certainty, ToolFacts};
use toolplane_policy::{CallFacts, SafetyFacts};
use toolplane_proto::v1;
use toolplane_records::assurance::CallAssurance;
use toolplane_records::explanation::{ClassifierCheck, HookVerdict};
use toolplane_records::ids::{ApprovalId, InvocationId, SurfaceId, TenantId, ToolId};
use toolplane_records::invocation::InputSafety;
use toolplane_records::mode::Mode;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::profile::PermissionProfile;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{RiskLevel, ToolKind};

use crate::approvals::Binding;

/// One call that wants to run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Question {
    /// The call.
    pub invocation_id: InvocationId,
    /// Its owner.
    pub tenant: TenantId,
    /// Who calls; may be empty.
    pub actor_ref: String,
    /// The authenticated caller; empty without authentication.
    pub caller_ref: String,
    /// Roles of the caller.
    pub roles: Vec<String>,
    /// The session of the call; may be empty.
    pub session_ref: String,
    /// The surface it is called in, when it is called in one.
    pub surface_id: Option<SurfaceId>,
    /// The tool.
    pub tool: Arc<Tool>,
    /// Digest of its registration.
    pub declaration_digest: Digest,
    /// The registration as JSON, as the caller sent it; looked at only when people are asked.
    pub registration: Option<v1::JsonPayload>,
    /// The input as rules and people see it.
    pub input: JsonPayload,
    /// JSON pointers of what is not shown in it.
    pub redacted: Vec<String>,
    /// Digest of what the executor would get.
    pub call_input_digest: Digest,
    /// Safety facts of this input.
    pub safety: Option<InputSafety>,
    /// Safety facts that are only defaults.
    pub unknown_facts: Vec<String>,
    /// Safety facts the cluster found itself.
    pub trusted_facts: Vec<String>,
    /// What hooks said.
    pub hooks: Vec<HookVerdict>,
    /// What a classifier said.
    pub classifier: Option<ClassifierCheck>,
    /// What the agent says of its own certainty.
    pub assurance: Option<CallAssurance>,
    /// There is a person who can answer a question.
    pub can_ask: bool,
    /// Permission mode of the caller; none when the caller names none.
    pub mode: Option<Mode>,
    /// Until when an answer is of use.
    pub deadline_at: Option<Timestamp>,
    /// The approval the call has.
    pub approval_ref: Option<ApprovalId>,
}

/// The tool of a call.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its id.
    pub tool_id: ToolId,
    /// Its full name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Every other name that leads to it.
    pub aliases: Vec<String>,
    /// What kind of capability it is.
    pub kind: Option<ToolKind>,
    /// What its interface lets rules match on; may be empty.
    pub permission_matcher: String,
    /// Its risk facts.
    pub profile: Option<PermissionProfile>,
}

impl Tool {
    /// Its declared risk.
    pub fn risk(&self) -> Option<RiskLevel> {
        self.profile.as_ref().map(|profile| profile.risk_level)
    }

    pub(crate) fn facts(&self) -> ToolFacts {
        let mut facts = ToolFacts::named(self.tool_id.clone(), &self.name, &self.namespace);
        facts.aliases.clone_from(&self.aliases);
        facts.kind = self.kind;
        facts.permission_matcher.clone_from(&self.permission_matcher);
        facts.profile.clone_from(&self.profile);
        facts.with_every_name()
    }
}

impl Question {
    /// Everything rules look at. A call that names no mode has `default_mode`.
    pub fn facts(&self, default_mode: Mode) -> CallFacts {
        let mut facts = CallFacts::new(self.tool.facts(), self.input.clone());
        facts.declaration = Some(self.declaration_digest);
        facts.tenant = self.tenant.to_string();
        facts.actor.clone_from(&self.actor_ref);
        facts.roles.clone_from(&self.roles);
        facts.session.clone_from(&self.session_ref);
        facts.surface = self.surface_id.as_ref().map(ToString::to_string).unwrap_or_default();
        facts.safety = self.safety_facts();
        facts.redacted.clone_from(&self.redacted);
        facts.mode = self.mode.unwrap_or(default_mode);
        facts.can_ask = self.can_ask;
        facts.hooks.clone_from(&self.hooks);
        facts.classifier.clone_from(&self.classifier);
        facts.assurance.clone_from(&self.assurance);
        facts
    }

    /// The registration of the tool, if it came along and is the one the digest is made over.
    pub(super) fn registration(&self) -> Option<JsonPayload> {
        let registration = JsonPayload::try_from(self.registration.clone()?).ok()?;
        (registration.digest() == self.declaration_digest).then_some(registration)
    }

    fn safety_facts(&self) -> SafetyFacts {
        let unknown = self.unknown_facts.iter().map(String::as_str);
        let mut facts = self.safety.as_ref().map(|safety| SafetyFacts::of(safety, unknown)).unwrap_or_default();
        if let Some(profile) = &self.tool.profile {
            facts.sensitive_sink = Certainty::from(profile.sensitive_sink);
            facts.approval_required = Certainty::from(profile.approval_required);
        }
        facts.trusted = self.trusted_facts.iter().filter_map(|name| name.parse().ok()).collect();
        facts
    }

    /// What the question put to people is bound to, asked under `policy`, after the approval `after`.
    pub fn binding<'a>(&'a self, policy: &'a str, after: &'a str) -> Binding<'a> {
        Binding {
            tenant: &self.tenant,
            invocation: &self.invocation_id,
            caller: &self.caller_ref,
            tool: &self.tool.tool_id,
            declaration: &self.declaration_digest,
            call_input: &self.call_input_digest,
            policy,
            after,
        }
    }

    /// What tells which hooks are about it: what rules see.
    pub fn tool_facts(&self) -> ToolFacts {
        self.tool.facts()
    }

    /// What hooks are told of it.
    pub fn hook_input(&self, mode: Mode) -> HookInput {
        let mut input = HookInput::new(self.invocation_id.clone(), self.tool_facts(), self.input.clone());
        input.tenant = self.tenant.to_string();
        input.actor_ref.clone_from(&self.actor_ref);
        input.session_ref.clone_from(&self.session_ref);
        input.surface_id = self.surface_id.as_ref().map(ToString::to_string).unwrap_or_default();
        input.permission_mode = mode.to_string();
        input
    }
}
