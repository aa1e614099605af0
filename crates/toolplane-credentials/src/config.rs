//! `[[credentials]]` of a worker's configuration: names, where secrets come from, what they are, and who they are for. Never a secret.

mod check;
mod source;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use check::{ConfigFault, check};
pub use source::{CommandConfig, OAuth2Auth, OAuth2Config, SecretSource, SourceConfig};

/// One credential. At least one of `providers`, `tools`, `tenants` and `actors` says who it is for; `"*"` in one of them is how to
/// say everybody. All that are given must fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CredentialConfig {
    /// What tools call it: 1 to 40 small letters, digits, `-`, `_` or `.`; unique. It stands in outputs where the secret was.
    pub name: String,
    /// What the source gives.
    pub kind: CredentialKind,
    /// Where the secret comes from: exactly one of `file`, `env`, `command` and `oauth2_client_credentials`.
    #[serde(deserialize_with = "source::read_source")]
    pub source: SourceConfig,
    /// Ids of the providers it is for; `"*"` is every tool, of a provider or not. Any when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub providers: Option<Vec<String>>,
    /// The tools it is for, as a rule that allows names them: `files.*`, `mcp__github__search`, `*`. Any when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The tenants it is for; `"*"` is every tenant. Any when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<Vec<String>>,
    /// The actors it is for; `"*"` is every actor, and calls without one. Any when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actors: Option<Vec<String>>,
    /// Of `basic`: the user, when the source gives the password alone. Without it the source gives `user:password`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Of `json`: the fields at its top that are secret, with every text in them at any depth; all fields when absent. Numbers are
    /// not masked by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_fields: Option<Vec<String>>,
    /// How old a value of a command may be before the command is run again, in milliseconds; 5 minutes when absent. Files
    /// and variables are looked at before every use, tokens are renewed by their own lifetime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_ms: Option<u64>,
    /// How long a value may be used while its source gives nothing that can be used, in milliseconds; 1 hour when absent. A file or
    /// variable that is gone is missing at once, and a token is never used after its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age_ms: Option<u64>,
}

/// What the source of a credential gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CredentialKind {
    /// A token that is shown as `Authorization: Bearer ...`. A line break at its end is left out.
    Bearer,
    /// `user:password`, or the password when `username` is set. A line break at its end is left out.
    Basic,
    /// A text for a header, a query parameter or a cookie. A line break at its end is left out.
    ApiKey,
    /// Bytes, exactly as they are.
    Raw,
    /// A JSON object; its texts are used by name, or all of it as a file.
    Json,
}

impl CredentialKind {
    /// As it is written in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bearer => "bearer",
            Self::Basic => "basic",
            Self::ApiKey => "api_key",
            Self::Raw => "raw",
            Self::Json => "json",
        }
    }
}
