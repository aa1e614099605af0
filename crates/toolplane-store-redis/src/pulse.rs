//! The second connection: hints come in on it, and the clock and the state of the server are read on it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{PushInfo, PushKind, Value};
use tokio::sync::Notify;

use crate::clock::ServerClock;
use crate::connector::Connector;
use crate::facts;
use crate::failure::{Class, Failure};
use crate::hints::Inbox;
use crate::identity::StoreIdentity;
use crate::link::answered;
use crate::open_error::OpenError;
use crate::reply;
use crate::standing::Standing;

/// How often the clock is read.
const BEAT: Duration = Duration::from_millis(500);
/// After how many beats the server's settings are looked at again: an operator may change them while it runs.
const BEATS_TO_LOOK: u32 = 2;
/// How long to wait before connecting again, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// What the pulse keeps up to date.
#[derive(Debug)]
pub(crate) struct Pulse {
    pub(crate) connector: Arc<Connector>,
    pub(crate) standing: Arc<Standing>,
    pub(crate) clock: Arc<ServerClock>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) channel: String,
    /// The key of the identity, and what must be there.
    pub(crate) identity: (String, StoreIdentity),
}

/// A connection with its subscription.
#[derive(Debug)]
pub(crate) struct Beating {
    connection: MultiplexedConnection,
    ended: Arc<Notify>,
}

impl Pulse {
    /// Connects, subscribes and reads the clock for the first time.
    pub(crate) async fn start(&self) -> Result<Beating, OpenError> {
        let ended = Arc::new(Notify::new());
        let (inbox, notify) = (Arc::clone(&self.inbox), Arc::clone(&ended));
        let pushed = move |message: PushInfo| match message.kind {
            PushKind::Message | PushKind::SMessage => {
                // The channel, then the message.
                if let Ok(bytes) = reply::bytes(message.data.into_iter().nth(1)) {
                    inbox.receive(bytes);
                }
            }
            // A node that gives a slot away takes its subscriptions back.
            PushKind::Disconnection | PushKind::SUnsubscribe => notify.notify_one(),
            _ => {}
        };
        let (mut connection, facts) = self.connector.primary(Some(Box::new(pushed))).await?;
        self.standing.found(&facts);
        let subscribe = if self.connector.is_cluster() { "SSUBSCRIBE" } else { "SUBSCRIBE" };
        let command = redis::cmd(subscribe).arg(&self.channel).to_owned();
        let subscribed = connection.send_packed_command(&command).await.and_then(Value::extract_error);
        subscribed.map_err(|error| OpenError::of(&error))?;
        let mut beating = Beating { connection, ended };
        self.beat(&mut beating).await?;
        Ok(beating)
    }

    /// Beats until it is dropped, and starts over when the connection ends.
    pub(crate) async fn run(self, mut beating: Beating) {
        loop {
            let reason = self.beat_on(&mut beating).await;
            tracing::warn!(%reason, "lost the connection for hints and the clock");
            let mut pause = PAUSE.0;
            beating = loop {
                tokio::time::sleep(pause).await;
                match self.start().await {
                    Ok(beating) => break beating,
                    Err(error) => {
                        self.standing.reached(false);
                        tracing::debug!(%error, "still no connection for hints and the clock");
                    }
                }
                pause = (pause * 2).min(PAUSE.1);
            };
            tracing::info!("reconnected for hints and the clock");
        }
    }

    async fn beat_on(&self, beating: &mut Beating) -> OpenError {
        for beats in 1_u32.. {
            let ended = Arc::clone(&beating.ended);
            tokio::select! {
                () = tokio::time::sleep(BEAT) => {}
                () = ended.notified() => return OpenError::Unreachable { reason: "the connection ended".to_owned() },
            }
            if let Err(error) = self.beat(beating).await {
                return error;
            }
            if beats.is_multiple_of(BEATS_TO_LOOK) {
                match facts::inspect(&mut beating.connection, &self.connector.options).await {
                    Ok(facts) => self.standing.found(&facts),
                    Err(error) => return error,
                }
            }
        }
        OpenError::Unreachable { reason: "the beats are counted out".to_owned() }
    }

    async fn beat(&self, beating: &mut Beating) -> Result<(), OpenError> {
        let refused = |error: redis::RedisError| OpenError::of(&error);
        let sent = Instant::now();
        let mut pipeline = redis::pipe();
        pipeline.cmd("TIME").cmd("ROLE").cmd("GET").arg(&self.identity.0);
        let mut answers = beating.connection.send_packed_commands(&pipeline, 0, 3).await.map_err(refused)?.into_iter();
        let received = Instant::now();
        let mut answer = || answered(Ok(answers.next().unwrap_or_default()));
        let failed = |failure: Failure| OpenError::Unreachable { reason: failure.reason };
        let (time, role, identity) = (answer().map_err(failed)?, answer().map_err(failed)?, answer());
        // A primary that lost its place still answers, but no process publishes there any more.
        let name = match role {
            Value::Array(fields) => fields.into_iter().next(),
            _ => None,
        };
        if reply::bytes(name).ok().as_deref() != Some(b"master") {
            return Err(OpenError::NotPrimary);
        }
        self.standing.reached(true);
        match identity {
            Ok(identity) => self.standing.kept(self.identity.1.is(&identity)),
            // On its way to another node: what holds it is told once the slot is there.
            Err(failure) if failure.class == Class::Moving => {}
            Err(failure) => return Err(failed(failure)),
        }
        let strange = |_| OpenError::Unreachable { reason: "the server does not tell the time".to_owned() };
        let mut parts = reply::list(time).map_err(strange)?.into_iter();
        let seconds = reply::number(parts.next()).map_err(strange)?;
        let micros = reply::number(parts.next()).map_err(strange)?;
        let since_epoch = i64::try_from(seconds.saturating_mul(1_000_000).saturating_add(micros)).unwrap_or(i64::MAX);
        self.clock.read(since_epoch, sent, received);
        Ok(())
    }
}
