//! One read for many that ask at once.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// Whoever asks while a read is on its way waits for the next one, which all of them share: each gets an answer that is at
/// least as new as its question, and a store that is far away is asked once a round trip instead of once a call.
#[derive(Debug)]
pub(crate) struct SharedRead<A> {
    turn: tokio::sync::Mutex<()>,
    begun: AtomicU64,
    /// The number of the last read that ended, and its answer.
    last: Mutex<Option<(u64, A)>>,
}

impl<A> Default for SharedRead<A> {
    fn default() -> Self {
        Self { turn: tokio::sync::Mutex::default(), begun: AtomicU64::new(0), last: Mutex::new(None) }
    }
}

impl<A: Clone> SharedRead<A> {
    /// What `read` answers, or what it answered somebody else who began to read after this was called. Failures are
    /// shared too, so that no one waits behind the timeouts of others.
    pub(crate) async fn ask(&self, read: impl AsyncFnOnce() -> A) -> A {
        let enough = self.begun.load(Ordering::SeqCst) + 1;
        let _turn = self.turn.lock().await;
        if let Some((number, answer)) = &*self.last.lock()
            && *number >= enough
        {
            return answer.clone();
        }
        // One that is dropped on its way leaves a number without an answer, and the next in turn reads.
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let answer = read().await;
        *self.last.lock() = Some((number, answer.clone()));
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt as _;
    use futures_util::future::join_all;
    use tokio::sync::Semaphore;

    use super::*;

    /// Something that changes, and a reader that takes its time.
    #[derive(Default)]
    struct Far {
        value: AtomicU64,
        reads: AtomicU64,
        shared: SharedRead<u64>,
    }

    impl Far {
        async fn ask(&self, way: &Semaphore) -> u64 {
            let read = async || {
                self.reads.fetch_add(1, Ordering::SeqCst);
                let value = self.value.load(Ordering::SeqCst);
                way.acquire().await.expect("never closed").forget();
                value
            };
            self.shared.ask(read).await
        }
    }

    #[tokio::test]
    async fn who_asks_meanwhile_shares_the_next_read() {
        let (far, way) = (Far::default(), Semaphore::new(0));
        let mut first = Box::pin(far.ask(&way));
        assert!(first.as_mut().now_or_never().is_none(), "on its way");
        far.value.store(1, Ordering::SeqCst);
        let mut others = Box::pin(join_all((0..50).map(|_| far.ask(&way))));
        assert!(others.as_mut().now_or_never().is_none());
        way.add_permits(2);
        let (first, others) = tokio::join!(first, others);
        assert_eq!((first, far.reads.load(Ordering::SeqCst)), (0, 2));
        assert!(others.iter().all(|answer| *answer == 1), "an answer from before the question: {others:?}");
        way.add_permits(1);
        far.value.store(2, Ordering::SeqCst);
        assert_eq!(far.ask(&way).await, 2, "what was answered before is no answer");
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_holds_nobody_up() {
        let (far, way) = (Far::default(), Semaphore::new(0));
        let mut first = Box::pin(far.ask(&way));
        assert!(first.as_mut().now_or_never().is_none());
        let mut second = Box::pin(far.ask(&way));
        assert!(second.as_mut().now_or_never().is_none(), "waits for its turn");
        drop(first);
        far.value.store(7, Ordering::SeqCst);
        way.add_permits(1);
        assert_eq!((second.await, far.reads.load(Ordering::SeqCst)), (7, 2));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_answer_is_older_than_its_question() {
        let far = Arc::new(Far::default());
        let way = Arc::new(Semaphore::new(usize::MAX >> 4));
        let callers = (0..8).map(|_| {
            let (far, way) = (Arc::clone(&far), Arc::clone(&way));
            tokio::spawn(async move {
                for _ in 0..500 {
                    let written = far.value.fetch_add(1, Ordering::SeqCst) + 1;
                    assert!(far.ask(&way).await >= written);
                }
            })
        });
        join_all(callers).await.into_iter().for_each(|caller| caller.expect("no caller fails"));
    }
}
