//! Calls that take long, as tasks of a client that can come back: the call itself is the task, and any process knows it.

use std::sync::Arc;

use bytes::Bytes;
use prost_types::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use toolplane_proto::v1;
use toolplane_proto::v1::InvocationStatus as Now;
use toolplane_runtime::clock;

use super::approval::{self, Wanted};
use super::begin::cancel as cancel_call;
use super::follow::Begun;
use super::state::{self, Question};
use super::{form, pending, result};
use crate::mcp::client::TASKS;
use crate::mcp::exchange::Exchange;
use crate::mcp::fault::Fault;
use crate::mcp::reply::Reply;
use crate::mcp::seal::Purpose;

/// How long a task is promised to be known, in milliseconds: as long as ended calls are kept by default.
const KNOWN_FOR: u64 = 24 * 60 * 60 * 1000;
/// How often a client should look, in milliseconds.
const LOOK_EVERY: u64 = 1_000;

/// A task, as its client keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Task {
    #[serde(rename = "i")]
    invocation: String,
    #[serde(rename = "t")]
    tool: String,
    #[serde(rename = "d")]
    arguments: String,
    /// Until when it is answered for, in seconds since 1970.
    #[serde(rename = "x")]
    until: u64,
}

/// The call goes on as a task.
pub(crate) fn begin(x: &Exchange, begun: &Begun, call: &v1::Invocation) -> Result<Reply, Fault> {
    let task = Task {
        invocation: begun.id.clone(),
        tool: begun.tool.clone(),
        arguments: begun.arguments.clone(),
        until: clock::since_epoch().as_secs() + KNOWN_FOR / 1000,
    };
    let id = x.front.seals.seal(Purpose::Task, &x.principal, &task);
    let waits = matches!(call.status_code(), Now::NeedsInput | Now::AwaitingApproval);
    // Whether its client can answer is told by the first look at it.
    let reply = facts(Reply::new().kind("task"), &id, "working", call);
    let reply = if waits { reply.value("statusMessage", &pending::waits_for(call)) } else { reply };
    Ok(reply.meta("toolplane/invocation_id", &begun.id))
}

fn facts(reply: Reply, id: &str, status: &str, call: &v1::Invocation) -> Reply {
    let last = call.status_transitions.last().and_then(|change| change.at);
    reply
        .value("taskId", &id)
        .value("status", &status)
        .value("createdAt", &written(call.created_at))
        .value("lastUpdatedAt", &written(last.or(call.created_at)))
        .value("ttlMs", &KNOWN_FOR)
        .value("pollIntervalMs", &LOOK_EVERY)
}

fn written(at: Option<Timestamp>) -> String {
    at.unwrap_or_default().to_string()
}

/// The task that is meant.
fn named(x: &Exchange, params: &Bytes) -> Result<(String, Task), Fault> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        task_id: String,
    }
    if !x.client.can.tasks {
        return Err(Fault::capability(TASKS, "the client did not say that it can come back to tasks"));
    }
    let said: Params = serde_json::from_slice(params).map_err(|_| Fault::params("`taskId` is missing"))?;
    let task: Option<Task> = x.front.seals.open(Purpose::Task, &x.principal, &said.task_id);
    let task = task.filter(|task| task.until >= clock::since_epoch().as_secs());
    Ok((said.task_id, task.ok_or_else(|| Fault::params("there is no such task"))?))
}

impl Task {
    fn begun(&self) -> Begun {
        Begun { id: self.invocation.clone(), tool: self.tool.clone(), arguments: self.arguments.clone(), seq: 0 }
    }
}

async fn read(x: &Exchange, task: &Task) -> Result<(v1::Invocation, Option<v1::ToolResult>), Fault> {
    let request = v1::GetInvocationRequest { invocation_id: task.invocation.clone(), ..Default::default() };
    let found = x.upstream.invocations().get_invocation(request).await?.into_inner();
    Ok((found.invocation.unwrap_or_default(), found.result))
}

/// `tasks/get`.
pub(crate) async fn get(x: &Arc<Exchange>, params: &Bytes) -> Result<Reply, Fault> {
    let (id, task) = named(x, params)?;
    let (call, ended) = read(x, &task).await?;
    if let Some(ended) = ended {
        if ended.status_code() == v1::ResultStatus::Canceled {
            return Ok(facts(Reply::new(), &id, "cancelled", &call));
        }
        return Ok(match result::reply(x, &task.begun(), &ended).await {
            Ok(reply) => {
                let reply = reply.write(x.client.version);
                facts(Reply::new(), &id, "completed", &call).raw("result", &reply)
            }
            Err(fault) => facts(Reply::new(), &id, "failed", &call)
                .value("error", &json!({ "code": fault.code, "message": fault.message, "data": fault.data })),
        });
    }
    Ok(match open(x, &call).await? {
        Some((question, form)) => {
            let asked = state::requests(x, &question, &form);
            facts(Reply::new(), &id, "input_required", &call).raw("inputRequests", &asked)
        }
        None => facts(Reply::new(), &id, "working", &call).value("statusMessage", &pending::waits_for(&call)),
    })
}

/// The question of a call that its client can answer.
async fn open(x: &Exchange, call: &v1::Invocation) -> Result<Option<(Question, form::Form)>, Fault> {
    if !x.client.can.forms {
        return Ok(None);
    }
    Ok(match call.status_code() {
        Now::NeedsInput => call.pending_input.as_ref().filter(|open| open.answer.is_none()).and_then(form::of_input),
        Now::AwaitingApproval => match approval::form(x, call).await? {
            Wanted::Asked(question, form) => Some((question, form)),
            Wanted::Nothing | Wanted::Others => None,
        },
        _ => None,
    })
}

/// `tasks/update`: the client answers what a task asks.
pub(crate) async fn update(x: &Arc<Exchange>, params: &Bytes) -> Result<Reply, Fault> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        #[serde(default)]
        input_responses: Option<Box<RawValue>>,
    }
    let (_, task) = named(x, params)?;
    let said: Params = serde_json::from_slice(params).map_err(|_| Fault::params("not an answer to a task"))?;
    let (call, _) = read(x, &task).await?;
    if let (Some(responses), Some((question, _))) = (said.input_responses, open(x, &call).await?) {
        state::update(x, &task.begun(), question, &responses).await?;
    }
    Ok(Reply::new())
}

/// `tasks/cancel`.
pub(crate) async fn cancel(x: &Arc<Exchange>, params: &Bytes) -> Result<Reply, Fault> {
    let (_, task) = named(x, params)?;
    cancel_call(&x.upstream, &task.invocation, "the MCP client canceled its task").await;
    Ok(Reply::new())
}
