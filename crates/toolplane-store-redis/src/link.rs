//! The connection all requests of a store share, made again when it breaks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisResult, Value};

use crate::connector::Connector;
use crate::failure::Failure;
use crate::standing::Standing;
use crate::stats::Counters;

/// One connection for many callers: their requests follow each other on it without waiting for answers.
#[derive(Debug)]
pub(crate) struct Link {
    connector: Arc<Connector>,
    standing: Arc<Standing>,
    counters: Arc<Counters>,
    current: Mutex<Option<Live>>,
    // Held while connecting: one caller connects, the others wait for its outcome.
    connecting: tokio::sync::Mutex<Option<(Instant, Failure)>>,
    made: AtomicU64,
}

#[derive(Clone, Debug)]
struct Live {
    number: u64,
    connection: MultiplexedConnection,
}

impl Link {
    /// A link that connects when it is first used.
    pub(crate) fn new(connector: Arc<Connector>, standing: Arc<Standing>, counters: Arc<Counters>) -> Self {
        let (current, connecting) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { connector, standing, counters, current, connecting, made: AtomicU64::new(0) }
    }

    /// Sends one command and waits for its answer.
    pub(crate) async fn ask(&self, command: &Cmd) -> Result<Value, Failure> {
        let Live { number, mut connection } = self.live().await?;
        Counters::add(&self.counters.round_trips);
        let answer = answered(connection.send_packed_command(command).await);
        if answer.as_ref().is_err_and(Failure::is_of_connection) {
            self.retire(number);
        }
        answer
    }

    async fn live(&self) -> Result<Live, Failure> {
        if let Some(live) = self.current.lock().clone() {
            return Ok(live);
        }
        let came = Instant::now();
        let mut last = self.connecting.lock().await;
        if let Some(live) = self.current.lock().clone() {
            return Ok(live);
        }
        if let Some((tried, failure)) = &*last
            && *tried >= came
        {
            return Err(failure.clone());
        }
        match self.connector.primary(None).await {
            Ok((connection, facts)) => {
                self.standing.found(&facts);
                Counters::add(&self.counters.connections);
                let live = Live { number: self.made.fetch_add(1, Ordering::Relaxed), connection };
                *self.current.lock() = Some(live.clone());
                Ok(live)
            }
            Err(error) => {
                let failure = Failure::no_op(error.to_string());
                *last = Some((Instant::now(), failure.clone()));
                Err(failure)
            }
        }
    }

    // Others may have made a new one already: only the connection that failed goes.
    fn retire(&self, number: u64) {
        let mut current = self.current.lock();
        if current.as_ref().is_some_and(|live| live.number == number) {
            *current = None;
        }
    }
}

/// An answer, or what an error in its place means.
pub(crate) fn answered(answer: RedisResult<Value>) -> Result<Value, Failure> {
    answer.and_then(Value::extract_error).map_err(|error| Failure::after(&error))
}
