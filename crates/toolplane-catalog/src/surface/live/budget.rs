//! A surface with a budget: what it loads when it is made, what goes when more is loaded, and what was deferred for it.
//!
//! No rule loads a tool into it by itself: what is loaded is written down, so that a tool that comes later or is declared anew takes
//! nothing of the budget before somebody loads it.

use std::collections::BTreeSet;

use toolplane_records::ids::ToolId;
use toolplane_records::surface::{BudgetTool, LoadedTool, SurfaceBudget};
use toolplane_records::time::Timestamp;

use super::{Deferral, Freshness, LiveSurface, Place};
use crate::catalog::{Catalog, CatalogEntry, Lookup};
use crate::surface::budget::{
    Account, Amount, Budget, Candidate, Counting, MAX_LOADED, NoOtherBudget, Shortage, Unloaded, make_room,
};
use crate::surface::load::Loading;
use crate::surface::record::loaded_now;
use crate::surface::shut::Shut;
use crate::surface::tools::List;

/// Most tools in a row that do not fit when a surface is made; those behind them are not looked at.
const MAX_UNFITTING: usize = 100;
/// Most tools that are named as deferred for the budget.
const MAX_NAMED: usize = 20;
/// Most tools that came since the budget was made larger, and are looked at to say which of them it defers.
const MAX_CAME: usize = 1_000;

/// The room a budget leaves while tools are loaded one after another.
pub(in crate::surface) struct Room<'a> {
    surface: &'a LiveSurface,
    catalog: &'a Catalog,
    counting: Counting<'a>,
    account: Account,
    /// What this request asks for is not unloaded for another tool of it.
    asked: BTreeSet<ToolId>,
    unloaded: Vec<Unloaded>,
}

impl Room<'_> {
    /// The tool is loaded, and asked for: it stays.
    pub(in crate::surface) fn keep(&mut self, id: &ToolId, now: Timestamp) {
        self.asked.insert(id.clone());
        self.account.touch(id, now);
    }

    /// Makes room for the tool, as it is declared now.
    pub(in crate::surface) fn take(&mut self, entry: &CatalogEntry, now: Timestamp) -> Result<(), Shortage> {
        let (id, amount) = (entry.tool_id(), (self.counting.size)(entry));
        for gone in self.make_room(Some(id), amount)? {
            self.unload(gone);
        }
        self.account.put(id, amount, now);
        self.asked.insert(id.clone());
        Ok(())
    }

    /// What has to go for so much more, where `but` does not count any more.
    fn make_room(&self, but: Option<&ToolId>, more: Amount) -> Result<Vec<ToolId>, Shortage> {
        let others = self.account.held().filter(|(id, _)| Some(*id) != but);
        let loaded: Vec<Candidate<'_>> = others
            .map(|(tool_id, held)| {
                let entry = self.catalog.get(tool_id);
                let is_shown = |entry: &CatalogEntry| matches!(self.surface.place(entry), Place::Loaded);
                let shown = entry.is_some_and(|entry| is_shown(entry) && !self.counting.shut.is_shut(entry));
                let kept = self.surface.made.load.contains(tool_id) || entry.is_some_and(|one| one.traits.always_load);
                let stays = self.asked.contains(tool_id) || (shown && kept);
                Candidate { tool_id, amount: held.amount(), used: held.used, stays, shown }
            })
            .collect();
        make_room(&self.account.budget, &loaded, more)
    }

    fn unload(&mut self, tool_id: ToolId) {
        let amount = self.account.amount_of(&tool_id);
        self.account.take(&tool_id, true);
        let name = self.catalog.get(&tool_id).map(|entry| entry.tool.full_name().to_owned()).unwrap_or_default();
        self.unloaded.push(Unloaded { tool_id, name, amount });
    }

    /// What became of the budget, and what was unloaded.
    pub(in crate::surface) fn leave(self) -> (Account, Vec<Unloaded>) {
        (self.account, self.unloaded)
    }
}

