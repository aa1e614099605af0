//! A scheduler of the run: the real one, in a simulated process, with the bus in place of a network.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use toolplane_faultpoint::{Mutant, mutant};
use toolplane_lifecycle::{Command, LeaseKey, accept};
use toolplane_proto::v1;
use toolplane_records::batch::BatchPlace;
use toolplane_records::ids::{ApprovalId, InvocationId, InvocationKey};
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{AbortReason, Behavior, InvocationStatus};
use toolplane_scheduler::simulation::{Durations, Environment, HostProcess, PreparedCall, SimulatedScheduler};

use crate::calls::{self, WantedBatch, WantedCall};
use crate::env::Shared;
use crate::message::{Address, Ending, Message};
use crate::process::SimulatedProcess;
use crate::store::{SharedStore, StoreOf};
use crate::wire;

/// A full lease, milliseconds.
pub const LEASE_MS: i64 = 1_500;
/// The durations of every scheduler.
const DURATIONS: Durations = Durations { lease: 1_500, offer: 500, tick: 100 };

/// One start of a scheduler. Everything in it is lost with its process.
#[derive(Debug)]
pub struct Scheduler {
    address: Address,
    env: Shared,
    process: Arc<SimulatedProcess>,
    real: Arc<OnceLock<SimulatedScheduler>>,
    /// Where the reports of each connected worker go: of which start of it, and its stream.
    streams: BTreeMap<usize, (u64, mpsc::UnboundedSender<v1::WorkRequest>)>,
}

impl Scheduler {
    /// Starts scheduler `number` for the `life`th time.
    pub fn start(number: usize, life: u64, env: &Shared, shared: &Arc<SharedStore>) -> Self {
        let address = Address::Scheduler(number);
        let process = SimulatedProcess::new(env.lock().random.bits());
        let store = StoreOf { who: address, life, env: env.clone(), shared: shared.clone() };
        let real = Arc::new(OnceLock::new());
        let (opened, environment) = (real.clone(), Environment::new(process.clone()));
        process.spawn(Box::pin(async move {
            // A store that does not answer now is a store that does not answer for this whole life.
            if let Ok(scheduler) = SimulatedScheduler::open(Arc::new(store), DURATIONS, environment).await {
                let _ = opened.set(scheduler);
            }
        }));
        Self { address, env: env.clone(), process, real, streams: BTreeMap::new() }
    }

    /// The process dies.
    pub fn kill(&mut self) {
        self.process.kill();
        self.streams.clear();
    }

    /// The connection of a worker broke.
    pub fn disconnect(&mut self, worker: usize) {
        self.streams.remove(&worker);
    }

    /// A message arrives. What comes before the store is open is lost.
    pub fn take(&mut self, message: Message) {
        let Some(real) = self.real.get().cloned() else { return };
        let desk = Desk { address: self.address, env: self.env.clone(), real };
        match message {
            Message::Hello { worker, life, held, finished } => self.connect(desk, worker, life, &held, &finished),
            Message::Beat { worker, life, leases } => {
                self.process.spawn(Box::pin(async move { desk.beat(worker, life, leases).await }));
            }
            Message::HangUp(worker, life) => {
                if self.streams.get(&worker).is_some_and(|(connected, _)| *connected == life) {
                    self.disconnect(worker);
                }
            }
            message => match wire::report(&message) {
                Some((worker, report)) => {
                    if let Some((_, stream)) = self.streams.get(&worker) {
                        let _ = stream.send(wire::request(report));
                    }
                }
                None => self.process.spawn(Box::pin(async move { desk.serve(message).await })),
            },
        }
    }

    fn connect(&mut self, desk: Desk, worker: usize, life: u64, held: &[LeaseKey], finished: &[(LeaseKey, Ending)]) {
        if !desk.env.lock().is_alive(Address::Worker(worker), life) {
            return;
        }
        let (reports, stream) = mpsc::unbounded_channel();
        self.streams.insert(worker, (life, reports));
        let hello = wire::hello(worker, life, held, finished);
        self.process.spawn(Box::pin(async move {
            let to = Address::Worker(worker);
            match desk.real.connect(hello, stream).await {
                Ok(mut commands) => {
                    while let Some(command) = commands.next().await {
                        let wanted = |id: &InvocationId| desk.env.lock().wanted.get(id).cloned();
                        if let Some(message) = wire::told(worker, life, command, wanted) {
                            desk.tell(to, message);
                        }
                    }
                }
                Err(_) => desk.tell(to, Message::Refused(life)),
            }
        }));
    }
}

/// Serves one request.
#[derive(Clone, Debug)]
struct Desk {
    address: Address,
    env: Shared,
    real: SimulatedScheduler,
}

impl Desk {
    fn tell(&self, to: Address, message: Message) {
        self.env.lock().send(self.address, to, message);
    }

