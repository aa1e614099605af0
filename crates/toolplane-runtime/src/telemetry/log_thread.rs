//! How lines of the log leave the process: on a thread of their own, many at a time.
//!
//! Each call leaves lines. Who writes one waits for no reader and wakes nobody: lines gather for a moment, and the thread writes what there
//! is. A warning or an error does not wait for others. None is lost while the process lives; where the reader is so slow that very much
//! waits, who logs waits too.
//!
//! At the end of the process a slow reader is waited for, and not for ever. Then the lines that are left are dropped, and the last line says
//! how many they were. Only whole lines are written, in pieces that a pipe takes whole or not at all, so none is torn. A reader that
//! takes nothing any more cannot be told.

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
/// What is written at once, at most, but for a line that is longer: a pipe takes so much whole or not at all (`PIPE_BUF`).
const PIECE: usize = 4096;
/// How long the last lines may take, and after that the one that says how many are lost.
const LAST_LINES: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(1)];

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
    bounds: Bounds,
}

#[derive(Clone, Copy, Debug)]
struct Bounds {
    gather: Duration,
    most_bytes: usize,
    last_lines: [Duration; 2],
}

/// Makes the line that says how many are lost.
type LostLine = Box<dyn FnOnce(usize) -> Vec<u8> + Send>;

#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// It is written without waiting for more.
    hurry: bool,
    ending: bool,
    /// The reader took too long: what is not written yet is lost.
    given_up: bool,
    /// The thread writes nothing any more.
    ended: bool,
}

impl LogThread {
    /// Starts it; lines go to `out`, and so does `lost`, where lines are lost at the end.
    pub(super) fn start(
        out: impl Write + Send + 'static,
        lost: impl FnOnce(usize) -> Vec<u8> + Send + 'static,
    ) -> io::Result<(LogLines, Self)> {
        let bounds = Bounds { gather: GATHER, most_bytes: MOST_BYTES, last_lines: LAST_LINES };
        Self::start_with(out, Box::new(lost), bounds)
    }

    fn start_with(
        mut out: impl Write + Send + 'static,
        lost: LostLine,
        bounds: Bounds,
    ) -> io::Result<(LogLines, Self)> {
        let (waiting, called, done) = Default::default();
        let shared = Arc::new(Shared { waiting, called, done, bounds });
        let own = Arc::clone(&shared);
        std::thread::Builder::new().name("log".to_owned()).spawn(move || own.write_to(&mut out, lost))?;
        Ok((LogLines(Arc::clone(&shared)), Self(shared)))
    }
}

impl Drop for LogThread {
    fn drop(&mut self) {
        let [lines, last_words] = self.0.bounds.last_lines;
        let mut waiting = self.0.waiting.lock();
        waiting.ending = true;
        self.0.called.notify_one();
        self.0.done.wait_while_for(&mut waiting, |waiting| !waiting.ended, lines);
        if waiting.ended {
            return;
        }
        waiting.given_up = true;
        self.0.done.notify_all();
        self.0.done.wait_while_for(&mut waiting, |waiting| !waiting.ended, last_words);
        // Who still logs waits for nothing.
        waiting.ended = true;
        self.0.done.notify_all();
    }
}

/// How much of these lines is written at once.
fn piece_of(lines: &[u8]) -> usize {
    if lines.len() <= PIECE {
        return lines.len();
    }
    let is_end = |byte: &u8| *byte == b'\n';
    let end = lines[..PIECE].iter().rposition(is_end).or_else(|| lines.iter().position(is_end));
    end.map_or(lines.len(), |end| end + 1)
}

fn count(lines: &[u8]) -> usize {
    lines.iter().filter(|byte| **byte == b'\n').count()
}

impl Shared {
    fn write_to(&self, out: &mut impl Write, lost: LostLine) {
        let mut taken = Vec::new();
        while self.take(&mut taken) {
            let mut left = &taken[..];
            while !left.is_empty() && !self.waiting.lock().given_up {
                let (piece, others) = left.split_at(piece_of(left));
                // Where the log cannot be written, that cannot be told either.
                let _ = out.write_all(piece);
                left = others;
            }
            let _ = out.flush();
            if self.waiting.lock().given_up {
                return self.give_up(out, left, lost);
            }
            taken.clear();
            taken.shrink_to(KEPT_BYTES);
        }
    }

    /// Says how many lines are lost: those that are `left` of what was taken, and those that wait.
    fn give_up(&self, out: &mut impl Write, left: &[u8], lost: LostLine) {
        let waiting = std::mem::take(&mut self.waiting.lock().bytes);
        let lines = count(left) + count(&waiting);
        if lines > 0 {
            let _ = out.write_all(&lost(lines)).and_then(|()| out.flush());
        }
        self.waiting.lock().ended = true;
        self.done.notify_all();
    }

