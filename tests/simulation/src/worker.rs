//! A simulated worker: it runs what it is offered, shows signs of life, and keeps results until they are acknowledged.

use std::collections::BTreeMap;

use toolplane_lifecycle::LeaseKey;
use toolplane_records::vocabulary::LockMode;

use crate::calls::Kind;
use crate::env::{Alarm, Env};
use crate::ledger::Effect;
use crate::message::{Address, Ending, Message};
use crate::scheduler::LEASE_MS;

/// Milliseconds between two rounds.
pub const ROUND_MS: i64 = 300;
/// Calls run at a time.
pub const SLOTS: usize = 4;

/// The state of a held call.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// May it start?
    Waiting,
    /// Its effect is under way.
    Running(usize),
    /// It waits for the answer to its question.
    Asking(usize, String),
    /// It has ended so.
    Ended(Ending),
}

#[derive(Clone, Debug)]
struct Held {
    lease: LeaseKey,
    fences: (u64, u64),
    kind: Kind,
    state: State,
    canceled: bool,
    renewed_at: i64,
}

/// One worker.
#[derive(Debug)]
pub struct Worker {
    number: usize,
    scheduler: usize,
    said_hello: bool,
    scheduler_life: u64,
    held: BTreeMap<LeaseOrder, Held>,
    /// On disk: survives the process.
    journal: BTreeMap<LeaseOrder, (LeaseKey, Ending)>,
}

/// A lease as a key that sorts the same in every run.
type LeaseOrder = (String, u32);

fn order(lease: &LeaseKey) -> LeaseOrder {
    (lease.invocation_id.to_string(), lease.lease_no)
}

impl Worker {
    /// A worker that was never started.
    pub fn new(number: usize) -> Self {
        Self {
            number,
            scheduler: 0,
            said_hello: false,
            scheduler_life: 0,
            held: BTreeMap::new(),
            journal: BTreeMap::new(),
        }
    }

    fn address(&self) -> Address {
        Address::Worker(self.number)
    }

    /// The process starts: nothing is in its memory, everything of its earlier life is dead.
    pub fn start(&mut self, env: &mut Env) {
        self.held.clear();
        self.said_hello = false;
        self.connect(env);
        env.wake(ROUND_MS, self.address(), Alarm::Round);
    }

    fn connect(&mut self, env: &mut Env) {
        if self.said_hello {
            self.tell(Message::HangUp(self.number, env.life(self.address())), env);
        }
        self.scheduler = env.random.index(2);
        let scheduler = env.lives.get(&Address::Scheduler(self.scheduler)).copied();
        self.scheduler_life = scheduler.map_or(0, |life| life.number);
        self.said_hello = scheduler.is_some_and(|life| life.alive);
        if self.said_hello {
            let hello = Message::Hello {
                worker: self.number,
                life: env.lives.get(&self.address()).map_or(0, |life| life.number),
                held: self.held.values().map(|held| held.lease.clone()).collect(),
                finished: self.journal.values().cloned().collect(),
            };
            self.tell(hello, env);
        }
    }

    fn tell(&self, message: Message, env: &mut Env) {
        env.send(self.address(), Address::Scheduler(self.scheduler), message);
    }

    /// Something happens by itself.
    pub fn wake(&mut self, alarm: Alarm, env: &mut Env) {
        match alarm {
            Alarm::Finish(lease) => self.finish(&lease, env),
            Alarm::Round => {
                env.wake(ROUND_MS + env.now() % 7, self.address(), Alarm::Round);
                self.round(env);
            }
        }
    }

    /// Once in a while: is the scheduler there, is a lease in doubt, what has not been answered?
    fn round(&mut self, env: &mut Env) {
        let scheduler = env.lives.get(&Address::Scheduler(self.scheduler)).copied();
        let gone = !self.said_hello || scheduler.is_none_or(|life| !life.alive || life.number != self.scheduler_life);
        if gone || env.random.once_in(50) {
            self.connect(env);
        }
        let doubt = env.now() - LEASE_MS * 11 / 15;
        // The holder of an exclusive lock stops before another call may get it.
        self.held.retain(|_, held| held.kind.lock != Some(LockMode::Exclusive) || held.renewed_at > doubt);
        let leases = self.held.values().map(|held| held.lease.clone()).collect();
        self.tell(Message::Beat { worker: self.number, life: env.life(self.address()), leases }, env);
        let open: Vec<Held> = self.held.values().cloned().collect();
        for held in open {
            match held.state {
                State::Waiting => self.tell(Message::StartRequested(held.lease), env),
                State::Asking(_, question) => self.tell(Message::Asked(held.lease, question), env),
                State::Ended(ending) => self.tell(Message::Done(held.lease, ending), env),
                State::Running(_) => {}
            }
        }
    }

