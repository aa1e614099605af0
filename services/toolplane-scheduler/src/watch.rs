//! Following invocations: updates as they become durable, and the store for whatever was missed.
//!
//! It knows records and their logs, and nothing of who changes them.

mod cursor;
mod fanout;

pub(crate) use cursor::{Watch, WatchItem, Watchers};
pub(crate) use fanout::{Fanout, Subscription};
