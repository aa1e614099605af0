//! The searches of the last minutes, and which of them led to a tool that is used.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};

/// How long a search counts as what led to a tool.
const WINDOW: Duration = Duration::from_secs(10 * 60);
/// How long before another one a search that found nothing counts as asking the same.
const ASKED_AGAIN: Duration = Duration::from_secs(2 * 60);
/// Most searches that found nothing, before one that did.
const MAX_IN_VAIN: usize = 2;
/// Most searches that are remembered.
const MAX_SEARCHES: usize = 20_000;
/// Most searches of one surface that are gone through.
const MAX_LOOKED_AT: usize = 64;
/// What one use says, in thousandths; several tools that were loaded together share it.
const ONE: u32 = 1_000;

/// Where something was searched.
pub(super) type Place = (TenantId, SurfaceId);

/// What was searched.
#[derive(Clone, Debug)]
pub(super) struct Search {
    /// Who asked.
    pub(super) teacher: u32,
    /// The words.
    pub(super) words: Vec<String>,
    /// The tools that were told.
    pub(super) found: Vec<ToolId>,
    /// When.
    pub(super) at: Instant,
}

/// Words that led to a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Credit {
    pub(super) words: Vec<String>,
    pub(super) tool: ToolId,
    pub(super) teacher: u32,
    pub(super) weight: u32,
}

/// The searches of the last minutes, by where they were made.
#[derive(Debug, Default)]
pub(super) struct Recent {
    places: HashMap<Place, VecDeque<Search>>,
    /// Each search once, oldest first.
    order: VecDeque<(Instant, Place)>,
}

impl Recent {
    pub(super) fn add(&mut self, place: Place, search: Search) {
        let now = search.at;
        while let Some((at, oldest)) = self.order.front() {
            if self.order.len() < MAX_SEARCHES && now.duration_since(*at) <= WINDOW {
                break;
            }
            if let Some(searches) = self.places.get_mut(oldest) {
                searches.pop_front();
                if searches.is_empty() {
                    self.places.remove(oldest);
                }
            }
            self.order.pop_front();
        }
        self.order.push_back((now, place.clone()));
        self.places.entry(place).or_default().push_back(search);
    }

    /// Forgets the searches of a tenant.
    pub(super) fn forget(&mut self, tenant: &TenantId) {
        self.places.retain(|(of, _), _| of != tenant);
        self.order.retain(|(_, (of, _))| of != tenant);
    }

