//! What a tool gave back, as contents of MCP.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;

use crate::mcp::resources;

/// Largest picture or sound that is sent along with a result.
const SEEN: u64 = 1 << 20;
/// Largest other file that is sent along.
const ENCLOSED: u64 = 64 * 1024;

/// How one block is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    /// As it is.
    Ready(Value),
    /// With the bytes that are kept for it; under an address of its own, where it was given one.
    Kept(v1::PayloadRef, Option<String>),
    /// Not at all.
    Nothing,
}

/// How the blocks of a result are told, in their order.
pub(crate) fn parts(invocation: &str, blocks: Vec<v1::ContentBlock>) -> Vec<Part> {
    blocks.into_iter().map(|block| part(invocation, block)).collect()
}

fn resource(uri: &str, media_type: &str, text: &str) -> Value {
    let mut resource = json!({ "uri": uri, "text": text });
    if !media_type.is_empty() {
        resource["mimeType"] = media_type.into();
    }
    json!({ "type": "resource", "resource": resource })
}

/// How one block is told.
fn part(invocation: &str, block: v1::ContentBlock) -> Part {
    Part::Ready(match block.block {
        Some(Block::Text(text)) => json!({ "type": "text", "text": text.text }),
        Some(Block::Log(log)) => {
            json!({ "type": "text", "text": log.text, "_meta": { "toolplane/stream": log.stream } })
        }
        Some(Block::Diff(diff)) => json!({ "type": "text", "text": diff.text, "_meta": { "toolplane/kind": "diff" } }),
        Some(Block::Image(media) | Block::Audio(media) | Block::Video(media)) => match media.payload {
            Some(kept) if kept.size_bytes <= most(&kept.media_type) => return Part::Kept(kept, None),
            Some(kept) => link_to(invocation, &kept),
            None => return Part::Nothing,
        },
        Some(Block::EmbeddedResource(given)) => match (given.text, given.payload) {
            (Some(text), _) => resource(&given.uri, &given.media_type, &text),
            (None, Some(kept)) if kept.size_bytes <= SEEN => return Part::Kept(kept, Some(given.uri)),
            (None, Some(kept)) => link_to(invocation, &kept),
            (None, None) => link(&given.uri, &given.uri, &given.media_type, None),
        },
        Some(Block::HandoffRef(handoff)) => link(&handoff.uri, &handoff.handoff_id, "", None),
        Some(Block::File(kept)) if kept.size_bytes <= most(&kept.media_type) => return Part::Kept(kept, None),
        Some(Block::PersistedOutputRef(kept)) if is_seen(&kept.media_type) && kept.size_bytes <= SEEN => {
            return Part::Kept(kept, None);
        }
        Some(Block::File(kept) | Block::PersistedOutputRef(kept)) => link_to(invocation, &kept),
        Some(Block::ResourceLink(resource)) => {
            let name = if resource.resource_id.is_empty() { resource.uri.clone() } else { resource.resource_id };
            link(&resource.uri, &name, &resource.media_type, resource.size_bytes)
        }
        Some(Block::ArtifactRef(artifact)) => link(&artifact.uri, &artifact.artifact_id, &artifact.media_type, None),
        Some(Block::Empty(_)) | None => return Part::Nothing,
    })
}

/// A link to bytes that the call keeps.
pub(crate) fn link_to(invocation: &str, kept: &v1::PayloadRef) -> Value {
    let uri = resources::uri(invocation, &kept.digest);
    link(&uri, &format!("output of {invocation}"), &kept.media_type, Some(kept.size_bytes))
}

/// Bytes that the call keeps, sent along; under the address they were given with, else under that of what is kept.
pub(crate) fn enclosed(invocation: &str, kept: &v1::PayloadRef, address: Option<&str>, bytes: &Bytes) -> Value {
    let media = kept.media_type.as_str();
    if is_seen(media) && address.is_none() {
        let kind = if media.starts_with("image/") { "image" } else { "audio" };
        return json!({ "type": kind, "data": STANDARD.encode(bytes), "mimeType": media });
    }
    let own = resources::uri(invocation, &kept.digest);
    let resource = resources::contents(address.unwrap_or(&own), media, bytes);
    json!({ "type": "resource", "resource": resource })
}

fn link(uri: &str, name: &str, media_type: &str, size: Option<u64>) -> Value {
    let mut link = json!({ "type": "resource_link", "uri": uri, "name": name });
    if !media_type.is_empty() {
        link["mimeType"] = media_type.into();
    }
    if let Some(size) = size {
        link["size"] = size.into();
    }
    link
}

fn is_seen(media_type: &str) -> bool {
    media_type.starts_with("image/") || media_type.starts_with("audio/")
}