impl LiveSurface {
    /// The surface with what it loads when it is made, as far as its budget reaches: first the tools that its maker names in `load`, in that
    /// order, then those that say `always_load`, then the others that the rules load, each by id. One that does not fit is deferred, and those
    /// behind it are tried; after 100 in a row that do not fit no more are. What is shut now takes nothing of it.
    #[must_use]
    pub fn loaded_within_budget(mut self, catalog: &Catalog, counting: &Counting<'_>) -> Self {
        let shut = counting.shut;
        let Some(mut account) = self.account.take() else { return self };
        let now = self.made.created_at;
        let mut loads = Vec::new();
        let named = self.made.request.load.iter().filter_map(|name| match catalog.find(name) {
            Lookup::One(entry) => Some(entry),
            Lookup::Ambiguous(_) | Lookup::Unknown => None,
        });
        let named: Vec<&CatalogEntry> = named.filter(|entry| matches!(self.place(entry), Place::Loaded)).collect();
        let always = self.merged_of(catalog, List::Loaded, shut, None, |traits| traits.always_load);
        let others = self.merged_of(catalog, List::Loaded, shut, None, |traits| !traits.always_load);
        let by_rule = always.chain(others).filter(|entry| self.loads_by_rule(entry));
        let (mut tried, mut in_vain) = (BTreeSet::new(), 0);
        for entry in named.iter().copied().chain(by_rule).filter(|entry| !shut.is_shut(entry)) {
            if in_vain >= MAX_UNFITTING || !account.fits(Amount::of_tool(0, 0)) {
                break;
            }
            if !tried.insert(entry.tool_id()) {
                continue;
            }
            let amount = (counting.size)(entry);
            in_vain += 1;
            if account.fits(amount) {
                account.put(entry.tool_id(), amount, now);
                loads.push(loaded_now(entry, now));
                in_vain = 0;
            }
        }
        self.places = loads.iter().enumerate().map(|(at, tool)| (tool.tool_id.clone(), at)).collect();
        Self { loads, account: Some(account), ..self }
    }

    /// Whether it has a budget.
    pub(in crate::surface) fn is_within_budget(&self) -> bool {
        self.account.is_some()
    }

    /// Whether it has a budget, or may get its first: the default surface and pinned ones are never changed.
    pub(in crate::surface) fn may_have_budget(&self) -> bool {
        self.is_within_budget() || self.made.freshness == Freshness::Live
    }

    /// Whether the tool was unloaded for the budget, and not loaded since.
    pub(super) fn went_for_budget(&self, id: &ToolId) -> bool {
        self.account.as_ref().is_some_and(|account| account.gone().contains(id))
    }

