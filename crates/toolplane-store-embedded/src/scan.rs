//! Reading an index in order through the layers.
//!
//! A member is decided about by the newest layer that knows it, so each older layer's entries are filtered by the
//! members above it; what remains is disjoint, and merging the sources by (score, member) gives the index.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use toolplane_store::{IndexEntry, ScoreRange};

use crate::base::{IndexRow, OrderSource};
use crate::dead_runs::DeadRuns;
use crate::fault::Fault;
use crate::layer::IndexLayer;
use crate::shared::Tables;

type Place = (u64, String);
type Rows<'a> = Box<dyn Iterator<Item = IndexRow> + 'a>;

// Runs shorter than this are walked again rather than remembered.
const MIN_DEAD_RUN: usize = 32;

/// At most `limit` entries of `index` within `range`.
pub(crate) fn scan(tables: &Tables, index: &str, range: &ScoreRange, limit: usize) -> Result<Vec<IndexEntry>, Fault> {
    let Some(window) = Window::of(range) else { return Ok(Vec::new()) };
    match scan_from(tables, index, &window, limit, OrderSource::Order) {
        // An entry of the order is damaged: the scores have them all.
        Err(Fault::Damaged(_)) => scan_from(tables, index, &window, limit, OrderSource::Scores),
        answer => answer,
    }
}

fn scan_from(
    tables: &Tables,
    index: &str,
    window: &Window,
    limit: usize,
    source: OrderSource,
) -> Result<Vec<IndexEntry>, Fault> {
    let newest = tables.active.indexes.get(index);
    let frozen_layer = tables.lower.frozen.as_deref();
    let frozen = frozen_layer.and_then(|layer| layer.indexes.get(index));

    let mut sources: Vec<Rows<'_>> = Vec::with_capacity(3);
    if let Some(newest) = newest {
        sources.push(layer_rows(&newest.live, window));
    }
    if let (Some(layer), Some(frozen)) = (frozen_layer, frozen) {
        let window = window.past(layer.dead.get(index));
        if let Some(window) = window {
            let run = DeadRun::new(&layer.dead, index, &window);
            sources.push(visible(layer_rows(&frozen.live, &window), run, move |member| knows(newest, member)));
        }
    }
    let empty_below = frozen.or(newest).is_some_and(|layer| layer.below_len == 0);
    let base = &tables.lower.base;
    if let Some(window) = window.past(base.dead.get(index)).filter(|_| !empty_below) {
        let bounds = (window.low.as_ref(), window.high.as_ref());
        let rows = base.index_rows(index, bounds, window.reverse, source)?;
        let run = DeadRun::new(&base.dead, index, &window);
        sources.push(visible(rows, run, move |member| knows(newest, member) || knows(frozen, member)));
    }
    merge(sources, window.reverse, limit)
}

fn knows(layer: Option<&IndexLayer>, member: &str) -> bool {
    layer.is_some_and(|layer| layer.members.contains_key(member))
}

fn merge(sources: Vec<Rows<'_>>, reverse: bool, limit: usize) -> Result<Vec<IndexEntry>, Fault> {
    let mut found = Vec::new();
    let mut heads = Vec::with_capacity(sources.len());
    for mut rows in sources {
        if let Some(head) = rows.next().transpose()? {
            heads.push((head, rows));
        }
    }
    while found.len() < limit {
        let places = heads.iter().enumerate().map(|(at, (place, _))| (place, at));
        let next = if reverse { places.max() } else { places.min() };
        let Some((_, at)) = next else { break };
        let (place, rows) = &mut heads[at];
        let (score, member) = match rows.next().transpose()? {
            Some(next) => std::mem::replace(place, next),
            None => heads.swap_remove(at).0,
        };
        found.push(IndexEntry { score, member });
    }
    Ok(found)
}

