//! One request: sent, waited for within its time, and given up so that the server hears of it.

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::core::Core;
use crate::failure::Failure;
use crate::flight::{Ending, Mailbox, Told};
use crate::link::{Heading, Link};
use crate::message;
use crate::meta::CancelledParams;
use crate::watch::{Question, Reply, Watch};

/// What a request is.
pub(crate) struct Ask<'a> {
    /// The message, when its number is known.
    pub(crate) body: &'a (dyn Fn(u64) -> Bytes + Send + Sync),
    pub(crate) heading: Heading,
    /// The call of a tool: it may ask questions, and hears when nobody waits for it any more.
    pub(crate) call: bool,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) watch: &'a dyn Watch,
}

/// The time of a call, which stands still while a person is asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    pub(crate) deadline: Option<Instant>,
}

impl Clock {
    pub(crate) fn until(deadline: Instant) -> Self {
        Self { deadline: Some(deadline) }
    }

    async fn over(self) {
        match self.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }

    fn stood_still_since(&mut self, began: Instant) {
        self.deadline = self.deadline.map(|deadline| deadline + began.elapsed());
    }
}

/// A question that is with a person.
struct Asking<'a> {
    id: Bytes,
    since: Instant,
    reply: BoxFuture<'a, Reply>,
}

/// Sends a request and waits for its end.
pub(crate) async fn ask(core: &Core, link: &Link, ask: Ask<'_>, clock: &mut Clock) -> Result<Bytes, Ending> {
    if ask.cancel.is_cancelled() {
        return Err(Ending::Failed(Failure::Canceled { sent: false }));
    }
    let (id, mailbox) = core.begin(ask.call);
    let flight = Flight { core, link, id, mailbox: mailbox.clone(), heading: ask.heading.clone(), call: ask.call };
    let bytes = (ask.body)(id);
    if bytes.len() > core.limits.message_bytes {
        let why = format!("the message has {} bytes; at most {} are sent", bytes.len(), core.limits.message_bytes);
        return Err(Ending::Failed(Failure::NotSent(why)));
    }
    ask.watch.request(id);
    let mut sending = pin!(link.send(id, bytes, ask.heading, mailbox.clone()));
    let (mut queued, mut asking) = (false, None::<Asking<'_>>);
    loop {
        tokio::select! {
            biased;
            () = ask.cancel.cancelled() => {
                return Err(Ending::Failed(Failure::Canceled { sent: flight.mailbox.give_up() }));
            }
            told = mailbox.next(asking.is_none()) => match told {
                Told::Ended(ended) => {
                    if mailbox.left_out() > 0 {
                        ask.watch.progress_left_out(mailbox.left_out());
                    }
                    return ended;
                }
                Told::Progress(progress) => ask.watch.progress(progress),
                Told::Question(asked) => {
                    let reply = reply(ask.watch, asked.question);
                    asking = Some(Asking { id: asked.id, since: Instant::now(), reply });
                }
                Told::Withdrawn(id) => if let Some(gone) = asking.take_if(|asking| asking.id == id) {
                    clock.stood_still_since(gone.since);
                },
            },
            () = &mut sending, if !queued => queued = true,
            reply = answered(&mut asking) => if let Some(done) = asking.take() {
                clock.stood_still_since(done.since);
                link.answer(core, message::write_result(&done.id, &reply.json()), flight.heading.clone());
            },
            () = clock.over(), if asking.is_none() => {
                return Err(Ending::Failed(Failure::TimedOut { sent: flight.mailbox.give_up() }));
            }
        }
    }
}

/// Asks the person; the time stands still.
pub(crate) async fn ask_person(watch: &dyn Watch, question: Question, clock: &mut Clock) -> Reply {
    let began = Instant::now();
    let reply = reply(watch, question).await;
    clock.stood_still_since(began);
    reply
}

fn reply(watch: &dyn Watch, question: Question) -> BoxFuture<'_, Reply> {
    if watch.answers() { watch.ask(question) } else { Box::pin(std::future::ready(Reply::Cancel)) }
}

async fn answered(asking: &mut Option<Asking<'_>>) -> Reply {
    match asking {
        Some(asking) => asking.reply.as_mut().await,
        None => std::future::pending().await,
    }
}

/// A request under way. However its caller goes, the request is forgotten, and a server that may have begun hears of it.
struct Flight<'a> {
    core: &'a Core,
    link: &'a Link,
    id: u64,
    mailbox: Arc<Mailbox>,
    heading: Heading,
    call: bool,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let sent = self.mailbox.give_up();
        let answered = self.core.forget(self.id);
        if sent && !answered && self.core.over().is_none() {
            let params = CancelledParams { request_id: self.id, reason: "nobody waits for it any more" };
            // The first requests of a session cannot be canceled by the protocol; over HTTP their exchange ends all the same.
            let notice = self.call.then(|| message::write(None, "notifications/cancelled", params));
            self.link.abandon(self.id, notice, std::mem::take(&mut self.heading));
        }
    }
}
