//! A task read back: its state, and what it gave.

use serde::Deserialize;
use toolplane_records::payload::JsonPayload;

/// A task.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct GivenTask {
    /// Its id.
    pub id: String,
    /// What it belongs to.
    #[serde(default)]
    pub context_id: String,
    /// Its state.
    pub status: GivenStatus,
    /// What it gave.
    #[serde(default)]
    pub artifacts: Vec<GivenArtifact>,
}

/// The state of a task.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct GivenStatus {
    /// A word of the protocol, e.g. `TASK_STATE_WORKING`.
    pub state: String,
}

/// One thing a task gave.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct GivenArtifact {
    /// Its id.
    pub artifact_id: String,
    /// What it is made of.
    pub parts: Vec<GivenPart>,
}

/// One part: exactly one of its four contents is there.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct GivenPart {
    /// Text.
    #[serde(default)]
    pub text: Option<String>,
    /// Bytes in base64.
    #[serde(default)]
    pub raw: Option<String>,
    /// Where it is.
    #[serde(default)]
    pub url: Option<String>,
    /// Any JSON.
    #[serde(default)]
    pub data: Option<JsonPayload>,
    /// Its media type.
    #[serde(default)]
    pub media_type: String,
}

/// Reads a task. Fails with a [`serde_json::Error`] when it is not of the protocol's form.
pub fn read(json: &str) -> Result<GivenTask, serde_json::Error> {
    serde_json::from_str(json)
}
