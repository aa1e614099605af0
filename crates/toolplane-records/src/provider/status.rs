//! How a provider is, as far as is known.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{ProviderId, TenantId};
use crate::payload::Digest;
use crate::time::Timestamp;
use crate::vocabulary::{CircuitState, ProviderFault, ProviderState};

/// How a provider is. What it has stays as it was while the provider is away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderStatus {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// The provider.
    pub provider_id: ProviderId,
    /// Owner.
    pub tenant: TenantId,
    /// How it is.
    pub state: ProviderState,
    /// What went wrong last; absent when nothing has since it was last right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultReport>,
    /// Whether calls of its tools are let through.
    #[serde(default)]
    pub circuit: CircuitState,
    /// While the circuit is open: when the next call may try. While it is half open: when the one that tries is given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circuit_until: Option<Timestamp>,
    /// How often the circuit was opened since a call last came through.
    #[serde(default)]
    pub times_opened: u32,
    /// When it last said what it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_success_at: Option<Timestamp>,
    /// When it was last asked what it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_try_at: Option<Timestamp>,
    /// When it is asked again; absent when only somebody who wants to know will ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_try_at: Option<Timestamp>,
    /// How often in a row it did not say what it has.
    #[serde(default)]
    pub consecutive_failures: u32,
    /// How many calls of its tools in a row failed through its fault.
    #[serde(default)]
    pub call_failures: u32,
    /// Its tools, counted.
    #[serde(default)]
    pub tools: ToolCounts,
    /// What the server calls itself. Written by others.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub server_name: String,
    /// The version the server says it has. Written by others.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub server_version: String,
    /// The version of the protocol that is spoken with it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub protocol_version: String,
    /// Digest of what it said it has, whatever the order of its tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_digest: Option<Digest>,
}

/// Something that went wrong with a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultReport {
    /// What kind of thing.
    pub code: ProviderFault,
    /// For people. It may hold what the provider wrote, and is never shown to a model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// When.
    #[serde(default)]
    pub at: Timestamp,
}

/// The tools of a provider, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCounts {
    /// Those it says it has, also those that are refused.
    #[serde(default)]
    pub found: u32,
    /// Those that may be called.
    #[serde(default)]
    pub imported: u32,
    /// Those that wait until somebody looks at them.
    #[serde(default)]
    pub waiting: u32,
    /// Those somebody has looked at and does not want.
    #[serde(default)]
    pub rejected: u32,
    /// Those that cannot be tools here.
    #[serde(default)]
    pub refused: u32,
    /// Those it had, and has no longer.
    #[serde(default)]
    pub withdrawn: u32,
}
