//! What comes from a server, whatever carried it: answers find their requests, the rest is answered, counted or left.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::elicit;
use crate::failure::{CloseReason, Failure, shown};
use crate::flight::{Asked, Ending, Mailbox};
use crate::limits::Limits;
use crate::message::{self, INVALID_REQUEST, Incoming, METHOD_NOT_FOUND};
use crate::watch::Progress;

/// Longest line of garbage, and message of progress, that is told, in characters.
const TOLD: usize = 1_000;

/// What a session knows of what is under way.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) limits: Limits,
    next_id: AtomicU64,
    flights: Mutex<Flights>,
    counts: Mutex<Counts>,
    /// Grows whenever the server says that its tools have changed.
    changes: watch::Sender<u64>,
    /// It has been listened to.
    listened: AtomicBool,
    over: Mutex<Option<CloseReason>>,
    closed: CancellationToken,
}

/// Requests by number.
#[derive(Debug, Default)]
struct Flights {
    open: HashMap<u64, Flight>,
    /// Calls whose caller has gone and which may still run: what a server asks could be theirs.
    ghosts: HashSet<u64>,
    /// A question could not be passed on because of one of them.
    is_in_doubt: bool,
}

#[derive(Debug)]
struct Flight {
    mailbox: Arc<Mailbox>,
    /// A call of a tool, which may ask.
    asks: bool,
}

/// Most calls without a caller that are remembered one by one; the oldest numbers are as good as gone.
const GHOSTS: usize = 1_024;

#[derive(Debug)]
struct Counts {
    read: u64,
    garbage_lines: usize,
    garbage_bytes: usize,
    first_garbage: Option<String>,
    strays: usize,
    /// Messages nobody asked for that may still come now.
    unasked: f64,
    counted_at: Instant,
    other_notifications: u64,
}

#[derive(Deserialize)]
struct ProgressParams {
    #[serde(rename = "progressToken")]
    token: u64,
    progress: f64,
    #[serde(default)]
    total: Option<f64>,
    #[serde(default)]
    message: Option<String>,
}

impl Core {
    pub(crate) fn new(limits: Limits) -> Self {
        let unasked = f64::from(limits.unasked_burst);
        Self {
            limits,
            next_id: AtomicU64::new(1),
            flights: Mutex::default(),
            counts: Mutex::new(Counts {
                read: 0,
                garbage_lines: 0,
                garbage_bytes: 0,
                first_garbage: None,
                strays: 0,
                unasked,
                counted_at: Instant::now(),
                other_notifications: 0,
            }),
            changes: watch::Sender::new(0),
            listened: AtomicBool::new(false),
            over: Mutex::default(),
            closed: CancellationToken::new(),
        }
    }

    /// Makes room for a request; one that `asks` is a call of a tool.
    pub(crate) fn begin(&self, asks: bool) -> (u64, Arc<Mailbox>) {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mailbox = Arc::<Mailbox>::default();
        self.flights.lock().open.insert(id, Flight { mailbox: mailbox.clone(), asks });
        if let Some(reason) = self.over() {
            mailbox.end(Err(Ending::Failed(Failure::NotSent(reason.to_string()))));
        }
        (id, mailbox)
    }

    /// Nobody waits for the request any more, whatever its server still says. Tells whether it had ended.
    pub(crate) fn forget(&self, id: u64) -> bool {
        let mut flights = self.flights.lock();
        let Some(gone) = flights.open.remove(&id) else { return true };
        if gone.asks && gone.mailbox.is_sent() {
            if flights.ghosts.len() >= GHOSTS {
                let oldest = flights.ghosts.iter().min().copied();
                oldest.map(|id| flights.ghosts.remove(&id));
            }
            flights.ghosts.insert(id);
        }
        false
    }

