//! A run: two schedulers, three workers, one client and one store, and everything that goes wrong between them.

use std::collections::BTreeMap;

use crate::calls;
use crate::check::{self, Broken};
use crate::client::Client;
use crate::env::{Alarm, Due, Env, Event, Life, Mutant};
use crate::message::Address;
use crate::scheduler::Scheduler;
use crate::worker::Worker;

/// Schedulers of a run.
const SCHEDULERS: usize = 2;
/// Workers of a run.
const WORKERS: usize = 3;
/// Simulated milliseconds in which things go wrong.
const TROUBLE_MS: i64 = 12_000;
/// Simulated milliseconds after which everything must have ended.
const END_MS: i64 = 90_000;

/// What a run shows.
#[derive(Debug)]
pub struct Report {
    /// Every broken promise.
    pub broken: Vec<Broken>,
    /// Calls whose acceptance was acknowledged.
    pub accepted: usize,
    /// Times a process died.
    pub deaths: u64,
    /// Executions begun.
    pub executions: usize,
    /// Hash over every step.
    pub hash: u64,
    /// Every step, when they were kept.
    pub trace: String,
}

/// How a run is made.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Where all chance comes from.
    pub seed: u64,
    /// Single calls.
    pub calls: usize,
    /// Batches.
    pub batches: usize,
    /// A rule broken on purpose.
    pub mutant: Option<Mutant>,
    /// Keep every step as text.
    pub keep_trace: bool,
}

impl Settings {
    /// The usual load with this seed.
    pub fn of(seed: u64) -> Self {
        Self { seed, calls: 24, batches: 2, mutant: None, keep_trace: false }
    }
}

/// Something that goes wrong at an instant.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    Kill(Address),
    Revive(Address),
    Pause(Address, i64),
    JumpClock(i64),
}

struct World {
    env: Env,
    schedulers: Vec<Scheduler>,
    workers: Vec<Worker>,
    client: Client,
    trouble: BTreeMap<(i64, usize), Trouble>,
    deaths: u64,
}

/// Makes one run from its beginning until everything has ended, and checks it.
pub fn run(settings: Settings) -> Report {
    let mut world = World::new(settings);
    world.start();
    world.go_on();
    let World { env, client, deaths, .. } = world;
    let broken = check::all(&env, &client);
    let (accepted, executions) = (client.accepted.len(), env.ledger.effects.len());
    let (hash, trace) = env.into_trace();
    Report { broken, accepted, deaths, executions, hash, trace }
}

impl World {
    fn new(settings: Settings) -> Self {
        let mut env = Env::new(settings.seed, settings.mutant, settings.keep_trace);
        let mut client = Client::default();
        for number in 0..settings.calls {
            let at = env.random.between(0, TROUBLE_MS * 3 / 4);
            client.calls.push((at, calls::call(number, &mut env.random)));
        }
        for number in 0..settings.batches {
            let at = env.random.between(0, TROUBLE_MS * 3 / 4);
            client.batches.push((at, calls::batch(number, 1_000 + number * 100, &mut env.random)));
        }
        let trouble = plan(&mut env);
        let schedulers = (0..SCHEDULERS).map(|number| Scheduler::new(number, &env)).collect();
        let workers = (0..WORKERS).map(Worker::new).collect();
        Self { env, schedulers, workers, client, trouble, deaths: 0 }
    }

    fn start(&mut self) {
        for number in 0..SCHEDULERS {
            self.revive(Address::Scheduler(number));
        }
        for number in 0..WORKERS {
            self.revive(Address::Worker(number));
        }
        self.client.start(&mut self.env);
    }

    fn go_on(&mut self) {
        while let Some(due) = self.env.happen() {
            self.make_trouble();
            if self.env.now > END_MS || (self.env.now > TROUBLE_MS && self.is_over()) {
                return;
            }
            self.happen(due);
        }
    }

    /// Everything wanted was accepted, has ended, and was seen to.
    fn is_over(&self) -> bool {
        let calls = self.client.calls.len();
        let in_batches: usize = self.client.batches.iter().map(|(_, batch)| batch.calls.len()).sum();
        self.client.results.len() == calls + in_batches && self.env.storage.unsettled().is_empty()
    }

