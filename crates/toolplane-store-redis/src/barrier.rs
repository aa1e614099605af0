//! Commits that must be on replicas before they are answered: groups of them, each followed by a wait.
//!
//! A wait concerns its own connection and blocks it, so every lane has one for itself.

use std::sync::Arc;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, Pipeline, Value};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::connector::Connector;
use crate::failure::Failure;
use crate::link::answered;
use crate::reply;
use crate::standing::Standing;
use crate::stats::Counters;
use crate::task;

/// How many groups are under way at once.
const LANES: usize = 4;
/// The most commits in one group.
const GROUP: usize = 64;

/// A commit that waits for its group.
#[derive(Debug)]
struct Job {
    command: Cmd,
    answer: oneshot::Sender<Result<Value, Failure>>,
}

/// The lanes, and the queue in front of them.
#[derive(Debug)]
pub(crate) struct Barrier {
    queue: mpsc::Sender<Job>,
    _lanes: Vec<AbortOnDropHandle<()>>,
}

impl Barrier {
    /// Starts the lanes; they connect when they are first used.
    pub(crate) fn start(connector: &Arc<Connector>, standing: &Arc<Standing>, counters: &Arc<Counters>) -> Self {
        let (queue, jobs) = mpsc::channel(GROUP * LANES);
        let jobs = Arc::new(Mutex::new(jobs));
        let lanes = (0..LANES).map(|_| {
            let (connector, standing, counters) = (Arc::clone(connector), Arc::clone(standing), Arc::clone(counters));
            let lane = BarrierLink { connector, standing, counters, connection: None };
            task::owned(lane.run(Arc::clone(&jobs)))
        });
        Self { queue, _lanes: lanes.collect() }
    }

    /// Sends one commit and waits until its answer holds on as many replicas as were asked for.
    pub(crate) async fn ask(&self, command: Cmd) -> Result<Value, Failure> {
        let (answer, answered) = oneshot::channel();
        let closed = || Failure::no_op("the store is closing");
        self.queue.send(Job { command, answer }).await.map_err(|_| closed())?;
        answered.await.unwrap_or_else(|_| Err(Failure::strange("the store closed before the answer")))
    }
}

struct BarrierLink {
    connector: Arc<Connector>,
    standing: Arc<Standing>,
    counters: Arc<Counters>,
    connection: Option<MultiplexedConnection>,
}

impl BarrierLink {
    async fn run(mut self, jobs: Arc<Mutex<mpsc::Receiver<Job>>>) {
        loop {
            let mut group = Vec::with_capacity(GROUP);
            if jobs.lock().await.recv_many(&mut group, GROUP).await == 0 {
                return;
            }
            self.settle(group).await;
        }
    }

    async fn settle(&mut self, group: Vec<Job>) {
        let mut pipeline = Pipeline::with_capacity(group.len() + 1);
        let mut answers = Vec::with_capacity(group.len());
        for job in group {
            pipeline.add_command(job.command);
            answers.push(job.answer);
        }
        pipeline.add_command(self.wait());
        let values = self.exchange(&pipeline, answers.len() + 1).await;
        let mut values = match values {
            Ok(values) => values,
            Err(failure) => {
                // Fails only for callers that are gone.
                answers.into_iter().for_each(|answer| drop(answer.send(Err(failure.clone()))));
                return;
            }
        };
        let safe = self.is_safe(values.pop());
        for (answer, value) in answers.into_iter().zip(values) {
            let settled = match answered(Ok(value)) {
                Ok(value) if !changes_nothing(&value) => safe.clone().map(|()| value),
                other => other,
            };
            let _ = answer.send(settled);
        }
    }

    async fn exchange(&mut self, pipeline: &Pipeline, count: usize) -> Result<Vec<Value>, Failure> {
        if self.connection.is_none() {
            let (connection, facts) =
                self.connector.primary(None).await.map_err(|error| Failure::no_op(error.to_string()))?;
            self.standing.found(&facts);
            Counters::add(&self.counters.connections);
            self.connection = Some(connection);
        }
        let Some(connection) = &mut self.connection else { return Err(Failure::no_op("not connected")) };
        Counters::add(&self.counters.round_trips);
        let values = connection.send_packed_commands(pipeline, 0, count).await;
        let values = values.map_err(|error| Failure::after(&error));
        let moved = |value: &Value| answered(Ok(value.clone())).is_err_and(|failure| failure.is_of_connection());
        if values.as_ref().is_err_and(Failure::is_of_connection)
            || values.as_ref().is_ok_and(|values| values.iter().any(|value| is_error(value) && moved(value)))
        {
            self.connection = None;
        }
        values
    }

    fn wait(&self) -> Cmd {
        let replicas = self.connector.options.replicas;
        // Half of the time an answer may take: the answer to the wait must still come in time.
        let millis = u64::try_from(self.connector.options.command_timeout.as_millis() / 2).unwrap_or(1).max(1);
        match self.standing.waits_for_flush() {
            true => redis::cmd("WAITAOF").arg(1).arg(replicas).arg(millis).to_owned(),
            false => redis::cmd("WAIT").arg(replicas).arg(millis).to_owned(),
        }
    }

    fn is_safe(&self, waited: Option<Value>) -> Result<(), Failure> {
        let (flushed, replicas) = match answered(Ok(waited.unwrap_or_default())) {
            Ok(Value::Array(counts)) => {
                let mut counts = counts.into_iter();
                (reply::number(counts.next())? > 0, reply::number(counts.next())?)
            }
            Ok(count) => (true, reply::number(Some(count))?),
            Err(failure) => return Err(Failure::strange(failure.reason)),
        };
        let wanted = self.connector.options.replicas;
        match flushed && replicas >= u64::from(wanted) {
            true => Ok(()),
            false => Err(Failure::strange(format!("the commit is on {replicas} of {wanted} replicas"))),
        }
    }
}

// An answer that refuses needs no replica: 0 and {1, ..} say that something is there.
fn changes_nothing(answer: &Value) -> bool {
    match answer {
        Value::Array(fields) => fields.first() != Some(&Value::Int(1)),
        _ => false,
    }
}

fn is_error(value: &Value) -> bool {
    matches!(value, Value::ServerError(_))
}
