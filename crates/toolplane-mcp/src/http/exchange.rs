//! One exchange: a message goes, and what the server says until its answer is there comes.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};

use super::events::Events;
use super::headers::{self, SESSION};
use super::{Body, SendError, Shared, answer};
use crate::failure::{CloseReason, Failure, shown};
use crate::flight::{Ending, Mailbox};
use crate::link::Heading;

/// Longest id of a session.
const MAX_SESSION_BYTES: usize = 1_024;
/// How often a stream that broke off is taken up again.
const RESUMES: u32 = 5;
/// Longest wait before it is.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Bytes of the body of a refusal that are looked at.
const REFUSAL: usize = 64 * 1024;

/// A request and what becomes of it.
pub(super) struct Exchange {
    pub(super) shared: Arc<Shared>,
    pub(super) id: u64,
    pub(super) heading: Heading,
    pub(super) mailbox: Arc<Mailbox>,
}

/// How reading a body ended.
enum Read {
    /// The answer is there.
    Answered,
    /// The body is over, or broke off.
    Over(CloseReason),
}

impl Exchange {
    pub(super) async fn run(self, bytes: Bytes) {
        if !self.mailbox.leave() {
            return;
        }
        let had_session = self.shared.session.lock().is_some();
        let request = headers::request(&self.shared, Method::POST, &self.heading, bytes, None);
        let ending = match self.shared.endpoint.send.send(request).await {
            Err(SendError::NotSent(why)) => {
                self.mailbox.not_left();
                Some(Ending::Failed(Failure::NotSent(shown(&why))))
            }
            Err(SendError::MayBeSent(why)) => Some(Ending::Failed(Failure::Lost(CloseReason::Broken(shown(&why))))),
            Ok(response) if response.status() == StatusCode::OK => match self.keep_session(response.headers()) {
                Ok(()) => self.answered(response).await,
                Err(reason) => Some(Ending::Failed(Failure::Lost(reason))),
            },
            Ok(response) if response.status() == StatusCode::NOT_FOUND && had_session => Some(Ending::SessionGone),
            Ok(response) => self.refused(response).await,
        };
        if let Some(ending) = ending {
            self.shared.core.end(self.id, ending);
        }
    }

    /// A session that begins with this answer, before anybody can ask for the next one. Fails when its id is none.
    fn keep_session(&self, headers: &HeaderMap) -> Result<(), CloseReason> {
        let Some(given) = headers.get(SESSION).filter(|_| !headers::is_stateless(&self.heading)) else { return Ok(()) };
        let is_id = given.len() <= MAX_SESSION_BYTES && given.as_bytes().iter().all(u8::is_ascii_graphic);
        let id = given.to_str().ok().filter(|_| is_id).ok_or(CloseReason::SessionId)?;
        self.shared.session.lock().get_or_insert_with(|| id.to_owned());
        Ok(())
    }

    async fn answered(&self, response: Response<Body>) -> Option<Ending> {
        if !is_events(response.headers()) {
            return self.one_message(response.into_body()).await;
        }
        let mut events = Events::default();
        let mut body = response.into_body();
        let mut resumes = 0;
        loop {
            let lost = match self.read(&mut body, &mut events).await {
                Read::Answered => return None,
                Read::Over(lost) => lost,
            };
            // By the older protocol a server may end a stream and go on with it later.
            let resumable = !headers::is_stateless(&self.heading) && events.last_id.is_some() && resumes < RESUMES;
            if !resumable || self.shared.core.over().is_some() {
                return Some(Ending::Failed(Failure::Lost(lost)));
            }
            resumes += 1;
            let wait = Duration::from_millis(events.retry_ms.unwrap_or(1_000)).min(LONGEST_WAIT);
            tokio::time::sleep(wait).await;
            let last = events.last_id.take();
            let request = headers::request(&self.shared, Method::GET, &self.heading, Bytes::new(), last.as_deref());
            events = Events::after(last);
            match open(&self.shared, request).await {
                Some(response) if response.status() == StatusCode::OK => body = response.into_body(),
                _ => return Some(Ending::Failed(Failure::Lost(lost))),
            }
        }
    }

    /// A body that is one message.
    async fn one_message(&self, body: Body) -> Option<Ending> {
        let most = self.shared.core.limits.message_bytes;
        let whole = match collect(&self.shared, body, most).await {
            Ok(whole) => whole,
            Err(lost) => return Some(Ending::Failed(Failure::Lost(lost))),
        };
        if let Err(reason) = self.shared.core.incoming(&whole, Some(self.id)) {
            self.shared.core.close(reason);
            return None;
        }
        let begin = String::from_utf8_lossy(&whole[..whole.len().min(REFUSAL)]).into_owned();
        let unreadable = Failure::Unreadable(format!("not an answer to this request: `{}`", shown(&begin)));
        (!self.mailbox.is_ended()).then_some(Ending::Failed(unreadable))
    }

