//! What a surface says about choosing that leads to no call: told when it is made, and never refused. What it is about may be yet to come.

use toolplane_matching::fit::Fit;
use toolplane_matching::tools::ToolPattern;
use toolplane_records::ids::{SurfaceId, ToolId};
use toolplane_records::tool_facts::ToolFacts;
use toolplane_records::vocabulary::Behavior;

use super::{Choosing, NotChosen, ToolChoice};
use crate::catalog::Catalog;
use crate::surface::{IndexedSurface, List, Shut, Unmatched};

/// Most tools that are looked at. Where a surface shows more, nothing is said of what none of these fits.
const MOST_TOOLS: usize = 10_000;
/// Most questions whether a tool fits a pattern.
const MOST_QUESTIONS: usize = 200_000;
/// Most reasons that are told.
const MOST_REASONS: usize = 4;

/// What leaves tools out.
struct Reason<'s> {
    why: NotChosen,
    /// The surface above that says it; the surface itself without one.
    above: Option<&'s SurfaceId>,
    /// How many tools it leaves out.
    tools: usize,
}

impl IndexedSurface {
    /// What of its choices, and of those of surfaces above it, no tool that it shows now can be called by; what is shut is not shown.
    pub fn idle_choices(&self, catalog: &Catalog, shut: Shut<'_>) -> Vec<Unmatched> {
        let own = self.own_idle_choices(catalog, shut).into_iter();
        own.chain(self.left_by_those_above(catalog, shut)).collect()
    }

    /// That those above it let no tool be called that it would, with what leaves out how many of them.
    fn left_by_those_above(&self, catalog: &Catalog, shut: Shut<'_>) -> Option<Unmatched> {
        let line: Vec<_> = self.lineage().map(|surface| (surface.id(), surface.choosing())).collect();
        let (own, above) = line.split_first()?;
        if own.1.0.choice == ToolChoice::None || above.iter().all(|(_, (choosing, _))| choosing.is_silent()) {
            return None;
        }
        let questions: usize = line.iter().map(|(_, (choosing, _))| 1 + choosing.patterns()).sum();
        let (mut shown, mut reasons) = (self.shown_tools(catalog, shut), Vec::<Reason<'_>>::new());
        for tool in shown.by_ref().take(MOST_TOOLS.min(MOST_QUESTIONS / questions)) {
            // The first one of its line that refuses it is the one a call would be told.
            let (why, above) = line.iter().enumerate().find_map(|(at, (id, (choosing, chosen)))| {
                let why = choosing.refuses(&tool, *chosen, true)?;
                Some((why, (at > 0).then_some(*id)))
            })?;
            match reasons.iter_mut().find(|known| known.why == why && known.above == above) {
                Some(known) => known.tools += 1,
                None => reasons.push(Reason { why, above, tools: 1 }),
            }
        }
        if shown.next().is_some() || reasons.iter().all(|reason| reason.above.is_none()) {
            return None;
        }
        let message = format!("leaves nothing to be called here now: {}", in_words(reasons));
        Some(told("parent_surface_id".to_owned(), message))
    }

    /// What it shows now, as patterns see it.
    fn shown_tools<'c>(&'c self, catalog: &'c Catalog, shut: Shut<'c>) -> impl Iterator<Item = ToolFacts> + 'c {
        let shown = self.tools(catalog, shut, None);
        let shown = shown.take_while(|tool| matches!(tool.position().list, List::Loaded | List::Deferred));
        shown.filter_map(|tool| Some(catalog.get(tool.tool_id())?.tool.registration().tool_facts()))
    }

    fn own_idle_choices(&self, catalog: &Catalog, shut: Shut<'_>) -> Vec<Unmatched> {
        let (choosing, chosen) = self.choosing();
        let chosen = match (&choosing.choice, chosen.and_then(|id| catalog.get(id))) {
            (ToolChoice::Tool(name), Some(entry)) => {
                Some((name.as_str(), entry.tool.registration().tool_facts(), self.shows(entry) && !shut.is_shut(entry)))
            }
            _ => None,
        };
        if let Some((name, tool, is_shown)) = chosen {
            return choosing.idle_choice(name, &tool, is_shown).into_iter().collect();
        }
        if choosing.is_silent() || choosing.choice == ToolChoice::None {
            return Vec::new();
        }
        choosing.idle_rules(self.shown_tools(catalog, shut))
    }
}

