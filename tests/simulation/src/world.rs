//! A run: two schedulers, three workers, one client and one store, and everything that goes wrong between them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::calls;
use crate::check::{self, Broken};
use crate::client::Client;
use crate::env::{Alarm, Due, Env, Event, Life, Shared};
use crate::message::Address;
use crate::scheduler::Scheduler;
use crate::store::SharedStore;
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
    /// Keep every step as text.
    pub keep_trace: bool,
}

impl Settings {
    /// The usual load with this seed.
    pub fn of(seed: u64) -> Self {
        Self { seed, calls: 24, batches: 2, keep_trace: false }
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
    env: Shared,
    store: Arc<SharedStore>,
    schedulers: Vec<Scheduler>,
    workers: Vec<Worker>,
    client: Client,
    trouble: BTreeMap<(i64, usize), Trouble>,
    deaths: u64,
}

/// Makes one run from its beginning until everything has ended, and checks it.
///
/// # Panics
/// When no runtime can be made.
#[expect(clippy::expect_used, reason = "a runtime without threads and sockets needs nothing that may be missing")]
pub fn run(settings: Settings) -> Report {
    // One thread, and time that moves on only when no process has anything to do: so each run is the same for its seed.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime on this thread").block_on(async {
        let mut world = World::new(settings);
        world.start();
        world.go_on().await;
        world.schedulers.iter_mut().for_each(Scheduler::kill);
        let World { env, store, client, deaths, .. } = world;
        let mut env = env.lock();
        let broken = check::all(&env, &store, &client);
        let (accepted, executions) = (client.accepted.len(), env.ledger.effects.len());
        let (hash, trace) = env.trace();
        Report { broken, accepted, deaths, executions, hash, trace }
    })
}

impl World {
    fn new(settings: Settings) -> Self {
        let mut env = Env::new(settings.seed, settings.keep_trace);
        let mut client = Client::default();
        for number in 0..settings.calls {
            let at = env.random.between(0, TROUBLE_MS * 3 / 4);
            client.calls.push((at, calls::call(number, &mut env.random)));
        }
        for number in 0..settings.batches {
            let at = env.random.between(0, TROUBLE_MS * 3 / 4);
            client.batches.push((at, calls::batch(number, 1_000 + number * 100, &mut env.random)));
        }
        env.wanted = client.wanted().map(|call| (call.id.clone(), call.clone())).collect();
        let trouble = plan(&mut env);
        let workers = (0..WORKERS).map(Worker::new).collect();
        let (env, store) = (Arc::new(Mutex::new(env)), Arc::default());
        Self { env, store, schedulers: Vec::new(), workers, client, trouble, deaths: 0 }
    }

    fn start(&mut self) {
        for number in 0..SCHEDULERS {
            self.revive(Address::Scheduler(number));
        }
        for number in 0..WORKERS {
            self.revive(Address::Worker(number));
        }
        self.client.start(&mut self.env.lock());
    }

    async fn go_on(&mut self) {
        let changed = self.env.lock().changed.clone();
        loop {
            self.make_trouble();
            let due = self.env.lock().happen();
            if let Some(due) = due {
                self.happen(due);
                continue;
            }
            let (now, next) = {
                let env = self.env.lock();
                (env.now(), env.next_at())
            };
            if now > END_MS || (now > TROUBLE_MS && self.is_over()) {
                return;
            }
            let trouble = self.trouble.first_key_value().map(|((at, _), _)| *at);
            let next = next.into_iter().chain(trouble).min().unwrap_or(END_MS);
            let wait = Duration::from_millis(u64::try_from(next - now).unwrap_or(0).max(1));
            // Whichever comes first: what is known to happen, or news of what happens earlier.
            let _ = tokio::time::timeout(wait, changed.notified()).await;
        }
    }

