//! What happened during a run, as lines of JSON: what clients asked and were told, what tools did, what was broken, and what
//! the cluster says at the end. The checker reads only this.
//!
//! Everything runs on one machine, so one clock orders all of it: milliseconds of the wall.

use serde::{Deserialize, Serialize};

mod call;
mod recorder;

pub use call::{
    CallCourse, CallName, FinalBatch, FinalCall, FinalEvent, FinalResult, LockTicket, Member, Report, Step,
};
pub use recorder::{History, Recorder, now_ms};

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What.
    #[serde(flatten)]
    pub record: Record,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A client is going to ask for this call; said before it asks.
    Planned(Plan),
    /// A client asked for a call and got this answer. The same key may be asked for many times.
    Submit {
        /// The call's key.
        key: String,
        /// What came back.
        answer: Answer,
    },
    /// A caller was told the end of a call.
    Observed {
        /// The call.
        invocation: String,
        /// How: `watch`, `get`, `wait`, `invoke`.
        via: String,
        /// Digest of the whole result.
        digest: String,
    },
    /// One connected stretch of a watch.
    Watched {
        /// The watcher; its stretches follow each other.
        watcher: u64,
        /// The call.
        invocation: String,
        /// The sequence it asked from.
        from_seq: u64,
        /// The sequences it was sent.
        seqs: Vec<u64>,
        /// The stretch ended with the result.
        ended: bool,
    },
    /// A tool began or ended its effect.
    Ledger(Effect),
    /// The guarded resource was asked for something.
    Register(Access),
    /// Something was broken.
    Fault(Fault),
    /// Nothing is broken any more.
    Healed,
    /// A simple call after everything was healed.
    Probe {
        /// The client.
        client: u32,
        /// It ended as it should.
        ok: bool,
    },
    /// The cluster's own record of a call, read at the end.
    Call(Box<FinalCall>),
    /// The cluster's own record of a batch, read at the end.
    Batch(FinalBatch),
    /// A call that was accepted and is not there at the end.
    Missing {
        /// The call.
        invocation: String,
    },
    /// A process was asked to end.
    Drained {
        /// Which.
        target: String,
        /// It did within its bound.
        in_time: bool,
    },
    /// Something that must be empty when every call has ended.
    Left {
        /// Its name.
        index: String,
        /// How many members it has.
        members: u64,
    },
    /// A reference in a result, followed.
    Object {
        /// The call.
        invocation: String,
        /// What is wrong with what was found; absent when it is what the reference says.
        problem: Option<String>,
    },
}

/// What a call is meant to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Its idempotency key; the plan's name.
    pub key: String,
    /// Running it again is harmless.
    pub idempotent: bool,
    /// It writes what tools do to the ledger.
    pub ledger: bool,
    /// Keys it locks, each with whether alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<(String, bool)>,
    /// The batch it is part of, and its place there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<(String, u32)>,
    /// It is made to fail.
    #[serde(default)]
    pub fails: bool,
}

/// The answer to a submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Accepted, now or before.
    Accepted {
        /// The call.
        invocation: String,
        /// It had been accepted before.
        duplicate: bool,
    },
    /// Refused for now: there is too much to do.
    Exhausted {
        /// The refusal says when to come again.
        retry_info: bool,
    },
    /// Refused for good.
    Refused {
        /// The status code's name.
        code: String,
    },
    /// It is not known: the connection broke, or there was no answer.
    Unknown,
}

/// The two ends of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// It begins.
    Start,
    /// It is done.
    End,
}

/// A line that a tool wrote, on disk before the tool went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The call.
    pub invocation: String,
    /// The lease it ran under.
    pub lease_no: u32,
    /// The lease's fence.
    pub fence: u64,
    /// The execution of the call, from 1.
    pub attempt: u32,
    /// The worker.
    pub worker: String,
    /// Begin or end.
    pub edge: Edge,
}

/// What the guarded resource was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The resource.
    pub key: String,
    /// For itself alone.
    pub exclusive: bool,
    /// The call.
    pub invocation: String,
    /// The fence of its lock grant; 0 without locks.
    #[serde(default)]
    pub grant: u64,
    /// The fence of its lease, which orders executions under one grant.
    pub fence: u64,
    /// The worker.
    pub worker: String,
    /// What it wanted.
    pub step: AccessStep,
    /// The resource let it.
    pub accepted: bool,
}

/// What is done to the guarded resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessStep {
    /// Goes in.
    Enter,
    /// Changes it.
    Write,
    /// Goes out in order.
    Leave,
    /// Went away: its connection broke.
    Gone,
}

/// Something that was broken, from when to when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What was done: `kill`, `stop`, `partition`, `abort`.
    pub verb: String,
    /// The process or link, e.g. `worker-2`, `scheduler-1`, `store`.
    pub target: String,
    /// When it began.
    pub from_ms: u64,
    /// When the process was ready again.
    pub until_ms: u64,
}