impl Choosing {
    /// The only tool to be called is not shown, or its surface does not let it be called.
    fn idle_choice(&self, name: &str, tool: &ToolFacts, is_shown: bool) -> Option<Unmatched> {
        let id: &ToolId = &tool.tool_id;
        let message = match self.refuses(tool, Some(id), true) {
            _ if !is_shown => format!("`{name}` is the only tool to be called, and this surface does not show it now"),
            Some(why) => format!("nothing can be called: {}", NotChosen::message(&why, name)),
            None => return None,
        };
        Some(told("default_tool_choice".to_owned(), message))
    }

    fn patterns(&self) -> usize {
        self.rules.allowed.len() + self.rules.denied.len()
    }

    /// The patterns that none of these tools fits, and that none of them can be called.
    fn idle_rules(&self, mut shown: impl Iterator<Item = ToolFacts>) -> Vec<Unmatched> {
        let lists = [
            ("allowed_tools", &self.rules.allowed, Behavior::Allow),
            ("denied_tools", &self.rules.denied, Behavior::Deny),
        ];
        let patterns = self.patterns();
        let most = MOST_TOOLS.min(MOST_QUESTIONS / patterns.max(1));
        let mut idle: Vec<(String, &str, &ToolPattern, Behavior)> = Vec::with_capacity(patterns);
        for (list, patterns, behavior) in lists {
            let places = patterns.iter().enumerate().map(|(at, (text, pattern))| {
                (format!("selection_policy.{list}[{at}]"), text.as_str(), pattern, behavior)
            });
            idle.extend(places);
        }
        let (mut seen, mut can_call) = (false, false);
        for tool in shown.by_ref().take(most) {
            seen = true;
            can_call = can_call || self.refuses(&tool, None, true).is_none();
            idle.retain(|(_, _, pattern, behavior)| match behavior {
                Behavior::Allow => pattern.fit(Behavior::Allow, &tool) != Fit::Yes,
                _ => pattern.fit(*behavior, &tool) == Fit::No,
            });
            if can_call && idle.is_empty() {
                return Vec::new();
            }
        }
        // Of a surface that shows nothing there is nothing to choose from, and of one that shows more nobody looked at all.
        if !seen || shown.next().is_some() {
            return Vec::new();
        }
        let mut warned: Vec<Unmatched> = idle
            .into_iter()
            .map(|(place, text, ..)| told(place, format!("no tool of this surface fits `{text}` now")))
            .collect();
        if !can_call {
            let message = "lets no tool of this surface be called now".to_owned();
            warned.push(told("selection_policy".to_owned(), message));
        }
        warned
    }
}

/// What leaves out how many tools, most of them first.
fn in_words(mut reasons: Vec<Reason<'_>>) -> String {
    let all: usize = reasons.iter().map(|reason| reason.tools).sum();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.tools));
    let only = reasons.len() == 1;
    let mut words: Vec<String> = reasons
        .iter()
        .take(MOST_REASONS)
        .map(|Reason { why, above, tools }| {
            let whose = above.map_or_else(|| "of this surface".to_owned(), |id| format!("of the surface `{id}`"));
            let (count, all) = (*tools, if only && *tools > 1 { "all " } else { "" });
            let (noun, verb) = if count == 1 { ("tool", "is") } else { ("tools", "are") };
            format!("{all}{count} {noun} {verb} left out by {} {whose}", why.said_by())
        })
        .collect();
    let told: usize = reasons.iter().take(MOST_REASONS).map(|reason| reason.tools).sum();
    if told < all {
        words.push(format!("{} by others", all - told));
    }
    words.join("; ")
}

fn told(field: String, message: String) -> Unmatched {
    Unmatched { field, message, similar: Vec::new() }
}
