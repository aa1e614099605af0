//! Requests under way: each has a mailbox, where what a server says to it waits until its caller takes it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::failure::{Failure, RpcError};
use crate::limits::Limits;
use crate::watch::{Progress, Question};

const WAITING: u8 = 0;
const SENT: u8 = 1;
const WITHDRAWN: u8 = 2;

/// How a request ended.
pub(crate) type Ended = Result<Bytes, Ending>;

/// How a request ended without a result.
#[derive(Clone, Debug)]
pub(crate) enum Ending {
    Refused(RpcError),
    Failed(Failure),
    /// The server does not know the session any more (HTTP, the older way): the request was not taken.
    SessionGone,
}

/// What one request is told.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    /// Whether it has left: waiting, sent, or taken back before it was.
    state: AtomicU8,
    inside: Mutex<Inside>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct Inside {
    ended: Option<Ended>,
    progress: VecDeque<Progress>,
    left_out: u64,
    highest: Option<f64>,
    questions: VecDeque<Asked>,
    withdrawn: Vec<Bytes>,
}

/// A question of a server with the id of its request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) id: Bytes,
    pub(crate) question: Question,
}

/// Something to do for a caller.
#[derive(Debug)]
pub(crate) enum Told {
    Ended(Ended),
    Progress(Progress),
    Question(Asked),
    /// The server took the question with this id back.
    Withdrawn(Bytes),
}

impl Mailbox {
    /// The transport is about to send; `false` when the caller has gone.
    pub(crate) fn leave(&self) -> bool {
        self.state.compare_exchange(WAITING, SENT, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The transport knows that nothing has left after all.
    pub(crate) fn not_left(&self) {
        self.state.store(WAITING, Ordering::Release);
    }

    /// The caller goes: whether the request may have reached the server.
    pub(crate) fn give_up(&self) -> bool {
        self.state.compare_exchange(WAITING, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire) == Err(SENT)
    }

    /// Whether the request may have reached the server.
    pub(crate) fn is_sent(&self) -> bool {
        self.state.load(Ordering::Acquire) == SENT
    }

    /// The first end counts.
    pub(crate) fn end(&self, ended: Ended) {
        self.inside.lock().ended.get_or_insert(ended);
        self.bell.notify_one();
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.inside.lock().ended.is_some()
    }

    /// Progress only grows; what does not, and what nobody takes in time, is counted.
    pub(crate) fn progress(&self, progress: Progress, limits: &Limits) {
        let mut inside = self.inside.lock();
        if inside.highest.is_some_and(|highest| progress.progress <= highest) {
            inside.left_out += 1;
            return;
        }
        inside.highest = Some(progress.progress);
        if inside.progress.len() >= limits.progress {
            inside.progress.pop_front();
            inside.left_out += 1;
        }
        inside.progress.push_back(progress);
        drop(inside);
        self.bell.notify_one();
    }

    /// Keeps a question until the caller can be asked; `false` when too many wait.
    pub(crate) fn ask(&self, asked: Asked, limits: &Limits) -> bool {
        let mut inside = self.inside.lock();
        if inside.questions.len() >= limits.questions {
            return false;
        }
        inside.questions.push_back(asked);
        drop(inside);
        self.bell.notify_one();
        true
    }

    /// The server does not want an answer any more.
    pub(crate) fn withdraw(&self, id: &Bytes, limits: &Limits) {
        let mut inside = self.inside.lock();
        let before = inside.questions.len();
        inside.questions.retain(|asked| asked.id != *id);
        if inside.questions.len() == before && inside.withdrawn.len() < limits.questions {
            inside.withdrawn.push(id.clone());
            drop(inside);
            self.bell.notify_one();
        }
    }

    /// Waits for the next thing to do; for questions where the caller can take one. Nothing is lost when the wait is dropped.
    pub(crate) async fn next(&self, questions: bool) -> Told {
        loop {
            if let Some(told) = self.take(questions) {
                return told;
            }
            self.bell.notified().await;
        }
    }

    fn take(&self, questions: bool) -> Option<Told> {
        let mut inside = self.inside.lock();
        if let Some(progress) = inside.progress.pop_front() {
            return Some(Told::Progress(progress));
        }
        if let Some(id) = inside.withdrawn.pop() {
            return Some(Told::Withdrawn(id));
        }
        if let Some(ended) = inside.ended.take() {
            return Some(Told::Ended(ended));
        }
        if questions { inside.questions.pop_front().map(Told::Question) } else { None }
    }

    /// Reports of progress that nobody was shown.
    pub(crate) fn left_out(&self) -> u64 {
        self.inside.lock().left_out
    }
}
