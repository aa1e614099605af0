//! Output of a tool, kept within a bound: its beginning and its end.

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
    /// Whether bytes between head and tail were left out, or the tree was killed for writing too much.
    pub truncated: bool,
}

impl Captured {
    /// A stream of which somebody else has read `total_bytes` so far; nothing of it was kept.
    pub(crate) fn of_others(total_bytes: u64) -> Self {
        Self { total_bytes, truncated: total_bytes > 0, ..Self::default() }
    }

    /// Bytes between head and tail that were not kept.
    pub fn omitted_bytes(&self) -> u64 {
        self.total_bytes - (self.head.len() + self.tail.len()) as u64
    }

    /// Everything that was kept, in order, without a mark where bytes were left out.
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
        }
    }
}

#[cfg(test)]
mod tests;
