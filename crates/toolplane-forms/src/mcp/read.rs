//! A `CallToolResult` read back: what a client finds in it.

use serde::Deserialize;
use toolplane_records::payload::JsonPayload;

/// What a client finds in a result.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct GivenResult {
    /// Its contents.
    pub content: Vec<GivenContent>,
    /// Its structured content.
    #[serde(default)]
    pub structured_content: Option<JsonPayload>,
    /// Whether the tool failed.
    #[serde(default)]
    pub is_error: bool,
}

/// One content.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum GivenContent {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Its bytes in base64.
        data: String,
        /// Its media type.
        mime_type: String,
    },
    /// A sound.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// Its bytes in base64.
        data: String,
        /// Its media type.
        mime_type: String,
    },
    /// A resource that can be read elsewhere.
    ResourceLink {
        /// Where.
        uri: String,
        /// What it is called.
        name: String,
    },
    /// A resource that came along.
    Resource {
        /// Its contents.
        resource: GivenResource,
    },
}

/// A resource that came along.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct GivenResource {
    /// Its address.
    pub uri: String,
    /// Its media type.
    #[serde(default)]
    pub mime_type: String,
    /// Its text, when it is one.
    #[serde(default)]
    pub text: Option<String>,
    /// Its bytes in base64, when it is none.
    #[serde(default)]
    pub blob: Option<String>,
}

/// Reads a result. Fails with a [`serde_json::Error`] when it is not of the protocol's form.
pub fn read(json: &str) -> Result<GivenResult, serde_json::Error> {
    serde_json::from_str(json)
}
