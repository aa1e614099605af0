//! The stream to a scheduler: kept up for as long as the worker lives, with one scheduler or another.

mod commands;
mod drain;
mod heartbeats;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use toolplane_execution::ProviderChanges;
use toolplane_runtime::client::Backoff;

pub(crate) use commands::Commands;
pub(crate) use drain::Drain;
pub(crate) use heartbeats::Heartbeats;

use crate::messages::{SchedulerCommand, Welcome};
use crate::schedulers::Schedulers;
use crate::wire::{CommandStream, NoAnswer, ReadBounds, SchedulerClient};
use crate::worker::Introduction;

/// How long a scheduler may take to answer a new stream and to welcome the worker.
const WELCOME_TIMEOUT: Duration = Duration::from_secs(10);
/// The same when there are others to go to.
const WELCOME_OR_NEXT: Duration = Duration::from_secs(3);
/// How long a scheduler may take to close a stream after a goodbye.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(2);
/// A stream that lasted this long was a good one: the next failure is the first.
const GOOD_STREAM: Duration = Duration::from_secs(5);

/// Most ends that are said again with one sign of life: those that wait longest come first.
const MOST_AGAIN: usize = 256;

/// Keeps the stream up.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) introduction: Arc<Introduction>,
    pub(crate) schedulers: Schedulers,
    pub(crate) bounds: ReadBounds,
    pub(crate) commands: Arc<Commands>,
    /// Providers whose tools have changed.
    pub(crate) changes: Arc<ProviderChanges>,
    /// Whether a scheduler has welcomed the worker.
    pub(crate) connected: watch::Sender<bool>,
    /// Cancelled when the goodbye is for good.
    pub(crate) drained: CancellationToken,
}

/// Why a stream ended.
enum StreamEnd {
    /// The scheduler went away, or never was there.
    Lost(NoAnswer),
    /// In order: after a goodbye.
    InOrder,
}

fn lost(cause: &str) -> NoAnswer {
    NoAnswer(cause.to_owned())
}

impl Session {
    /// Keeps a stream up until the worker has drained.
    pub(crate) async fn run(&self) {
        let mut failed = 0_usize;
        loop {
            let (begun, url) = (Instant::now(), self.schedulers.current());
            let end = self.stream(&url).await;
            self.commands.outbox.detach();
            let was_connected = self.connected.send_replace(false);
            if was_connected && begun.elapsed() >= GOOD_STREAM {
                failed = 0;
            }
            match end {
                StreamEnd::InOrder if self.drained.is_cancelled() => return,
                StreamEnd::InOrder => tracing::info!(scheduler = url, "left the scheduler; connecting anew"),
                StreamEnd::Lost(cause) => {
                    failed += 1;
                    self.log_lost(&url, &cause, was_connected, failed);
                }
            }
            // Another one may have been chosen already.
            self.schedulers.leave(&url);
            // To the next one at once; when none of them was there, a little later.
            let round = failed / self.schedulers.count().max(1);
            if round > 0 {
                tokio::time::sleep(Backoff::default().wait(u32::try_from(round).unwrap_or(u32::MAX), None)).await;
            }
        }
    }

    fn log_lost(&self, scheduler: &str, cause: &NoAnswer, was_connected: bool, failed: usize) {
        if was_connected {
            let held = self.commands.assignments.len();
            tracing::warn!(scheduler, %cause, held, "lost the scheduler; calls go on");
        } else if failed % 30 == 1 {
            // Said at once and then now and then: an operator with a wrong address must see it, but not every second.
            tracing::warn!(scheduler, %cause, failed, "no scheduler answers yet; trying again");
        } else {
            tracing::debug!(scheduler, %cause, failed, "no scheduler yet");
        }
    }

    /// One stream from its hello to its end.
    async fn stream(&self, url: &str) -> StreamEnd {
        let patience = if self.schedulers.count() > 1 { WELCOME_OR_NEXT } else { WELCOME_TIMEOUT };
        let begun = tokio::time::timeout(patience, self.begin(url)).await;
        let (commands, welcome, rest) = match begun.unwrap_or_else(|_| Err(lost("no welcome in time"))) {
            Ok(begun) => begun,
            Err(cause) => return StreamEnd::Lost(cause),
        };
        self.commands.welcomed(welcome);
        self.connected.send_replace(true);
        let held = self.commands.assignments.len();
        tracing::info!(lease = ?welcome.lease, heartbeat = ?welcome.heartbeat, held, "connected to the scheduler");
        let mut leaving = Leaving::default();
        for command in rest {
            leaving.obey(self, command);
        }
        self.converse(commands, leaving).await
    }

