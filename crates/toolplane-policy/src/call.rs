//! What rules look at: the facts of one call.

mod safety;

use std::sync::{Arc, OnceLock};

pub use self::safety::{FactName, SafetyFacts};

use toolplane_matching::subject::{Subjects, Workspace};
use toolplane_matching::{ToolFacts, ToolMatching as _};
use toolplane_records::decision_request::CallSignals;
use toolplane_records::mode::Mode;
use toolplane_records::payload::{Digest, JsonPayload};

use crate::settings::PolicySettings;

/// One call, as rules see it. Everything in it is data of the caller, the tool's author or the cluster; nothing is looked up.
#[derive(Clone, Debug)]
pub struct CallFacts {
    /// Who calls, and from where.
    pub caller: CallerFacts,
    /// The tool.
    pub tool: Arc<ToolFacts>,
    /// Digest of its registration; what is bound to a declaration is not about a call that does not say.
    pub declaration: Option<Digest>,
    /// Safety facts of this input.
    pub safety: SafetyFacts,
    /// The input with sensitive values replaced.
    pub input: JsonPayload,
    /// JSON pointers of the replaced values; what rules ask of them is unknown.
    pub redacted: Vec<String>,
    /// What others than rules say of the call.
    pub signals: CallSignals,
    subjects: OnceLock<Subjects>,
}

/// Who calls, and from where, as the scopes of rules name it. What is not known is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerFacts {
    /// Owner of the call; empty in an example of no tenant.
    pub tenant: String,
    /// Who calls.
    pub actor: String,
    /// Roles of the caller.
    pub roles: Vec<String>,
    /// Session of the call.
    pub session: String,
    /// Surface of the call.
    pub surface: String,
    /// The policies that surface names.
    pub surface_policies: Vec<String>,
    /// Permission mode in force for the caller.
    pub mode: Mode,
    /// There is a person who can answer a question.
    pub can_ask: bool,
}

impl Default for CallerFacts {
    /// A caller of the tenant `default` of whom nothing else is known, in the default mode, with a person to ask.
    fn default() -> Self {
        Self {
            tenant: "default".to_owned(),
            actor: String::new(),
            roles: Vec::new(),
            session: String::new(),
            surface: String::new(),
            surface_policies: Vec::new(),
            mode: Mode::Default,
            can_ask: true,
        }
    }
}

// === impl CallFacts ===

impl CallFacts {
    /// A call of `tool` with `input` of which nothing else is known: default mode, a person to ask, tenant `default`.
    pub fn new(tool: impl Into<Arc<ToolFacts>>, input: JsonPayload) -> Self {
        Self {
            caller: CallerFacts::default(),
            tool: tool.into(),
            declaration: None,
            safety: SafetyFacts::default(),
            input,
            redacted: Vec::new(),
            signals: CallSignals::default(),
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
        let workspace = Workspace {
            root: settings.workspace.clone(),
            working_dirs: settings.working_dirs.clone(),
            trust_repositories: settings.trust_repositories,
        };
        self.tool.subjects(&self.input.to_value(), &workspace)
    }
}
