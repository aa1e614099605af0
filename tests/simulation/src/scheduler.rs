//! A simulated scheduler: the pure decisions over the model store, with a memory that a crash empties.

mod answers;
mod coordinate;
mod dispatch;
mod reports;

use std::collections::{BTreeMap, BTreeSet};

use toolplane_lifecycle::{Command, Effect, Refusal, Timer, Transition};
use toolplane_records::ids::InvocationId;
use toolplane_records::invocation::Invocation;
use toolplane_records::vocabulary::InvocationStatus;
use toolplane_store::{CommitOutcome, ScoreRange};

use crate::env::{Alarm, Env};
use crate::message::{Address, Message};
use crate::storage::{self, Draft, Stored};

/// A full lease.
pub const LEASE_MS: i64 = 1_500;
/// How long an offer waits for its receipt.
const OFFER_MS: i64 = 500;
/// Milliseconds between two rounds.
const ROUND_MS: i64 = 100;
/// A scheduler whose rounds are further apart than this has not watched.
const STEADY_MS: i64 = 1_000;

/// A connected worker.
#[derive(Clone, Debug)]
struct Link {
    life: u64,
    busy: BTreeSet<InvocationId>,
}

/// One scheduler. Everything in it is lost with its process.
#[derive(Debug)]
pub struct Scheduler {
    number: usize,
    /// Records as this process stored them last; another scheduler may have changed them since.
    hot: BTreeMap<InvocationId, Stored<Invocation>>,
    links: BTreeMap<usize, Link>,
    fairness: toolplane_lifecycle::fairness::Drr,
    watched_since: i64,
    last_round: i64,
    last_clock: i64,
    /// The process dies at this point of its work.
    pub(crate) died: bool,
}

/// Why a command was not applied.
enum Failed {
    Refused(Refusal),
    Unknown,
    Died,
}

impl Scheduler {
    /// A scheduler that was just started.
    pub fn new(number: usize, env: &Env) -> Self {
        Self {
            number,
            hot: BTreeMap::new(),
            links: BTreeMap::new(),
            fairness: toolplane_lifecycle::fairness::Drr::default(),
            watched_since: env.now,
            last_round: env.now,
            last_clock: env.clock().as_millis(),
            died: false,
        }
    }

    /// The process starts.
    pub fn start(&self, env: &mut Env) {
        env.wake(1 + i64::try_from(self.number).unwrap_or(0) * 37, self.address(), Alarm::Round);
    }

    fn address(&self) -> Address {
        Address::Scheduler(self.number)
    }

    fn tell(&self, to: Address, message: Message, env: &mut Env) {
        env.send(self.address(), to, message);
    }

    /// The record and its version: as remembered, or as stored.
    fn load(&mut self, id: &InvocationId, env: &Env) -> Option<Stored<Invocation>> {
        match self.hot.remove(id) {
            Some(hot) => Some(hot),
            None => env.storage.invocation(id),
        }
    }

    /// Applies a command, however often somebody else is faster.
    fn command(
        &mut self,
        id: &InvocationId,
        command: impl Fn(&Invocation) -> Command,
        env: &mut Env,
    ) -> Result<Transition, Failed> {
        loop {
            let Some((version, record)) = self.load(id, env) else { return Err(Failed::Unknown) };
            match toolplane_lifecycle::apply(&record, command(&record), env.clock()) {
                Err(refusal) => {
                    // What was remembered may be old: only the store can refuse.
                    let stored = env.storage.invocation(id);
                    if stored.as_ref().is_some_and(|(now, _)| *now != version) {
                        continue;
                    }
                    self.hot.insert(id.clone(), (version, record));
                    return Err(Failed::Refused(refusal));
                }
                Ok(transition) => {
                    let mut draft = Draft::default();
                    draft.transition(&transition, Some(version));
                    if env.storage.commit(draft.into_commit()) != CommitOutcome::Applied {
                        continue;
                    }
                    self.applied(&transition, Some(version), env)?;
                    return Ok(transition);
                }
            }
        }
    }

    /// After a commit: what is remembered, and the messages that follow. A crash may come first.
    fn applied(&mut self, transition: &Transition, version: Option<u64>, env: &mut Env) -> Result<(), Failed> {
        let record = &transition.invocation;
        env.note(format_args!("stored {} {} seq {}", record.invocation_id, record.status, record.last_seq));
        if env.loss > 0 && env.random.once_in(300) {
            self.died = true;
            return Err(Failed::Died);
        }
        let id = record.invocation_id.clone();
        if record.lease.is_none() {
            for link in self.links.values_mut() {
                link.busy.remove(&id);
            }
        }
        if record.status.is_terminal() {
            self.hot.remove(&id);
        } else {
            self.hot.insert(id, (version.unwrap_or(0) + 1, record.clone()));
        }
        for effect in &transition.effects {
            self.message(effect, env);
        }
        Ok(())
    }

