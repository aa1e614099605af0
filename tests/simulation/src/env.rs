//! What all parts share: simulated time, the wire, the store, the outside world, and the trace of the run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write as _;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use toolplane_lifecycle::LeaseKey;
use toolplane_records::ids::InvocationId;
use toolplane_records::time::Timestamp;

use crate::calls::WantedCall;
use crate::ledger::Ledger;
use crate::message::{Address, Message};
use crate::random::Random;
use crate::store::Fate;

/// Where simulated time begins.
const EPOCH_MS: i64 = 1_700_000_000_000;

/// The world, as everything in it has it.
pub type Shared = Arc<Mutex<Env>>;

/// Whether a process may take its next step.
#[derive(Clone, Copy, Debug)]
pub enum Turn {
    /// Yes.
    Now,
    /// It looks again after so many milliseconds: the store is slow, or the process is paused.
    After(u64),
    /// It is dead.
    Never,
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
    /// Runs, or is paused.
    pub alive: bool,
    /// Is paused until then.
    pub paused_until: i64,
}

/// The shared part of the world.
#[derive(Debug)]
pub struct Env {
    /// How far the store's clock has jumped ahead.
    pub jumped: i64,
    /// The only source of chance.
    pub random: Random,
    /// What tools did to the outside.
    pub ledger: Ledger,
    /// Every process.
    pub lives: BTreeMap<Address, Life>,
    /// Messages are lost once in so many; never when 0.
    pub loss: u64,
    /// What the client asked for, by id.
    pub wanted: BTreeMap<InvocationId, WantedCall>,
    /// Processes that die now.
    pub dying: Vec<Address>,
    /// Something is to happen earlier than was known before.
    pub changed: Arc<Notify>,
    began: Instant,
    /// When a slow step of the store ends, by whose it is.
    slow: BTreeMap<Address, i64>,
    queue: BinaryHeap<Reverse<Due>>,
    number: u64,
    trace: Option<String>,
    hash: u64,
}

impl Env {
    /// A world in which nothing has happened. With `keep_trace`, every step is kept as text.
    pub fn new(seed: u64, keep_trace: bool) -> Self {
        Self {
            jumped: 0,
            random: Random::new(seed),
            ledger: Ledger::default(),
            lives: BTreeMap::new(),
            loss: 50,
            wanted: BTreeMap::new(),
            dying: Vec::new(),
            changed: Arc::default(),
            began: Instant::now(),
            slow: BTreeMap::new(),
            queue: BinaryHeap::new(),
            number: 0,
            trace: keep_trace.then(String::new),
            hash: 0xcbf2_9ce4_8422_2325,
        }
    }

    /// The store's clock.
    pub fn clock(&self) -> Timestamp {
        Timestamp::from_millis(EPOCH_MS + self.now() + self.jumped)
    }

    /// Milliseconds since the run began.
    pub fn now(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    /// Which start of a process lives, or lived last.
    pub fn life(&self, who: Address) -> u64 {
        self.lives.get(&who).map_or(0, |life| life.number)
    }

    /// Whether this start of a process lives.
    pub fn is_alive(&self, who: Address, life: u64) -> bool {
        self.lives.get(&who).is_some_and(|now| now.alive && now.number == life)
    }

    /// Whether a process may take its next step in the store, which is slow at times.
    pub fn turn(&mut self, who: Address, life: u64) -> Turn {
        if !self.is_alive(who, life) {
            return Turn::Never;
        }
        let until =
            self.lives.get(&who).map_or(0, |life| life.paused_until).max(self.slow.get(&who).copied().unwrap_or(0));
        if let Ok(wait @ 1..) = u64::try_from(until - self.now()) {
            return Turn::After(wait);
        }
        if self.random.once_in(200) {
            let wait = self.random.between(20, 250);
            self.slow.insert(who, self.now() + wait);
        }
        Turn::Now
    }

    /// What happens to the answer to a commit of `who`.
    pub fn fate_of_commit(&mut self, who: Address) -> Fate {
        if self.loss == 0 {
            return Fate::Answered;
        }
        if self.random.once_in(300) {
            self.dying.push(who);
            self.changed.notify_one();
            return Fate::Dies;
        }
        if self.random.once_in(100) { Fate::AnswerLost } else { Fate::Answered }
    }

    /// Whether a hint does not arrive.
    pub fn loses_hint(&mut self) -> bool {
        self.loss > 0 && self.random.once_in(10)
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
        self.queue.push(Reverse(Due { at: self.now() + delay, number: self.number, to, life, event }));
        self.changed.notify_one();
    }

    /// When the next thing is to happen.
    pub fn next_at(&self) -> Option<i64> {
        self.queue.peek().map(|Reverse(due)| due.at)
    }

    /// The next thing that is due. A paused process gets it when it goes on.
    pub fn happen(&mut self) -> Option<Due> {
        loop {
            if self.next_at()? > self.now() {
                return None;
            }
            let Reverse(mut due) = self.queue.pop()?;
            let Some(life) = self.lives.get(&due.to) else { return Some(due) };
            if !life.alive || life.number != due.life {
                continue;
            }
            if life.paused_until > self.now() {
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
        let _ = writeln!(line, "{} {what}", self.now());
        self.hash_in(line.as_bytes());
        if let Some(trace) = &mut self.trace {
            trace.push_str(&line);
        }
    }

    /// Takes down what was written under a name.
    pub fn note_bytes(&mut self, name: &str, bytes: &[u8]) {
        self.hash_in(name.as_bytes());
        self.hash_in(bytes);
        if let Some(trace) = &mut self.trace {
            let _ = writeln!(trace, "  {name} {}", String::from_utf8_lossy(bytes));
        }
    }

    fn hash_in(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The hash of every step so far, and the steps themselves where they are kept.
    pub fn trace(&mut self) -> (u64, String) {
        (self.hash, self.trace.take().unwrap_or_default())
    }
}
