//! Why a sandboxed run could not be done. None of these is an exit of the tool.

use toolplane_records::codes;

/// A refused or failed run. In every case the tool was not started, or its end could not be learned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// The specification breaks a rule; nothing was started.
    #[error("`{field}` {rule}")]
    Invalid {
        /// Field of the specification.
        field: &'static str,
        /// The rule it broke.
        rule: String,
    },
    /// The workspace has no room left; nothing was started.
    #[error("the workspace is full: {rule}")]
    Full {
        /// What it holds, and what it may hold.
        rule: String,
    },
    /// The sandbox is not available on this machine; nothing was started.
    #[error("the sandbox is not available: {0}")]
    Unavailable(String),
    /// A layer could not be set up; the tool was not started.
    #[error("the sandbox could not be set up at `{stage}`: {detail}")]
    SetupFailed {
        /// Which step failed, e.g. `namespaces`, `seccomp`, `exec`.
        stage: String,
        /// Error number of the operating system, when there is one.
        errno: Option<i32>,
        /// For people.
        detail: String,
    },
    /// The sandbox ended without saying how the tool ended (it was killed from outside). The tool may have had effects.
    #[error("the sandbox was lost while the tool was running: {detail}")]
    Lost {
        /// For people.
        detail: String,
    },
}

impl SandboxError {
    /// Stable machine-readable name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => codes::SANDBOX_SPEC_INVALID.as_str(),
            Self::Full { .. } => codes::SANDBOX_WORKSPACE_FULL.as_str(),
            Self::Unavailable(_) => codes::SANDBOX_MISSING.as_str(),
            Self::SetupFailed { .. } => codes::SANDBOX_SETUP.as_str(),
            Self::Lost { .. } => codes::SANDBOX_GONE.as_str(),
        }
    }

    /// Whether the tool may have run.
    pub fn may_have_run(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }

    pub(crate) fn invalid(field: &'static str, rule: impl Into<String>) -> Self {
        Self::Invalid { field, rule: rule.into() }
    }

    pub(crate) fn setup(stage: impl Into<String>, error: &std::io::Error) -> Self {
        Self::SetupFailed { stage: stage.into(), errno: error.raw_os_error(), detail: error.to_string() }
    }
}
