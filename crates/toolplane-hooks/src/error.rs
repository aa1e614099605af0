//! Why hooks cannot be opened. A process that cannot open a hook does not start: a missing hook would be a missing refusal.

use toolplane_records::codes;
use toolplane_runtime::process::RoleError;
use toolplane_runtime::server::ServerError;

/// Hooks that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HooksError {
    /// Something in the configuration of a hook is wrong.
    #[error("`{key}`: {rule}")]
    Config {
        /// Dotted path of the key.
        key: String,
        /// The rule it broke.
        rule: String,
    },
    /// There are hooks that are programs, and no sandbox to run them in.
    #[error("hook `{hook_id}` is a program, and this machine cannot run it in a sandbox: {reason}")]
    NoSandbox {
        /// The first such hook.
        hook_id: String,
        /// What is missing, and what would help.
        reason: String,
    },
    /// A service cannot be connected to as configured.
    #[error("hook `{hook_id}`: {source}")]
    Service {
        /// The hook.
        hook_id: String,
        /// Why.
        source: ServerError,
    },
}

impl HooksError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config { .. } => codes::HOOKS_CONFIG_INVALID.as_str(),
            Self::NoSandbox { .. } => codes::HOOKS_NO_SANDBOX.as_str(),
            Self::Service { .. } => codes::HOOKS_SERVICE_INVALID.as_str(),
        }
    }

    pub(crate) fn config(index: usize, key: &str, rule: impl Into<String>) -> Self {
        Self::Config { key: format!("hooks[{index}].{key}"), rule: rule.into() }
    }
}

impl From<HooksError> for RoleError {
    fn from(error: HooksError) -> Self {
        Self::new(error.code(), error)
    }
}
