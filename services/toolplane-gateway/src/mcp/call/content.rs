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

/// What a link is called to what a tool gave along with it.
const GIVEN_BY: &str = "given_by";

/// How the blocks of a result are told, in their order. What is several blocks here and one content there is put together: a resource
/// that was given with its address, and bytes behind a text that says what they are.
pub(crate) fn parts(invocation: &str, blocks: Vec<v1::ContentBlock>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut blocks = blocks.into_iter().peekable();
    let mut address = None;
    while let Some(block) = blocks.next() {
        match (block.block, blocks.peek().and_then(|next| next.block.as_ref())) {
            (Some(Block::ResourceLink(link)), Some(Block::Text(_))) if link.relation == GIVEN_BY => {
                address = Some(link)
            }
            (Some(Block::Text(text)), Some(Block::File(kept) | Block::PersistedOutputRef(kept)))
                if stands_for(&text.text, kept) => {}
            (Some(Block::Text(text)), _) if address.is_some() => {
                let Some(link) = address.take() else { continue };
                parts.push(Part::Ready(match link.size_bytes == Some(text.text.len() as u64) {
                    true => resource(&link.uri, &link.media_type, &text.text),
                    false => json!({ "type": "text", "text": text.text }),
                }));
            }
            (block, _) => {
                let part = part(invocation, v1::ContentBlock { block });
                parts.push(match (part, address.take()) {
                    (Part::Kept(kept, None), Some(link)) => Part::Kept(kept, Some(link.uri)),
                    (part, _) => part,
                });
            }
        }
    }
    parts
}

/// Whether a text says nothing but what the bytes are that come next.
fn stands_for(text: &str, kept: &v1::PayloadRef) -> bool {
    let size = format!(", {} bytes]", kept.size_bytes);
    text.starts_with('[') && text.contains(&kept.media_type) && text.ends_with(&size) && !text.contains('\n')
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
        let diff = Block::Diff(v1::DiffBlock { text: "+x".to_owned() });
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
    fn what_was_one_content_is_one_again() {
        let block = |block| v1::ContentBlock { block: Some(block) };
        let text = |text: &str| block(Block::Text(v1::TextBlock { text: text.to_owned() }));
        let given = |size| {
            block(Block::ResourceLink(v1::ResourceRef {
                uri: "test://a".to_owned(),
                media_type: "text/plain".to_owned(),
                size_bytes: Some(size),
                relation: GIVEN_BY.to_owned(),
                ..Default::default()
            }))
        };
        let bytes = || block(Block::PersistedOutputRef(kept("image/png", 70)));
        let told = parts("inv_1", vec![text("before"), text("[image: image/png, 70 bytes]"), bytes(), text("after")]);
        assert_eq!(told[1], Part::Kept(kept("image/png", 70), None));
        assert_eq!(told.len(), 3, "{told:?}");
        let told = parts("inv_1", vec![given(2), text("hi"), text("more")]);
        let expected = json!({ "uri": "test://a", "mimeType": "text/plain", "text": "hi" });
        assert!(matches!(&told[0], Part::Ready(one) if one["resource"] == expected), "{told:?}");
        let told = parts("inv_1", vec![given(70), text("[resource: image/png, 70 bytes]"), bytes()]);
        assert_eq!(told, [Part::Kept(kept("image/png", 70), Some("test://a".to_owned()))]);
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
