//! From the request to an accepted call.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use tonic::Code;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::evidence::NativeIds;
use toolplane_runtime::tasks;
use uuid::Uuid;

use super::follow::follow_again;
use super::{follow, result, state, task};
use crate::mcp::call::follow::Begun;
use crate::mcp::exchange::{Exchange, Place};
use crate::mcp::fault::Fault;
use crate::mcp::reply::Reply;
use crate::mcp::seal::{Purpose, Seals};
use crate::mcp::tools::{self, Builtin};
use crate::upstream::Upstream;

/// How long a call is waited for before anything else is done about it: most have ended by then.
const FIRST: Duration = Duration::from_millis(700);
/// Longest id of a request that is kept with its call.
const NATIVE_ID: usize = 128;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    name: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
    #[serde(default)]
    input_responses: Option<Box<RawValue>>,
    #[serde(default)]
    request_state: Option<String>,
}

/// Answers `tools/call`.
pub(crate) async fn call(x: &Arc<Exchange>, params: &Bytes) -> Result<Reply, Fault> {
    let said: Params =
        serde_json::from_slice(params).map_err(|error| Fault::params(format!("not a call of a tool: {error}")))?;
    let arguments = said.arguments.unwrap_or_else(|| object("{}"));
    if !arguments.get().starts_with('{') {
        return Err(Fault::params("`arguments` is no object"));
    }
    let repeated = digest(&arguments);
    if let Some(state) = &said.request_state {
        return state::go_on(x, &said.name, repeated, state, said.input_responses.as_deref()).await;
    }
    match Builtin::named(&said.name) {
        Some(Builtin::Search) => tools::search(x, &arguments).await,
        Some(Builtin::Load) => tools::load(x, &arguments).await,
        Some(Builtin::Call) => {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Call {
                name: String,
                #[serde(default)]
                arguments: Option<Box<RawValue>>,
            }
            match tools::arguments::<Call>(Builtin::Call, &arguments) {
                Ok(call) if Builtin::named(&call.name).is_some() => {
                    Ok(tools::failed("a tool of the front door itself is called directly"))
                }
                Ok(call) => {
                    let arguments = call.arguments.unwrap_or_else(|| object("{}"));
                    tool(x, &call.name, &arguments, (&said.name, repeated)).await
                }
                Err(reply) => Ok(reply),
            }
        }
        Some(Builtin::Result) => {
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Which {
                invocation_id: String,
            }
            match tools::arguments::<Which>(Builtin::Result, &arguments) {
                Ok(which) => come_back(x, &which.invocation_id, &said.name, repeated).await,
                Err(reply) => Ok(reply),
            }
        }
        None => match &x.meta.invocation {
            Some(invocation) => come_back(x, invocation, &said.name, repeated).await,
            None => tool(x, &said.name, &arguments, (&said.name, repeated)).await,
        },
    }
}

