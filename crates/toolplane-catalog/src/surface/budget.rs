//! What a surface may have loaded at once: so many tools, and so many tokens and bytes of what a model is told of them.
//!
//! A tool counts as it was when it was loaded, which is what its agent was shown. So only the surface's own changes change what is used
//! of a budget, and no change of a tool ever leads beyond it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use toolplane_records::ids::ToolId;
use toolplane_records::time::Timestamp;

use crate::catalog::CatalogEntry;
use crate::surface::shut::Shut;

/// Most tools that are loaded at once within a budget, whatever it allows.
pub const MAX_LOADED: u64 = 1_000;
/// Most tools that are remembered as unloaded for the budget.
const MAX_GONE: usize = 100;

/// What may be loaded at once; 0 is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Tools.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub max_tools: u64,
    /// Tokens of what a model is told of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub max_schema_tokens: u64,
    /// Bytes of that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub max_schema_bytes: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Budget {
    /// Whether it bounds nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether any bound of it is larger than before.
    fn is_wider_than(&self, before: &Self) -> bool {
        let allowed = |budget: &Self| budget.bounds(Amount::default()).map(|(_, _, allowed)| allowed);
        allowed(self).iter().zip(allowed(before)).any(|(now, then)| *now > then)
    }

    /// The first bound that so much does not keep, with its name and what is had and allowed of it.
    fn broken_by(&self, amount: Amount) -> Option<(&'static str, u64, u64)> {
        self.bounds(amount).into_iter().find(|(_, had, allowed)| had > allowed)
    }

    fn bounds(&self, amount: Amount) -> [(&'static str, u64, u64); 3] {
        let or = |bound: u64, most: u64| if bound == 0 { most } else { bound.min(most) };
        [
            ("max_tools", amount.tools, or(self.max_tools, MAX_LOADED)),
            ("max_schema_tokens", amount.tokens, or(self.max_schema_tokens, u64::MAX)),
            ("max_schema_bytes", amount.bytes, or(self.max_schema_bytes, u64::MAX)),
        ]
    }
}

/// What of a budget one tool takes, or several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// How many tools.
    pub tools: u64,
    /// Tokens of what a model is told of them, estimated.
    pub tokens: u64,
    /// Bytes of that.
    pub bytes: u64,
}

impl Amount {
    /// One tool.
    pub fn of_tool(tokens: u64, bytes: u64) -> Self {
        Self { tools: 1, tokens, bytes }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            tools: self.tools.saturating_add(other.tools),
            tokens: self.tokens.saturating_add(other.tokens),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            tools: self.tools.saturating_sub(other.tools),
            tokens: self.tokens.saturating_sub(other.tokens),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    /// All of these together.
    pub fn sum(amounts: impl IntoIterator<Item = Self>) -> Self {
        amounts.into_iter().fold(Self::default(), Self::plus)
    }
}

/// What a budget needs to know, and no declaration says.
#[derive(Clone, Copy)]
pub struct Counting<'a> {
    /// What of a budget a tool takes.
    pub size: &'a dyn Fn(&CatalogEntry) -> Amount,
    /// When a tool was last used in the surface, where that is known.
    pub used: &'a dyn Fn(&ToolId) -> Option<Timestamp>,
    /// What keeps tools from being used now: these take nothing of a budget when a surface is made, and go first later.
    pub shut: Shut<'a>,
}

impl fmt::Debug for Counting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counting").finish_non_exhaustive()
    }
}

impl Counting<'_> {
    /// Every tool counts as one, and no use is known.
    pub const fn tools_alone() -> Self {
        Self { size: &|_| Amount { tools: 1, tokens: 0, bytes: 0 }, used: &|_| None, shut: Shut::NOTHING }
    }
}

/// Why a tool is not loaded: so much of a bound is free at most, whatever is unloaded for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The bound.
    pub field: &'static str,
    /// What is needed of it.
    pub need: u64,
    /// What can be had: the rest is taken by tools that stay loaded.
    pub free: u64,
    /// All of it.
    pub budget: u64,
}

impl Shortage {
    /// It in words, of a tool.
    pub fn words(&self, name: &str) -> String {
        let Self { field, need, free, budget } = self;
        let what = match *field {
            "max_tools" if *need == 1 => "place".to_owned(),
            field => field.trim_start_matches("max_").replace('_', " "),
        };
        let rest = if free == budget {
            String::new()
        } else {
            format!(", of which {free} can be freed: the rest is taken by tools that stay loaded")
        };
        format!("`{name}` needs {need} {what}, and the budget of this surface is {budget} ({field}){rest}")
    }
}

/// Why a surface cannot have another budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoOtherBudget {
    /// It is a copy that an earlier version made.
    Copied,
    /// It has more tools loaded than any budget has places for.
    Crowd,
    /// Tools that stay loaded do not fit.
    Short(Shortage),
}

/// A tool that was unloaded for the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unloaded {
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    pub name: String,
    /// What it had of the budget.
    pub amount: Amount,
}

