//! One request while it is answered: who asks, what of, and where to say more before the answer.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use toolplane_mcp::message;

use crate::mcp::client::{Client, Meta, Scope};
use crate::mcp::front::Front;
use crate::mcp::log::{self, Level};
use crate::mcp::seal::Purpose;
use crate::upstream::Upstream;

/// Most messages of one request that wait for their client to read them.
const WAITING: usize = 64;

/// A message about a request, on its way to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// Where a client goes on that read so far; none where it cannot.
    pub(crate) id: Option<String>,
    pub(crate) message: Bytes,
}

/// Where messages about one request go.
#[derive(Clone, Debug)]
pub(crate) struct Out {
    sender: mpsc::Sender<Told>,
    /// Where a client goes on that has read nothing yet.
    start: Arc<OnceLock<String>>,
}

impl Out {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Told>) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (Self { sender, start: Arc::default() }, receiver)
    }

    /// Where a client goes on that has read nothing yet, if it can.
    pub(crate) fn start(&self) -> Option<&str> {
        self.start.get().map(String::as_str)
    }

    /// Hands on a message; waits where the client does not read. One whose client is gone is dropped: what happens with the
    /// request then is for its transport to say.
    async fn send(&self, id: Option<String>, message: Bytes) {
        let _ = self.sender.send(Told { id, message }).await;
    }
}

/// Where a client can go on with the stream of a call: its event ids say so, sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The call.
    #[serde(rename = "i")]
    pub(crate) invocation: String,
    /// The tool, as the client called it.
    #[serde(rename = "t")]
    pub(crate) tool: String,
    /// The digest of its arguments.
    #[serde(rename = "a")]
    pub(crate) arguments: String,
    /// The id of the request, as it was written.
    #[serde(rename = "r")]
    pub(crate) request: String,
    /// The token of its progress.
    #[serde(rename = "p", default)]
    pub(crate) progress: Option<String>,
    /// The last event of the call that was told.
    #[serde(rename = "q")]
    pub(crate) seq: u64,
}

/// One request while it is answered.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) front: Arc<Front>,
    pub(crate) upstream: Upstream,
    /// Whom what is sealed is given to.
    pub(crate) principal: Arc<str>,
    pub(crate) client: Client,
    /// Within what its id is unique; none where ids are not.
    pub(crate) scope: Option<Scope>,
    /// Whether its client can go on with the stream of its answer elsewhere.
    pub(crate) resumes: bool,
    /// Whether it came over HTTP, and not by standard input.
    pub(crate) over_http: bool,
    /// Its id, as it was written.
    pub(crate) id: Bytes,
    pub(crate) meta: Meta,
    pub(crate) out: Out,
}

impl Exchange {
    /// The id as text.
    pub(crate) fn id_text(&self) -> String {
        String::from_utf8_lossy(&self.id).into_owned()
    }

    /// Says something before the answer.
    pub(crate) async fn notify(&self, place: Option<&Place>, method: &str, params: &Value) {
        let message = message::write_message(None, method, &params.to_string());
        self.out.send(self.event_id(place), message).await;
    }

    /// Asks the client something before the answer.
    pub(crate) async fn ask(&self, place: Option<&Place>, id: &str, method: &str, params: &str) {
        let message = message::write_message(Some(id), method, params);
        self.out.send(self.event_id(place), message).await;
    }

    /// From here on a client can go on with this request elsewhere.
    pub(crate) fn begins(&self, place: &Place) {
        if let Some(id) = self.event_id(Some(place)) {
            let _ = self.out.start.set(id);
        }
    }

    /// The id of an event after which a client goes on at `place`.
    fn event_id(&self, place: Option<&Place>) -> Option<String> {
        let place = place.filter(|_| self.resumes)?;
        Some(self.front.seals.seal(Purpose::Event, &self.principal, place))
    }

    /// From which level on the client said that it wants to be told what happens.
    fn level(&self) -> Option<Level> {
        let of_session = || self.front.levels.of(&self.scope.as_ref()?.0);
        self.client.log.or_else(of_session)
    }

    /// Tells what happens, if the client wants to know.
    pub(crate) async fn log(&self, place: Option<&Place>, level: Level, tool: &str, said: &Value) {
        // Who has a session and never said, or said so elsewhere, is told what is worth it; who has none is told nothing unasked.
        let unsaid = self.client.version.has_sessions().then_some(Level::Info);
        if self.level().or(unsaid).is_some_and(|wanted| level >= wanted) {
            self.notify(place, "notifications/message", &log::message(level, tool, said)).await;
        }
    }

    /// Whether the client said itself from which level on it wants to be told what happens.
    pub(crate) fn asked_for_logs(&self) -> bool {
        self.level().is_some()
    }

    /// Whether anything before the answer is of use to the client.
    pub(crate) fn wants_news(&self) -> bool {
        self.meta.progress.is_some() || self.level().is_some()
    }

    /// The token of progress, as it was written.
    pub(crate) fn progress_token(&self) -> Option<&RawValue> {
        self.meta.progress.as_deref()
    }
}
