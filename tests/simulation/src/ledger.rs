//! What tools did to the outside world: the truth that no report can change.

use toolplane_records::ids::InvocationId;
use toolplane_records::vocabulary::LockMode;

/// One execution, as the outside saw it.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The call.
    pub id: InvocationId,
    /// Which lease of it.
    pub lease_no: u32,
    /// The fence it was handed.
    pub fence: u64,
    /// How it holds the lock, when it has one.
    pub lock: Option<LockMode>,
    /// The fence of its grant of the lock; 0 without a lock.
    pub lock_fence: u64,
    /// When it began.
    pub begun: i64,
    /// When it was done; nothing when it was killed before.
    pub done: Option<i64>,
}

/// Every execution, in the order they began.
#[derive(Debug, Default)]
pub struct Ledger {
    /// The executions.
    pub effects: Vec<Effect>,
}

impl Ledger {
    /// An execution begins; the answer names it.
    pub fn begin(&mut self, effect: Effect) -> usize {
        self.effects.push(effect);
        self.effects.len() - 1
    }

    /// An execution had its effect.
    pub fn done(&mut self, effect: usize, at: i64) {
        if let Some(effect) = self.effects.get_mut(effect) {
            effect.done = Some(at);
        }
    }
}
