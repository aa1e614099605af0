//! What all parts share: simulated time, the wire, the store, the outside world, and the trace of the run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write as _;

use toolplane_lifecycle::LeaseKey;
use toolplane_records::time::Timestamp;

use crate::ledger::Ledger;
use crate::message::{Address, Message};
use crate::random::Random;
use crate::storage::Storage;

/// Where simulated time begins.
const EPOCH_MS: i64 = 1_700_000_000_000;

/// A rule that is broken on purpose, to see that the checks notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// Reports under an old lease are taken as if they came under the current one.
    DropFence,
    /// A lost call is repeated although it may have had its effect.
    RepeatNonIdempotent,
    /// A call that was accepted before is accepted again.
    SkipDedupe,
    /// Locks are granted to everybody.
    BargeLocks,
}

/// What is to happen at an instant.
#[derive(Clone, Debug)]
pub enum Event {
    /// A message arrives, unless its receiver has died since.
    Deliver(Box<Message>),
    /// A part wakes up by itself.
    Wake(Alarm),
}

/// Why a part wakes up.
#[derive(Clone, Debug)]
pub enum Alarm {
    /// Its regular round.
    Round,
    /// An execution has run its time.
    Finish(LeaseKey),
}

/// One entry of the queue of events.
#[derive(Debug)]
pub struct Due {
    /// When.
    pub at: i64,
    /// Order of entries of one instant.
    pub number: u64,
    /// For whom.
    pub to: Address,
    /// For which life of the receiver.
    pub life: u64,
    /// What.
    pub event: Event,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// Whether a process lives, and for how often it was started.
#[derive(Clone, Copy, Debug)]
pub struct Life {
    /// Which start.
    pub number: u64,
    /// Runs, or stands still.
    pub alive: bool,
    /// Stands still until then.
    pub paused_until: i64,
}

/// The shared part of the world.
#[derive(Debug)]
pub struct Env {
    /// Milliseconds since the run began.
    pub now: i64,
    /// How far the store's clock has jumped ahead.
    pub jumped: i64,
    /// The only source of chance.
    pub random: Random,
    /// The store.
    pub storage: Storage,
    /// What tools did to the outside.
    pub ledger: Ledger,
    /// Every process.
    pub lives: BTreeMap<Address, Life>,
    /// Messages are lost once in so many; never when 0.
    pub loss: u64,
    /// A rule broken on purpose.
    pub mutant: Option<Mutant>,
    /// Fence of the last lease.
    pub fence: u64,
    queue: BinaryHeap<Reverse<Due>>,
    number: u64,
    trace: Option<String>,
    hash: u64,
}

impl Env {
    /// A world in which nothing has happened. With `keep_trace`, every step is kept as text.
    pub fn new(seed: u64, mutant: Option<Mutant>, keep_trace: bool) -> Self {
        Self {
            now: 0,
            jumped: 0,
            random: Random::new(seed),
            storage: Storage::default(),
            ledger: Ledger::default(),
            lives: BTreeMap::new(),
            loss: 50,
            mutant,
            fence: 0,
            queue: BinaryHeap::new(),
            number: 0,
            trace: keep_trace.then(String::new),
            hash: 0xcbf2_9ce4_8422_2325,
        }
    }

    /// The store's clock.
    pub fn clock(&self) -> Timestamp {
        Timestamp::from_millis(EPOCH_MS + self.now + self.jumped)
    }

    /// Whether a rule is broken on purpose.
    pub fn is_broken(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    /// A fence above all others.
    pub fn next_fence(&mut self) -> u64 {
        self.fence += 1;
        self.fence
    }

    /// Sends a message. It arrives late, twice, out of order, or not at all.
    pub fn send(&mut self, from: Address, to: Address, message: Message) {
        if self.loss > 0 && self.random.once_in(self.loss) {
            self.note(format_args!("lost {from:?} -> {to:?}: {message:?}"));
            return;
        }
        let copies = if self.random.once_in(60) { 2 } else { 1 };
        for _ in 0..copies {
            let slow = self.random.once_in(40);
            let delay = if slow { self.random.between(50, 900) } else { self.random.between(1, 12) };
            self.at(delay, to, Event::Deliver(Box::new(message.clone())));
        }
    }

    /// Lets `to` wake up after `delay` milliseconds, if it still lives this life.
    pub fn wake(&mut self, delay: i64, to: Address, alarm: Alarm) {
        self.at(delay, to, Event::Wake(alarm));
    }

    fn at(&mut self, delay: i64, to: Address, event: Event) {
        self.number += 1;
        let life = self.lives.get(&to).map_or(0, |life| life.number);
        self.queue.push(Reverse(Due { at: self.now + delay, number: self.number, to, life, event }));
    }

    /// The next thing to happen; time moves on to it. What stands still gets it when it goes on.
    pub fn happen(&mut self) -> Option<Due> {
        loop {
            let Reverse(mut due) = self.queue.pop()?;
            self.now = self.now.max(due.at);
            let Some(life) = self.lives.get(&due.to) else { return Some(due) };
            if !life.alive || life.number != due.life {
                continue;
            }
            if life.paused_until > self.now {
                due.at = life.paused_until;
                self.queue.push(Reverse(due));
                continue;
            }
            return Some(due);
        }
    }

    /// Takes down one step of the run.
    pub fn note(&mut self, what: std::fmt::Arguments<'_>) {
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(line, "{} {what}", self.now);
        for byte in line.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if let Some(trace) = &mut self.trace {
            trace.push_str(&line);
        }
    }

    /// The hash of every step so far, and the steps themselves where they are kept.
    pub fn into_trace(self) -> (u64, String) {
        (self.hash, self.trace.unwrap_or_default())
    }
}
