//! One call of a tool, with as many rounds of questions as it needs.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_records::json;
use toolplane_records::mcp::McpHeaderParameter;
use toolplane_records::payload::JsonPayload;

use super::{Inner, Session};
use crate::ask::{Ask, Clock, ask_person};
use crate::content::{self, ToolAnswer};
use crate::elicit;
use crate::failure::{Failure, shown};
use crate::http::headers;
use crate::link::Link;
use crate::message;
use crate::meta::{CallParams, Meta, TraceContext};
use crate::watch::Watch;

/// One call.
#[derive(Clone, Copy)]
pub struct ToolCall<'a> {
    /// The tool, as its server names it.
    pub tool: &'a str,
    /// A JSON object, sent byte for byte; only over a stream line ends between values become spaces.
    pub arguments: &'a JsonPayload,
    /// Arguments the tool wants in headers as well ([`ToolDefinition::headers`](crate::ToolDefinition::headers)); used over HTTP.
    pub headers: &'a [McpHeaderParameter],
    /// When the time is over; it stands still while a person is asked.
    pub deadline: Option<Instant>,
    /// Canceled by the caller.
    pub cancel: &'a CancellationToken,
    /// Who is told, and asked.
    pub watch: &'a dyn Watch,
    /// The place of the call in a trace.
    pub trace: &'a TraceContext,
}

impl std::fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolCall").field("tool", &self.tool).field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

/// What a server wants to know before it goes on.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputRequired<'a> {
    #[serde(borrow, default)]
    input_requests: Option<&'a RawValue>,
    #[serde(borrow, default)]
    request_state: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct InputRequest<'a> {
    method: String,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// What is sent with the next round.
#[derive(Default)]
struct Round {
    responses: Option<String>,
    state: Option<String>,
}

impl Session {
    /// Calls a tool. Fails with what is known about whether it ran ([`Failure::may_have_run`]); that the tool itself failed is an answer.
    /// Dropping the future cancels the call at the server.
    pub async fn call_tool(&self, call: ToolCall<'_>) -> Result<ToolAnswer, Failure> {
        let arguments = object(call.arguments)?;
        let mut clock = Clock { deadline: call.deadline };
        let mut round = Round::default();
        for _ in 0..self.inner.core.limits.rounds {
            let result = self.inner.round(&call, arguments, &round, &mut clock).await?;
            match content::kind(&result) {
                content::ResultKind::Complete => return content::read(&result, &self.inner.core.limits),
                content::ResultKind::InputRequired => round = self.inner.questions(&call, &result, &mut clock).await?,
                content::ResultKind::Other(kind) => {
                    return Err(Failure::Unreadable(format!("a result of the kind `{}`", shown(&kind))));
                }
            }
        }
        Err(Failure::NotGiven(format!("more than {} rounds of questions", self.inner.core.limits.rounds)))
    }
}

impl Inner {
    async fn round(
        &self,
        call: &ToolCall<'_>,
        arguments: &RawValue,
        round: &Round,
        clock: &mut Clock,
    ) -> Result<Bytes, Failure> {
        let raw =
            |text: &Option<String>| text.as_deref().and_then(|text| serde_json::from_str::<Box<RawValue>>(text).ok());
        let (responses, state) = (raw(&round.responses), raw(&round.state));
        let meta = Meta::new(self.era(), &self.options.client, call.watch.answers());
        let body = |id| {
            let params = CallParams {
                name: call.tool,
                arguments,
                input_responses: responses.as_deref(),
                request_state: state.as_deref(),
                meta: meta.call(id, call.trace),
            };
            message::write(Some(id), "tools/call", params)
        };
        let mut heading = self.heading("tools/call", Some(call.tool));
        if matches!(self.link, Link::Http(_)) && headers::is_stateless(&heading) {
            heading.fields.extend(headers::parameters(call.headers, arguments.get()));
        }
        let request = Ask { body: &body, heading, call: true, cancel: call.cancel, watch: call.watch };
        self.ask(request, clock).await
    }

    /// Asks the person everything the server wants to know.
    async fn questions(&self, call: &ToolCall<'_>, result: &Bytes, clock: &mut Clock) -> Result<Round, Failure> {
        let not_that = |error: serde_json::Error| Failure::Unreadable(format!("not a question: {error}"));
        let wanted: InputRequired<'_> = serde_json::from_slice(result).map_err(not_that)?;
        let state = wanted.request_state.map(|state| state.get().to_owned());
        let Some(requests) = wanted.input_requests else {
            return match state {
                Some(_) => Ok(Round { responses: None, state }),
                None => Err(Failure::Unreadable("the server wants something and does not say what".to_owned())),
            };
        };
        let requests = json::members(requests).map_err(not_that)?;
        if requests.len() > self.core.limits.questions {
            return Err(Failure::NotGiven(format!("more than {} questions at once", self.core.limits.questions)));
        }
        let mut responses = Vec::new();
        for (key, request) in requests {
            let request: InputRequest<'_> = serde_json::from_str(request.get()).map_err(not_that)?;
            if request.method != "elicitation/create" {
                return Err(Failure::NotGiven(shown(&request.method)));
            }
            let params = request.params.map_or("{}", RawValue::get);
            let question = elicit::read(&Bytes::copy_from_slice(params.as_bytes()), &self.core.limits)
                .map_err(Failure::Unreadable)?;
            let reply = tokio::select! {
                biased;
                () = call.cancel.cancelled() => return Err(Failure::Canceled { sent: true }),
                reply = ask_person(call.watch, question, clock) => reply,
            };
            let key = serde_json::to_string(&key).unwrap_or_default();
            responses.push(format!("{key}:{}", reply.json()));
        }
        Ok(Round { responses: Some(format!("{{{}}}", responses.join(","))), state })
    }
}

/// The arguments, which must be an object.
fn object(arguments: &JsonPayload) -> Result<&RawValue, Failure> {
    let raw: &RawValue = serde_json::from_slice(arguments.bytes())
        .map_err(|error| Failure::NotSent(format!("the arguments are not JSON: {error}")))?;
    match raw.get().starts_with('{') {
        true => Ok(raw),
        false => Err(Failure::NotSent("the arguments are not an object".to_owned())),
    }
}
