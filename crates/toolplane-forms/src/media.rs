//! Pictures and documents that models look at: which blocks are some, and their bytes as vendors take them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolplane_records::payload::PayloadRef;
use toolplane_records::result::{ContentBlock, ToolResult};

use crate::story::Kept;

/// The pictures that every vendor takes.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// The documents that every vendor takes.
const DOCUMENT: &str = "application/pdf";
/// Largest one that is given to a model.
const MOST: u64 = 2 << 20;

/// One of them, with its bytes.
pub(crate) struct Medium<'a> {
    pub(crate) media_type: &'a str,
    pub(crate) is_picture: bool,
    /// In base64.
    pub(crate) data: String,
}

/// What a model is given of a block to look at, where its bytes are at hand.
pub(crate) fn looked_at(block: &ContentBlock) -> Option<&PayloadRef> {
    let payload = match block {
        ContentBlock::Image { payload, .. } | ContentBlock::File { payload } => payload,
        ContentBlock::PersistedOutputRef { payload }
        | ContentBlock::EmbeddedResource { payload: Some(payload), .. } => payload,
        _ => return None,
    };
    let media = payload.media_type.as_str();
    ((PICTURES.contains(&media) || media == DOCUMENT) && payload.size_bytes <= MOST).then_some(payload)
}

/// What a model is given of a result to look at.
pub(crate) fn all<'a>(result: &'a ToolResult, kept: &Kept) -> Vec<Medium<'a>> {
    let found = result.content.iter().filter_map(looked_at);
    let medium = |payload: &'a PayloadRef| {
        let media_type = payload.media_type.as_str();
        let data = STANDARD.encode(kept.get(payload)?);
        Some(Medium { media_type, is_picture: media_type != DOCUMENT, data })
    };
    found.filter_map(medium).collect()
}

impl Medium<'_> {
    /// As an address that holds its bytes.
    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.data)
    }
}
