//! A call is followed until it has ended, or until there is nothing left to wait for here.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout_at};
use tonic::{Code, Status, Streaming};
use toolplane_proto::v1;
use toolplane_proto::v1::InvocationStatus as Now;
use toolplane_runtime::draining;

use super::approval::{self, Wanted};
use super::pending::Why;
use super::progress::Progress;
use super::state::{self, Asked, Question};
use super::{form, pending, result};
use crate::mcp::exchange::Exchange;
use crate::mcp::fault::Fault;
use crate::mcp::log::Level;
use crate::mcp::questions::{Follower, Told};
use crate::mcp::reply::Reply;

/// Pause before a stream that broke is opened again.
const AGAIN: Duration = Duration::from_millis(200);

/// How long a client that comes back is kept waiting for others.
const COMES_BACK: Duration = Duration::from_secs(20);

/// A call that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    pub(crate) id: String,
    /// As the client called it.
    pub(crate) tool: String,
    /// Digest of the arguments of the request, which a client repeats when it comes back.
    pub(crate) arguments: String,
    /// The last event its client was told.
    pub(crate) seq: u64,
}

/// Follows a call to what its client is answered. `now` is the call as it was a moment ago.
pub(crate) async fn follow(x: &Arc<Exchange>, begun: Begun, now: Option<v1::Invocation>) -> Result<Reply, Fault> {
    let until = Instant::now() + Duration::from_millis(x.front.config.wait_ms);
    followed(x, begun, now, (until, false)).await
}

/// Follows a call that its client comes back to: for a while also where others have to do something about it.
pub(crate) async fn follow_again(x: &Arc<Exchange>, begun: Begun, now: v1::Invocation) -> Result<Reply, Fault> {
    let until = Instant::now() + Duration::from_millis(x.front.config.wait_ms).min(COMES_BACK);
    followed(x, begun, Some(now), (until, true)).await
}

async fn followed(
    x: &Arc<Exchange>,
    begun: Begun,
    now: Option<v1::Invocation>,
    (until, comes_back): (Instant, bool),
) -> Result<Reply, Fault> {
    let told = x.front.replies.follow(&begun.id);
    Following { x, begun, until, told, comes_back, progress: Progress::default(), asked: HashSet::new() }.run(now).await
}

struct Following<'a> {
    x: &'a Arc<Exchange>,
    begun: Begun,
    until: Instant,
    told: Follower,
    /// The client was answered before that the call had not ended.
    comes_back: bool,
    progress: Progress,
    /// Questions that were asked already.
    asked: HashSet<Question>,
}

