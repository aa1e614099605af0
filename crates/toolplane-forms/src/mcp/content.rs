//! The blocks of a result as contents of MCP.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use toolplane_records::ids::InvocationId;
use toolplane_records::payload::{Digest, PayloadRef};
use toolplane_records::result::{ContentBlock, ToolResult};

use crate::object::Object;
use crate::story::Kept;

/// How addresses of kept outputs begin.
pub const ADDRESSES: &str = "toolplane://invocations/";
/// Largest picture or sound that is sent along with a result.
const SEEN: u64 = 1 << 20;
/// Largest other file that is sent along.
const ENCLOSED: u64 = 64 * 1024;

/// The address of bytes that a call keeps.
pub fn address(invocation: &InvocationId, digest: &Digest) -> String {
    format!("{ADDRESSES}{invocation}/payloads/{}", digest.hex())
}

/// The contents of a result, in order. What is not at hand is a link.
pub fn contents(result: &ToolResult, kept: &Kept) -> Vec<Object> {
    result.content.iter().filter_map(|block| content(&result.invocation_id, block, kept)).collect()
}

/// The bytes that are sent along with this block, where they are at hand.
pub(crate) fn enclosed(block: &ContentBlock) -> Option<&PayloadRef> {
    let payload = block.payload()?;
    let seen = is_seen(&payload.media_type);
    let most = match block {
        ContentBlock::EmbeddedResource { text: None, .. } => SEEN,
        ContentBlock::EmbeddedResource { .. } => return None,
        ContentBlock::PersistedOutputRef { .. } if !seen => return None,
        _ if seen => SEEN,
        _ => ENCLOSED,
    };
    (payload.size_bytes <= most).then_some(payload)
}

/// One block; nothing for one that says nothing.
pub(crate) fn content(call: &InvocationId, block: &ContentBlock, kept: &Kept) -> Option<Object> {
    if let Some((payload, bytes)) = enclosed(block).and_then(|payload| Some((payload, kept.get(payload)?))) {
        return Some(sent_along(call, block, payload, bytes));
    }
    let text = |text: &str| Object::typed("text").with("text", text);
    Some(match block {
        ContentBlock::Text { text: said } => text(said),
        ContentBlock::Log { text: said, stream } => {
            text(said).object("_meta", &Object::new().with("toolplane/stream", stream))
        }
        ContentBlock::Diff { text: said, .. } => {
            text(said).object("_meta", &Object::new().with("toolplane/kind", "diff"))
        }
        ContentBlock::EmbeddedResource { uri, media_type, text: Some(text), .. } => {
            let resource = Object::new().with("uri", uri).text("mimeType", media_type).with("text", text);
            Object::typed("resource").object("resource", &resource)
        }
        ContentBlock::EmbeddedResource { payload: Some(payload), .. }
        | ContentBlock::Image { payload, .. }
        | ContentBlock::Audio { payload, .. }
        | ContentBlock::Video { payload, .. }
        | ContentBlock::File { payload }
        | ContentBlock::PersistedOutputRef { payload } => link_to(call, payload),
        ContentBlock::EmbeddedResource { uri, media_type, .. } => link(uri, uri, media_type, None),
        ContentBlock::ResourceLink { resource } => {
            let name = if resource.resource_id.is_empty() { &resource.uri } else { &resource.resource_id };
            link(&resource.uri, name, &resource.media_type, resource.size_bytes)
        }
        ContentBlock::ArtifactRef { artifact } => {
            link(&artifact.uri, &artifact.artifact_id, &artifact.media_type, None)
        }
        ContentBlock::HandoffRef { handoff } => link(&handoff.uri, &handoff.handoff_id, "", None),
        ContentBlock::Empty => return None,
    })
}

/// A link to bytes that the call keeps.
fn link_to(call: &InvocationId, kept: &PayloadRef) -> Object {
    let name = format!("output of {call}");
    link(&address(call, &kept.digest), &name, &kept.media_type, Some(kept.size_bytes))
}

fn link(uri: &str, name: &str, media_type: &str, size: Option<u64>) -> Object {
    Object::typed("resource_link").with("uri", uri).with("name", name).text("mimeType", media_type).maybe("size", size)
}

/// Bytes that the call keeps: a picture or a sound as such, all else as a resource, under the address it was given with or under its
/// own.
fn sent_along(call: &InvocationId, block: &ContentBlock, payload: &PayloadRef, bytes: &Bytes) -> Object {
    let media = payload.media_type.as_str();
    let own = address(call, &payload.digest);
    let address = match block {
        ContentBlock::EmbeddedResource { uri, .. } => uri,
        _ if is_seen(media) => {
            let kind = if media.starts_with("image/") { "image" } else { "audio" };
            return Object::typed(kind).with("data", &STANDARD.encode(bytes)).with("mimeType", media);
        }
        _ => &own,
    };
    Object::typed("resource").object("resource", &resource_contents(address, media, bytes))
}