fn most(media_type: &str) -> u64 {
    if is_seen(media_type) { SEEN } else { ENCLOSED }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(block: Block) -> Part {
        part("inv_1", v1::ContentBlock { block: Some(block) })
    }

    fn kept(media_type: &str, size_bytes: u64) -> v1::PayloadRef {
        let digest = format!("sha256:{}", "a".repeat(64));
        v1::PayloadRef { uri: "object:1".to_owned(), media_type: media_type.to_owned(), digest, size_bytes }
    }

    #[test]
    fn every_block_has_its_content() {
        let text = Block::Text(v1::TextBlock { text: "hi".to_owned() });
        assert_eq!(of(text), Part::Ready(json!({ "type": "text", "text": "hi" })));
        let log = Block::Log(v1::LogBlock { text: "oh".to_owned(), stream: "stderr".to_owned() });
        assert_eq!(
            of(log),
            Part::Ready(json!({ "type": "text", "text": "oh", "_meta": { "toolplane/stream": "stderr" } }))
        );
        let diff = Block::Diff(v1::DiffBlock { text: "+x".to_owned(), ..Default::default() });
        assert!(matches!(of(diff), Part::Ready(told) if told["_meta"]["toolplane/kind"] == "diff"));
        assert_eq!(of(Block::Empty(v1::EmptyBlock {})), Part::Nothing);
        let resource = v1::ResourceRef { uri: "https://x/y".to_owned(), size_bytes: Some(3), ..Default::default() };
        assert_eq!(
            of(Block::ResourceLink(resource)),
            Part::Ready(json!({ "type": "resource_link", "uri": "https://x/y", "name": "https://x/y", "size": 3 }))
        );
        let artifact =
            v1::ArtifactRef { uri: "a:1".to_owned(), artifact_id: "report".to_owned(), ..Default::default() };
        assert_eq!(
            of(Block::ArtifactRef(artifact)),
            Part::Ready(json!({ "type": "resource_link", "uri": "a:1", "name": "report" }))
        );
    }

    #[test]
    fn a_resource_keeps_its_address() {
        let given = |text: Option<&str>, payload| {
            Block::EmbeddedResource(v1::EmbeddedResource {
                uri: "test://a".to_owned(),
                media_type: "text/plain".to_owned(),
                text: text.map(str::to_owned),
                payload,
            })
        };
        let expected = json!({ "uri": "test://a", "mimeType": "text/plain", "text": "hi" });
        assert!(matches!(of(given(Some("hi"), None)), Part::Ready(one) if one["resource"] == expected));
        let bytes = kept("image/png", 70);
        assert_eq!(of(given(None, Some(bytes.clone()))), Part::Kept(bytes, Some("test://a".to_owned())));
        let picture = v1::MediaBlock { payload: Some(kept("image/png", 70)), description: String::new() };
        assert_eq!(of(Block::Image(picture)), Part::Kept(kept("image/png", 70), None));
        let handoff =
            v1::HandoffRef { handoff_id: "h1".to_owned(), uri: "a2a://b/t1".to_owned(), ..Default::default() };
        assert!(matches!(of(Block::HandoffRef(handoff)), Part::Ready(link) if link["uri"] == "a2a://b/t1"));
    }

    #[test]
    fn what_is_small_is_sent_along_and_what_is_large_is_a_link() {
        assert_eq!(of(Block::File(kept("image/png", SEEN))), Part::Kept(kept("image/png", SEEN), None));
        assert_eq!(of(Block::File(kept("text/csv", ENCLOSED))), Part::Kept(kept("text/csv", ENCLOSED), None));
        for (block, media, size) in [
            (Block::File(kept("image/png", SEEN + 1)), "image/png", SEEN + 1),
            (Block::File(kept("text/csv", ENCLOSED + 1)), "text/csv", ENCLOSED + 1),
            (Block::PersistedOutputRef(kept("text/plain", 1)), "text/plain", 1),
        ] {
            let Part::Ready(link) = of(block) else { panic!("no link") };
            assert_eq!(
                (&link["type"], &link["mimeType"], &link["size"]),
                (&json!("resource_link"), &json!(media), &json!(size))
            );
            assert_eq!(link["uri"], format!("toolplane://invocations/inv_1/payloads/{}", "a".repeat(64)));
        }
        let image = enclosed("inv_1", &kept("image/png", 1), None, &Bytes::from_static(b"\xff"));
        assert_eq!(image, json!({ "type": "image", "data": "/w==", "mimeType": "image/png" }));
        let text = enclosed("inv_1", &kept("text/csv", 3), None, &Bytes::from_static(b"a,b"));
        assert_eq!((&text["type"], &text["resource"]["text"]), (&json!("resource"), &json!("a,b")));
    }
}