impl Following<'_> {
    async fn run(mut self, now: Option<v1::Invocation>) -> Result<Reply, Fault> {
        if let Some(reply) = self.stands(now).await? {
            return Ok(reply);
        }
        loop {
            let request = v1::WatchInvocationRequest {
                invocation_id: self.begun.id.clone(),
                from_seq: self.begun.seq + 1,
                ..Default::default()
            };
            let watched = self.x.upstream.invocations().watch_invocation(request).await;
            let ended = match watched {
                Ok(stream) => self.read(stream.into_inner()).await,
                Err(status) => Err(status.into()),
            };
            match ended {
                Ok(Some(reply)) => return Ok(reply),
                // The process at the other end goes away: another one knows the call too.
                Ok(None) => {}
                Err(Broken::Stream(status)) if passes(&status) => {}
                Err(Broken::Stream(status)) => return Err(status.into()),
                Err(Broken::Fault(fault)) => return Err(fault),
            }
            if Instant::now() + AGAIN >= self.until {
                return self.later(None).await;
            }
            if draining::wait(&self.x.front.drains, sleep(AGAIN)).await.is_none() {
                return self.later(Some(Why::Draining)).await;
            }
        }
    }

    /// Reads the stream of a call: a reply, or nothing where it ended too early.
    async fn read(&mut self, mut stream: Streaming<v1::WatchInvocationResponse>) -> Result<Option<Reply>, Broken> {
        loop {
            let message = tokio::select! {
                message = draining::wait(&self.x.front.drains, timeout_at(self.until, stream.message())) => message,
                told = self.told.told() => match told {
                    Told::LeftOpen(why) => return Ok(Some(self.later(Some(Why::Said(why))).await?)),
                },
            };
            let Some(message) = message else { return Ok(Some(self.later(Some(Why::Draining)).await?)) };
            let Ok(message) = message else { return Ok(Some(self.later(None).await?)) };
            let Some(message) = message? else { return Ok(None) };
            let mut stopped = false;
            for event in &message.events {
                self.begun.seq = self.begun.seq.max(event.sequence);
                stopped |= self.happened(event).await;
            }
            if let Some(ended) = message.result {
                return Ok(Some(result::reply(self.x, &self.begun, &ended).await?));
            }
            if stopped && let Some(reply) = self.look().await? {
                return Ok(Some(reply));
            }
        }
    }

    /// Tells the client of an event; whether the call now waits for somebody.
    async fn happened(&mut self, event: &v1::Event) -> bool {
        let data = match event.data.as_ref().and_then(|data| data.body.as_ref()) {
            Some(v1::json_payload::Body::Inline(bytes)) => serde_json::from_slice(bytes).unwrap_or(Value::Null),
            _ => Value::Null,
        };
        let place = self.begun.place(self.x);
        match event.event_type.as_str() {
            "tool.invocation.progress" => {
                if let Some(token) = self.x.progress_token()
                    && let Some(step) = self.progress.next(&data)
                {
                    let mut params = step;
                    params["progressToken"] = serde_json::from_str(token.get()).unwrap_or(Value::Null);
                    self.x.notify(Some(&place), "notifications/progress", &params).await;
                }
                // What is told as progress is not told twice unasked.
                let unheard = self.x.progress_token().is_none() || self.x.asked_for_logs();
                if let Some(said) = data
                    .get("message")
                    .filter(|_| unheard)
                    .filter(|said| said.as_str().is_some_and(|said| !said.is_empty()))
                {
                    self.x.log(Some(&place), Level::Info, &self.begun.tool, said).await;
                }
                false
            }
            "tool.invocation.partial_result" => {
                // The protocol has no partial results: who asked for logs is told the texts.
                let blocks = data.get("content").and_then(Value::as_array).into_iter().flatten();
                for text in blocks.filter_map(|block| block.get("text")).filter(|_| self.x.asked_for_logs()) {
                    self.x.log(Some(&place), Level::Info, &self.begun.tool, text).await;
                }
                false
            }
            "ext.invocation.awaiting_approval" => {
                let said = json!({ "status": "awaiting_approval", "invocation_id": self.begun.id });
                self.x.log(Some(&place), Level::Notice, &self.begun.tool, &said).await;
                true
            }
            "ext.invocation.needs_input" => true,
            _ => false,
        }
    }

    /// Reads the call and does what its state asks for.
    async fn look(&mut self) -> Result<Option<Reply>, Fault> {
        let request = v1::GetInvocationRequest { invocation_id: self.begun.id.clone(), ..Default::default() };
        let found = self.x.upstream.invocations().get_invocation(request).await?.into_inner();
        match found.result {
            Some(ended) => result::reply(self.x, &self.begun, &ended).await.map(Some),
            None => self.stands(found.invocation).await,
        }
    }

    /// Does what the state of a call asks for; a reply where there is nothing to wait for here.
    async fn stands(&mut self, now: Option<v1::Invocation>) -> Result<Option<Reply>, Fault> {
        let Some(now) = now else { return Ok(None) };
        let wanted = match now.status_code() {
            Now::NeedsInput => {
                let Some(open) = now.pending_input.as_ref().filter(|open| open.answer.is_none()) else {
                    return Ok(None);
                };
                form::of_input(open).map_or(Wanted::Others, |(question, form)| Wanted::Asked(question, form))
            }
            Now::AwaitingApproval => approval::form(self.x, &now).await?,
            _ => return Ok(None),
        };
        match wanted {
            Wanted::Nothing => Ok(None),
            Wanted::Asked(question, form) if self.x.client.can.forms => {
                let asked = Asked::new(&self.begun, question.clone());
                if !self.x.client.version.has_sessions() {
                    return Ok(Some(state::input_required(self.x, &asked, &form)));
                }
                if self.asked.insert(question) {
                    state::ask(self.x, &self.begun, &asked, &form).await;
                }
                Ok(None)
            }
            // Who comes back waits for the others a while, and is not sent away at once again.
            _ if self.comes_back => Ok(None),
            _ => Ok(Some(pending::reply(self.x, &self.begun, &now, None).await?)),
        }
    }

    /// The reply of a call that has not ended after all the waiting.
    async fn later(&self, why: Option<Why>) -> Result<Reply, Fault> {
        let request = v1::GetInvocationRequest { invocation_id: self.begun.id.clone(), ..Default::default() };
        let found = self.x.upstream.invocations().get_invocation(request).await?.into_inner();
        match found.result {
            Some(ended) => result::reply(self.x, &self.begun, &ended).await,
            None => pending::reply(self.x, &self.begun, &found.invocation.unwrap_or_default(), why).await,
        }
    }
}

/// Why reading a stream stopped.
enum Broken {
    Stream(Status),
    Fault(Fault),
}

impl From<Status> for Broken {
    fn from(status: Status) -> Self {
        Self::Stream(status)
    }
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Whether a fault passes, so that the call can be followed again.
fn passes(status: &Status) -> bool {
    matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Internal | Code::Aborted | Code::Cancelled)
}