fn object(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Goes on with a call that was made before.
async fn come_back(x: &Arc<Exchange>, invocation: &str, tool: &str, arguments: String) -> Result<Reply, Fault> {
    let request = v1::GetInvocationRequest { invocation_id: invocation.to_owned(), ..Default::default() };
    let found = match x.upstream.invocations().get_invocation(request).await {
        Ok(found) => found.into_inner(),
        Err(status) if matches!(status.code(), Code::NotFound | Code::InvalidArgument) => {
            return Ok(tools::failed(&format!("there is no call `{invocation}`")));
        }
        Err(status) => return Err(status.into()),
    };
    let call = found.invocation.unwrap_or_default();
    let begun = Begun { id: call.invocation_id.clone(), tool: tool.to_owned(), arguments, seq: 0 };
    match found.result {
        Some(result) => result::reply(x, &begun, &result).await,
        None => follow_again(x, begun, call).await,
    }
}

/// What the arguments of a request are told apart by.
pub(crate) fn digest(arguments: &RawValue) -> String {
    hex::encode(&Sha256::digest(arguments.get().as_bytes())[..8])
}

/// Calls a tool of the surface. `request` is the tool the client named, and the digest of what it gave.
async fn tool(x: &Arc<Exchange>, name: &str, arguments: &RawValue, request: (&str, String)) -> Result<Reply, Fault> {
    let surface = x.front.surface();
    let tool_name = x.front.listings.understood(&x.upstream, &surface, name).await?;
    let invocation_id = invocation_of(&x.front.seals, &x.principal, x.scope.as_ref().map(|scope| (&*scope.0, &*x.id)));
    let session = x.scope.as_ref().map(|scope| session_ref(&scope.0));
    let native = x.id_text().trim_matches('"').to_owned();
    let spec = v1::InvocationSpec {
        surface_id: surface,
        surface_moment: x.meta.surface_moment.clone().unwrap_or_default(),
        tool_name,
        model_input: Some(v1::JsonPayload {
            body: Some(Body::Inline(Bytes::copy_from_slice(arguments.get().as_bytes()))),
            ..Default::default()
        }),
        idempotency_key: x.meta.idempotency_key.clone().unwrap_or_default(),
        invocation_id: invocation_id.clone(),
        native_ids: Some(native_ids(&native, x.scope.as_ref().map(|scope| &*scope.0))),
        native_call_id: if native.len() <= NATIVE_ID { native } else { String::new() },
        session_ref: session.unwrap_or_default(),
        ..Default::default()
    };
    let begun = Begun { id: invocation_id, tool: request.0.to_owned(), arguments: request.1, seq: 0 };
    x.begins(&begun.place(x));
    // A client without a session that goes away has nothing to come back by, and the protocol says that it does not want to.
    let mut canceled = CancelOnDrop::new(x, &begun.id);
    let reply = accept(x, begun, spec).await;
    canceled.disarm();
    reply
}

async fn accept(x: &Arc<Exchange>, mut begun: Begun, spec: v1::InvocationSpec) -> Result<Reply, Fault> {
    let (accepted, ended, call) = if x.wants_news() && !x.client.can.tasks {
        let answer =
            x.upstream.invocations().submit_invocation(v1::SubmitInvocationRequest { spec: Some(spec) }).await?;
        let answer = answer.into_inner();
        (answer.accepted, None, answer.invocation)
    } else {
        let wait_ms = u32::try_from(FIRST.as_millis()).unwrap_or(u32::MAX);
        let answer = x
            .upstream
            .invocations()
            .call(v1::CallRequest { spec: Some(spec), wait_ms, ..Default::default() })
            .await?
            .into_inner();
        (answer.accepted, answer.result, answer.invocation)
    };
    // The key of a repeated call may have found one with another id.
    if let Some(accepted) = accepted {
        begun.id = accepted.invocation_id;
    }
    match (ended, call) {
        (Some(ended), _) => result::reply(x, &begun, &ended).await,
        (None, Some(call)) if x.client.can.tasks => task::begin(x, &begun, &call),
        (None, call) => follow(x, begun, call.map(|call| *call)).await,
    }
}

/// The id of the call that a request makes. Where ids of requests are unique, it is always the same: so any process can cancel it, and
/// a request that is sent again is no second call.
pub(crate) fn invocation_of(seals: &Seals, principal: &str, unique: Option<(&str, &[u8])>) -> String {
    let id = match unique {
        Some((scope, request)) => seals.name(Purpose::Call, principal, &[scope, &String::from_utf8_lossy(request)]),
        None => Uuid::now_v7(),
    };
    format!("inv_{}", id.simple())
}

/// What MCP calls the call: the id of its request, and of its session. Ids that are no plain names are left out.
fn native_ids(request: &str, session: Option<&str>) -> v1::NativeIds {
    let ids = NativeIds {
        json_rpc_id: request.into(),
        mcp_session_id: session.unwrap_or_default().into(),
        ..NativeIds::default()
    };
    (&ids.plain()).into()
}

/// What a session of MCP is called in the records of its calls.
pub(crate) fn session_ref(scope: &str) -> String {
    format!("mcp:{scope}")
}

/// How often a cancellation is tried that comes before its call, and the pause between.
const TRIES: (u32, Duration) = (20, Duration::from_millis(100));

/// Cancels a call because its client wants it to end.
pub(crate) async fn cancel(upstream: &Upstream, invocation_id: &str, reason: &str) {
    for _ in 0..TRIES.0 {
        let request = v1::CancelInvocationRequest {
            invocation_id: invocation_id.to_owned(),
            reason: reason.to_owned(),
            requested_by: upstream.answers_as(),
            ..Default::default()
        };
        match upstream.invocations().cancel_invocation(request).await {
            Err(status) if matches!(status.code(), Code::NotFound | Code::Unavailable) => {
                tokio::time::sleep(TRIES.1).await;
            }
            _ => return,
        }
    }
}

/// Why a call was canceled that a client let go of.
pub(crate) const LET_GO: &str = "the MCP client canceled its request";

/// Cancels a call when whoever waits for it goes away.
struct CancelOnDrop {
    call: Option<(Upstream, String)>,
}

impl CancelOnDrop {
    fn new(x: &Exchange, id: &str) -> Self {
        let goes = !x.client.version.has_sessions();
        Self { call: goes.then(|| (x.upstream.clone(), id.to_owned())) }
    }

    fn disarm(&mut self) {
        self.call = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some((upstream, id)) = self.call.take() {
            tasks::spawn("mcp cancel", async move { cancel(&upstream, &id, LET_GO).await });
        }
    }
}

impl Begun {
    /// Where a client is that was told what this call did up to here.
    pub(crate) fn place(&self, x: &Exchange) -> Place {
        Place {
            invocation: self.id.clone(),
            tool: self.tool.clone(),
            arguments: self.arguments.clone(),
            request: x.id_text(),
            progress: x.progress_token().map(|token| token.get().to_owned()),
            seq: self.seq,
        }
    }
}
