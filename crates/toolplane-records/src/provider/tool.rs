//! What is known of one tool of a provider beside its registration: whether somebody has looked at it, and at what exactly.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{ProviderId, TenantId, ToolId};
use crate::payload::Digest;
use crate::time::Timestamp;
use crate::vocabulary::{RefusalCode, ReviewBasis, ReviewState};

/// A tool of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvidedTool {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// The provider.
    pub provider_id: ProviderId,
    /// Owner.
    pub tenant: TenantId,
    /// The tool; the id holds that of the provider, so the same tool of another provider is another one.
    pub tool_id: ToolId,
    /// What the provider calls it. Written by others.
    pub native_id: String,
    /// Canonical digest of the registration that is made from what the provider says of it now; absent when none can be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Whether it may be used.
    pub state: ReviewState,
    /// What it was approved as last; what is approved now only when `state` says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<ToolReview>,
    /// What of it was rejected last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<ToolReview>,
    /// Why it cannot be a tool here, when it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<ToolRefusal>,
    /// When it was first seen.
    #[serde(default)]
    pub first_seen_at: Timestamp,
    /// When its state or its definition last changed.
    #[serde(default)]
    pub changed_at: Timestamp,
    /// What a reviewer should know beside the definition, in our words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What somebody said about exactly one definition of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolReview {
    /// Canonical digest of the definition.
    pub digest: Digest,
    /// Whether a person looked at it, or its provider was trusted.
    pub basis: ReviewBasis,
    /// Who.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// When.
    #[serde(default)]
    pub at: Timestamp,
    /// What they said about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
}

/// Why something a provider lists is no tool here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRefusal {
    /// What kind of reason.
    pub code: RefusalCode,
    /// The reason, for people.
    pub reason: String,
}