    /// A message arrives.
    pub fn take(&mut self, message: Message, env: &mut Env) {
        match message {
            Message::Offer { lease, fence, lock_fence, kind } => self.offered(lease, (fence, lock_fence), kind, env),
            Message::StartGranted(lease) => self.begin(&lease, env),
            Message::StartRefused(lease) | Message::Fenced(lease) | Message::Acknowledged(lease) => {
                self.held.remove(&order(&lease));
                self.journal.remove(&order(&lease));
            }
            Message::Refused(life) if life == env.life(self.address()) => self.said_hello = false,
            Message::Stop(lease) => self.stop(&lease, env),
            Message::Answer(lease, question) => self.answered(&lease, &question, env),
            Message::Renewed(leases) => {
                for lease in leases {
                    if let Some(held) = self.held.get_mut(&order(&lease)) {
                        held.renewed_at = env.now();
                    }
                }
            }
            _ => {}
        }
    }

    fn offered(&mut self, lease: LeaseKey, fences: (u64, u64), kind: Kind, env: &mut Env) {
        let known = self.held.contains_key(&order(&lease)) || self.journal.contains_key(&order(&lease));
        if known || self.held.len() >= SLOTS * 2 {
            return;
        }
        let idempotent = kind.idempotent;
        self.tell(Message::Received(lease.clone()), env);
        let held =
            Held { lease: lease.clone(), fences, kind, state: State::Waiting, canceled: false, renewed_at: env.now() };
        self.held.insert(order(&lease), held);
        if idempotent {
            self.begin(&lease, env);
        } else {
            self.tell(Message::StartRequested(lease), env);
        }
    }

    fn begin(&mut self, lease: &LeaseKey, env: &mut Env) {
        let Some(held) = self.held.get_mut(&order(lease)) else { return };
        if held.state != State::Waiting || held.lease != *lease {
            return;
        }
        let effect = env.ledger.begin(Effect {
            id: lease.invocation_id.clone(),
            lease_no: lease.lease_no,
            fence: held.fences.0,
            lock_fence: held.fences.1,
            lock: held.kind.lock,
            begun: env.now(),
            done: None,
        });
        if held.kind.asks {
            let question = format!("q{}", lease.lease_no);
            held.state = State::Asking(effect, question.clone());
            self.tell(Message::Asked(lease.clone(), question), env);
        } else {
            held.state = State::Running(effect);
            self.run(lease, env);
        }
    }

    fn run(&self, lease: &LeaseKey, env: &mut Env) {
        let time = if env.random.once_in(8) { env.random.between(500, 4_000) } else { env.random.between(1, 200) };
        env.wake(time, self.address(), Alarm::Finish(lease.clone()));
    }

    fn answered(&mut self, lease: &LeaseKey, question: &str, env: &mut Env) {
        let Some(held) = self.held.get_mut(&order(lease)) else { return };
        if let State::Asking(effect, asked) = &held.state
            && asked == question
        {
            held.state = State::Running(*effect);
            self.run(lease, env);
        }
    }

    fn stop(&mut self, lease: &LeaseKey, env: &mut Env) {
        let Some(held) = self.held.get_mut(&order(lease)) else { return };
        let first = !std::mem::replace(&mut held.canceled, true);
        let cancelable = held.kind.cancelable;
        let stops = cancelable && matches!(held.state, State::Running(_) | State::Asking(..));
        self.tell(Message::CancelSeen(lease.clone(), cancelable), env);
        if first && stops {
            self.end(lease, Ending::Canceled, env);
        }
    }

    /// The execution's time is over: it had its effect.
    fn finish(&mut self, lease: &LeaseKey, env: &mut Env) {
        let Some(held) = self.held.get(&order(lease)) else { return };
        let State::Running(effect) = held.state else { return };
        env.ledger.done(effect, env.now());
        let ending = match env.random.below(20) {
            0 => Ending::Failed,
            1 if held.kind.idempotent => Ending::Unavailable,
            _ => Ending::Succeeded,
        };
        self.end(lease, ending, env);
    }

    fn end(&mut self, lease: &LeaseKey, ending: Ending, env: &mut Env) {
        if let Some(held) = self.held.get_mut(&order(lease)) {
            held.state = State::Ended(ending);
            self.journal.insert(order(lease), (lease.clone(), ending));
            self.tell(Message::Done(lease.clone(), ending), env);
        }
    }
}
