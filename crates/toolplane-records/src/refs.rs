//! References to things other systems own: resources, artifacts, evidence, policies, telemetry.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::payload::{Digest, PayloadRef};

/// A fetchable resource owned by a native protocol or resource system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResourceRef {
    /// Identifier of the resource.
    pub resource_id: String,
    /// Where it can be fetched.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uri: String,
    /// Media type, when known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub media_type: String,
    /// Digest of the bytes, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Size in bytes, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Who may read it, in the owner's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub access: String,
    /// How it relates to its source, e.g. `produced_by`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub relation: String,
}

/// A durable deliverable with identity and versions, owned by an artifact system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArtifactRef {
    /// Identifier of the artifact.
    pub artifact_id: String,
    /// Where it can be fetched.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uri: String,
    /// Media type, when known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub media_type: String,
    /// Digest of the bytes, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Version of the artifact, when it has versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// How it relates to its source.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub relation: String,
    /// Where its bytes are, when the cluster keeps them itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<PayloadRef>,
}

/// Work that somebody else goes on with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HandoffRef {
    /// Identifier of the handoff.
    pub handoff_id: String,
    /// Who goes on with it, e.g. an agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// Where it can be followed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uri: String,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// One place in a distributed trace (W3C trace context).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TelemetryRef {
    /// 32 lower-case hex digits.
    pub trace_id: SmolStr,
    /// 16 lower-case hex digits.
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    pub span_id: SmolStr,
}
