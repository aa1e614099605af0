//! How much room the disk has left, and when the rest of it is kept for work that is under way.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::options::EmbeddedOptions;

// Asking costs a few microseconds; in between, what was written since is subtracted.
const ASK_EVERY: Duration = Duration::from_secs(1);

// What the log and the tables take for a byte of commits, at most, roughly.
const DISK_FACTOR: u64 = 4;

/// Tells how many bytes are free.
pub(crate) trait SpaceSource: Send {
    /// A directory on that disk.
    fn path(&self) -> &Path;
    /// Bytes this user may still write.
    fn free(&self) -> io::Result<u64>;
}

/// The filesystem this directory lies on.
pub(crate) struct RealSpace(pub(crate) PathBuf);

impl SpaceSource for RealSpace {
    fn path(&self) -> &Path {
        &self.0
    }

    fn free(&self) -> io::Result<u64> {
        let found = rustix::fs::statvfs(&self.0)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }
}

/// What a commit may count on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// There is room.
    Enough,
    /// What is left is for essential commits.
    Short {
        /// Where.
        path: PathBuf,
        /// The room there is, in bytes.
        free: u64,
        /// The reserve, in bytes.
        reserve: u64,
    },
}

/// Knows how much room there is without asking each time.
pub(crate) struct SpaceWatch {
    source: Box<dyn SpaceSource>,
    reserve: u64,
    free: u64,
    written: u64,
    asked: Option<Instant>,
}

impl SpaceWatch {
    pub(crate) fn new(source: Box<dyn SpaceSource>, options: &EmbeddedOptions) -> Self {
        Self { source, reserve: options.reserve_bytes, free: u64::MAX, written: 0, asked: None }
    }

    /// Takes note of `bytes` written to the log.
    pub(crate) fn note_written(&mut self, bytes: usize) {
        self.written = self.written.saturating_add(bytes as u64 * DISK_FACTOR);
    }

    /// How much room there is at `now`.
    pub(crate) fn look(&mut self, now: Instant) -> Space {
        if self.reserve == 0 {
            return Space::Enough;
        }
        let long_ago = self.asked.is_none_or(|asked| now.saturating_duration_since(asked) >= ASK_EVERY);
        if long_ago || self.written > self.reserve / 4 {
            self.ask(now);
        }
        let free = self.free.saturating_sub(self.written);
        if free >= self.reserve {
            return Space::Enough;
        }
        Space::Short { path: self.source.path().to_owned(), free, reserve: self.reserve }
    }

    fn ask(&mut self, now: Instant) {
        (self.asked, self.written) = (Some(now), 0);
        match self.source.free() {
            Ok(free) => self.free = free,
            // Not knowing is no reason to refuse: a full disk still fails the write itself.
            Err(error) => {
                tracing::warn!(%error, "the free space of the store's disk cannot be read");
                self.free = u64::MAX;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use super::{Space, SpaceSource, SpaceWatch};
    use crate::EmbeddedOptions;

    #[derive(Clone, Default)]
    struct Scripted {
        free: Arc<AtomicU64>,
        asked: Arc<AtomicU64>,
    }

    impl SpaceSource for Scripted {
        fn path(&self) -> &Path {
            Path::new("/store")
        }

        fn free(&self) -> io::Result<u64> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            match self.free.load(Ordering::Relaxed) {
                u64::MAX => Err(io::Error::other("unknown")),
                free => Ok(free),
            }
        }
    }

    fn watch(reserve_bytes: u64, free: u64) -> (SpaceWatch, Scripted) {
        let source = Scripted::default();
        source.free.store(free, Ordering::Relaxed);
        let options = EmbeddedOptions { reserve_bytes, ..EmbeddedOptions::default() };
        (SpaceWatch::new(Box::new(source.clone()), &options), source)
    }

    #[test]
    fn it_asks_once_a_second_and_after_much_was_written() {
        let (mut watch, source) = watch(1_000, 5_000);
        let start = Instant::now();
        for millis in [0, 1, 500, 999] {
            assert_eq!(watch.look(start + Duration::from_millis(millis)), Space::Enough);
        }
        assert_eq!(source.asked.load(Ordering::Relaxed), 1);
        source.free.store(999, Ordering::Relaxed);
        let short = Space::Short { path: "/store".into(), free: 999, reserve: 1_000 };
        assert_eq!(watch.look(start + Duration::from_secs(1)), short);
        assert_eq!(source.asked.load(Ordering::Relaxed), 2);
        source.free.store(1_000, Ordering::Relaxed);
        assert_eq!(watch.look(start + Duration::from_secs(1)), short, "not asked again yet");
        watch.note_written(100);
        assert_eq!(watch.look(start + Duration::from_secs(1)), Space::Enough);
        assert_eq!(source.asked.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn what_was_written_since_counts_as_gone() {
        let (mut watch, _source) = watch(1_000, 1_100);
        let now = Instant::now();
        assert_eq!(watch.look(now), Space::Enough);
        watch.note_written(40);
        assert_eq!(watch.look(now), Space::Short { path: "/store".into(), free: 940, reserve: 1_000 });
    }

    #[test]
    fn not_knowing_and_not_caring_refuse_nothing() {
        assert_eq!(watch(1_000, u64::MAX).0.look(Instant::now()), Space::Enough);
        let (mut careless, source) = watch(0, 0);
        assert_eq!(careless.look(Instant::now()), Space::Enough);
        assert_eq!(source.asked.load(Ordering::Relaxed), 0);
    }
}
