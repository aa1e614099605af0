//! Callers: each asks for a call until it is accepted, follows it for a while, and goes on to the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt as _;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};

use crate::bed::{AGAIN, ASK, Bed, ONCE, SHELL};
use crate::history::{Answer, Plan, Record, Recorder};
use crate::trouble::Trouble;

mod approver;
mod batches;
mod follow;

pub(crate) use batches::final_batch;
pub(crate) use follow::digest_of;

/// How long a caller may take to be answered before it asks again.
const PATIENCE: Duration = Duration::from_secs(3);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(40);
/// Resources that locked calls fight for.
const DOORS: u64 = 4;

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
    clients: Vec<Clients>,
    surface_id: String,
    recorder: Recorder,
    mix: Mix,
    /// Calls that may still be asked for.
    left: AtomicU64,
    next: AtomicU64,
    stopped: AtomicBool,
    /// Makes keys of several loads of one bed different.
    name: String,
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

    /// Runs callers until every call was asked for, or [`Load::stop`].
    pub async fn run(self: Arc<Self>, callers: u64) {
        let approver = (self.mix.asked > 0).then(|| tokio::spawn(approver::run(self.clone())));
        let callers: Vec<_> = (0..callers).map(|number| tokio::spawn(self.clone().caller(number))).collect();
        for caller in callers {
            let _ = caller.await;
        }
        if let Some(approver) = approver {
            approver.abort();
        }
    }

    async fn caller(self: Arc<Self>, number: u64) {
        loop {
            let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            if taken.is_err() || self.stopped.load(Ordering::Relaxed) {
                return;
            }
            let call = self.next.fetch_add(1, Ordering::Relaxed);
            self.one(number, call).await;
        }
    }

    async fn one(&self, caller: u64, call: u64) {
        // Spread over the hundred, so that every stretch of the run has a little of everything.
        let place = call.wrapping_mul(37) % 100;
        let mix = &self.mix;
        let mut bounds = [mix.once, mix.locked, mix.batches, mix.asked, mix.canceled, mix.shell, mix.large].into_iter();
        let mut upto = 0;
        let kind = bounds.position(|part| {
            upto += part;
            place < upto
        });
        let key = format!("{}-{call}", self.name);
        let ms = mix.effect_ms;
        let usual = format!(r#"{{"ms":{ms},"busy_ms":{}}}"#, mix.busy_ms);
        let plain = |idempotent| Plan { key: key.clone(), idempotent, ledger: true, ..Plan::default() };
        match kind {
            Some(0) => self.follow_one(caller, plain(false), ONCE, usual).await,
            Some(1) => self.locked(caller, call, plain(call.is_multiple_of(2)), ms).await,
            Some(2) => self.batch(caller, &key).await,
            Some(3) => self.follow_one(caller, plain(false), ASK, usual).await,
            Some(4) => self.canceled(caller, plain(call.is_multiple_of(2))).await,
            Some(5) => self.follow_one(caller, plain(true), SHELL, format!(r#"{{"mark":"{key}"}}"#)).await,
            Some(6) => self.follow_one(caller, plain(true), AGAIN, r#"{"bytes":100000}"#.to_owned()).await,
            _ => self.follow_one(caller, plain(true), AGAIN, usual).await,
        }
    }

    async fn follow_one(&self, caller: u64, plan: Plan, tool: &str, input: String) {
        let spec = self.spec(&plan.key, tool, input);
        if let Some(invocation) = self.ask_for(caller, plan, &spec).await {
            self.follow(caller, &invocation).await;
        }
    }

    /// Fights for a door, sometimes to share it.
    async fn locked(&self, caller: u64, call: u64, plan: Plan, ms: u64) {
        let (door, alone) = (format!("door-{}", call % DOORS), !call.is_multiple_of(3));
        let tool = if plan.idempotent { AGAIN } else { ONCE };
        let mut spec = self.spec(&plan.key, tool, format!(r#"{{"ms":{ms},"door":"{door}","alone":{alone}}}"#));
        let mode = if alone { "exclusive" } else { "shared" }.to_owned();
        spec.resource_locks.push(v1::ResourceLock { key: door.clone(), mode, ..Default::default() });
        spec.lock_domain = "doors".to_owned();
        let plan = Plan { locks: vec![(door, alone)], ..plan };
        if let Some(invocation) = self.ask_for(caller, plan, &spec).await {
            self.follow(caller, &invocation).await;
        }
    }

    async fn canceled(&self, caller: u64, plan: Plan) {
        let tool = if plan.idempotent { AGAIN } else { ONCE };
        let at_once = self.mix.cancel_at_once;
        let ms = if at_once { caller % 8 * 4 } else { 150 };
        let spec = self.spec(&plan.key, tool, format!(r#"{{"ms":{ms}}}"#));
        let Some(invocation) = self.ask_for(caller, plan, &spec).await else { return };
        toolplane_wait::pause(
            Duration::from_millis(if at_once { caller % 5 * 7 } else { caller % 4 * 25 }),
            "cancellations come at different moments of a call",
        )
        .await;
        let request = v1::CancelInvocationRequest {
            invocation_id: invocation.clone(),
            reason: "the storm".to_owned(),
            requested_by: format!("caller-{caller}"),
            request_id: uuid::Uuid::new_v4().to_string(),
        };
        for attempt in 0..20 {
            let mut client = self.client(caller + attempt).invocations();
            let asked = client.cancel_invocation(request.clone());
            match tokio::time::timeout(PATIENCE, asked).await {
                Ok(Err(status)) if is_doubtful(&status) => {
                    toolplane_wait::pause(PAUSE, "callers come back after a while").await
                }
                Err(_) => {}
                Ok(_) => break,
            }
        }
        self.follow(caller, &invocation).await;
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
