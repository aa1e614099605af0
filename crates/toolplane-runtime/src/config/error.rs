//! Why a configuration was refused.

use std::path::PathBuf;
use toolplane_records::codes;

/// A configuration was refused. The text names the place (file and line, variable or key) and the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Something in the file is wrong.
    #[error("{}:{line}: {}{rule}", file.display(), of_key(key))]
    File {
        /// The file.
        file: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Dotted path of the key, empty when the text is not TOML.
        key: String,
        /// The rule it broke.
        rule: String,
    },
    /// An environment override is wrong.
    #[error("environment variable `{variable}`: {rule}")]
    Environment {
        /// Name of the variable.
        variable: String,
        /// The rule it broke.
        rule: String,
    },
    /// A value is wrong by itself or beside another one.
    #[error("`{key}`: {rule}")]
    Value {
        /// Dotted path of the key.
        key: String,
        /// The rule it broke.
        rule: String,
    },
}

impl ConfigError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => codes::CONFIG_UNREADABLE.as_str(),
            Self::File { .. } => codes::CONFIG_FILE_INVALID.as_str(),
            Self::Environment { .. } => codes::CONFIG_ENVIRONMENT_INVALID.as_str(),
            Self::Value { .. } => codes::CONFIG_VALUE_INVALID.as_str(),
        }
    }

    pub(crate) fn value(key: &str, rule: impl Into<String>) -> Self {
        Self::Value { key: key.to_owned(), rule: rule.into() }
    }
}

fn of_key(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("`{key}`: ") }
}
