//! What happens to questions whose answers come by another request than the one that waits for them.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::sync::watch;

/// What a waiting request is told, beside what it sees of its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// The client did not answer, or its answer was not taken: the question stays open, and this says why.
    LeftOpen(String),
}

/// The requests of this process that wait for calls, by call. Where an answer comes by another process, the call itself shows
/// what came of it; only that it was left open is not to be seen there.
#[derive(Debug, Default)]
pub(crate) struct Replies(Mutex<HashMap<String, watch::Sender<Option<Told>>>>);

/// Hears what is told of one call from when it was made.
#[derive(Debug)]
pub(crate) struct Follower(watch::Receiver<Option<Told>>);

impl Follower {
    /// Waits for what is told.
    pub(crate) async fn told(&mut self) -> Told {
        loop {
            if self.0.changed().await.is_err() {
                return std::future::pending().await;
            }
            if let Some(told) = self.0.borrow_and_update().clone() {
                return told;
            }
        }
    }
}

impl Replies {
    /// Hears what is told of a call from now on.
    pub(crate) fn follow(&self, invocation: &str) -> Follower {
        let mut waiting = self.0.lock();
        waiting.retain(|_, sender| sender.receiver_count() > 0);
        Follower(waiting.entry(invocation.to_owned()).or_insert_with(|| watch::channel(None).0).subscribe())
    }

    /// Tells whoever waits for a call here.
    pub(crate) fn tell(&self, invocation: &str, told: Told) {
        if let Some(sender) = self.0.lock().get(invocation) {
            let _ = sender.send(Some(told));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_is_told() {
        let replies = Replies::default();
        let told = Told::LeftOpen("no".to_owned());
        let mut follower = replies.follow("inv_1");
        replies.tell("inv_2", Told::LeftOpen("another".to_owned()));
        replies.tell("inv_1", told.clone());
        assert_eq!(follower.told().await, told);
        drop(follower);
        replies.tell("inv_1", told.clone());
        let mut later = replies.follow("inv_1");
        assert!(futures_util::poll!(std::pin::pin!(later.told())).is_pending(), "told before");
    }
}