    /// Waits for lines and takes what there is; false when there will be none.
    fn take(&self, taken: &mut Vec<u8>) -> bool {
        let mut waiting = self.waiting.lock();
        self.called.wait_while(&mut waiting, |waiting| waiting.bytes.is_empty() && !waiting.ending);
        self.called.wait_while_for(&mut waiting, |waiting| !self.is_urgent(waiting), self.bounds.gather);
        std::mem::swap(taken, &mut waiting.bytes);
        waiting.hurry = false;
        waiting.ended = taken.is_empty();
        self.done.notify_all();
        !waiting.ended
    }

    fn is_urgent(&self, waiting: &Waiting) -> bool {
        waiting.hurry || waiting.ending || waiting.bytes.len() >= self.bounds.most_bytes / 2
    }

    fn put(&self, line: &[u8], hurry: bool) {
        let mut waiting = self.waiting.lock();
        self.done.wait_while(&mut waiting, |waiting| waiting.bytes.len() >= self.bounds.most_bytes && !waiting.ended);
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

    fn lost(lines: usize) -> Vec<u8> {
        format!("{lines} lost\n").into_bytes()
    }

    fn started(gather: Duration, most_bytes: usize) -> (LogLines, LogThread, Receiver<Vec<u8>>) {
        let (sender, receiver) = channel();
        let bounds = Bounds { gather, most_bytes, last_lines: [LONG; 2] };
        let (lines, thread) = LogThread::start_with(Out(sender), Box::new(lost), bounds).unwrap();
        (lines, thread, receiver)
    }

    /// Takes each piece only when it is let in.
    struct Slow {
        out: Out,
        begun: Sender<()>,
        let_in: Receiver<()>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.begun.send(());
            match self.let_in.recv() {
                Ok(()) => self.out.write(bytes),
                Err(_) => Ok(bytes.len()),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
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
    fn a_reader_that_is_too_slow_at_the_end_is_told_how_many_lines_it_lost() {
        let (sender, written) = channel();
        let ((begun, begins), (let_in, waits)) = (channel(), channel());
        let slow = Slow { out: Out(sender), begun, let_in: waits };
        let bounds = Bounds { gather: Duration::ZERO, most_bytes: 1 << 20, last_lines: [Duration::ZERO, LONG] };
        let (lines, thread) = LogThread::start_with(slow, Box::new(lost), bounds).unwrap();
        line(&lines, "first\n", true);
        begins.recv().unwrap();
        (0..3).for_each(|at| line(&lines, &format!("{at}\n"), true));
        std::thread::scope(|scope| {
            scope.spawn(|| drop(thread));
            let shared = &lines.0;
            shared.done.wait_while(&mut shared.waiting.lock(), |waiting| !waiting.given_up);
            // Each is let in only now: the line that was on its way, and the one about the others.
            let_in.send(()).unwrap();
            let_in.send(()).unwrap();
        });
        line(&lines, "late\n", true);
        drop(lines);
        assert_eq!(written.iter().collect::<Vec<_>>(), [&b"first\n"[..], b"3 lost\n"]);
    }

    #[test]
    fn a_reader_that_takes_nothing_holds_up_nobody() {
        let (sender, written) = channel();
        let ((begun, begins), (let_in, waits)) = (channel(), channel());
        let slow = Slow { out: Out(sender), begun, let_in: waits };
        let bounds = Bounds { gather: Duration::ZERO, most_bytes: 8, last_lines: [Duration::ZERO; 2] };
        let (lines, thread) = LogThread::start_with(slow, Box::new(lost), bounds).unwrap();
        line(&lines, "first\n", true);
        begins.recv().unwrap();
        line(&lines, "as much as may wait\n", true);
        drop(thread);
        line(&lines, "late\n", true);
        assert_eq!(written.try_iter().count(), 0);
        drop(let_in);
    }

    #[test]
    fn pieces_are_whole_lines_that_a_pipe_takes_whole() {
        let short = "x".repeat(99) + "\n";
        let long = "y".repeat(2 * PIECE) + "\n";
        let lines = short.repeat(50) + &long + &short + &long;
        let mut left = lines.as_bytes();
        let mut pieces = Vec::new();
        while !left.is_empty() {
            let (piece, others) = left.split_at(piece_of(left));
            assert!(piece.ends_with(b"\n") && (piece.len() <= PIECE || count(piece) == 1), "{}", piece.len());
            pieces.push(count(piece));
            left = others;
        }
        assert_eq!(pieces, [40, 10, 1, 1, 1]);
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