    async fn beat(self, worker: usize, life: u64, leases: Vec<LeaseKey>) {
        let request = wire::heartbeat(worker, life, &leases);
        if let Ok(answer) = self.real.heartbeat(request).await {
            for message in wire::heard(worker, life, leases, answer) {
                self.tell(Address::Worker(worker), message);
            }
        }
    }

    async fn serve(self, message: Message) {
        match message {
            Message::Submit(wanted) => self.submit(wanted).await,
            Message::SubmitBatch(wanted) => self.submit_batch(wanted).await,
            Message::Cancel(id) => {
                let cancel = Command::RequestCancel {
                    requested_by: "client".to_owned(),
                    message: String::new(),
                    abort_reason: AbortReason::UserInterruption,
                };
                self.command(&id, cancel).await;
            }
            Message::Decide(id, yes) => self.decide(&id, yes).await,
            Message::ProvideInput(id, question) => {
                let input = Some(JsonPayload::from_checked(&b"\"yes\""[..]));
                let answer = Command::ProvideInput { input_id: question, input, by: "client".to_owned() };
                self.command(&id, answer).await;
            }
            Message::Look(id) => self.look(&id).await,
            _ => {}
        }
    }

    fn key(&self, id: &InvocationId) -> Option<InvocationKey> {
        self.env.lock().wanted.get(id).map(WantedCall::key)
    }

    async fn command(&self, id: &InvocationId, command: Command) {
        if let Some(key) = self.key(id) {
            // Refusals are no news to the client: it looks.
            let _ = self.real.command(&key, command).await;
        }
    }

    async fn submit(&self, wanted: WantedCall) {
        let asked = wanted.id.clone();
        let Some(call) = self.prepared(&self.deduplicated(wanted).await, None) else { return };
        if let Ok(record) = self.real.accept(call).await {
            self.tell(Address::Client, Message::Accepted(asked));
            self.remind(&record);
        }
    }

    /// The call under the id it is accepted with. That the same key is the same call is for the preparation to see to, which is
    /// not part of a simulation: so is the mutant that does not.
    async fn deduplicated(&self, wanted: WantedCall) -> WantedCall {
        if !mutant(Mutant::SkipDedupe) || self.real.look(&wanted.key()).await.is_err() {
            return wanted;
        }
        let mut env = self.env.lock();
        let id = InvocationId::from_trusted(format!("{}_again{}", wanted.id, env.random.bits() % 10_000));
        let again = WantedCall { id: id.clone(), ..wanted };
        env.wanted.insert(id, again.clone());
        again
    }

    fn prepared(&self, wanted: &WantedCall, place: Option<BatchPlace>) -> Option<PreparedCall> {
        let now = self.env.lock().clock();
        let mut acceptance = calls::acceptance(wanted, place);
        if mutant(Mutant::BargeLock) {
            acceptance.resource_locks.clear();
        }
        let transition = accept(acceptance, calls::preparation(wanted, now), now).ok()?;
        Some(PreparedCall { transition, input: calls::input(), plan: calls::plan() })
    }

    /// All calls of a batch, or none.
    async fn submit_batch(&self, wanted: WantedBatch) {
        let place = |index| BatchPlace { batch_id: wanted.id.clone(), index };
        let prepared = (0..).zip(&wanted.calls).map(|(index, (call, _))| self.prepared(call, Some(place(index))));
        let Some(prepared) = prepared.collect::<Option<Vec<_>>>() else { return };
        let batch = calls::batch_record(&wanted, self.env.lock().clock());
        if self.real.accept_batch(batch, prepared).await.unwrap_or(false) {
            for (call, _) in &wanted.calls {
                self.tell(Address::Client, Message::Accepted(call.id.clone()));
            }
        }
    }

    async fn decide(&self, id: &InvocationId, yes: bool) {
        let behavior = if yes { Behavior::Allow } else { Behavior::Deny };
        let decision = calls::decision(id, behavior, self.env.lock().clock());
        let approval_id = ApprovalId::from_trusted(calls::approval_of(id));
        let command = match yes {
            true => Command::Approve { approval_id, decision, edit: None },
            false => Command::Reject { approval_id, decision, expired: false },
        };
        self.command(id, command).await;
    }

    async fn look(&self, id: &InvocationId) {
        let Some(key) = self.key(id) else { return };
        let Ok((record, terminal)) = self.real.look(&key).await else { return };
        let result = terminal.and_then(|terminal| serde_json::to_vec(&terminal).ok());
        self.tell(Address::Client, Message::Stands(id.clone(), record.status, result));
        self.remind(&record);
    }

    /// Tells the client what the call waits for; a lost message is repeated with the next look.
    fn remind(&self, record: &Invocation) {
        let id = record.invocation_id.clone();
        if record.status == InvocationStatus::AwaitingApproval {
            self.tell(Address::Client, Message::DecisionWanted(id.clone()));
        }
        if let Some(question) = record.pending_input.as_ref().filter(|question| question.answer.is_none()) {
            self.tell(Address::Client, Message::InputWanted(id, question.input_id.clone()));
        }
    }
}
