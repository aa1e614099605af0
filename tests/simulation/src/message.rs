//! What the parts of the simulated cluster say to each other.

use toolplane_lifecycle::LeaseKey;
use toolplane_records::ids::InvocationId;
use toolplane_records::vocabulary::InvocationStatus;

use crate::calls::{Kind, WantedBatch, WantedCall};

/// A process of the cluster, or its one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// A scheduler.
    Scheduler(usize),
    /// A worker.
    Worker(usize),
    /// The client.
    Client,
}

/// How a simulated execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It did what it should.
    Succeeded,
    /// The tool failed.
    Failed,
    /// Something it needs was not there; an idempotent call is repeated.
    Unavailable,
    /// It was told to stop, and did.
    Canceled,
}

/// One message.
#[derive(Clone, Debug)]
pub enum Message {
    // --- to a scheduler, from the client ---
    /// Accept a call.
    Submit(WantedCall),
    /// Accept a batch.
    SubmitBatch(WantedBatch),
    /// Cancel a call.
    Cancel(InvocationId),
    /// Answer the question whether a call may run.
    Decide(InvocationId, bool),
    /// Answer the question of a running tool.
    ProvideInput(InvocationId, String),
    /// What is the state of a call?
    Look(InvocationId),
    // --- to a scheduler, from a worker ---
    /// First on every connection.
    Hello {
        /// Which worker.
        worker: usize,
        /// Which start of it.
        life: u64,
        /// What it still runs.
        held: Vec<LeaseKey>,
        /// Results it kept over its own death.
        finished: Vec<(LeaseKey, Ending)>,
    },
    /// May a call that must not start twice start?
    StartRequested(LeaseKey),
    /// A tool asks a question.
    Asked(LeaseKey, String),
    /// An execution ended.
    Done(LeaseKey, Ending),
    /// A cancel request arrived; whether the execution can be stopped.
    CancelSeen(LeaseKey, bool),
    /// An offer arrived.
    Received(LeaseKey),
    /// The worker lives and holds these.
    Beat {
        /// Which worker.
        worker: usize,
        /// Which start of it.
        life: u64,
        /// What it holds.
        leases: Vec<LeaseKey>,
    },
    /// The worker leaves for another scheduler.
    HangUp(usize, u64),
    // --- to a worker ---
    /// The connection of this life of it did not come about, or broke.
    Refused(u64),
    /// Run a call.
    Offer {
        /// Under this lease.
        lease: LeaseKey,
        /// With this fence.
        fence: u64,
        /// With this fence of its lock, 0 without one.
        lock_fence: u64,
        /// What kind of call it is.
        kind: Kind,
    },
    /// The call may start.
    StartGranted(LeaseKey),
    /// The call must not start.
    StartRefused(LeaseKey),
    /// Stop.
    Stop(LeaseKey),
    /// The lease is void.
    Fenced(LeaseKey),
    /// The question is answered.
    Answer(LeaseKey, String),
    /// The ending is durable.
    Acknowledged(LeaseKey),
    /// A beat was stored.
    Renewed(Vec<LeaseKey>),
    // --- to the client ---
    /// A call was accepted, or had been.
    Accepted(InvocationId),
    /// The permission service has to decide whether a call may run.
    DecisionWanted(InvocationId),
    /// A tool asks.
    InputWanted(InvocationId, String),
    /// The state of a call; with the bytes of its result once it has ended.
    Stands(InvocationId, InvocationStatus, Option<Vec<u8>>),
}