    /// Opens a stream and is welcomed; gives what the scheduler said in the same message.
    async fn begin(
        &self,
        url: &str,
    ) -> Result<(CommandStream, Welcome, impl Iterator<Item = SchedulerCommand> + use<>), NoAnswer> {
        let peer = self.schedulers.connect(url).map_err(|error| NoAnswer(error.to_string()))?;
        let (outbox, held) = (self.commands.outbox.clone(), self.commands.assignments.clone());
        outbox.want_calls(true);
        let reader = outbox.open(&held, self.introduction.clone());
        let reports = futures_util::stream::unfold((reader, outbox, held), |(mut reader, outbox, held)| async {
            let reports = reader.next(&outbox, &held).await?;
            Some((reports, (reader, outbox, held)))
        });
        let mut commands = SchedulerClient::new(peer, self.bounds).work(reports).await?;
        let first = commands.next().await?.ok_or_else(|| lost("it closed the stream before a welcome"))?;
        let mut first = first.into_iter();
        match first.next() {
            Some(SchedulerCommand::Welcome(welcome)) => Ok((commands, welcome, first)),
            _ => Err(lost("its first command was no welcome")),
        }
    }

    /// Obeys commands and shows signs of life until the stream ends.
    async fn converse(&self, mut commands: CommandStream, mut leaving: Leaving) -> StreamEnd {
        let Commands { assignments, terms, outbox, .. } = &*self.commands;
        let mut heartbeat = tokio::time::interval(terms.heartbeat());
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let changed = assignments.changed();
            leaving.leave(&self.commands);
            tokio::select! {
                message = commands.next() => match message {
                    Ok(Some(commands)) => commands.into_iter().for_each(|command| leaving.obey(self, command)),
                    Ok(None) | Err(_) if outbox.said_goodbye() => return StreamEnd::InOrder,
                    Ok(None) => return StreamEnd::Lost(lost("it closed the stream")),
                    Err(cause) => return StreamEnd::Lost(cause),
                },
                _ = heartbeat.tick() => self.remind(),
                changed = self.changes.next() => outbox.provider_changed(changed),
                () = changed, if leaving.asked && leaving.until.is_none() => {}
                () = tokio::time::sleep_until(leaving.until.unwrap_or_else(Instant::now)), if leaving.until.is_some() => {
                    return StreamEnd::InOrder;
                }
            }
        }
    }

    /// A sign of life, and everything again that should have been answered by now: what could not be stored is not answered.
    fn remind(&self) {
        let Commands { assignments, terms, outbox, .. } = &*self.commands;
        outbox.heartbeat();
        outbox.credentials(self.introduction.credential_names());
        let patience = terms.patience();
        assignments.unacknowledged(terms.again(), MOST_AGAIN).into_iter().for_each(|ended| outbox.ended(ended));
        assignments.unanswered(patience).into_iter().for_each(|question| outbox.input_requested(question));
    }
}

/// Whether and when a stream is to be left.
#[derive(Default)]
struct Leaving {
    /// The scheduler asked for it.
    asked: bool,
    /// There is another one to go to, so nothing is waited for: what runs goes on and is reported there.
    elsewhere: bool,
    /// Set after the goodbye: when the stream is given up if the scheduler does not close it.
    until: Option<Instant>,
}

impl Leaving {
    /// Obeys a command, and takes note when it asks the worker to leave.
    fn obey(&mut self, session: &Session, command: SchedulerCommand) {
        if let Some(others) = session.commands.obey(command) {
            self.asked = true;
            let draining = session.commands.assignments.is_closed();
            self.elsewhere = !draining && session.schedulers.go_to_others(&others);
        }
    }

    /// Says goodbye when nothing is in the way of it.
    fn leave(&mut self, commands: &Commands) {
        let free = self.elsewhere || commands.assignments.len() == 0;
        if self.asked && self.until.is_none() && free && !commands.assignments.is_closed() {
            commands.outbox.goodbye();
            self.until = Some(Instant::now() + GOODBYE_TIMEOUT);
        }
    }
}
