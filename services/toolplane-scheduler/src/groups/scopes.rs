//! Scopes that have to be settled: the wish is durable in the store, this only says that now would be a good time.

use tokio::sync::mpsc;
use toolplane_lifecycle::Scope;

/// Scopes that wait to be settled. What does not fit is found with the next look into the store.
const BUFFER: usize = 1_024;

/// Wakes the part that settles scopes. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ScopeBell(mpsc::Sender<Scope>);

impl ScopeBell {
    /// A bell, and the scopes it was rung for.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Scope>) {
        let (bell, scopes) = mpsc::channel(BUFFER);
        (Self(bell), scopes)
    }

    /// A commit of this process asks to settle `scope`.
    pub(crate) fn ring(&self, scope: Scope) {
        let _ = self.0.try_send(scope);
    }
}