/// Bytes as contents of a resource: text where they are text.
pub fn resource_contents(uri: &str, media_type: &str, bytes: &Bytes) -> Object {
    let textual = media_type.starts_with("text/") || media_type.ends_with("json") || media_type.ends_with("xml");
    let contents = Object::new().with("uri", uri).text("mimeType", media_type);
    match std::str::from_utf8(bytes) {
        Ok(text) if textual => contents.with("text", text),
        _ => contents.with("blob", &STANDARD.encode(bytes)),
    }
}

fn is_seen(media_type: &str) -> bool {
    media_type.starts_with("image/") || media_type.starts_with("audio/")
}

#[cfg(test)]
mod tests {
    use toolplane_records::refs::{ArtifactRef, HandoffRef, ResourceRef};

    use super::*;

    fn payload(media_type: &str, size_bytes: u64) -> PayloadRef {
        PayloadRef { uri: "object:1".into(), media_type: media_type.into(), digest: Digest::of(b"x"), size_bytes }
    }

    fn told(block: &ContentBlock, bytes: Option<&'static [u8]>) -> String {
        let mut kept = Kept::default();
        if let (Some(payload), Some(bytes)) = (block.payload(), bytes) {
            kept.add(payload, Bytes::from_static(bytes));
        }
        let told = content(&InvocationId::from_trusted("inv_1"), block, &kept);
        told.map(|told| told.json()).unwrap_or_default()
    }

    #[test]
    fn text_is_text_where_it_is() {
        let of = |media: &str, bytes: &'static [u8]| resource_contents("u", media, &Bytes::from_static(bytes)).json();
        assert!(of("text/plain", b"hi").ends_with(r#""text":"hi"}"#));
        assert!(of("application/json", b"{}").ends_with(r#""text":"{}"}"#));
        assert!(of("text/plain", b"\xff").ends_with(r#""blob":"/w=="}"#));
        assert!(of("image/png", b"hi").ends_with(r#""blob":"aGk="}"#));
    }

    #[test]
    fn what_others_own_is_a_link() {
        let resource = ResourceRef { uri: "https://x/y".to_owned(), size_bytes: Some(3), ..Default::default() };
        assert_eq!(
            told(&ContentBlock::ResourceLink { resource }, None),
            r#"{"type":"resource_link","uri":"https://x/y","name":"https://x/y","size":3}"#
        );
        let artifact = ArtifactRef { uri: "a:1".to_owned(), artifact_id: "report".to_owned(), ..Default::default() };
        assert_eq!(
            told(&ContentBlock::ArtifactRef { artifact }, None),
            r#"{"type":"resource_link","uri":"a:1","name":"report"}"#
        );
        let handoff = HandoffRef { handoff_id: "h1".to_owned(), uri: "a2a://b/t1".to_owned(), ..Default::default() };
        assert!(told(&ContentBlock::HandoffRef { handoff }, None).contains(r#""uri":"a2a://b/t1""#));
        assert_eq!(told(&ContentBlock::Empty, None), "");
    }

    #[test]
    fn what_is_small_is_sent_along_and_what_is_large_is_a_link() {
        let own = address(&InvocationId::from_trusted("inv_1"), &Digest::of(b"x"));
        let picture = ContentBlock::File { payload: payload("image/png", SEEN) };
        assert_eq!(told(&picture, Some(b"\xff")), r#"{"type":"image","data":"/w==","mimeType":"image/png"}"#);
        assert!(told(&picture, None).contains(&own), "what is not at hand is a link");
        let table = ContentBlock::File { payload: payload("text/csv", ENCLOSED) };
        assert!(told(&table, Some(b"a,b")).contains(r#""text":"a,b""#));
        let embedded = ContentBlock::EmbeddedResource {
            uri: "test://a".to_owned(),
            media_type: "image/png".to_owned(),
            text: None,
            payload: Some(payload("image/png", 70)),
        };
        assert!(told(&embedded, Some(b"\xff")).contains(r#""uri":"test://a","mimeType":"image/png","blob":"/w==""#));
        for block in [
            ContentBlock::File { payload: payload("image/png", SEEN + 1) },
            ContentBlock::File { payload: payload("text/csv", ENCLOSED + 1) },
            ContentBlock::PersistedOutputRef { payload: payload("text/plain", 1) },
        ] {
            let told = told(&block, Some(b"x"));
            assert!(told.starts_with(r#"{"type":"resource_link""#) && told.contains(&own), "{told}");
        }
    }
}
