//! From what a server gave to an outcome.

use bytes::Bytes;
use serde::Serialize;
use toolplane_mcp::{Content, Era, ResourceBody, ServerInfo, Session, ToolAnswer, ToolList};
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::evidence::NativeIds;
use toolplane_records::payload::JsonPayload;
use toolplane_records::refs::ResourceRef;
use toolplane_records::result::ContentBlock;

use super::watch::Seen;
use crate::failure::{excerpt, something_may_be_done, too_large};
use crate::outcome::{Exact, Outcome, TEXT};

/// What an auditor is given.
#[derive(Debug, Serialize)]
pub(super) struct Evidence {
    server: ServerShown,
    /// The version of the protocol, and which generation that is.
    protocol: String,
    era: Era,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// What goes into the record of the call.
    refs: Vec<String>,
    /// What the server calls the call.
    #[serde(skip_serializing_if = "is_unnamed")]
    native_ids: NativeIds,
    /// Requests of the call, as the server knows them; the newest 16.
    request_ids: Vec<u64>,
    progress: u64,
    #[serde(skip_serializing_if = "is_zero")]
    progress_left_out: u64,
    #[serde(skip_serializing_if = "is_zero")]
    questions: u64,
    /// A first try was not sent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) retried: bool,
    /// How the server ended, when it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) violations: Vec<String>,
    /// What was left out of the answer, and what is odd about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ServerShown {
    name: String,
    version: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_unnamed(ids: &NativeIds) -> bool {
    *ids == NativeIds::default()
}

impl Evidence {
    /// What is known after a try on `session`.
    pub(super) fn of(session: &Session, seen: Seen) -> Self {
        let ServerInfo { name, version_of_server, era, version, .. } = session.server().clone();
        let session_id = session.session_id();
        let refs = refs(&name, &version_of_server, session_id.as_deref(), &seen.requests);
        Self {
            server: ServerShown { name, version: version_of_server },
            protocol: version,
            era,
            native_ids: NativeIds {
                json_rpc_id: seen.requests.last().map(|id| id.to_string().into()).unwrap_or_default(),
                mcp_session_id: session_id.as_deref().unwrap_or_default().into(),
                ..NativeIds::default()
            },
            session_id,
            refs,
            request_ids: seen.requests,
            progress: seen.progress,
            progress_left_out: seen.left_out,
            questions: seen.questions,
            retried: false,
            ended: None,
            violations: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// Server, session and the last request, as they are kept in the record. What is no plain name is left out there.
fn refs(name: &str, version: &str, session: Option<&str>, requests: &[u64]) -> Vec<String> {
    let plain: String =
        format!("{name}/{version}").chars().map(|c| if c.is_ascii_graphic() { c } else { '_' }).collect();
    let session = session.map(|session| format!("mcp.session:{session}"));
    let request = requests.last().map(|id| format!("mcp.request:{id}"));
    Some(format!("mcp.server:{plain}")).into_iter().chain(session).chain(request).collect()
}

/// The outcome of a call that was answered. More than `most` bytes are none.
pub(super) fn outcome(answer: ToolAnswer, most: Option<u64>, mut evidence: Evidence) -> Outcome {
    let ToolAnswer { is_error, content, structured, notes } = answer;
    evidence.notes = notes;
    let Shown { blocks, exact, bytes } = shown(content, structured.as_ref());
    let bytes = bytes.max(structured.as_ref().map_or(0, JsonPayload::size));
    let evidence = Some(JsonPayload::of(&evidence));
    if let Some(most) = most.filter(|most| bytes > *most) {
        let message = format!("the tool gave {bytes} bytes, and at most {most} are taken");
        let failed = Outcome::failure(something_may_be_done(too_large(message)));
        return Outcome { evidence, output_bytes: bytes, ..failed };
    }
    let said = blocks.iter().find_map(|block| match block {
        ContentBlock::Text { text } => Some(excerpt(text)),
        _ => None,
    });
    let outcome =
        Outcome { exact, structured_content: structured, evidence, output_bytes: bytes, ..Outcome::blocks(blocks) };
    if !is_error {
        return outcome;
    }
    let message = match said {
        Some(said) => format!("the tool says that it failed: {said}"),
        None => "the tool says that it failed, and not why".to_owned(),
    };
    outcome.failed(something_may_be_done(ToolError::of(codes::MCP_TOOL_FAILED, message)))
}

/// The outcome of a call that asked what the server has.
pub(super) fn listed(list: &ToolList, evidence: Evidence) -> Outcome {
    let (tools, refused) = (list.tools.len(), list.refused.len());
    let more = if list.cut { ", and maybe more" } else { "" };
    let mut outcome = Outcome::text(format!("{tools} tools, {refused} refused{more}")).structured(list);
    outcome.output_bytes = outcome.structured_content.as_ref().map_or(0, JsonPayload::size);
    outcome.evidence = Some(JsonPayload::of(&evidence));
    outcome
}

/// Content as it is shown.
#[derive(Default)]
struct Shown {
    blocks: Vec<ContentBlock>,
    exact: Vec<Exact>,
    bytes: u64,
}

impl Shown {
    /// Text, letter for letter.
    fn text(&mut self, text: String) {
        // An empty text is no block, so nothing may belong to it.
        if !text.is_empty() {
            self.bytes += text.len() as u64;
            self.exact.push(Exact::answer(text.clone().into_bytes(), TEXT, &text));
            self.blocks.push(ContentBlock::Text { text });
        }
    }

    /// Bytes behind a text that says what they are.
    fn bytes(&mut self, what: &str, media_type: String, bytes: Bytes) {
        self.bytes += bytes.len() as u64;
        let text = format!("[{what}: {}, {} bytes]", excerpt(&media_type), bytes.len());
        self.exact.push(Exact::answer(bytes, media_type, &text));
        self.blocks.push(ContentBlock::Text { text });
    }

    /// A resource that came with the answer: text, or bytes.
    fn resource(&mut self, uri: String, media_type: String, content: Result<String, Bytes>) {
        let text = match content {
            Ok(text) => {
                self.bytes += text.len() as u64;
                Some(text)
            }
            Err(bytes) => {
                self.bytes += bytes.len() as u64;
                self.exact.push(Exact::answer(bytes, media_type.clone(), ""));
                None
            }
        };
        self.blocks.push(ContentBlock::EmbeddedResource { uri, media_type, text, payload: None });
    }

    fn link(&mut self, uri: String, media_type: Option<String>, size_bytes: Option<u64>, relation: &str) {
        self.blocks.push(ContentBlock::ResourceLink {
            resource: ResourceRef {
                resource_id: uri.clone(),
                uri,
                media_type: media_type.unwrap_or_default(),
                digest: None,
                size_bytes,
                access: String::new(),
                relation: relation.to_owned(),
            },
        });
    }
}

fn shown(content: Vec<Content>, structured: Option<&JsonPayload>) -> Shown {
    let mut shown = Shown::default();
    for part in content {
        match part {
            Content::Text(text) => shown.text(text),
            Content::Image { media_type, bytes } => shown.bytes("image", media_type, bytes),
            Content::Audio { media_type, bytes } => shown.bytes("audio", media_type, bytes),
            Content::ResourceLink { uri, name, title, description, media_type, size } => {
                shown.link(uri, media_type, size, "");
                let about = [title.or(Some(name)), description];
                let about: Vec<_> = about.into_iter().flatten().filter(|text| !text.is_empty()).collect();
                shown.text(about.join(": "));
            }
            Content::Resource { uri, media_type, body } => match body {
                ResourceBody::Text(text) => shown.resource(uri, media_type.unwrap_or_default(), Ok(text)),
                ResourceBody::Blob(bytes) => {
                    let kind = media_type.unwrap_or_else(|| crate::outcome::BYTES.to_owned());
                    shown.resource(uri, kind, Err(bytes));
                }
            },
            Content::Other { kind: _, json } => shown.text(json.text().to_owned()),
        }
    }
    if shown.blocks.is_empty()
        && let Some(structured) = structured
    {
        shown.text(structured.text().to_owned());
    }
    // Where no text is only a view, each says all there is.
    if shown.exact.iter().all(|exact| exact.is_text) {
        shown.exact.clear();
    }
    shown
}

#[cfg(test)]
mod tests;