    fn message(&self, effect: &Effect, env: &mut Env) {
        let (worker, message) = match effect {
            Effect::SendCancel { worker_id, lease, .. } => (worker_id, Message::Stop(lease.clone())),
            Effect::SendFenced { worker_id, lease } => (worker_id, Message::Fenced(lease.clone())),
            Effect::SendInput { worker_id, lease, input_id, .. } => {
                (worker_id, Message::Answer(lease.clone(), input_id.clone()))
            }
            _ => return,
        };
        // A worker that is connected elsewhere hears of it with its next beat.
        let number = dispatch::number_of(worker);
        if self.links.contains_key(&number) {
            self.tell(Address::Worker(number), message, env);
        }
    }

    /// The regular round: due timers, what has to be settled, waiting calls.
    pub fn round(&mut self, env: &mut Env) {
        env.wake(ROUND_MS, self.address(), Alarm::Round);
        self.watch(env);
        self.links.retain(|number, link| {
            let life = env.lives.get(&Address::Worker(*number));
            life.is_some_and(|life| life.alive && life.number == link.life)
        });
        self.sweep(env);
        self.coordinate(env);
        self.dispatch(env);
    }

    /// A scheduler that was stopped, or whose clock jumped, has not seen who gave signs of life meanwhile.
    fn watch(&mut self, env: &Env) {
        let clock = env.clock().as_millis();
        if env.now - self.last_round > STEADY_MS || clock - self.last_clock > STEADY_MS {
            self.watched_since = env.now;
        }
        (self.last_round, self.last_clock) = (env.now, clock);
    }

    fn sweep(&mut self, env: &mut Env) {
        for timer in Timer::ALL {
            if *timer == Timer::Lease && env.now - self.watched_since < LEASE_MS {
                continue;
            }
            let due = ScoreRange::up_to(storage::score(env.clock()));
            for entry in env.storage.scan(&storage::timers(*timer), due, 64) {
                let id = InvocationId::from_trusted(&entry.member);
                let repeats = env.is_broken(crate::env::Mutant::RepeatNonIdempotent) && *timer == Timer::Lease;
                if repeats {
                    self.repeat_whatever_it_is(&id, env);
                }
                if matches!(self.command(&id, |_| Command::Fire(*timer), env), Err(Failed::Died)) {
                    return;
                }
            }
        }
    }

    /// What the mutant does instead of the ambiguity table.
    fn repeat_whatever_it_is(&mut self, id: &InvocationId, env: &Env) {
        if let Some((version, mut record)) = env.storage.invocation(id) {
            record.safety.is_idempotent = true;
            if let Some(dispatch) = &mut record.dispatch {
                dispatch.max_attempts = 5;
            }
            self.hot.insert(id.clone(), (version, record));
        }
    }

    /// A message arrives.
    pub fn take(&mut self, message: Message, env: &mut Env) {
        match message {
            Message::Submit(wanted) => self.submit(&wanted, env),
            Message::SubmitBatch(wanted) => self.submit_batch(&wanted, env),
            Message::Cancel(id) => self.cancel(&id, env),
            Message::Decide(id, yes) => self.decide(&id, yes, env),
            Message::ProvideInput(id, question) => self.provide_input(&id, &question, env),
            Message::Look(id) => self.look(&id, env),
            Message::Hello { worker, life, held, finished } => self.hello(worker, life, held, finished, env),
            Message::StartRequested(lease) => self.start_requested(lease, env),
            Message::Asked(lease, question) => self.asked(&lease, question, env),
            Message::Done(lease, ending) => self.done(lease, ending, env),
            Message::CancelSeen(lease) => self.cancel_seen(&lease, env),
            Message::Beat(worker, leases) => self.beat(worker, leases, env),
            _ => {}
        }
        if !self.died {
            self.coordinate(env);
        }
        if !self.died {
            self.dispatch(env);
        }
    }
}

/// Whether a refusal says that the invocation has ended.
fn has_ended(failed: &Failed) -> bool {
    matches!(failed, Failed::Refused(Refusal::Terminal(_)))
}

/// Whether an invocation in this state waits for a person's word.
fn waits_for_a_person(status: InvocationStatus) -> bool {
    status == InvocationStatus::AwaitingApproval
}
