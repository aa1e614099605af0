//! The indexes in the tables: their order, the score of each member, and how many there are.
//!
//! The order can be told from the scores, a score from the order, and the length from either. So a damaged row of one
//! table costs time and loses nothing: it is noted, and the other table answers.

use std::ops::Bound;

use toolplane_store::{Damage, DamageLocation, Sealed};

use super::{Base, text};
use crate::fault::{Fault, contained};
use crate::row;
use crate::tables::{name_end, named_key, numbered_key, split_numbered};

/// One entry of an index.
pub(crate) type IndexRow = Result<(u64, String), Fault>;

/// Rows of one index, in order.
type Rows<'a> = Box<dyn Iterator<Item = IndexRow> + 'a>;

/// Which table tells the order of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrderSource {
    /// The one that is in order.
    Order,
    /// That of the scores, read whole and sorted: for when the other one is damaged.
    Scores,
}

/// A score and a member.
type Position = (u64, String);

impl Base {
    /// The score of `member`.
    pub(crate) fn score(&self, index: &str, member: &str) -> Result<Option<u64>, Fault> {
        let key = named_key(index, member.as_bytes());
        let score = contained(|| match self.index_score.get(key.as_slice())? {
            Some(found) => row::open_number(Sealed::Score, &key, found.value()).map(Some).map_err(Fault::corrupt),
            None => Ok(None),
        });
        match score.map_err(|fault| self.damaged_index(fault, index)) {
            Err(Fault::Damaged(_)) => {
                let whole = self.whole_index(index)?;
                Ok(whole.into_iter().find(|(_, found)| found == member).map(|(score, _)| score))
            }
            answer => answer,
        }
    }

    /// How many members `index` has.
    pub(crate) fn index_len(&self, index: &str) -> Result<u64, Fault> {
        let len = contained(|| match self.index_len.get(index.as_bytes())? {
            Some(found) => row::open_number(Sealed::Length, index.as_bytes(), found.value()).map_err(Fault::corrupt),
            None => Ok(0),
        });
        match len.map_err(|fault| self.damaged_index(fault, index)) {
            Err(Fault::Damaged(_)) => Ok(self.whole_index(index)?.len() as u64),
            answer => answer,
        }
    }

    /// Names of the indexes that start with `prefix`.
    pub(crate) fn indexes(&self, prefix: &str) -> Result<Vec<String>, Fault> {
        let names = contained(|| {
            let mut names = Vec::new();
            for row in self.index_len.range(prefix.as_bytes()..)? {
                let (key, value) = row?;
                let name = text(key.value())?;
                if !name.starts_with(prefix) {
                    break;
                }
                match row::open_number(Sealed::Length, key.value(), value.value()) {
                    Ok(_) => names.push(name),
                    // Its name or its length; if it is the name, the index is found when it is asked for.
                    Err(reason) => {
                        self.damaged_index(Fault::corrupt(reason), &name);
                        names.push(name);
                    }
                }
            }
            Ok(names)
        });
        names.map_err(|fault| self.damaged_index(fault, prefix))
    }

    /// Entries of `index` between two places, from either end. Ends with a fault at a damaged row: the other source then
    /// has all of them.
    pub(crate) fn index_rows(
        &self,
        index: &str,
        (low, high): (Bound<&Position>, Bound<&Position>),
        reverse: bool,
        source: OrderSource,
    ) -> Result<Rows<'_>, Fault> {
        match source {
            OrderSource::Order => self.rows_in_order(index, (low, high), reverse),
            OrderSource::Scores => {
                let mut rows = self.rows_by_score(index)?;
                let above = |place: &Position| match low {
                    Bound::Unbounded => true,
                    Bound::Included(low) => place >= low,
                    Bound::Excluded(low) => place > low,
                };
                let below = |place: &Position| match high {
                    Bound::Unbounded => true,
                    Bound::Included(high) => place <= high,
                    Bound::Excluded(high) => place < high,
                };
                rows.retain(|place| above(place) && below(place));
                rows.sort_unstable();
                if reverse {
                    rows.reverse();
                }
                Ok(Box::new(rows.into_iter().map(Ok)))
            }
        }
    }

    /// All of an index, by whichever table has all of it. Slow: for when something is damaged.
    fn whole_index(&self, index: &str) -> Result<Vec<Position>, Fault> {
        let all = (Bound::Unbounded, Bound::Unbounded);
        let in_order = self.index_rows(index, all, false, OrderSource::Order).and_then(Iterator::collect);
        match in_order {
            Err(Fault::Damaged(_)) => self.rows_by_score(index),
            answer => answer,
        }
    }

    fn rows_in_order(
        &self,
        index: &str,
        (low, high): (Bound<&Position>, Bound<&Position>),
        reverse: bool,
    ) -> Result<Rows<'_>, Fault> {
        let key = |(score, member): &Position| numbered_key(index, *score, member.as_bytes());
        let low = match low.map(key) {
            Bound::Unbounded => Bound::Included(named_key(index, &[])),
            bound => bound,
        };
        let high = match high.map(key) {
            Bound::Unbounded => Bound::Excluded(name_end(index)),
            bound => bound,
        };
        let range = contained(|| Ok(self.index_order.range::<&[u8]>((borrowed(&low), borrowed(&high)))?));
        let mut rows = range.map_err(|fault| self.damaged_index(fault, index))?;
        let index = index.to_owned();
        let mut over = false;
        Ok(Box::new(std::iter::from_fn(move || {
            if over {
                return None;
            }
            let next = contained(|| {
                let Some(row) = (if reverse { rows.next_back() } else { rows.next() }) else { return Ok(None) };
                let (key, sum) = row?;
                let place = split_numbered(&index, key.value()).filter(|_| row::seal_entry(key.value()) == sum.value());
                let (score, member) = place.ok_or_else(|| Fault::corrupt(row::MISFIT))?;
                Ok(Some((score, text(member)?)))
            });
            let next = next.map_err(|fault| self.damaged_index(fault, &index)).transpose();
            over = !matches!(next, Some(Ok(_)));
            next
        })))
    }

    fn rows_by_score(&self, index: &str) -> Result<Vec<Position>, Fault> {
        let (start, end) = (named_key(index, &[]), name_end(index));
        let rows = contained(|| {
            let mut found = Vec::new();
            for row in self.index_score.range(start.as_slice()..end.as_slice())? {
                let (key, value) = row?;
                let score = row::open_number(Sealed::Score, key.value(), value.value()).map_err(Fault::corrupt)?;
                found.push((score, text(&key.value()[start.len()..])?));
            }
            Ok(found)
        });
        rows.map_err(|fault| self.damaged_index(fault, index))
    }

    fn damaged_index(&self, fault: Fault, index: &str) -> Fault {
        match fault {
            Fault::Corrupt(reason) => {
                let damage = Damage::new(DamageLocation::Index(index.to_owned()), reason);
                Fault::Damaged(self.known.damage.note(damage))
            }
            other => other,
        }
    }
}

fn borrowed(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}