    fn happen(&mut self, due: Due) {
        let Due { to, event, life, .. } = due;
        // Trouble may have come between the event and this moment.
        if self.env.lives.get(&to).is_some_and(|now| now.number != life || !now.alive) {
            return;
        }
        match (to, event) {
            (Address::Client, Event::Wake(_)) => self.client.round(&mut self.env),
            (Address::Client, Event::Deliver(message)) => self.client.take(*message, &mut self.env),
            (Address::Worker(number), event) => {
                let Some(worker) = self.workers.get_mut(number) else { return };
                match event {
                    Event::Wake(alarm) => worker.wake(alarm, &mut self.env),
                    Event::Deliver(message) => worker.take(*message, &mut self.env),
                }
            }
            (Address::Scheduler(number), event) => {
                let Some(scheduler) = self.schedulers.get_mut(number) else { return };
                match event {
                    Event::Wake(Alarm::Finish(_)) => {}
                    Event::Wake(Alarm::Round) => scheduler.round(&mut self.env),
                    Event::Deliver(message) => scheduler.take(*message, &mut self.env),
                }
                if scheduler.died {
                    let back = self.env.random.between(50, 1_500);
                    self.kill(to);
                    self.later(back, Trouble::Revive(to));
                }
            }
        }
    }

    fn make_trouble(&mut self) {
        while let Some(entry) = self.trouble.first_entry().filter(|entry| entry.key().0 <= self.env.now) {
            match entry.remove() {
                Trouble::Kill(who) => self.kill(who),
                Trouble::Revive(who) => self.revive(who),
                Trouble::Pause(who, time) => {
                    let until = self.env.now + time;
                    if let Some(life) = self.env.lives.get_mut(&who) {
                        life.paused_until = until;
                    }
                    self.env.note(format_args!("paused {who:?} for {time}"));
                }
                Trouble::JumpClock(by) => {
                    self.env.jumped += by;
                    self.env.note(format_args!("the clock jumped by {by}"));
                }
            }
        }
        if self.env.now > TROUBLE_MS {
            self.env.loss = 0;
        }
    }

    fn later(&mut self, delay: i64, trouble: Trouble) {
        let number = self.trouble.len() + 10_000 + usize::try_from(self.deaths).unwrap_or(0);
        self.trouble.insert((self.env.now + delay, number), trouble);
    }

    fn kill(&mut self, who: Address) {
        if let Some(life) = self.env.lives.get_mut(&who).filter(|life| life.alive) {
            life.alive = false;
            self.deaths += 1;
            self.env.note(format_args!("killed {who:?}"));
        }
    }

    fn revive(&mut self, who: Address) {
        let before = self.env.lives.get(&who).copied();
        if before.is_some_and(|life| life.alive) {
            return;
        }
        let number = before.map_or(1, |life| life.number + 1);
        self.env.lives.insert(who, Life { number, alive: true, paused_until: 0 });
        self.env.note(format_args!("started {who:?}"));
        match who {
            Address::Scheduler(number) => {
                let fresh = Scheduler::new(number, &self.env);
                fresh.start(&mut self.env);
                if let Some(scheduler) = self.schedulers.get_mut(number) {
                    *scheduler = fresh;
                }
            }
            Address::Worker(number) => {
                if let Some(worker) = self.workers.get_mut(number) {
                    worker.start(&mut self.env);
                }
            }
            Address::Client => {}
        }
    }
}

/// What goes wrong in a run, decided before it begins.
fn plan(env: &mut Env) -> BTreeMap<(i64, usize), Trouble> {
    let mut trouble = BTreeMap::new();
    let mut at = 0;
    for number in 0.. {
        at += env.random.between(100, 1_200);
        if at > TROUBLE_MS {
            break;
        }
        let who = match env.random.index(SCHEDULERS + WORKERS) {
            process if process < SCHEDULERS => Address::Scheduler(process),
            process => Address::Worker(process - SCHEDULERS),
        };
        let what = match env.random.below(20) {
            0..9 => Trouble::Kill(who),
            9..19 => Trouble::Pause(who, env.random.between(20, 3_000)),
            _ => Trouble::JumpClock(env.random.between(1_000, 600_000)),
        };
        if matches!(what, Trouble::Kill(_)) {
            let back = env.random.between(20, 2_500);
            trouble.insert((at + back, 2 * number + 1), Trouble::Revive(who));
        }
        trouble.insert((at, 2 * number), what);
    }
    trouble
}