/// A loaded tool, as a budget looks at it.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) tool_id: &'a ToolId,
    pub(super) amount: Amount,
    pub(super) used: Timestamp,
    /// It is not unloaded for others.
    pub(super) stays: bool,
    /// It is shown and can be used; what is not is of no use to anybody, and goes first.
    pub(super) shown: bool,
}

/// The tools that have to go so that `more` fits beside the loaded ones: the least used first, and of these none that need not.
pub(super) fn make_room(budget: &Budget, loaded: &[Candidate<'_>], more: Amount) -> Result<Vec<ToolId>, Shortage> {
    let staying = Amount::sum(loaded.iter().filter(|one| one.stays).map(|one| one.amount));
    if let Some((field, had, allowed)) = budget.broken_by(staying.plus(more)) {
        let of_field = |amount| budget.bounds(amount).into_iter().find(|(name, ..)| *name == field);
        let (need, taken) = match of_field(more) {
            Some((_, need, _)) if need > 0 => (need, had.saturating_sub(need)),
            _ => (had, 0),
        };
        return Err(Shortage { field, need, free: allowed.saturating_sub(taken), budget: allowed });
    }
    let mut free: Vec<&Candidate<'_>> = loaded.iter().filter(|one| !one.stays).collect();
    free.sort_unstable_by_key(|one| (one.shown, one.used, one.tool_id));
    let mut total = Amount::sum(loaded.iter().map(|one| one.amount)).plus(more);
    let mut going: Vec<&Candidate<'_>> = Vec::new();
    for one in free {
        if budget.broken_by(total).is_none() {
            break;
        }
        total = total.minus(one.amount);
        going.push(one);
    }
    // A small one that went before a large one may stay after all, the most used first.
    let mut gone = Vec::new();
    for one in going.into_iter().rev() {
        let with_it = total.plus(one.amount);
        if budget.broken_by(with_it).is_none() {
            total = with_it;
        } else {
            gone.push(one.tool_id.clone());
        }
    }
    gone.reverse();
    Ok(gone)
}

/// What a surface has loaded within its budget, and what went for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Account {
    #[serde(default)]
    pub(super) budget: Budget,
    /// Each loaded tool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    held: BTreeMap<ToolId, Holding>,
    /// What was unloaded for the budget last and not loaded since, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gone: Vec<ToolId>,
    /// Tools that were there at this revision of the catalog were deferred for a smaller budget, if for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    widened: Option<u64>,
}

/// What one loaded tool has of the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Holding {
    pub(super) tokens: u64,
    pub(super) bytes: u64,
    /// When it was loaded or used last, as far as that was known with the surface's last own change.
    pub(super) used: Timestamp,
}

impl Holding {
    pub(super) fn amount(self) -> Amount {
        Amount::of_tool(self.tokens, self.bytes)
    }
}

impl Account {
    pub(super) fn of(budget: Budget) -> Self {
        Self { budget, ..Self::default() }
    }

    /// Goes by another budget from this revision of the catalog on. What was deferred for a smaller one is not said to be deferred for
    /// this one: nobody has tried.
    pub(super) fn go_by(&mut self, budget: Budget, revision: u64) {
        if budget.is_wider_than(&self.budget) {
            self.gone.clear();
            self.widened = Some(revision);
        }
        self.budget = budget;
    }

    /// Up to which revision of the catalog tools came that are not deferred for the budget as it is now.
    pub(super) fn widened(&self) -> Option<u64> {
        self.widened
    }

    /// Whether the tool is loaded.
    pub(super) fn holds(&self, tool_id: &ToolId) -> bool {
        self.held.contains_key(tool_id)
    }

    /// What is used.
    pub(super) fn used(&self) -> Amount {
        Amount::sum(self.held.values().map(|held| held.amount()))
    }

    /// Whether so much more fits as it is.
    pub(super) fn fits(&self, more: Amount) -> bool {
        self.budget.broken_by(self.used().plus(more)).is_none()
    }

    pub(super) fn held(&self) -> impl Iterator<Item = (&ToolId, Holding)> {
        self.held.iter().map(|(id, held)| (id, *held))
    }

    /// What was unloaded for the budget, the latest last.
    pub(super) fn gone(&self) -> &[ToolId] {
        &self.gone
    }

    pub(super) fn put(&mut self, tool_id: &ToolId, amount: Amount, used: Timestamp) {
        self.gone.retain(|id| id != tool_id);
        self.held.insert(tool_id.clone(), Holding { tokens: amount.tokens, bytes: amount.bytes, used });
    }

    /// Takes note of a use, unless a later one is known.
    pub(super) fn touch(&mut self, tool_id: &ToolId, used: Timestamp) {
        if let Some(held) = self.held.get_mut(tool_id) {
            held.used = held.used.max(used);
        }
    }

    /// What a tool has of the budget.
    pub(super) fn amount_of(&self, tool_id: &ToolId) -> Amount {
        self.held.get(tool_id).map(|held| held.amount()).unwrap_or_default()
    }

