//! The clock by which ages are told, handed in so that tests can turn it.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Says what time it is. It stands still while a machine sleeps; a token that ended meanwhile is refused by its provider, and
/// renewed then.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Instant + Send + Sync>);

impl Clock {
    /// A clock of one's own; it must not go back.
    pub fn new(now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    pub(crate) fn now(&self) -> Instant {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(Instant::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
