//! How lines of the log leave the process: on a thread of their own, many at a time.
//!
//! Each call leaves lines. Who writes one waits for no reader and wakes nobody: lines gather for a moment, and the thread writes what there
//! is. A warning or an error does not wait for others. None is lost while the process lives; where the reader is so slow that very much
//! waits, who logs waits too.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// How long a line waits for others.
const GATHER: Duration = Duration::from_millis(10);
/// What may wait at most.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// What is kept for the lines that come next.
const KEPT_BYTES: usize = 256 * 1024;
/// How long the last lines may take.
const LAST_LINES: Duration = Duration::from_secs(5);

/// Takes lines. Clones are the same.
#[derive(Clone, Debug)]
pub(super) struct LogLines(Arc<Shared>);

/// The thread; what waits is written before it goes.
#[derive(Debug)]
pub(super) struct LogThread(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// Something is to be done.
    called: Condvar,
    /// Something was done.
    done: Condvar,
    gather: Duration,
    most_bytes: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// It is written without waiting for more.
    hurry: bool,
    ending: bool,
    /// The thread writes nothing any more.
    ended: bool,
}

impl LogThread {
    /// Starts it; lines go to `out`.
    pub(super) fn start(out: impl Write + Send + 'static) -> io::Result<(LogLines, Self)> {
        Self::start_with(out, GATHER, MOST_BYTES)
    }

    fn start_with(
        mut out: impl Write + Send + 'static,
        gather: Duration,
        most_bytes: usize,
    ) -> io::Result<(LogLines, Self)> {
        let (waiting, called, done) = Default::default();
        let shared = Arc::new(Shared { waiting, called, done, gather, most_bytes });
        let own = Arc::clone(&shared);
        std::thread::Builder::new().name("log".to_owned()).spawn(move || own.write_to(&mut out))?;
        Ok((LogLines(Arc::clone(&shared)), Self(shared)))
    }
}

impl Drop for LogThread {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting.lock();
        waiting.ending = true;
        self.0.called.notify_one();
        self.0.done.wait_while_for(&mut waiting, |waiting| !waiting.ended, LAST_LINES);
    }
}

impl Shared {
    fn write_to(&self, out: &mut impl Write) {
        let mut taken = Vec::new();
        while self.take(&mut taken) {
            // Where the log cannot be written, that cannot be told either.
            let _ = out.write_all(&taken).and_then(|()| out.flush());
            taken.clear();
            taken.shrink_to(KEPT_BYTES);
        }
    }

    /// Waits for lines and takes what there is; false when there will be none.
    fn take(&self, taken: &mut Vec<u8>) -> bool {
        let mut waiting = self.waiting.lock();
        self.called.wait_while(&mut waiting, |waiting| waiting.bytes.is_empty() && !waiting.ending);
        self.called.wait_while_for(&mut waiting, |waiting| !self.is_urgent(waiting), self.gather);
        std::mem::swap(taken, &mut waiting.bytes);
        waiting.hurry = false;
        waiting.ended = taken.is_empty();
        self.done.notify_all();
        !waiting.ended
    }

    fn is_urgent(&self, waiting: &Waiting) -> bool {
        waiting.hurry || waiting.ending || waiting.bytes.len() >= self.most_bytes / 2
    }

    fn put(&self, line: &[u8], hurry: bool) {
        let mut waiting = self.waiting.lock();
        self.done.wait_while(&mut waiting, |waiting| waiting.bytes.len() >= self.most_bytes && !waiting.ended);
        if waiting.ended {
            return;
        }
        let (was_empty, was_urgent) = (waiting.bytes.is_empty(), self.is_urgent(&waiting));
        waiting.bytes.extend_from_slice(line);
        waiting.hurry |= hurry;
        if was_empty || (self.is_urgent(&waiting) && !was_urgent) {
            self.called.notify_one();
        }
    }
}

/// Takes one line.
#[derive(Debug)]
pub(super) struct LogLine<'a> {
    shared: &'a Shared,
    hurry: bool,
}

impl Write for LogLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.shared.put(bytes, self.hurry);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogLines {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> LogLine<'a> {
        LogLine { shared: &self.0, hurry: true }
    }

    fn make_writer_for(&'a self, line: &Metadata<'_>) -> LogLine<'a> {
        LogLine { shared: &self.0, hurry: *line.level() <= Level::WARN }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    struct Out(Sender<Vec<u8>>);

    impl Write for Out {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // The test may have heard enough.
            let _ = self.0.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const LONG: Duration = Duration::from_secs(3600);

    fn started(gather: Duration, most_bytes: usize) -> (LogLines, LogThread, Receiver<Vec<u8>>) {
        let (sender, receiver) = channel();
        let (lines, thread) = LogThread::start_with(Out(sender), gather, most_bytes).unwrap();
        (lines, thread, receiver)
    }

    fn line(lines: &LogLines, text: &str, hurry: bool) {
        LogLine { shared: &lines.0, hurry }.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn lines_gather_until_one_is_urgent_or_there_is_much() {
        let (lines, _thread, written) = started(LONG, 100);
        line(&lines, "one\n", false);
        line(&lines, "two\n", false);
        line(&lines, "three!\n", true);
        assert_eq!(written.recv().unwrap(), b"one\ntwo\nthree!\n");
        line(&lines, "four\n", false);
        let long = "x".repeat(50);
        line(&lines, &long, false);
        assert_eq!(written.recv().unwrap(), format!("four\n{long}").as_bytes());
    }

    #[test]
    fn what_waits_is_written_before_the_end_and_nothing_after_it() {
        let (lines, thread, written) = started(LONG, 100);
        line(&lines, "last\n", false);
        drop(thread);
        line(&lines, "late\n", true);
        assert_eq!(written.iter().flatten().collect::<Vec<u8>>(), b"last\n");
    }

    #[test]
    fn no_line_is_lost_or_torn_where_more_come_than_may_wait() {
        let (lines, thread, written) = started(Duration::ZERO, 64);
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let lines = lines.clone();
                scope.spawn(move || (0..500).for_each(|at| line(&lines, &format!("{writer} {at}\n"), at % 7 == 0)));
            }
        });
        drop(thread);
        let text = String::from_utf8(written.iter().flatten().collect()).unwrap();
        for writer in 0..4 {
            let own = text.lines().filter_map(|line| line.strip_prefix(&format!("{writer} ")));
            assert!(own.eq((0..500).map(|at| at.to_string())), "{writer}");
        }
    }
}