    /// Takes a tool out, for the budget or because somebody wants it so.
    pub(super) fn take(&mut self, tool_id: &ToolId, for_budget: bool) {
        self.held.remove(tool_id);
        self.gone.retain(|id| id != tool_id);
        if for_budget {
            self.gone.push(tool_id.clone());
            self.gone.drain(..self.gone.len().saturating_sub(MAX_GONE));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BUDGET: Budget = Budget { max_tools: 3, max_schema_tokens: 100, max_schema_bytes: 0 };

    /// Tools with tokens, last use, and whether they stay.
    fn check(loaded: &[(u64, i64, bool)], more: u64, expected: Result<&[usize], (u64, u64)>) {
        let ids: Vec<ToolId> = (0..loaded.len()).map(|at| ToolId::from_trusted(format!("{at}"))).collect();
        let loaded: Vec<Candidate<'_>> = loaded
            .iter()
            .zip(&ids)
            .map(|((tokens, used, stays), tool_id)| Candidate {
                tool_id,
                amount: Amount::of_tool(*tokens, 0),
                used: Timestamp::from_millis(*used),
                stays: *stays,
                shown: true,
            })
            .collect();
        let gone = make_room(&BUDGET, &loaded, Amount::of_tool(more, 0));
        let told = gone.map_err(|short| (short.need, short.free));
        let expected = expected.map(|places| places.iter().map(|at| ids[*at].clone()).collect());
        assert_eq!(told, expected);
    }

    #[test]
    fn the_least_used_go_and_no_more_than_have_to() {
        check(&[(10, 1, false), (10, 2, false)], 10, Ok(&[]));
        check(&[(10, 3, false), (10, 1, false), (10, 2, false)], 10, Ok(&[1]));
        check(&[(40, 1, false), (40, 2, false)], 50, Ok(&[0]));
        check(&[(40, 1, false), (40, 2, false)], 90, Ok(&[0, 1]));
        // The small one went in vain.
        check(&[(5, 1, false), (90, 2, false)], 50, Ok(&[1]));
        check(&[(40, 1, true), (40, 2, false)], 50, Ok(&[1]));
    }

    #[test]
    fn what_cannot_fit_says_what_it_needs_and_what_there_is() {
        check(&[], 101, Err((101, 100)));
        check(&[(60, 1, true), (30, 1, false)], 50, Err((50, 40)));
        check(&[(1, 1, true), (1, 1, true), (1, 1, true)], 1, Err((1, 0)));
        let short = make_room(&BUDGET, &[], Amount::of_tool(101, 0)).unwrap_err();
        assert_eq!(
            short.words("a.b"),
            "`a.b` needs 101 schema tokens, and the budget of this surface is 100 (max_schema_tokens)"
        );
    }

    #[test]
    fn what_is_not_shown_goes_first() {
        let ids = ["a", "b"].map(ToolId::from_trusted);
        let one = |at: usize, shown| Candidate {
            tool_id: &ids[at],
            amount: Amount::of_tool(60, 0),
            used: Timestamp::from_millis(at as i64),
            stays: false,
            shown,
        };
        let both = [one(0, true), Candidate { amount: Amount::of_tool(40, 0), ..one(1, false) }];
        assert_eq!(make_room(&BUDGET, &both, Amount::of_tool(40, 0)), Ok(vec![ids[1].clone()]));
    }

    proptest! {
        #[test]
        fn what_is_left_fits_and_each_that_went_had_to(
            sizes in prop::collection::vec((0..60u64, 0..60u64, 0..5i64, any::<bool>()), 0..12),
            more in (0..80u64, 0..80u64),
            bounds in (0..8u64, 0..150u64, 0..150u64),
        ) {
            let budget = Budget { max_tools: bounds.0, max_schema_tokens: bounds.1, max_schema_bytes: bounds.2 };
            let ids: Vec<ToolId> = (0..sizes.len()).map(|at| ToolId::from_trusted(format!("{at}"))).collect();
            let loaded: Vec<Candidate<'_>> = sizes.iter().zip(&ids).map(|((tokens, bytes, used, stays), tool_id)| Candidate {
                tool_id,
                amount: Amount::of_tool(*tokens, *bytes),
                used: Timestamp::from_millis(*used),
                stays: *stays,
                shown: true,
            }).collect();
            let more = Amount::of_tool(more.0, more.1);
            match make_room(&budget, &loaded, more) {
                Ok(gone) => {
                    let left = |but: &[&ToolId]| Amount::sum(loaded.iter()
                        .filter(|one| !gone.contains(one.tool_id) || but.contains(&one.tool_id))
                        .map(|one| one.amount)).plus(more);
                    prop_assert_eq!(budget.broken_by(left(&[])), None);
                    for id in &gone {
                        prop_assert!(budget.broken_by(left(&[id])).is_some(), "{} went in vain", id);
                        prop_assert!(loaded.iter().all(|one| one.tool_id != id || !one.stays));
                    }
                }
                Err(short) => prop_assert!(short.need > short.free, "{:?}", short),
            }
        }
    }
}
