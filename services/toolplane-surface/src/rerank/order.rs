//! The order a reranker wants, and going on in it page by page. Pure.

use std::collections::{HashMap, HashSet};

use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;

/// Most tools of one order, with those that came while it was told.
const MOST: usize = 256;

/// What was given for a tool, in thousandths.
pub(super) type Score = i32;

/// The order of `given` that `wanted` asks for, as places in it, with what each was given; what nobody gave is passed over, and so is what
/// is there a second time. Those that are not named stay behind, in their order.
pub(super) fn reorder(given: &[&ToolId], wanted: &[(String, f64)]) -> Vec<(usize, Option<Score>)> {
    let mut places: HashMap<&str, usize> = given.iter().enumerate().map(|(place, id)| (id.as_str(), place)).collect();
    let named: Vec<(usize, Option<Score>)> = wanted
        .iter()
        .filter_map(|(id, score)| Some((places.remove(id.as_str())?, Some(thousandths(*score)))))
        .collect();
    let known: HashSet<usize> = named.iter().map(|(place, _)| *place).collect();
    let others = (0..given.len()).filter(|place| !known.contains(place)).map(|place| (place, None));
    named.iter().copied().chain(others).collect()
}

/// A number that is none says nothing.
fn thousandths(score: f64) -> Score {
    (score * 1000.0).round() as Score
}

/// An order that was told in part: what a page token holds of it. The tools are named by four bytes each; two that have the same ones may
/// change places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    /// How many of them were told.
    told: usize,
    order: Vec<u32>,
}

impl Begun {
    /// The order of these, of which so many were told.
    pub(super) fn of<'a>(order: impl IntoIterator<Item = &'a ToolId>, told: usize) -> Self {
        Self { told, order: order.into_iter().map(mark).collect() }
    }

    /// How many tools it knows.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Places of `found` that are still to be told, in this order; those it does not know are behind the others.
    pub(super) fn left(&self, found: &[&ToolId]) -> Vec<usize> {
        let places: HashMap<u32, usize> = self.order.iter().enumerate().map(|(place, mark)| (*mark, place)).collect();
        let place_of = |place: &usize| found.get(*place).and_then(|id| places.get(&mark(id)).copied());
        let mut left: Vec<usize> =
            (0..found.len()).filter(|place| place_of(place).is_none_or(|place| place >= self.told)).collect();
        left.sort_by_key(|place| place_of(place).unwrap_or(usize::MAX));
        left
    }

    /// The same when so many of what was `left` were told, new ones included.
    pub(super) fn after(&self, found: &[&ToolId], left: &[usize], more: usize) -> Self {
        let before = self.order.iter().take(self.told).copied();
        let others = left.iter().filter_map(|place| found.get(*place)).map(|id| mark(id));
        Self { told: self.told + more, order: before.chain(others).collect() }
    }

    /// As it stands in a token.
    pub(crate) fn to_text(&self) -> String {
        let marks: String = self.order.iter().map(|mark| format!("{mark:08x}")).collect();
        format!("{} {marks}", self.told)
    }

    /// What stood in a token.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (told, marks) = text.split_once(' ')?;
        let (told, marks) = (told.parse().ok()?, marks.as_bytes());
        if !marks.len().is_multiple_of(8) || marks.len() / 8 > MOST {
            return None;
        }
        let mark = |hex: &[u8]| u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok();
        Some(Self { told, order: marks.chunks(8).map(mark).collect::<Option<_>>()? })
    }
}

/// Four bytes of a tool, the same in every process.
fn mark(id: &ToolId) -> u32 {
    let [a, b, c, d, ..] = *Digest::of(id.as_str().as_bytes()).as_bytes();
    u32::from_be_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(names: &[&str]) -> Vec<ToolId> {
        names.iter().map(|name| ToolId::from_trusted(*name)).collect()
    }

    fn wanted(names: &[&str]) -> Vec<(String, f64)> {
        names.iter().zip([0.5, -2.0, 9e99, f64::NAN]).map(|(name, score)| ((*name).to_owned(), score)).collect()
    }

    #[test]
    fn nothing_comes_in_and_nothing_gets_lost() {
        let (given, ask) = (ids(&["a", "b", "c", "d"]), wanted(&["c", "x", "c", "a"]));
        let given: Vec<&ToolId> = given.iter().collect();
        assert_eq!(reorder(&given, &ask), [(2, Some(500)), (0, Some(0)), (1, None), (3, None)]);
        let scores: Vec<_> = reorder(&given, &wanted(&["b", "a", "d"])).iter().map(|(_, score)| *score).collect();
        assert_eq!(scores, [Some(500), Some(-2000), Some(i32::MAX), None]);
        assert_eq!(reorder(&[], &ask), []);
    }

    #[test]
    fn an_order_goes_on_where_it_was_though_tools_come_and_go() {
        let order = ids(&["c", "a", "d", "b"]);
        let begun = Begun::parse(&Begun::of(&order, 1).to_text()).unwrap();
        let found = ids(&["new", "a", "b", "c"]);
        let found: Vec<&ToolId> = found.iter().collect();
        let left = begun.left(&found);
        assert_eq!(left, [1, 2, 0], "c was told, d is gone, and nobody put the new one anywhere");
        let later = Begun::parse(&begun.after(&found, &left, 3).to_text()).unwrap();
        assert_eq!(later.left(&found), [0; 0]);
        for wrong in ["", "1", "x 00000000", "1 0000", "1 0000000g", &format!("1 {}", "0".repeat(8 * 300))] {
            assert_eq!(Begun::parse(wrong), None, "{wrong}");
        }
    }
}
