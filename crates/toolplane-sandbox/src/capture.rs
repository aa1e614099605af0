//! Output of a tool, kept within a bound: its beginning and its end in memory, and where it is longer, all of it in a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::output_file::{OutputFile, OutputWriter};

/// Most bytes of one stream in memory, where longer ones go to a file.
const WINDOW: u64 = 1024 * 1024;

/// Which of the tool's two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl OutputStream {
    /// Where the stream stands in a pair of both.
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Stdout => 0,
            Self::Stderr => 1,
        }
    }

    /// `stdout` or `stderr`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// What was kept of one stream. When nothing was left out, head and tail follow each other without a gap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes.
    pub tail: Vec<u8>,
    /// All bytes that were read, kept or not.
    pub total_bytes: u64,
    /// Line ends that were read.
    pub total_lines: u64,
    /// Whether bytes were left out, or the tree was killed for writing too much.
    pub truncated: bool,
    /// The stream from its first byte on, all of it unless bytes were left out, when it did not fit into head and tail.
    pub file: Option<Arc<OutputFile>>,
}

impl Captured {
    /// A stream of which somebody else has read `total_bytes` so far; nothing of it was kept.
    pub(crate) fn of_others(total_bytes: u64) -> Self {
        Self { total_bytes, truncated: total_bytes > 0, ..Self::default() }
    }

    /// Bytes between head and tail, which are in the [`file`](Self::file) or nowhere.
    pub fn omitted_bytes(&self) -> u64 {
        self.total_bytes.saturating_sub((self.head.len() + self.tail.len()) as u64)
    }

    /// Everything that is in memory, in order, without a mark where bytes were left out.
    pub fn kept(&self) -> Vec<u8> {
        [self.head.as_slice(), self.tail.as_slice()].concat()
    }
}

/// Collects one stream. Memory stays below the bound however much is written.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    head: Vec<u8>,
    /// The last bytes after the head; once it is as long as `half`, the oldest byte is at `start`.
    ring: Vec<u8>,
    start: usize,
    half: usize,
    total_bytes: u64,
    total_lines: u64,
}

impl Capture {
    pub(crate) fn new(kept_bytes: u64) -> Self {
        let half = usize::try_from(kept_bytes / 2).unwrap_or(usize::MAX).max(1);
        Self { head: Vec::new(), ring: Vec::new(), start: 0, half, total_bytes: 0, total_lines: 0 }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.total_bytes += chunk.len() as u64;
        self.total_lines += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
        let (first, rest) = chunk.split_at(chunk.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(first);
        // Only what could still be in the tail afterwards.
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let (filling, over) = rest.split_at(rest.len().min(self.half - self.ring.len()));
        self.ring.extend_from_slice(filling);
        let (to_end, wrapped) = over.split_at(over.len().min(self.half - self.start));
        self.ring[self.start..self.start + to_end.len()].copy_from_slice(to_end);
        self.ring[..wrapped.len()].copy_from_slice(wrapped);
        if !over.is_empty() {
            self.start = (self.start + over.len()) % self.half;
        }
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    pub(crate) fn total_lines(&self) -> u64 {
        self.total_lines
    }

    pub(crate) fn finish(mut self, killed: bool) -> Captured {
        let kept = (self.head.len() + self.ring.len()) as u64;
        self.ring.rotate_left(self.start);
        Captured {
            head: self.head,
            tail: self.ring,
            total_bytes: self.total_bytes,
            total_lines: self.total_lines,
            truncated: killed || kept < self.total_bytes,
            file: None,
        }
    }

    /// All that was read, as long as head and tail follow each other.
    fn whole(&self) -> [&[u8]; 3] {
        let (newest, oldest) = self.ring.split_at(self.start.min(self.ring.len()));
        [&self.head, oldest, newest]
    }

    fn has_room_for(&self, bytes: usize) -> bool {
        self.total_bytes + bytes as u64 <= 2 * self.half as u64
    }
}

/// Puts one stream into a file from when it does not fit into memory.
#[derive(Debug)]
pub(crate) struct Overflow {
    dir: Option<PathBuf>,
    writer: Option<OutputWriter>,
    /// Bytes the file may still take.
    room: u64,
}

impl Overflow {
    /// A stream of which `kept_bytes` are kept, in `dir` where they are too many. Gives how many are held in memory, too.
    pub(crate) fn new(dir: Option<&Path>, kept_bytes: u64) -> (Self, u64) {
        let dir = dir.filter(|_| kept_bytes > WINDOW).map(Path::to_owned);
        let held = if dir.is_some() { WINDOW } else { kept_bytes };
        (Self { dir, writer: None, room: kept_bytes }, held)
    }

    /// What is to be written before `chunk` is taken into `capture`: nothing while that has room for it.
    pub(crate) fn before(&self, capture: &Capture, chunk: &[u8]) -> Option<Vec<u8>> {
        let begins = self.dir.is_some() && self.writer.is_none() && !capture.has_room_for(chunk.len());
        begins.then(|| capture.whole().concat())
    }

    /// Takes the next bytes of the stream. A file that cannot be written is given up: then head and tail are what is left.
    pub(crate) async fn push(&mut self, before: Option<Vec<u8>>, chunk: &[u8]) {
        if let (Some(before), Some(dir)) = (before, &self.dir) {
            match OutputWriter::create(dir).await {
                Ok(writer) => self.writer = Some(writer),
                Err(error) => return self.give_up(&error),
            }
            self.write(&before).await;
        }
        self.write(chunk).await;
    }

    async fn write(&mut self, bytes: &[u8]) {
        let Some(writer) = &mut self.writer else { return };
        let fitting = usize::try_from(self.room).unwrap_or(usize::MAX).min(bytes.len());
        match writer.write(&bytes[..fitting]).await {
            Ok(()) => self.room -= fitting as u64,
            Err(error) => self.give_up(&error),
        }
    }

    fn give_up(&mut self, error: &std::io::Error) {
        tracing::warn!(%error, "an output does not fit into memory and cannot be written to disk: its middle is lost");
        (self.dir, self.writer) = (None, None);
    }

    /// Adds the file to what was captured, if there is one.
    pub(crate) async fn finish(mut self, captured: &mut Captured, killed: bool) {
        let Some(writer) = self.writer.take() else { return };
        match writer.finish().await {
            Ok(file) => {
                captured.truncated = killed || file.size_bytes() < captured.total_bytes;
                captured.file = Some(Arc::new(file));
            }
            Err(error) => self.give_up(&error),
        }
    }
}

#[cfg(test)]
mod tests;
