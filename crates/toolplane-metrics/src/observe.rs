//! Levels that are looked up when somebody reads them, rather than told with each change.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

type Observer = Box<dyn Fn() + Send>;

static OBSERVERS: Mutex<Vec<(u64, Observer)>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Goes on as long as this is kept.
#[derive(Debug)]
#[must_use = "the levels are no longer looked up when this is dropped"]
pub struct Observing(u64);

impl Drop for Observing {
    fn drop(&mut self) {
        OBSERVERS.lock().retain(|(number, _)| *number != self.0);
    }
}

/// `observer` is called each time before everything is read, to set the levels it knows. It returns at once.
pub fn before_collect(observer: impl Fn() + Send + 'static) -> Observing {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    OBSERVERS.lock().push((number, Box::new(observer)));
    Observing(number)
}

pub(crate) fn observe() {
    OBSERVERS.lock().iter().for_each(|(_, observer)| observer());
}
