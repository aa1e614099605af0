//! A scheduler's permission that an execution may start.

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::moment::Moment;

/// The grant of one start: asked for, waited for, given once.
#[derive(Debug, Default)]
pub(crate) struct StartGrant(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    waiting: Option<oneshot::Sender<()>>,
    /// When the scheduler was first asked.
    first: Option<Moment>,
}

impl StartGrant {
    /// Resolves when the start is granted. The scheduler counts as asked from now on.
    pub(crate) fn expect(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let mut asked = self.0.lock();
        asked.first.get_or_insert_with(Moment::now);
        asked.waiting = Some(sender);
        receiver
    }

    /// When the scheduler was first asked, while it has not answered.
    pub(crate) fn awaited_since(&self) -> Option<Moment> {
        let asked = self.0.lock();
        asked.first.filter(|_| asked.waiting.is_some())
    }

    /// The start is granted. A grant that is not waited for changes nothing.
    pub(crate) fn give(&self) {
        if let Some(waiting) = self.0.lock().waiting.take() {
            let _ = waiting.send(());
        }
    }
}
