//! Calls whose turn came while another task changed them: often the one that made them ready and had yet to let go of them.

use crate::hash::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use toolplane_records::ids::InvocationKey;

use super::queues::ReadyQueues;
use crate::calls::Calls;

/// Wakes the dispatcher when such a call is free. Otherwise it would wait for the dispatcher's own next look, a second later.
#[derive(Debug)]
pub(super) struct PassedOver {
    calls: Calls,
    queues: Arc<ReadyQueues>,
    /// Those a task waits for. One task for each: who waits for a lock stands in the way of those who only try it, and the dispatcher
    /// tries again whenever it is woken.
    awaited: Arc<Mutex<HashSet<InvocationKey>>>,
}

impl PassedOver {
    pub(super) fn new(calls: Calls, queues: Arc<ReadyQueues>) -> Self {
        Self { calls, queues, awaited: Arc::default() }
    }

    /// The dispatcher passes over `id`. Returns at once.
    pub(super) fn add(&self, id: InvocationKey) {
        if !self.awaited.lock().insert(id.clone()) {
            return;
        }
        let (calls, queues, awaited) = (self.calls.clone(), self.queues.clone(), self.awaited.clone());
        self.calls.storage().environment().spawn(async move {
            calls.let_go(&id).await;
            awaited.lock().remove(&id);
            queues.ring();
        });
    }
}