    pub(in crate::surface) fn room<'a>(&'a self, catalog: &'a Catalog, counting: &Counting<'a>) -> Option<Room<'a>> {
        Some(self.room_of(self.account.clone()?, catalog, counting))
    }

    /// The room an account leaves, with the uses that are known.
    fn room_of<'a>(&'a self, mut account: Account, catalog: &'a Catalog, counting: &Counting<'a>) -> Room<'a> {
        let uses: Vec<(ToolId, Timestamp)> =
            account.held().filter_map(|(id, _)| Some((id.clone(), (counting.used)(id)?))).collect();
        uses.iter().for_each(|(id, used)| account.touch(id, *used));
        let (asked, unloaded) = (BTreeSet::new(), Vec::new());
        Room { surface: self, catalog, counting: *counting, account, asked, unloaded }
    }

    /// What is unloaded where the budget is another one, or the first; nothing where it is what it was.
    pub(in crate::surface) fn within_other_budget(
        &self,
        catalog: &Catalog,
        budget: Budget,
        counting: &Counting<'_>,
    ) -> Result<Option<Loading>, NoOtherBudget> {
        let (mut room, mut kept) = match self.room(catalog, counting) {
            Some(room) if room.account.budget == budget => return Ok(None),
            Some(room) => (room, Vec::new()),
            None if budget.is_none() => return Ok(None),
            None => self.first_room(catalog, counting)?,
        };
        room.account.go_by(budget, catalog.revision());
        for gone in room.make_room(None, Amount::default()).map_err(NoOtherBudget::Short)? {
            room.unload(gone);
        }
        let (account, unloaded) = room.leave();
        kept.retain(|tool| account.holds(&tool.tool_id));
        Ok(Some(Loading { unloaded, kept, account: Some(account), ..Loading::default() }))
    }

    /// The room of a surface without a budget: whatever is loaded, each tool with what it takes as it is declared now; and those that the rules
    /// load, in their order, as they are known here. Of more than any budget has places for none is looked at.
    fn first_room<'a>(
        &'a self,
        catalog: &'a Catalog,
        counting: &Counting<'a>,
    ) -> Result<(Room<'a>, Vec<LoadedTool>), NoOtherBudget> {
        if self.counts(catalog, Shut::NOTHING).loaded as u64 > MAX_LOADED {
            return Err(NoOtherBudget::Crowd);
        }
        let (mut account, mut kept) = (Account::default(), Vec::new());
        let may_be_loaded = self.merged_of(catalog, List::Loaded, Shut::NOTHING, None, |_| true);
        for entry in may_be_loaded.filter(|entry| self.loads_by_rule(entry)) {
            account.put(entry.tool_id(), (counting.size)(entry), self.made.created_at);
            kept.push(self.asked(entry.tool_id()).cloned().unwrap_or_else(|| self.loaded(entry).0));
        }
        // Of these some may be hidden now, and are there again later.
        for tool in &self.loads {
            let amount = catalog.get(&tool.tool_id).map(counting.size).unwrap_or_default();
            account.put(&tool.tool_id, amount, tool.loaded_at.unwrap_or(self.made.created_at));
        }
        Ok((self.room_of(account, catalog, counting), kept))
    }

    /// The same surface as if it had no budget: what its rules would load, they load.
    fn without_budget(&self) -> Self {
        Self { account: None, ..self.clone() }
    }

    /// What is loaded of the budget, and what was deferred for it. No list of all tools is made for that.
    pub(in crate::surface) fn budget_record(&self, catalog: &Catalog, shut: Shut<'_>) -> Option<SurfaceBudget> {
        let account = self.account.as_ref()?;
        let free = self.without_budget();
        let gone = account.gone().iter().rev().filter_map(|id| catalog.get(id));
        let mut gone: Vec<&CatalogEntry> =
            gone.filter(|entry| matches!(self.place(entry), Place::Deferred(_)) && !shut.is_shut(entry)).collect();
        let (by_rule, others): (usize, Box<dyn Iterator<Item = &CatalogEntry>>) = match account.widened() {
            // What the rules would load, and what went that they would not.
            None => {
                gone.retain(|entry| !free.loads_by_rule(entry));
                let loaded = |surface: &Self| surface.counts(catalog, shut).loaded;
                let count = loaded(&free).saturating_sub(loaded(self));
                let others = free.merged_of(catalog, List::Loaded, shut, None, |_| true);
                let is_missing = |entry: &&CatalogEntry| {
                    free.loads_by_rule(entry) && !self.places.contains_key(entry.tool_id()) && !shut.is_shut(entry)
                };
                (count, Box::new(others.filter(is_missing)))
            }
            // Nothing that was there before is deferred for the budget as it is now; what came since is looked at one by one.
            Some(at) => {
                let came = catalog.declared_behind((at.saturating_add(1), None)).take(MAX_CAME);
                let is_deferred = |entry: &&CatalogEntry| {
                    !self.went_for_budget(entry.tool_id())
                        && matches!(self.place(entry), Place::Deferred(Deferral::Budget))
                        && !shut.is_shut(entry)
                };
                let came: Vec<&CatalogEntry> = came.filter(is_deferred).collect();
                (came.len(), Box::new(came.into_iter()))
            }
        };
        let named = gone.iter().copied().chain(others).take(MAX_NAMED.min(gone.len() + by_rule));
        let used = account.used();
        Some(SurfaceBudget {
            max_tools: account.budget.max_tools,
            max_schema_tokens: account.budget.max_schema_tokens,
            max_schema_bytes: account.budget.max_schema_bytes,
            tools: used.tools,
            schema_tokens: used.tokens,
            schema_bytes: used.bytes,
            deferred: (gone.len() + by_rule) as u64,
            deferred_tools: named
                .map(|entry| BudgetTool { tool_id: entry.tool_id().clone(), name: entry.tool.full_name().to_owned() })
                .collect(),
        })
    }
}