    /// For each tool that is used, the newest search that found it; of one caller, where it is known who uses it. What the same caller
    /// asked in vain just before counts half: it was asked again in other words.
    pub(super) fn credits(&self, place: &Place, teacher: Option<u32>, tools: &[ToolId], now: Instant) -> Vec<Credit> {
        let Some(searches) = self.places.get(place) else { return Vec::new() };
        let of_caller = |search: &&Search| teacher.is_none_or(|teacher| teacher == search.teacher);
        let recent: Vec<&Search> = searches
            .iter()
            .rev()
            .take(MAX_LOOKED_AT)
            .take_while(|search| now.duration_since(search.at) <= WINDOW)
            .filter(of_caller)
            .collect();
        let led = |tool: &ToolId| recent.iter().position(|search| search.found.contains(tool));
        let led: Vec<(usize, &ToolId)> = tools.iter().filter_map(|tool| Some((led(tool)?, tool))).collect();
        let mut credits = Vec::new();
        for (at, tool) in &led {
            let together = led.iter().filter(|(other, _)| other == at).count();
            let weight = ONE / u32::try_from(together).unwrap_or(ONE).max(1);
            let Some((search, before)) = recent.get(*at..).and_then(<[_]>::split_first) else { continue };
            let credit = |search: &Search, weight| Credit {
                words: search.words.clone(),
                tool: (*tool).clone(),
                teacher: search.teacher,
                weight,
            };
            credits.push(credit(search, weight));
            let by_same = before.iter().filter(|one| one.teacher == search.teacher);
            let in_vain = by_same
                .take_while(|one| one.found.is_empty() && search.at.duration_since(one.at) <= ASKED_AGAIN)
                .take(MAX_IN_VAIN);
            credits.extend(in_vain.map(|one| credit(one, weight / 2)));
        }
        credits.retain(|credit| credit.weight > 0);
        credits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(surface: &str) -> Place {
        (TenantId::from_trusted("acme"), SurfaceId::from_trusted(surface))
    }

    fn tool(name: &str) -> ToolId {
        ToolId::from_trusted(name)
    }

    /// Searches of caller 1 in a surface `s`, a minute apart.
    struct Story {
        recent: Recent,
        now: Instant,
    }

    impl Story {
        fn new() -> Self {
            Self { recent: Recent::default(), now: Instant::now() }
        }

        fn asks(&mut self, teacher: u32, word: &str, found: &[&str]) {
            self.now += Duration::from_secs(60);
            let found = found.iter().map(|name| tool(name)).collect();
            self.recent.add(place("s"), Search { teacher, words: vec![word.to_owned()], found, at: self.now });
        }

        fn check(&self, teacher: Option<u32>, used: &[&str], expected: &[(&str, &str, u32)]) {
            let tools: Vec<ToolId> = used.iter().map(|name| tool(name)).collect();
            let credits = self.recent.credits(&place("s"), teacher, &tools, self.now);
            let told: Vec<_> =
                credits.iter().map(|one| (one.words[0].as_str(), one.tool.as_str(), one.weight)).collect();
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn the_newest_search_that_found_it_led_to_a_tool() {
        let mut story = Story::new();
        story.asks(1, "mail", &["send", "read"]);
        story.asks(1, "letter", &["send"]);
        story.asks(1, "weather", &["forecast"]);
        story.asks(2, "post", &["send"]);
        story.check(Some(1), &["send"], &[("letter", "send", 1_000)]);
        story.check(Some(1), &["read"], &[("mail", "read", 1_000)]);
        story.check(Some(1), &["unknown"], &[]);
        story.check(Some(3), &["send"], &[]);
        story.check(None, &["send"], &[("post", "send", 1_000)]);
        assert!(story.recent.credits(&place("other"), None, &[tool("send")], story.now).is_empty());
    }

    #[test]
    fn tools_that_are_loaded_together_share_what_it_says() {
        let mut story = Story::new();
        story.asks(1, "mail", &["send", "read", "list", "move"]);
        story.check(Some(1), &["send", "read"], &[("mail", "send", 500), ("mail", "read", 500)]);
    }

    #[test]
    fn what_was_asked_in_vain_just_before_counts_half() {
        let mut story = Story::new();
        story.asks(1, "pto", &[]);
        story.asks(2, "payroll", &[]);
        story.asks(1, "leave", &["leave"]);
        story.check(Some(1), &["leave"], &[("leave", "leave", 1_000), ("pto", "leave", 500)]);
        // Not what is longer ago, nor what is behind another search that found something.
        story.asks(1, "bonus", &[]);
        story.asks(1, "salary", &["payslip"]);
        story.asks(1, "wage", &["payslip"]);
        story.check(Some(1), &["payslip"], &[("wage", "payslip", 1_000)]);
    }

    #[test]
    fn searches_of_a_tenant_are_forgotten_at_once() {
        let mut story = Story::new();
        story.asks(1, "mail", &["send"]);
        let other = (TenantId::from_trusted("globex"), SurfaceId::from_trusted("s"));
        let search = Search { teacher: 1, words: vec!["post".to_owned()], found: vec![tool("send")], at: story.now };
        story.recent.add(other.clone(), search);
        story.recent.forget(&place("s").0);
        story.check(None, &["send"], &[]);
        assert_eq!(story.recent.credits(&other, None, &[tool("send")], story.now).len(), 1);
        assert_eq!(story.recent.order.len(), 1);
    }

    #[test]
    fn searches_are_forgotten_with_time() {
        let mut story = Story::new();
        story.asks(1, "mail", &["send"]);
        story.now += WINDOW + Duration::from_secs(1);
        story.check(Some(1), &["send"], &[]);
        story.asks(1, "weather", &["forecast"]);
        assert_eq!((story.recent.order.len(), story.recent.places[&place("s")].len()), (1, 1));
    }
}
