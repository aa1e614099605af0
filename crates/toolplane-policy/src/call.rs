//! What rules look at: the facts of one call.

mod safety;

use std::sync::OnceLock;

pub use self::safety::{FactName, SafetyFacts};

use toolplane_records::assurance::CallAssurance;
use toolplane_records::explanation::{ClassifierCheck, HookVerdict};
use toolplane_records::ids::ToolId;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::profile::PermissionProfile;
use toolplane_records::vocabulary::{AccessKind, RiskLevel, ToolKind, WriteEffect};

use crate::fit::Certainty;
use crate::mode::Mode;
use crate::path::PathAccess;
use crate::settings::PolicySettings;
use crate::subject::{self, Place, SubjectKind, SubjectSpec, Subjects};

/// The tool of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFacts {
    /// Its id.
    pub tool_id: ToolId,
    /// Its full name, `namespace.name`.
    pub full_name: String,
    /// Its namespace.
    pub namespace: String,
    /// Every other name that leads to it. Deny and ask rules may use them; allow rules may not.
    pub aliases: Vec<String>,
    /// Its kind; none when nobody says.
    pub kind: Option<ToolKind>,
    /// How patterns match its input, e.g. `shell_pattern`; empty when its interface does not say.
    pub permission_matcher: String,
    /// Its risk facts.
    pub profile: Option<PermissionProfile>,
}

/// One call, as rules see it. Everything in it is data of the caller, the tool's author or the cluster; nothing is looked up.
#[derive(Clone, Debug)]
pub struct CallFacts {
    /// The tool.
    pub tool: ToolFacts,
    /// Digest of its registration; what is bound to a declaration is not about a call that does not say.
    pub declaration: Option<Digest>,
    /// Owner of the call.
    pub tenant: String,
    /// Who calls; may be empty.
    pub actor: String,
    /// Roles of the caller.
    pub roles: Vec<String>,
    /// Session of the call; may be empty.
    pub session: String,
    /// Surface of the call; may be empty.
    pub surface: String,
    /// Safety facts of this input.
    pub safety: SafetyFacts,
    /// The input with sensitive values replaced.
    pub input: JsonPayload,
    /// JSON pointers of the replaced values; what rules ask of them is unknown.
    pub redacted: Vec<String>,
    /// Permission mode of the caller.
    pub mode: Mode,
    /// Somebody is there who can answer a question.
    pub can_ask: bool,
    /// What hooks said.
    pub hooks: Vec<HookVerdict>,
    /// What a classifier said.
    pub classifier: Option<ClassifierCheck>,
    /// What the agent says of its own certainty.
    pub assurance: Option<CallAssurance>,
    subjects: OnceLock<Subjects>,
}

// === impl ToolFacts ===

impl ToolFacts {
    /// A tool of which nothing is known but its names.
    pub fn named(tool_id: ToolId, full_name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self {
            tool_id,
            full_name: full_name.into(),
            namespace: namespace.into(),
            aliases: Vec::new(),
            kind: None,
            permission_matcher: String::new(),
            profile: None,
        }
    }

    /// The full name without the namespace.
    pub fn short_name(&self) -> &str {
        let rest = self.full_name.strip_prefix(self.namespace.as_str()).and_then(|rest| rest.strip_prefix('.'));
        rest.unwrap_or(&self.full_name)
    }

    /// The full name from the last part of the namespace on, as people call the tool: `shell.exec` for `local.shell.exec`. None
    /// where that is the full name, and for tools of providers, whose server a rule has to name.
    pub fn called_name(&self) -> Option<&str> {
        if crate::tools::within(&self.namespace, "mcp") {
            return None;
        }
        let rest = self.full_name.strip_prefix(self.namespace.as_str())?;
        let (above, _) = self.namespace.rsplit_once('.').filter(|_| rest.starts_with('.'))?;
        self.full_name.get(above.len() + 1..)
    }

    /// What patterns are compared with: as its interface says, otherwise as its kind suggests.
    pub fn subject_kind(&self) -> Option<SubjectKind> {
        match (self.permission_matcher.as_str(), self.kind) {
            ("shell_pattern", _) | ("", Some(ToolKind::ShellCommand)) => Some(SubjectKind::Command),
            ("path_pattern", _) | ("", Some(ToolKind::FileOperation)) => Some(SubjectKind::Path),
            ("url_pattern", _) => Some(SubjectKind::Url),
            _ => None,
        }
    }

    /// What it declares to touch; none when it declares nothing.
    pub fn access_kinds(&self) -> Option<&[AccessKind]> {
        self.profile.as_ref().map(|profile| profile.access_kinds.as_slice()).filter(|kinds| !kinds.is_empty())
    }

    /// Whether it touches that; unknown when it declares nothing.
    pub fn has_access(&self, kind: AccessKind) -> Certainty {
        self.access_kinds().map(|kinds| kinds.contains(&kind)).into()
    }

    /// Whether it leaves that behind; unknown when it declares nothing.
    pub fn has_effect(&self, effect: WriteEffect) -> Certainty {
        let effects = self.profile.as_ref().map(|profile| profile.write_effects.as_slice());
        effects.filter(|effects| !effects.is_empty()).map(|effects| effects.contains(&effect)).into()
    }

    /// Its declared risk.
    pub fn risk(&self) -> Option<RiskLevel> {
        self.profile.as_ref().map(|profile| profile.risk_level)
    }
}

// === impl CallFacts ===

impl CallFacts {
    /// A call of `tool` with `input` of which nothing else is known: default mode, somebody to ask, tenant `default`.
    pub fn new(tool: ToolFacts, input: JsonPayload) -> Self {
        Self {
            tool,
            declaration: None,
            tenant: "default".to_owned(),
            actor: String::new(),
            roles: Vec::new(),
            session: String::new(),
            surface: String::new(),
            safety: SafetyFacts::default(),
            input,
            redacted: Vec::new(),
            mode: Mode::Default,
            can_ask: true,
            hooks: Vec::new(),
            classifier: None,
            assurance: None,
            subjects: OnceLock::new(),
        }
    }

    /// The commands, paths and URLs of the input, found once: in the workspace of the settings it was first evaluated with,
    /// or of the default settings when it was not evaluated yet.
    pub fn subjects(&self) -> &Subjects {
        self.subjects.get_or_init(|| self.find_subjects(&PolicySettings::default()))
    }

    pub(crate) fn subjects_in(&self, settings: &PolicySettings) -> &Subjects {
        self.subjects.get_or_init(|| self.find_subjects(settings))
    }

    fn find_subjects(&self, settings: &PolicySettings) -> Subjects {
        let Some(kind) = self.tool.subject_kind() else { return Subjects::unknown() };
        let fields = self.tool.profile.as_ref().map(|profile| profile.rule_matching_fields.clone()).unwrap_or_default();
        // A tool that does not say whether it writes is taken to.
        let reads = self.tool.has_access(AccessKind::FileWrite) == Certainty::No;
        let access = if reads { PathAccess::Read } else { PathAccess::Write };
        let place = Place {
            root: settings.workspace.clone(),
            working_dirs: settings.working_dirs.clone(),
            trust_repositories: settings.trust_repositories,
        };
        subject::extract(&SubjectSpec { kind, fields, access }, &self.input.to_value(), &place)
    }
}