    /// The transport knows how a request ended.
    pub(crate) fn end(&self, id: u64, ending: Ending) {
        let flight = self.flights.lock().open.remove(&id);
        flight.inspect(|flight| flight.mailbox.end(Err(ending)));
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// It is listened to from now on. When it was before, news may have been missed between.
    pub(crate) fn listening(&self) {
        if self.listened.swap(true, Ordering::Relaxed) {
            self.changed();
        }
    }

    pub(crate) fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Ends the session: every request under way is told, and the transport stops. The first reason counts.
    pub(crate) fn close(&self, reason: CloseReason) {
        let reason = self.over.lock().get_or_insert(reason).clone();
        self.closed.cancel();
        for (_, Flight { mailbox, .. }) in self.flights.lock().open.drain() {
            let failure = match mailbox.is_sent() {
                true => Failure::Lost(reason.clone()),
                false => Failure::NotSent(reason.to_string()),
            };
            mailbox.end(Err(Ending::Failed(failure)));
        }
    }

    pub(crate) fn over(&self) -> Option<CloseReason> {
        self.over.lock().clone()
    }

    /// Ends when the session does.
    pub(crate) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    pub(crate) fn first_garbage(&self) -> Option<String> {
        self.counts.lock().first_garbage.clone()
    }

    pub(crate) fn garbage_lines(&self) -> usize {
        self.counts.lock().garbage_lines
    }

    /// Bytes were read, of whatever kind.
    pub(crate) fn read(&self, bytes: usize) -> Result<(), CloseReason> {
        let mut counts = self.counts.lock();
        counts.read += bytes as u64;
        if counts.read > self.limits.total_bytes {
            return Err(CloseReason::TooMuch(self.limits.total_bytes));
        }
        Ok(())
    }

    /// Takes one message; `origin` is the request in whose answer it came, where the transport knows. Gives what is to be
    /// answered at once.
    pub(crate) fn incoming(&self, bytes: &Bytes, origin: Option<u64>) -> Result<Option<Bytes>, CloseReason> {
        match Incoming::read(bytes) {
            Some(Incoming::Answer { id, outcome }) => self.answer(id, outcome.map_err(Ending::Refused)).map(|()| None),
            Some(Incoming::Stray { error }) => {
                // An error without an id is about the only request there is: the one it came as the answer of.
                match (origin, error) {
                    (Some(id), Some(error)) => self.answer(id, Err(Ending::Refused(error))).map(|()| None),
                    _ => self.stray().map(|()| None),
                }
            }
            Some(Incoming::Request { id, method, params }) => {
                self.unasked()?;
                Ok(self.request(id, &method, &params, origin))
            }
            Some(Incoming::Notification { method, params }) => {
                self.unasked()?;
                self.notification(&method, &params);
                Ok(None)
            }
            None => self.garbage(bytes).map(|()| None),
        }
    }

    fn answer(&self, id: u64, ended: Result<Bytes, Ending>) -> Result<(), CloseReason> {
        let flight = {
            let mut flights = self.flights.lock();
            flights.ghosts.remove(&id);
            flights.open.remove(&id)
        };
        match flight {
            Some(flight) => {
                flight.mailbox.end(ended);
                Ok(())
            }
            // Of a request whose caller has gone, or a second answer: it costs like a notification.
            None if id != 0 && id < self.next_id.load(Ordering::Relaxed) => self.unasked(),
            None => self.stray(),
        }
    }

    fn stray(&self) -> Result<(), CloseReason> {
        let mut counts = self.counts.lock();
        counts.strays += 1;
        if counts.strays > self.limits.stray_answers { Err(CloseReason::StrayAnswers) } else { Ok(()) }
    }

    /// Counts a message nobody asked for.
    fn unasked(&self) -> Result<(), CloseReason> {
        let mut counts = self.counts.lock();
        let now = Instant::now();
        let earned = now.duration_since(counts.counted_at).as_secs_f64() * f64::from(self.limits.unasked_per_second);
        counts.counted_at = now;
        counts.unasked = (counts.unasked + earned).min(f64::from(self.limits.unasked_burst)) - 1.0;
        if counts.unasked < 0.0 { Err(CloseReason::Flood) } else { Ok(()) }
    }

    fn garbage(&self, bytes: &Bytes) -> Result<(), CloseReason> {
        let mut counts = self.counts.lock();
        counts.garbage_lines += 1;
        counts.garbage_bytes += bytes.len();
        let begin = &bytes[..bytes.len().min(TOLD * 4)];
        let first = counts.first_garbage.get_or_insert_with(|| shown(&String::from_utf8_lossy(begin))).clone();
        let much = counts.garbage_lines > self.limits.garbage_lines || counts.garbage_bytes > self.limits.garbage_bytes;
        if much { Err(CloseReason::Garbage(first)) } else { Ok(()) }
    }

    fn notification(&self, method: &str, params: &Bytes) {
        match method {
            "notifications/progress" => {
                let Ok(params) = serde_json::from_slice::<ProgressParams>(params) else { return };
                let mailbox = self.mailbox(params.token);
                let Some(mailbox) = mailbox else { return };
                let message = params.message.map(|text| toolplane_records::visible::excerpt(&text, TOLD));
                let progress = Progress { progress: params.progress, total: params.total, message };
                mailbox.progress(progress, &self.limits);
            }
            "notifications/tools/list_changed" => self.changed(),
            "notifications/subscriptions/acknowledged" => self.listening(),
            "notifications/cancelled" => self.taken_back(params),
            _ => self.counts.lock().other_notifications += 1,
        }
    }

    /// The server takes one of its own questions back.
    fn taken_back(&self, params: &Bytes) {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(rename = "requestId", borrow)]
            id: &'a serde_json::value::RawValue,
        }
        let Ok(read) = serde_json::from_slice::<Params<'_>>(params) else { return };
        let id = params.slice_ref(read.id.get().as_bytes());
        for flight in self.flights.lock().open.values().filter(|flight| flight.asks) {
            flight.mailbox.withdraw(&id, &self.limits);
        }
    }

    /// Answers a request of the server, or passes it on to the call it belongs to.
    fn request(&self, id: Bytes, method: &str, params: &Bytes, origin: Option<u64>) -> Option<Bytes> {
        match method {
            "ping" => Some(message::write_result(&id, "{}")),
            "elicitation/create" => self.elicitation(id, params, origin),
            "sampling/createMessage" => {
                Some(message::write_error(&id, METHOD_NOT_FOUND, "this client gives no access to a model"))
            }
            "roots/list" => Some(message::write_error(&id, METHOD_NOT_FOUND, "this client has no roots")),
            _ => Some(message::write_error(&id, METHOD_NOT_FOUND, "this client does not know the method")),
        }
    }

    /// A question goes to the call it came with; on a stream of many calls, to the only one there is.
    fn elicitation(&self, id: Bytes, params: &Bytes, origin: Option<u64>) -> Option<Bytes> {
        let refuse = |why: &str| Some(message::write_error(&id, INVALID_REQUEST, why));
        let question = match elicit::read(params, &self.limits) {
            Ok(question) => question,
            Err(why) => return refuse(&why),
        };
        let mailbox = match origin {
            Some(origin) => self.mailbox(origin),
            None => match self.only_call() {
                Ok(mailbox) => mailbox,
                Err(why) => return refuse(why),
            },
        };
        let Some(mailbox) = mailbox else { return refuse("no call runs that could ask") };
        match mailbox.ask(Asked { id: id.clone(), question }, &self.limits) {
            true => None,
            false => refuse("too many questions at once"),
        }
    }

    fn mailbox(&self, id: u64) -> Option<Arc<Mailbox>> {
        self.flights.lock().open.get(&id).map(|flight| flight.mailbox.clone())
    }

    /// The one call that may ask. Fails when it may be another one: a person must not answer the question of somebody else's call.
    fn only_call(&self) -> Result<Option<Arc<Mailbox>>, &'static str> {
        let mut flights = self.flights.lock();
        let mut calls = flights.open.values().filter(|flight| flight.asks);
        let first = calls.next().map(|flight| flight.mailbox.clone());
        if calls.next().is_some() {
            return Err("several calls run in this session: it cannot be told which one asks");
        }
        if first.is_some() && !flights.ghosts.is_empty() {
            flights.is_in_doubt = true;
            return Err(
                "a call that was given up may still run: it cannot be told which one asks; the next call has a new session",
            );
        }
        Ok(first)
    }

    /// Whether a question was refused because of a call that was given up. A server need not answer that one, so it would be so for ever.
    pub(crate) fn is_in_doubt(&self) -> bool {
        let flights = self.flights.lock();
        flights.is_in_doubt && !flights.ghosts.is_empty()
    }
}