    async fn read(&self, body: &mut Body, events: &mut Events) -> Read {
        let ended = || self.mailbox.is_ended();
        match read_events(&self.shared, body, events, Some(self.id), &self.heading, &ended).await {
            Ok(()) if ended() => Read::Answered,
            Ok(()) => Read::Over(CloseReason::Ended),
            Err(reason) => Read::Over(reason),
        }
    }

    /// Another status than 200. A body that is an error of the protocol says more than the status.
    async fn refused(&self, response: Response<Body>) -> Option<Ending> {
        let (status, challenge) = (response.status(), challenge(response.headers()));
        let body = collect(&self.shared, response.into_body(), REFUSAL).await.unwrap_or_default();
        let is_message = matches!(crate::message::Incoming::read(&body), Some(
            crate::message::Incoming::Answer { id, outcome: Err(_) }) if id == self.id)
            || matches!(
                crate::message::Incoming::read(&body),
                Some(crate::message::Incoming::Stray { error: Some(_) })
            );
        if is_message && !matches!(status.as_u16(), 401 | 403 | 429) && status.is_client_error() {
            if let Err(reason) = self.shared.core.incoming(&body, Some(self.id)) {
                self.shared.core.close(reason);
            }
            return None;
        }
        let text = shown(&String::from_utf8_lossy(&body));
        Some(Ending::Failed(Failure::Status { status: status.as_u16(), challenge, text }))
    }
}

/// What a server wants before it answers.
fn challenge(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::WWW_AUTHENTICATE)?.to_str().ok()?;
    (value.len() <= 4096).then(|| value.to_owned())
}

fn is_events(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
}

/// Reads events until `ended`, or until the body is over. What the server asks meanwhile is answered beside.
async fn read_events(
    shared: &Arc<Shared>,
    body: &mut Body,
    events: &mut Events,
    origin: Option<u64>,
    heading: &Heading,
    ended: &(dyn Fn() -> bool + Sync),
) -> Result<(), CloseReason> {
    let core = &shared.core;
    let fail = |reason: CloseReason| {
        core.close(reason.clone());
        reason
    };
    let mut answers = FuturesUnordered::new();
    loop {
        while let Some(event) = events.next(core.limits.message_bytes).map_err(fail)? {
            if let Some(reply) = core.incoming(&event.data, origin).map_err(fail)? {
                let heading = Heading { version: heading.version.clone(), fields: Vec::new() };
                answer(shared, reply, &heading, |task| answers.push(task));
            }
            if ended() {
                while answers.next().await.is_some() {}
                return Ok(());
            }
        }
        tokio::select! {
            Some(()) = answers.next() => {}
            chunk = body.next() => match chunk {
                None => return Ok(()),
                Some(Err(why)) => return Err(CloseReason::Broken(shown(&why))),
                Some(Ok(chunk)) => {
                    core.read(chunk.len()).map_err(fail)?;
                    events.push(&chunk);
                }
            },
        }
    }
}

async fn collect(shared: &Shared, mut body: Body, most: usize) -> Result<Bytes, CloseReason> {
    let mut whole = BytesMut::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|why| CloseReason::Broken(shown(&why)))?;
        if let Err(reason) = shared.core.read(chunk.len()) {
            shared.core.close(reason.clone());
            return Err(reason);
        }
        if whole.len() + chunk.len() > most {
            return Err(CloseReason::MessageTooLong(most));
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.freeze())
}

/// The head of an answer, whatever it is.
pub(super) async fn open(shared: &Shared, request: Request<Bytes>) -> Option<Response<Body>> {
    shared.endpoint.send.send(request).await.ok()
}

/// Sends what has no answer.
pub(super) async fn tell_once(shared: &Shared, bytes: Bytes, heading: &Heading) {
    let request = headers::request(shared, Method::POST, heading, bytes, None);
    let _ = open(shared, request).await;
}

/// The stream of what a server says unasked. Fails with the status of a server that has none.
pub(super) async fn listen(shared: &Arc<Shared>, heading: &Heading) -> Result<(), u16> {
    let request = headers::request(shared, Method::GET, heading, Bytes::new(), None);
    let Some(response) = open(shared, request).await else { return Ok(()) };
    if response.status() != StatusCode::OK {
        return Err(response.status().as_u16());
    }
    shared.core.listening();
    let (mut body, mut events) = (response.into_body(), Events::default());
    let _ = read_events(shared, &mut body, &mut events, None, heading, &|| false).await;
    Ok(())
}