fn layer_rows<'a>(live: &'a BTreeSet<(u64, Arc<str>)>, window: &Window) -> Rows<'a> {
    let place = |(score, member): &Place| (*score, Arc::from(member.as_str()));
    let rows = live.range::<(u64, Arc<str>), _>((window.low.as_ref().map(place), window.high.as_ref().map(place)));
    let row = |(score, member): &(u64, Arc<str>)| Ok((*score, member.to_string()));
    if window.reverse { Box::new(rows.rev().map(row)) } else { Box::new(rows.map(row)) }
}

// === Window ===

/// The part of an index a scan walks; never inverted.
#[derive(Clone)]
struct Window {
    low: Bound<Place>,
    high: Bound<Place>,
    reverse: bool,
}

impl Window {
    /// Nothing when no entry can lie within the range.
    fn of(range: &ScoreRange) -> Option<Self> {
        let bottom = (range.min, String::new());
        let (mut low, mut high) = match range.min.checked_sub(1) {
            // No member is empty, so leaving out the bottom leaves out nothing; at 0 the window has no lower edge,
            // which is how a run from the beginning is recognised.
            None => (Bound::Unbounded, top(range.max)),
            Some(_) => (Bound::Excluded(bottom.clone()), top(range.max)),
        };
        match &range.after {
            Some(after) if range.reverse && is_below(after, &high) => high = Bound::Excluded(after.clone()),
            Some(after) if !range.reverse && *after > bottom => low = Bound::Excluded(after.clone()),
            _ => {}
        }
        Self { low, high, reverse: range.reverse }.checked()
    }

    /// This window without a known dead run at the index's beginning. Walking downwards never starts there.
    fn past(&self, dead: Option<Place>) -> Option<Self> {
        match dead {
            Some(dead) if !self.reverse && self.starts_within(&dead) => {
                Self { low: Bound::Excluded(dead), ..self.clone() }.checked()
            }
            _ => Some(self.clone()),
        }
    }

    fn starts_within(&self, dead: &Place) -> bool {
        match &self.low {
            Bound::Unbounded => true,
            Bound::Included(low) | Bound::Excluded(low) => low <= dead,
        }
    }

    fn checked(self) -> Option<Self> {
        match (&self.low, &self.high) {
            (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high))
                if low >= high =>
            {
                None
            }
            _ => Some(self),
        }
    }
}

fn top(max: u64) -> Bound<Place> {
    max.checked_add(1).map_or(Bound::Unbounded, |above| Bound::Excluded((above, String::new())))
}

fn is_below(place: &Place, high: &Bound<Place>) -> bool {
    match high {
        Bound::Unbounded => true,
        Bound::Included(high) | Bound::Excluded(high) => place < high,
    }
}

// === DeadRun ===

/// Follows the overridden entries a scan meets while all entries before them are overridden too.
struct DeadRun<'a> {
    runs: &'a DeadRuns,
    index: &'a str,
    unbroken: bool,
    length: usize,
    last: Option<Place>,
}

impl<'a> DeadRun<'a> {
    fn new(runs: &'a DeadRuns, index: &'a str, window: &Window) -> Self {
        let from_beginning = match &window.low {
            Bound::Unbounded => true,
            Bound::Included(low) | Bound::Excluded(low) => runs.get(index).is_some_and(|known| *low <= known),
        };
        Self { runs, index, unbroken: from_beginning && !window.reverse, length: 0, last: None }
    }

    fn pass(&mut self, overridden: Place) {
        if self.unbroken {
            self.length += 1;
            self.last = Some(overridden);
        }
    }
}

impl Drop for DeadRun<'_> {
    fn drop(&mut self) {
        if let Some(last) = self.last.take().filter(|_| self.length >= MIN_DEAD_RUN) {
            self.runs.extend(self.index, last);
        }
    }
}

fn visible<'a>(mut rows: Rows<'a>, mut run: DeadRun<'a>, overridden: impl Fn(&str) -> bool + 'a) -> Rows<'a> {
    Box::new(std::iter::from_fn(move || {
        loop {
            match rows.next()? {
                Ok(place) if overridden(&place.1) => run.pass(place),
                Ok(place) => {
                    run.unbroken = false;
                    return Some(Ok(place));
                }
                fault => return Some(fault),
            }
        }
    }))
}
