//! Masking of bytes that come in pieces.

use std::fmt;
use std::sync::Arc;

use super::Written;
use super::scan::Scan;
use super::table::Table;
use crate::secret::MIN_SECRET_BYTES;

/// Masks what comes in pieces, wherever they are cut. It says at once what cannot be the beginning of a secret, and holds back
/// the rest: at most the longest form of a secret as it may be escaped, about 12 times its length.
pub struct MaskStream {
    state: Option<State>,
}

struct State {
    table: Arc<Table>,
    scan: Scan,
    written: Written,
    /// What was read and not written, from `base` on.
    held: Vec<u8>,
    base: u64,
}

impl MaskStream {
    pub(super) fn new(table: Option<Arc<Table>>) -> Self {
        let state = |table: Arc<Table>| State {
            scan: Scan::new(&table),
            table,
            written: Written::default(),
            held: Vec::new(),
            base: 0,
        };
        Self { state: table.map(state) }
    }

    /// Takes the next piece, and writes what may be shown to the end of `out`.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let Some(state) = &mut self.state else { return out.extend_from_slice(piece) };
        state.scan.read(&state.table, piece);
        state.held.extend_from_slice(piece);
        let settled = state.scan.settled(&state.table);
        state.flush(settled, out);
    }

    /// The bytes are over: writes what was held back.
    pub fn finish(self, out: &mut Vec<u8>) {
        if let Some(mut state) = self.state {
            state.flush(u64::MAX, out);
        }
    }

    /// The bytes were cut off, by a bound or by an error: like [`finish`](Self::finish), but an end that may be the beginning of a
    /// secret and has at least [`MIN_SECRET_BYTES`] bytes of it is masked too.
    pub fn finish_cut(mut self, out: &mut Vec<u8>) {
        if let Some(state) = &mut self.state {
            state.scan.cut(&state.table, MIN_SECRET_BYTES);
        }
        self.finish(out);
    }

    /// How many bytes are held back now.
    pub fn held(&self) -> usize {
        self.state.as_ref().map_or(0, |state| state.held.len())
    }
}

impl State {
    fn flush(&mut self, settled: u64, out: &mut Vec<u8>) {
        let settled = settled.min(self.scan.at());
        // At the end of everything also what begins at its end, which is nothing.
        let spans = self.scan.take(settled);
        self.written.write(&self.table, &self.held, self.base, settled, &spans, out);
        let done = self.written.up_to.max(settled).min(self.scan.at());
        let drop = usize::try_from(done - self.base).unwrap_or(usize::MAX).min(self.held.len());
        self.held.drain(..drop);
        self.base = done;
    }
}

impl fmt::Debug for MaskStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaskStream").field("held", &self.held()).finish_non_exhaustive()
    }
}
