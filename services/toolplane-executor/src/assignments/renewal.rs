//! For how long a lease is certain to be in force.

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::moment::Moment;

/// When a lease was renewed, and by what.
#[derive(Debug)]
pub(crate) struct Renewal {
    taken: Moment,
    newest: Mutex<Newest>,
    renewed: Notify,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    /// When the request was sent that the newest renewal answered.
    sent: Moment,
    /// Nothing was answered yet: the offer itself came at `sent`, and how long it travelled is not known.
    only_offered: bool,
}

impl Renewal {
    /// Of a lease that was offered just now.
    pub(crate) fn offered() -> Self {
        let now = Moment::now();
        Self { taken: now, newest: Mutex::new(Newest { sent: now, only_offered: true }), renewed: Notify::new() }
    }

    /// The lease was renewed by a request sent at `sent`.
    pub(crate) fn renewed(&self, sent: Moment) {
        let mut newest = self.newest.lock();
        *newest = Newest { sent: newest.sent.max(sent), only_offered: false };
        drop(newest);
        self.renewed.notify_waiters();
    }

    /// Resolves with the next renewal after this was called and polled once.
    pub(crate) fn next(&self) -> impl Future<Output = ()> {
        self.renewed.notified()
    }

    /// Since when the call is here.
    pub(crate) fn taken(&self) -> Moment {
        self.taken
    }

    /// When the request was sent that renewed the lease last; when the offer came, before the first.
    pub(crate) fn last(&self) -> Moment {
        self.newest.lock().sent
    }

    /// Whether no renewal was answered yet.
    pub(crate) fn only_offered(&self) -> bool {
        self.newest.lock().only_offered
    }
}
