//! The stream to a scheduler: kept up for as long as the worker lives, with one scheduler or another.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};
use tonic::Streaming;
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_service_client::WorkerServiceClient;
use toolplane_proto::v1::{GoAway, WorkResponse};
use toolplane_runtime::client::Backoff;

use crate::commands::{obey, welcomed};
use crate::executor::Core;

/// How long a scheduler may take to answer a new stream and to welcome the worker.
const WELCOME_TIMEOUT: Duration = Duration::from_secs(10);
/// The same when there are others to go to.
const WELCOME_OR_NEXT: Duration = Duration::from_secs(3);
/// How long a scheduler may take to close a stream after a goodbye.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(2);
/// A stream that lasted this long was a good one: the next failure is the first.
const GOOD_STREAM: Duration = Duration::from_secs(5);

/// Why a stream ended.
enum End {
    /// The scheduler went away, or never was there.
    Lost(String),
    /// In order: after a goodbye.
    Over,
}

/// Keeps a stream up until the worker has drained.
pub(crate) async fn run(core: Arc<Core>) {
    let mut failed = 0_usize;
    loop {
        let (begun, url) = (Instant::now(), core.schedulers.current());
        let end = stream(&core, &url).await;
        core.outbox.detach();
        let was_connected = core.connected.send_replace(false);
        if was_connected && begun.elapsed() >= GOOD_STREAM {
            failed = 0;
        }
        match end {
            End::Over if core.is_drained() => return,
            // Another one may have been chosen already.
            End::Over => {
                tracing::info!(scheduler = url, "left the scheduler; connecting anew");
                core.schedulers.leave(&url);
            }
            End::Lost(cause) => {
                failed += 1;
                say(&core, &url, &cause, was_connected, failed);
                core.schedulers.leave(&url);
            }
        }
        // To the next one at once; when none of them was there, a little later.
        let round = failed / core.schedulers.count().max(1);
        if round > 0 {
            tokio::time::sleep(Backoff::default().wait(u32::try_from(round).unwrap_or(u32::MAX), None)).await;
        }
    }
}

fn say(core: &Core, scheduler: &str, cause: &str, was_connected: bool, failed: usize) {
    if was_connected {
        tracing::warn!(scheduler, cause, held = core.leases.len(), "lost the scheduler; calls go on");
    } else if failed % 30 == 1 {
        // Said at once and then now and then: an operator with a wrong address must see it, but not every second.
        tracing::warn!(scheduler, cause, failed, "no scheduler yet; trying on");
    } else {
        tracing::debug!(scheduler, cause, failed, "no scheduler yet");
    }
}

/// One stream from its hello to its end.
async fn stream(core: &Arc<Core>, url: &str) -> End {
    let peer = match core.schedulers.connect(url) {
        Ok(peer) => peer,
        Err(cause) => return End::Lost(cause),
    };
    // One message may carry an offer for every slot, each with an input of its own.
    let max_bytes = core.options.max_message_bytes.saturating_mul(16);
    let mut client = WorkerServiceClient::new(peer).max_decoding_message_size(max_bytes);
    core.outbox.want_calls(!core.is_draining());
    let reader = core.outbox.open(&core.leases, core.hello());
    let requests = futures_util::stream::unfold((reader, core.clone()), |(mut reader, core)| async {
        let request = reader.next(&core.outbox, &core.leases).await?;
        Some((request, (reader, core)))
    });
    let begin = async {
        let mut commands = client.work(requests).await.map_err(|status| describe(&status))?.into_inner();
        let first = next(&mut commands).await?;
        let mut first = first.commands.into_iter().filter_map(|command| command.command);
        match first.next() {
            Some(Command::Welcome(welcome)) => Ok((commands, welcome, first)),
            _ => Err("its first command was no welcome".to_owned()),
        }
    };
    let patience = if core.schedulers.count() > 1 { WELCOME_OR_NEXT } else { WELCOME_TIMEOUT };
    let (commands, welcome, rest) = match tokio::time::timeout(patience, begin).await {
        Ok(Ok(begun)) => begun,
        Ok(Err(cause)) => return End::Lost(cause),
        Err(_) => return End::Lost("no welcome in time".to_owned()),
    };
    welcomed(core, &welcome);
    let mut leaving = Leaving::default();
    for command in rest {
        leaving.heed(core, obey(core, command));
    }
    converse(core, commands, leaving).await
}

/// Whether and when this stream is to be left.
#[derive(Default)]
struct Leaving {
    /// The scheduler asked for it.
    asked: bool,
    /// There is another one to go to, so nothing is waited for: what runs goes on and is reported there.
    elsewhere: bool,
    /// The goodbye was said; when the stream is given up all the same.
    until: Option<Instant>,
}

impl Leaving {
    fn heed(&mut self, core: &Core, away: Option<GoAway>) {
        if let Some(away) = away {
            self.asked = true;
            self.elsewhere = !core.is_draining() && core.schedulers.go_to_others(&away.schedulers);
        }
    }

    /// Says goodbye when nothing is in the way of it.
    fn leave(&mut self, core: &Core) {
        let free = self.elsewhere || core.leases.len() == 0;
        if self.asked && self.until.is_none() && free && !core.is_draining() {
            core.outbox.goodbye();
            self.until = Some(Instant::now() + GOODBYE_TIMEOUT);
        }
    }
}

/// Obeys commands and shows signs of life until the stream ends.
async fn converse(core: &Arc<Core>, mut commands: Streaming<WorkResponse>, mut leaving: Leaving) -> End {
    let mut heartbeat = tokio::time::interval(core.terms.heartbeat());
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let left = core.leases.changed.notified();
        leaving.leave(core);
        tokio::select! {
            message = commands.message() => match message {
                Ok(Some(message)) => {
                    for command in message.commands.into_iter().filter_map(|command| command.command) {
                        leaving.heed(core, obey(core, command));
                    }
                }
                Ok(None) if core.outbox.said_goodbye() => return End::Over,
                Ok(None) => return End::Lost("it closed the stream".to_owned()),
                Err(_) if core.outbox.said_goodbye() => return End::Over,
                Err(status) => return End::Lost(describe(&status)),
            },
            _ = heartbeat.tick() => remind(core),
            () = left, if leaving.asked && leaving.until.is_none() => {}
            () = tokio::time::sleep_until(leaving.until.unwrap_or_else(Instant::now)), if leaving.until.is_some() => {
                return End::Over;
            }
        }
    }
}

/// A sign of life, and everything again that should have been answered by now: what could not be stored is not answered.
fn remind(core: &Core) {
    core.outbox.heartbeat();
    let patience = core.terms.patience();
    for done in core.leases.unheard(patience) {
        core.outbox.done(done);
    }
    for question in core.leases.unanswered(patience) {
        core.outbox.input_requested(question);
    }
}

async fn next(commands: &mut Streaming<WorkResponse>) -> Result<WorkResponse, String> {
    match commands.message().await {
        Ok(Some(message)) => Ok(message),
        Ok(None) => Err("it closed the stream before a welcome".to_owned()),
        Err(status) => Err(describe(&status)),
    }
}

fn describe(status: &tonic::Status) -> String {
    toolplane_runtime::status::describe(status).to_string()
}
