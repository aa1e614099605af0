//! What a decision gives back: the new record, its log entries and what the store and the cluster must do.

use std::sync::Arc;

use toolplane_records::SmolStr;
use toolplane_records::event::LogEvent;
use toolplane_records::evidence::ExecutionEvidence;
use toolplane_records::hook::ToolHook;
use toolplane_records::ids::{DecisionId, InvocationId, InvocationKey};
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::Digest;
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::result::ToolResult;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::InvocationStatus;

use crate::message::LeaseMessage;
use crate::scope::Scope;

/// The outcome of a legal command. All of it is stored in one atomic commit, or none.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The record as it is from now on.
    pub invocation: Invocation,
    /// New log entries, in order, gapless after the old record's `last_seq`.
    pub events: Vec<LogEvent>,
    /// The terminal result, when this transition made one.
    pub terminal: Option<Terminal>,
    /// What else belongs to the commit or follows from it.
    pub effects: Vec<Effect>,
}

/// A terminal result with the persistence decision behind it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Terminal {
    /// The result: immutable, one per invocation.
    pub result: ToolResult,
    /// How its bytes are kept, when an execution produced any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistence: Option<ResultPersistence>,
    /// The same of its other outputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_persistence: Vec<ResultPersistence>,
    /// Since when what it says is kept beside it is gone, because its time was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs_removed_at: Option<Timestamp>,
}

impl Terminal {
    /// How each of its outputs is kept.
    pub fn decisions(&self) -> impl Iterator<Item = &ResultPersistence> {
        self.persistence.iter().chain(&self.more_persistence)
    }
}

/// Timers of one invocation; there is at most one of each kind. A timer that fires too early or too late changes nothing:
/// the record says what is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The lease ends.
    Lease,
    /// A retry wait ends.
    Retry,
    /// The caller's deadline passes.
    Deadline,
    /// The worker should have reported a timeout by now.
    Execution,
    /// The worker should have stopped a canceled call by now.
    Cancel,
    /// A parked question should have been answered or expired by now.
    Approval,
    /// A tool's question expires.
    Input,
    /// The hooks after a call should have been asked by now. Nothing follows from this timer alone: the scheduler that
    /// sees it takes over with [`Command::TakeHooks`](crate::Command::TakeHooks).
    PostHooks,
}

impl Timer {
    /// Every kind.
    pub const ALL: &'static [Self] = &[
        Self::Lease,
        Self::Retry,
        Self::Deadline,
        Self::Execution,
        Self::Cancel,
        Self::Approval,
        Self::Input,
        Self::PostHooks,
    ];

    /// Stable name, used in store indexes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lease => "lease",
            Self::Retry => "retry",
            Self::Deadline => "deadline",
            Self::Execution => "execution",
            Self::Cancel => "cancel",
            Self::Approval => "approval",
            Self::Input => "input",
            Self::PostHooks => "post_hooks",
        }
    }

    /// The kind with this stable name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|timer| timer.as_str() == name)
    }
}

/// What a transition asks for beside writing the record and its events.
///
/// Effects up to [`Effect::ForgetEnding`] are part of the commit; the others are messages to send once it is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Put the call at its place (by acceptance time) in the ready queue of its pool.
    Enqueue,
    /// Take the call out of the ready queue.
    Dequeue,
    /// Set the timer of this kind, replacing an earlier one.
    SetTimer(Timer, Timestamp),
    /// Clear the timer of this kind, if set.
    ClearTimer(Timer),
    /// What this call shares with others has to be settled: remember it durably, then coordinate.
    Settle(Scope),
    /// Take a place in a counted index; without one the commit is lost.
    TakePermit {
        /// Name of the index.
        index: SmolStr,
        /// It must have fewer entries than this.
        below: u64,
    },
    /// Give the place in a counted index back.
    ReturnPermit {
        /// Name of the index.
        index: SmolStr,
    },
    /// Refuse calls of this tool version with this input for a while: workers die of it.
    Quarantine {
        /// Digest of the tool's version and the input.
        key: Digest,
        /// Until when.
        until: Timestamp,
    },
    /// Keep what a hook did, under the name the record gives it.
    KeepHook {
        /// The name in `hook_refs`.
        hook_ref: SmolStr,
        /// What it did.
        hook: Box<ToolHook>,
    },
    /// Keep what is known of an execution that ended, under its name in `evidence_refs`.
    KeepExecution {
        /// What is known.
        evidence: Arc<ExecutionEvidence>,
    },
    /// Forget the oldest decision but the first ones: newer ones take its place in the record.
    ForgetDecision {
        /// Which one.
        decision_id: DecisionId,
    },
    /// Forget the oldest hook run but the first ones: newer ones take its place in the record.
    ForgetHook {
        /// The name it had in `hook_refs`.
        hook_ref: SmolStr,
    },
    /// Forget the ending that waited for its hooks: they were asked, or the call ended without them.
    ForgetEnding,
    /// Tell the holder of a lease.
    Tell(LeaseMessage),
}

/// Why a command changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The invocation has its terminal result already.
    #[error("the invocation is already {0}")]
    Terminal(InvocationStatus),
    /// The report comes under a lease that is not the current one.
    #[error("the lease is not the current one")]
    Fenced,
    /// The command does not fit the status.
    #[error("{command} is not possible while the invocation is {status}")]
    Illegal {
        /// The command.
        command: &'static str,
        /// The status it found.
        status: InvocationStatus,
    },
    /// The command asks for what is already so, or a timer fired before its time.
    #[error("nothing to do")]
    NothingToDo,
}

impl Transition {
    /// The invocation's id.
    pub fn id(&self) -> &InvocationId {
        &self.invocation.invocation_id
    }

    /// Which call it changes, among those of all tenants.
    pub fn key(&self) -> InvocationKey {
        self.invocation.key()
    }

    /// This transition and the one after it as one.
    #[must_use]
    pub fn then(mut self, next: Self) -> Self {
        self.events.extend(next.events);
        self.effects.extend(next.effects);
        Self { terminal: self.terminal.or(next.terminal), invocation: next.invocation, ..self }
    }
}
