//! A caller asks for calls until it has a definite answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt as _;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};

use crate::bed::Bed;
use crate::history::{Answer, Plan, Record, Recorder};
use crate::trouble::Trouble;

/// How long a caller may take to be answered before it asks again.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);
/// Between two attempts.
pub(super) const PAUSE: Duration = Duration::from_millis(40);
/// Parts of a hundred calls. What is left may run twice and needs no permission.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// Must not run twice.
    pub once: u64,
    /// Lock a resource.
    pub locked: u64,
    /// Are batches of four with one failure, which cancels its siblings.
    pub batches: u64,
    /// Wait for a person.
    pub asked: u64,
    /// Are canceled soon after they were accepted.
    pub canceled: u64,
    /// Run in a sandbox, where the bed has an executor.
    pub shell: u64,
    /// Keep their result in the object store.
    pub large: u64,
    /// How long an effect takes, in milliseconds.
    pub effect_ms: u64,
    /// For so long an effect keeps a thread busy, in milliseconds.
    pub busy_ms: u64,
    /// Cancels come at any moment, also that of the end.
    pub cancel_at_once: bool,
}

impl Mix {
    /// The storm's own mix.
    pub const STORM: Self = Self { once: 20, locked: 10, batches: 5, asked: 3, canceled: 2, large: 2, ..Self::PLAIN };
    /// Only calls that may run twice.
    pub const PLAIN: Self = Self {
        once: 0,
        locked: 0,
        batches: 0,
        asked: 0,
        canceled: 0,
        shell: 0,
        large: 0,
        effect_ms: 5,
        busy_ms: 0,
        cancel_at_once: false,
    };
    /// Half of the calls must not run twice.
    pub const HALF: Self = Self { once: 50, ..Self::PLAIN };
}

/// The callers of one run. Shared by them.
#[derive(Debug)]
pub struct Load {
    pub(super) clients: Vec<Clients>,
    pub(super) surface_id: String,
    pub(super) recorder: Recorder,
    pub(super) mix: Mix,
    /// Calls that may still be asked for.
    pub(super) left: AtomicU64,
    pub(super) next: AtomicU64,
    pub(super) stopped: AtomicBool,
    /// Makes keys of several loads of one bed different.
    pub(super) name: String,
}

impl Load {
    /// Callers of `bed` that ask for `calls` calls in all.
    pub fn new(bed: &Bed, name: &str, mix: Mix, calls: u64) -> Result<Arc<Self>, Trouble> {
        Ok(Arc::new(Self {
            clients: bed.clients()?,
            surface_id: bed.surface_id().to_owned(),
            recorder: bed.recorder().clone(),
            mix,
            left: AtomicU64::new(calls),
            next: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            name: name.to_owned(),
        }))
    }

    /// No further calls; those being asked for are brought to an end.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Calls that were asked for so far.
    pub fn asked(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    pub(crate) fn spec(&self, key: &str, tool: &str, input: String) -> v1::InvocationSpec {
        v1::InvocationSpec {
            surface_id: self.surface_id.clone(),
            tool_name: tool.to_owned(),
            model_input: Some(payload(input)),
            idempotency_key: key.to_owned(),
            ..Default::default()
        }
    }

    /// Asks until there is a definite answer; the id of the call when it is accepted.
    pub(crate) async fn ask_for(&self, caller: u64, plan: Plan, spec: &v1::InvocationSpec) -> Option<String> {
        let key = plan.key.clone();
        self.recorder.record(Record::Planned(plan));
        // Now and then asked twice on purpose, as a caller would that did not get the answer.
        let twice = key.ends_with('7');
        let mut accepted = None;
        for attempt in 0.. {
            let answer = self.submit(caller + attempt, spec).await;
            self.recorder.record(Record::Submit { key: key.clone(), answer: answer.clone() });
            match answer {
                Answer::Accepted { invocation, .. } if accepted.is_some() || !twice => return Some(invocation),
                Answer::Accepted { invocation, .. } => accepted = Some(invocation),
                Answer::Refused { .. } => return accepted,
                Answer::Unknown | Answer::Exhausted { .. } => {
                    toolplane_wait::pause(PAUSE, "callers come back after a while").await
                }
            }
        }
        accepted
    }

    /// Asks once.
    pub(crate) async fn submit(&self, turn: u64, spec: &v1::InvocationSpec) -> Answer {
        let request = v1::SubmitInvocationRequest { spec: Some(spec.clone()) };
        let mut client = self.client(turn).invocations();
        match tokio::time::timeout(PATIENCE, client.submit_invocation(request)).await {
            Ok(Ok(answer)) => answer.into_inner().accepted.map_or(Answer::Unknown, |accepted| Answer::Accepted {
                invocation: accepted.invocation_id,
                duplicate: accepted.duplicate,
            }),
            Ok(Err(status)) => answer_of(&status),
            Err(_) => Answer::Unknown,
        }
    }

    /// Where everything is recorded.
    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    pub(crate) fn client(&self, turn: u64) -> &Clients {
        let count = self.clients.len() as u64;
        &self.clients[usize::try_from(turn % count.max(1)).unwrap_or_default()]
    }
}

/// What a failed submission says.
pub(crate) fn answer_of(status: &Status) -> Answer {
    match status.code() {
        _ if is_doubtful(status) => Answer::Unknown,
        Code::ResourceExhausted => Answer::Exhausted {
            retry_info: status.get_error_details().retry_info().is_some_and(|info| info.retry_delay.is_some()),
        },
        code => Answer::Refused { code: format!("{code:?}: {}", status.message()) },
    }
}

/// Whether it cannot be told what happened to the request.
pub(crate) fn is_doubtful(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable | Code::Unknown | Code::Cancelled | Code::DeadlineExceeded | Code::Aborted | Code::Internal
    ) || is_of_the_transport(status)
}

/// Whether no server has said this: a connection that ended in the middle is told by some codes of the transport too.
fn is_of_the_transport(status: &Status) -> bool {
    std::error::Error::source(status).is_some()
}
