//! Where secrets are in a text that comes in pieces. Knows places and no text, so its memory is bounded by the secrets.

use super::table::{State, Table};
use super::view::{Reading, View};

/// A place that is masked: from `start` up to `end`, for a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) start: u64,
    /// The first byte behind it.
    pub(super) end: u64,
    pub(super) owner: usize,
}

/// The places found so far, and what may become one.
#[derive(Debug)]
pub(super) struct Scan {
    plain: State,
    views: Vec<View>,
    /// How many bytes were read.
    at: u64,
    found: Vec<Span>,
}

impl Scan {
    pub(super) fn new(table: &Table) -> Self {
        let views = Reading::ALL.into_iter().filter(|reading| *reading != Reading::Form || table.has_space);
        Self { plain: table.start(), views: views.map(View::new).collect(), at: 0, found: Vec::new() }
    }

    /// Reads the next piece.
    pub(super) fn read(&mut self, table: &Table, piece: &[u8]) {
        for byte in piece {
            if matches!(byte, b'%' | b'+' | b'\\' | b'\r' | b'\n') {
                for view in self.views.iter_mut().filter(|view| view.reading.is_special(*byte)) {
                    view.wake(table, self.plain, self.at);
                }
            }
            self.plain = table.next(self.plain, *byte);
            if table.is_match(self.plain) {
                for form in table.matches(self.plain) {
                    let end = self.at + 1;
                    note(&mut self.found, table, end - table.form_len(form) as u64, end, form);
                }
            }
            for view in self.views.iter_mut().filter(|view| view.is_awake()) {
                let found = &mut self.found;
                let mut found = |start, end, form| note(found, table, start, end, form);
                view.read(table, *byte, self.at, self.plain, &mut found);
            }
            self.at += 1;
        }
    }

    /// What lies before this place is settled: no secret that is still being read begins there.
    pub(super) fn settled(&self, table: &Table) -> u64 {
        let plain = self.at - table.depth(self.plain) as u64;
        self.views.iter().filter_map(|view| view.open_since(self.at)).fold(plain, u64::min)
    }

    /// How many bytes were read.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The places that begin before `settled`, in order. Others stay.
    pub(super) fn take(&mut self, settled: u64) -> Vec<Span> {
        let mut taken: Vec<Span> = self.found.extract_if(.., |span| span.start < settled).collect();
        taken.sort_unstable();
        taken
    }

    /// The text was cut off here: what may be the beginning of a secret, and is long enough to be one's, counts as one.
    pub(super) fn cut(&mut self, table: &Table, least: usize) {
        let plain = (self.plain, self.at - table.depth(self.plain) as u64);
        let views = self.views.iter().filter_map(|view| Some((view.state()?, view.open_since(self.at)?)));
        let begun = views.chain([plain]).filter(|(state, _)| table.depth(*state) >= least);
        let spans: Vec<(u64, usize)> = begun.filter_map(|(state, at)| Some((at, table.form_begun(state)?))).collect();
        for (start, form) in spans {
            note(&mut self.found, table, start, self.at, form);
        }
    }
}

/// Notes a place, in that before it where they overlap and are of one credential: a text full of one secret is few places.
fn note(found: &mut Vec<Span>, table: &Table, start: u64, end: u64, form: usize) {
    let owner = table.owner(form);
    if let Some(last) = found.last_mut()
        && last.owner == owner
        && start <= last.end
        && end >= last.end
    {
        last.start = last.start.min(start);
        last.end = end;
        return;
    }
    found.push(Span { start, end, owner });
}
