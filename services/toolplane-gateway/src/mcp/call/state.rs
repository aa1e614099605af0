//! Questions to the client, and its answers: each says which call it is about, sealed, so that any process can take the answer.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tonic::Code;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_runtime::clock;

use super::follow::{Begun, follow};
use super::form::{ANSWER, Form};
use super::pending::Why;
use super::{approval, pending};
use crate::mcp::exchange::Exchange;
use crate::mcp::fault::Fault;
use crate::mcp::front::Front;
use crate::mcp::questions::Told;
use crate::mcp::reply::Reply;
use crate::mcp::seal::Purpose;
use crate::upstream::Upstream;

/// How long a client may take to come back with an answer, in seconds.
const ANSWERED_WITHIN: u64 = 24 * 60 * 60;
/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Question {
    /// The tool asks, and takes the answer as a whole.
    #[serde(rename = "i")]
    Input(String),
    /// The tool asks for one value that is no object.
    #[serde(rename = "v")]
    Value(String),
    /// A person is asked whether the call may run.
    #[serde(rename = "a")]
    Approval(String),
}

impl Question {
    /// What the question is called where several could be asked at once.
    fn key(&self) -> &str {
        match self {
            Self::Input(id) | Self::Value(id) | Self::Approval(id) => id,
        }
    }
}

/// A question about a call, as its client keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asked {
    #[serde(rename = "i")]
    pub(crate) invocation: String,
    #[serde(rename = "q")]
    question: Question,
    /// The tool and the digest of the arguments of the request that was made.
    #[serde(rename = "t")]
    tool: String,
    #[serde(rename = "d")]
    arguments: String,
    /// Until when an answer is taken, in seconds since 1970.
    #[serde(rename = "x")]
    until: u64,
}

impl Asked {
    pub(crate) fn new(begun: &Begun, question: Question) -> Self {
        let until = clock::since_epoch().as_secs() + ANSWERED_WITHIN;
        let (invocation, tool, arguments) = (begun.id.clone(), begun.tool.clone(), begun.arguments.clone());
        Self { invocation, question, tool, arguments, until }
    }
}

/// What a client answers to a question.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    action: Action,
    #[serde(default)]
    content: Option<Box<RawValue>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Taken {
    /// The call goes on, or has ended meanwhile.
    Yes,
    /// It does not fit what was asked for: the question may be asked again.
    Unfit,
    /// The question stays open, for this reason.
    LeftOpen(String),
}

/// Asks a client with a session: the question goes ahead of the answer of its request.
pub(crate) async fn ask(x: &Exchange, begun: &Begun, asked: &Asked, form: &Form) {
    let id = x.front.seals.seal(Purpose::Question, &x.principal, asked);
    x.ask(Some(&begun.place(x)), &id, "elicitation/create", &form.params(x.client.version)).await;
}

/// Asks a client without one: the question is the answer, and the client comes back with what it was told.
pub(crate) fn input_required(x: &Exchange, asked: &Asked, form: &Form) -> Reply {
    let state = x.front.seals.seal(Purpose::State, &x.principal, asked);
    Reply::new()
        .kind("input_required")
        .raw("inputRequests", &requests(x, &asked.question, form))
        .value("requestState", &state)
        .meta("toolplane/invocation_id", &asked.invocation)
}

