//! A call in the forms of other protocols: pure functions from records to the bytes their clients read, and back where a client
//! answers in the form.
//!
//! [`View`] says which forms there are, [`Story`] what is known of a call. [`of_call`] shows all of it, [`of_event`] and [`of_ending`]
//! one step of a stream. What is shown may need bytes that the call keeps elsewhere: [`wanted`] says which.

pub mod a2a;
pub mod acp;
mod anthropic;
mod asked;
pub mod cloudevents;
#[cfg(test)]
mod fuzz;
mod gemini;
pub mod in_toto;
pub mod mcp;
mod media;
pub mod object;
mod openai;
mod record;
mod story;
mod tool_result;
mod view;
mod words;

use bytes::Bytes;
use toolplane_records::approval::Approval;
use toolplane_records::event::ToolEvent;
use toolplane_records::payload::{JsonPayload, PayloadRef};
use toolplane_records::result::ToolResult;

pub use asked::{Asked, BadWord, Words};
pub use story::{Kept, Reader, Story, Tool, shown_after};
pub use view::{UnknownView, View};

use acp::Terminals;
use cloudevents::CloudEvent;
use mcp::{CallToolResult, Door};

/// A call, or a step of it, in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formed {
    /// Media type of the form.
    pub media_type: &'static str,
    /// What is in it.
    pub body: FormedBody,
}

/// The two kinds of forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormedBody {
    /// JSON.
    Json(JsonPayload),
    /// Bytes of another kind.
    Bytes(Bytes),
}

const JSON: &str = "application/json";

fn json(media_type: &'static str, value: impl Into<String>) -> Formed {
    Formed { media_type, body: FormedBody::Json(JsonPayload::from_checked(value.into())) }
}

fn bytes(media_type: &'static str, value: Vec<u8>) -> Formed {
    Formed { media_type, body: FormedBody::Bytes(value.into()) }
}

/// The call as it is now. Nothing where the form is of a result ([`View::is_of_a_result`]) and there is none yet.
pub fn of_call(view: View, story: &Story<'_>) -> Option<Formed> {
    if let Some(result) = story.result
        && let Some(formed) = of_result(view, story, result)
    {
        return Some(formed);
    }
    Some(match view {
        View::Record => json(JSON, record::all(story).json()),
        View::Acp => json(JSON, acp::call(story, Terminals::No).json()),
        View::AcpTerminal => json(JSON, acp::call(story, Terminals::Yes).json()),
        View::A2a => json("application/a2a+json", a2a::task(story).json()),
        View::CloudEvents => {
            let events: Vec<_> = story.events.iter().map(|event| CloudEvent::of(event).json()).collect();
            json("application/cloudevents-batch+json", object::array(&events))
        }
        View::CloudEventsProtobuf => {
            bytes("application/cloudevents-batch+protobuf", cloudevents::protobuf_batch(story.events))
        }
        _ => return None,
    })
}

fn of_result(view: View, story: &Story<'_>, result: &ToolResult) -> Option<Formed> {
    Some(match view {
        View::Mcp => json(JSON, CallToolResult::of(result, story.kept, Door::Finding).object().json()),
        View::OpenAiResponses => json(JSON, openai::responses(story, result).json()),
        View::OpenAiChat => json(JSON, openai::chat(story, result).json()),
        View::Anthropic => json(JSON, anthropic::tool_result(story, result).json()),
        View::Gemini => json(JSON, gemini::part(story, result).json()),
        View::ToolResult => json(JSON, tool_result::of(story, result).json()),
        View::InToto => json("application/vnd.in-toto+json", in_toto::statement(story, result).json()),
        _ => return None,
    })
}

/// One event of the call: nothing where the form has nothing to say of it.
pub fn of_event(view: View, story: &Story<'_>, event: &ToolEvent) -> Option<Formed> {
    let acp = |terminals| acp::event(story, terminals, event).map(|update| json(JSON, update.json()));
    match view {
        View::Record => Some(json(JSON, record::event(event))),
        View::Acp => acp(Terminals::No),
        View::AcpTerminal => acp(Terminals::Yes),
        View::A2a => a2a::event(story, event).map(|item| json("application/a2a+json", item.json())),
        View::CloudEvents => Some(json("application/cloudevents+json", CloudEvent::of(event).json().json())),
        View::CloudEventsProtobuf => {
            Some(bytes("application/cloudevents+protobuf", cloudevents::write_protobuf(event)))
        }
        _ => None,
    }
}

/// How the call ended, as the last of a stream.
pub fn of_ending(view: View, story: &Story<'_>, result: &ToolResult) -> Vec<Formed> {
    let story = &Story { result: Some(result), ..*story };
    match view {
        View::Record => vec![json(JSON, JsonPayload::of(result).text())],
        View::Acp => vec![json(JSON, acp::ending(story, Terminals::No, result).json())],
        View::AcpTerminal => vec![json(JSON, acp::ending(story, Terminals::Yes, result).json())],
        View::A2a => a2a::ending(story, result).iter().map(|item| json("application/a2a+json", item.json())).collect(),
        // The last event says it.
        View::CloudEvents | View::CloudEventsProtobuf => Vec::new(),
        view => of_result(view, story, result).into_iter().collect(),
    }
}

/// A question to people. Nothing where the form has no questions: [`View::Acp`] and [`View::Record`] have them.
pub fn of_approval(view: View, approval: &Approval, reader: Reader<'_>) -> Option<Formed> {
    match view {
        View::Record => Some(json(JSON, JsonPayload::of(approval).text())),
        View::Acp | View::AcpTerminal => Some(json(JSON, acp::request(approval, reader).json())),
        _ => None,
    }
}

/// The bytes a form shows of what a result keeps elsewhere, together at most `most`. What is not there is shown as a link, or as text.
pub fn wanted(view: View, result: &ToolResult, most: u64) -> Vec<&PayloadRef> {
    let of_block = match view {
        View::Mcp | View::Acp | View::AcpTerminal | View::A2a => mcp::enclosed,
        View::OpenAiResponses | View::Anthropic | View::Gemini => media::looked_at,
        _ => return Vec::new(),
    };
    let mut left = most;
    let fits = |payload: &&PayloadRef| {
        let fits = payload.size_bytes <= left;
        left -= if fits { payload.size_bytes } else { 0 };
        fits
    };
    result.content.iter().filter_map(of_block).filter(fits).collect()
}