    /// Everything wanted was accepted, has ended, and was seen to.
    fn is_over(&self) -> bool {
        let calls = self.client.calls.len();
        let in_batches: usize = self.client.batches.iter().map(|(_, batch)| batch.calls.len()).sum();
        self.client.results.len() == calls + in_batches
            && !self.store.indexes().iter().any(|(name, left)| name.starts_with("coordination/") && *left > 0)
    }

    fn happen(&mut self, due: Due) {
        let Due { to, event, .. } = due;
        match (to, event) {
            (Address::Client, Event::Wake(_)) => self.client.round(&mut self.env.lock()),
            (Address::Client, Event::Deliver(message)) => self.client.take(*message, &mut self.env.lock()),
            (Address::Worker(number), event) => {
                let Some(worker) = self.workers.get_mut(number) else { return };
                match event {
                    Event::Wake(alarm) => worker.wake(alarm, &mut self.env.lock()),
                    Event::Deliver(message) => worker.take(*message, &mut self.env.lock()),
                }
            }
            (Address::Scheduler(number), Event::Deliver(message)) => {
                if let Some(scheduler) = self.schedulers.get_mut(number) {
                    scheduler.take(*message);
                }
            }
            // The loops of a scheduler are its own.
            (Address::Scheduler(_), Event::Wake(Alarm::Round | Alarm::Finish(_))) => {}
        }
    }

    fn make_trouble(&mut self) {
        let (now, dying) = {
            let mut env = self.env.lock();
            (env.now(), std::mem::take(&mut env.dying))
        };
        for who in dying {
            let back = self.env.lock().random.between(50, 1_500);
            self.kill(who);
            self.later(now + back, Trouble::Revive(who));
        }
        while let Some(entry) = self.trouble.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Trouble::Kill(who) => self.kill(who),
                Trouble::Revive(who) => self.revive(who),
                Trouble::Pause(who, time) => {
                    let mut env = self.env.lock();
                    if let Some(life) = env.lives.get_mut(&who) {
                        life.paused_until = now + time;
                    }
                    env.note(format_args!("paused {who:?} for {time}"));
                }
                Trouble::JumpClock(by) => {
                    let mut env = self.env.lock();
                    env.jumped += by;
                    env.note(format_args!("the clock jumped by {by}"));
                }
            }
        }
        if now > TROUBLE_MS {
            self.env.lock().loss = 0;
        }
    }

    fn later(&mut self, at: i64, trouble: Trouble) {
        let number = self.trouble.len() + 10_000 + usize::try_from(self.deaths).unwrap_or(0);
        self.trouble.insert((at, number), trouble);
    }

    fn kill(&mut self, who: Address) {
        {
            let mut env = self.env.lock();
            let Some(life) = env.lives.get_mut(&who).filter(|life| life.alive) else { return };
            life.alive = false;
            env.note(format_args!("killed {who:?}"));
        }
        self.deaths += 1;
        match who {
            Address::Scheduler(number) => self.schedulers.iter_mut().skip(number).take(1).for_each(Scheduler::kill),
            // The other end of its streams sees that they broke.
            Address::Worker(number) => {
                self.schedulers.iter_mut().for_each(|scheduler| scheduler.disconnect(number));
            }
            Address::Client => {}
        }
    }

    fn revive(&mut self, who: Address) {
        let life = {
            let mut env = self.env.lock();
            let before = env.lives.get(&who).copied();
            if before.is_some_and(|life| life.alive) {
                return;
            }
            let number = before.map_or(1, |life| life.number + 1);
            env.lives.insert(who, Life { number, alive: true, paused_until: 0 });
            env.note(format_args!("started {who:?}"));
            number
        };
        match who {
            Address::Scheduler(number) => {
                let started = Scheduler::start(number, life, &self.env, &self.store);
                match self.schedulers.get_mut(number) {
                    Some(scheduler) => *scheduler = started,
                    None => self.schedulers.push(started),
                }
            }
            Address::Worker(number) => {
                if let Some(worker) = self.workers.get_mut(number) {
                    worker.start(&mut self.env.lock());
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