/// The one question, as replies of the version without sessions have it.
pub(crate) fn requests(x: &Exchange, question: &Question, form: &Form) -> String {
    let (key, params) = (serde_json::Value::from(question.key()), form.params(x.client.version));
    format!(r#"{{{key}:{{"method":"elicitation/create","params":{params}}}}}"#)
}

/// A client comes back with what it was told.
pub(crate) async fn go_on(
    x: &Arc<Exchange>,
    tool: &str,
    arguments: String,
    state: &str,
    responses: Option<&RawValue>,
) -> Result<Reply, Fault> {
    let unknown = || Fault::params("`requestState` is none that was given out for this request, or too old");
    let asked: Asked = x.front.seals.open(Purpose::State, &x.principal, state).ok_or_else(unknown)?;
    let same = asked.tool == tool && asked.arguments == arguments;
    if !same || asked.until < clock::since_epoch().as_secs() {
        return Err(unknown());
    }
    let begun = Begun { id: asked.invocation.clone(), tool: tool.to_owned(), arguments, seq: 0 };
    let left_open = match answer_to(&asked.question, responses)? {
        Some(answer) => match deliver(&x.upstream, &asked, answer).await? {
            Taken::LeftOpen(why) => Some(why),
            Taken::Yes | Taken::Unfit => None,
        },
        None => None,
    };
    let request = v1::GetInvocationRequest { invocation_id: begun.id.clone(), ..Default::default() };
    let found = x.upstream.invocations().get_invocation(request).await?.into_inner();
    match (found.result, found.invocation, left_open) {
        (Some(result), ..) => super::result::reply(x, &begun, &result).await,
        (None, Some(call), Some(why)) => pending::reply(x, &begun, &call, Some(Why::Said(why))).await,
        (None, call, _) => follow(x, begun, call).await,
    }
}

/// The answer to a question; none where the client gave none.
fn answer_to(question: &Question, responses: Option<&RawValue>) -> Result<Option<Answer>, Fault> {
    let Some(responses) = responses else { return Ok(None) };
    let responses: std::collections::HashMap<String, Box<RawValue>> =
        serde_json::from_str(responses.get()).map_err(|_| Fault::params("`inputResponses` is no object"))?;
    let Some(answer) = responses.get(question.key()) else { return Ok(None) };
    let wrong = |error| Fault::params(format!("what answers the question is no answer: {error}"));
    serde_json::from_str(answer.get()).map(Some).map_err(wrong)
}

/// A client with a task answers its question. Fails where it is none that is known.
pub(crate) async fn update(x: &Exchange, begun: &Begun, question: Question, responses: &RawValue) -> Result<(), Fault> {
    let Some(answer) = answer_to(&question, Some(responses))? else { return Ok(()) };
    deliver(&x.upstream, &Asked::new(begun, question), answer).await.map(drop)
}

/// A client with a session answers a question, here or wherever it was asked. Fails where it is no question of ours, or where the
/// answer was not taken.
pub(crate) async fn answer(
    front: &Front,
    upstream: &Upstream,
    principal: &str,
    id: &str,
    outcome: Result<Bytes, String>,
) -> Result<(), Fault> {
    let unknown = || Fault::no_message("this answers no question that was asked here");
    let asked: Asked = front.seals.open(Purpose::Question, principal, id).ok_or_else(unknown)?;
    let taken = match outcome {
        Ok(result) => {
            let wrong = |error| Fault::no_message(format!("this is no answer to a question: {error}"));
            let answer: Answer = serde_json::from_slice(&result).map_err(wrong)?;
            deliver(upstream, &asked, answer).await?
        }
        Err(message) => Taken::LeftOpen(format!("the client could not ask: {message}")),
    };
    let why = match taken {
        Taken::Yes => return Ok(()),
        Taken::Unfit => "the answer does not fit the schema of the question".to_owned(),
        Taken::LeftOpen(why) => why,
    };
    front.replies.tell(&asked.invocation, Told::LeftOpen(why));
    Ok(())
}

async fn deliver(upstream: &Upstream, asked: &Asked, answer: Answer) -> Result<Taken, Fault> {
    if answer.action == Action::Cancel {
        return Ok(Taken::LeftOpen("the question was put aside in the MCP client".to_owned()));
    }
    let (id, input) = match &asked.question {
        Question::Approval(approval) => return approve(upstream, approval, answer).await,
        Question::Input(id) => (id, answer.content),
        Question::Value(id) => (id, answer.content.as_deref().and_then(value)),
    };
    let declined = answer.action == Action::Decline;
    let input = if declined { None } else { input };
    if !declined && input.is_none() {
        return Ok(Taken::Unfit);
    }
    let request = v1::ProvideInputRequest {
        invocation_id: asked.invocation.clone(),
        input_id: id.clone(),
        input: input.map(|input| v1::JsonPayload {
            body: Some(Body::Inline(Bytes::copy_from_slice(input.get().as_bytes()))),
            ..Default::default()
        }),
        declined,
        provided_by: upstream.answers_as(),
    };
    match upstream.invocations().provide_input(request).await {
        Ok(_) => Ok(Taken::Yes),
        Err(status) if status.code() == Code::InvalidArgument => Ok(Taken::Unfit),
        // Somebody else was faster, or the call has ended.
        Err(status) if matches!(status.code(), Code::FailedPrecondition | Code::NotFound) => Ok(Taken::Yes),
        Err(status) => Err(status.into()),
    }
}

/// The one value of a form that was made around it.
fn value(content: &RawValue) -> Option<Box<RawValue>> {
    let mut members: std::collections::HashMap<String, Box<RawValue>> = serde_json::from_str(content.get()).ok()?;
    members.remove(ANSWER)
}

async fn approve(upstream: &Upstream, approval: &str, answer: Answer) -> Result<Taken, Fault> {
    let request = match answer.action {
        Action::Accept => approval::chosen(upstream, approval, answer.content.as_deref()).await?,
        _ => Some(approval::rejected(upstream, approval)),
    };
    let Some(request) = request else { return Ok(Taken::Unfit) };
    match upstream.permissions().resolve_approval(request).await {
        Ok(_) => Ok(Taken::Yes),
        Err(status) if status.code() == Code::PermissionDenied => Ok(Taken::LeftOpen(status.message().to_owned())),
        Err(status) if matches!(status.code(), Code::FailedPrecondition | Code::NotFound) => Ok(Taken::Yes),
        Err(status) => Err(status.into()),
    }
}
