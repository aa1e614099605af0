//! Scopes that have to be settled: the wish is durable in the store, this only says that now would be a good time.

use parking_lot::Mutex;
use tokio::sync::mpsc;
use toolplane_lifecycle::Scope;

/// Scopes that wait for the coordinator. What does not fit is found with its next look into the store.
const BUFFER: usize = 1_024;

/// A bell with names.
#[derive(Debug)]
pub(crate) struct Scopes {
    own: mpsc::Sender<Wish>,
    wishes: Mutex<Option<mpsc::Receiver<Wish>>>,
}

/// A scope to be settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Which.
    pub(crate) scope: Scope,
    /// Another scheduler said so: it will settle the scope itself unless it has died.
    pub(crate) heard: bool,
}

impl Default for Scopes {
    fn default() -> Self {
        let (own, wishes) = mpsc::channel(BUFFER);
        Self { own, wishes: Mutex::new(Some(wishes)) }
    }
}

impl Scopes {
    /// A commit of this process asks to settle `scope`.
    pub(crate) fn ring(&self, scope: Scope) {
        let _ = self.own.try_send(Wish { scope, heard: false });
    }

    /// A commit of another process asks to settle `scope`.
    pub(crate) fn heard(&self, scope: Scope) {
        let _ = self.own.try_send(Wish { scope, heard: true });
    }

    /// The wishes, for the one coordinator of this process.
    pub(crate) fn take(&self) -> Option<mpsc::Receiver<Wish>> {
        self.wishes.lock().take()
    }
}
