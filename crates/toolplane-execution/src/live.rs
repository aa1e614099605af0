//! What a running program has written so far, shown while it runs: whole lines, at first often and ever more seldom.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use toolplane_records::result::ContentBlock;
use toolplane_sandbox::{OutputStream, OutputTap};

use crate::progress::ProgressSink;

/// Shortest time between two partial results.
const FIRST_INTERVAL: Duration = Duration::from_millis(500);
/// So many are shown at one interval; then it doubles.
const PER_INTERVAL: u32 = 40;
/// Most that one execution shows: what a call may show is shared by all its executions.
const MOST: u32 = 200;
/// Most bytes of one; of more, the last ones are shown.
const MAX_BYTES: usize = 32 * 1024;
/// A line that is longer is shown although it has not ended.
const MAX_LINE: usize = 8 * 1024;

/// Shows the output of one program.
pub(crate) struct LiveOutput {
    sink: Arc<dyn ProgressSink>,
    unseen: Arc<Mutex<[Unseen; 2]>>,
    shown: u32,
    due: Instant,
}

/// What was read of one stream and not shown.
#[derive(Debug, Default)]
struct Unseen {
    bytes: Vec<u8>,
    /// Bytes that were left out before those.
    left_out: u64,
}

impl LiveOutput {
    /// Shows it to `sink`; the tap is for the program's output.
    pub(crate) fn start(sink: &Arc<dyn ProgressSink>) -> (Self, OutputTap) {
        let unseen: Arc<Mutex<[Unseen; 2]>> = Arc::default();
        let tapped = Arc::clone(&unseen);
        let tap = move |stream: OutputStream, chunk: &[u8]| {
            let index = usize::from(stream == OutputStream::Stderr);
            tapped.lock()[index].push(chunk);
        };
        let live = Self { sink: Arc::clone(sink), unseen, shown: 0, due: Instant::now() };
        (live, Box::new(tap))
    }

    /// Shows what there is, if the last time is long enough ago.
    pub(crate) fn note(&mut self) {
        if self.shown >= MOST || Instant::now() < self.due {
            return;
        }
        let [out, err] = {
            let mut unseen = self.unseen.lock();
            let [out, err] = &mut *unseen;
            [out.take(), err.take()]
        };
        let out = out.map(|text| ContentBlock::Text { text });
        let err = err.map(|text| ContentBlock::Log { text, stream: OutputStream::Stderr.as_str().to_owned() });
        let blocks: Vec<ContentBlock> = out.into_iter().chain(err).collect();
        if !blocks.is_empty() {
            self.shown += 1;
            self.due = Instant::now() + FIRST_INTERVAL * 2_u32.saturating_pow((self.shown / PER_INTERVAL).min(16));
            self.sink.show(blocks);
        }
    }
}

impl Unseen {
    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        let over = self.bytes.len().saturating_sub(MAX_BYTES);
        if over > 0 {
            self.left_out += over as u64;
            self.bytes.drain(..over);
        }
    }

    /// The whole lines, and a line that has grown too long to be waited for.
    fn take(&mut self) -> Option<String> {
        let lines = self.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end = if self.bytes.len() - lines > MAX_LINE { self.bytes.len() } else { lines };
        if end == 0 {
            return None;
        }
        let bytes: Vec<u8> = self.bytes.drain(..end).collect();
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            text.insert_str(0, &format!("[{left_out} bytes before this are not shown]\n"));
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::ProgressUpdate;

    #[derive(Default)]
    struct Seen(Mutex<Vec<Vec<ContentBlock>>>);

    impl ProgressSink for Seen {
        fn report(&self, _update: ProgressUpdate) {}

        fn show(&self, blocks: Vec<ContentBlock>) {
            self.0.lock().push(blocks);
        }
    }

    fn text(text: &str) -> ContentBlock {
        ContentBlock::Text { text: text.to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn whole_lines_are_shown_and_halves_wait() {
        let seen = Arc::new(Seen::default());
        let sink: Arc<dyn ProgressSink> = Arc::clone(&seen) as _;
        let (mut live, mut tap) = LiveOutput::start(&sink);
        live.note();
        tap(OutputStream::Stdout, b"one\ntw");
        tap(OutputStream::Stderr, b"careful\n");
        live.note();
        tap(OutputStream::Stdout, b"o\n");
        live.note();
        tokio::time::advance(FIRST_INTERVAL).await;
        live.note();
        let log = ContentBlock::Log { text: "careful\n".into(), stream: "stderr".into() };
        assert_eq!(*seen.0.lock(), [vec![text("one\n"), log], vec![text("two\n")]]);
    }

    #[tokio::test(start_paused = true)]
    async fn much_output_is_shown_by_its_end_and_never_too_often() {
        let seen = Arc::new(Seen::default());
        let sink: Arc<dyn ProgressSink> = Arc::clone(&seen) as _;
        let (mut live, mut tap) = LiveOutput::start(&sink);
        tap(OutputStream::Stdout, &vec![b'x'; 2 * MAX_BYTES]);
        live.note();
        let ContentBlock::Text { text } = seen.0.lock()[0][0].clone() else { panic!("a text") };
        assert!(text.starts_with(&format!("[{MAX_BYTES} bytes before this are not shown]\nxx")));
        for _ in 0..100_000 {
            tap(OutputStream::Stdout, b"a\n");
            live.note();
            tokio::time::advance(Duration::from_millis(250)).await;
        }
        let shown = seen.0.lock().len();
        assert!((100..=MOST as usize).contains(&shown), "{shown}");
    }
}
