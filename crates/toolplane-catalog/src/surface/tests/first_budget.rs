//! The first budget of a surface that was made without one: it unloads what does not fit, loads nothing, and what the surface was before it
//! stays known.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::budget::any_budget;
use super::live::{any_request, any_tool, apply};
use super::watching::{Event, Follower, after, state, told};
use super::*;

fn tools(max_tools: u64) -> Budget {
    Budget { max_tools, ..Budget::default() }
}

/// The names of what is loaded, in its order.
fn loaded(surface: &IndexedSurface, catalog: &Catalog) -> String {
    names(&now(surface, catalog)).0.join(" ").replace("a.", "")
}

/// The names of what is deferred for the budget.
fn for_budget(surface: &IndexedSurface, catalog: &Catalog) -> String {
    let now = now(surface, catalog);
    let deferred = now.deferred_tools.iter().filter(|tool| tool.reason == "budget").map(|tool| tool.name.as_str());
    deferred.collect::<Vec<_>>().join(" ").replace("a.", "")
}

fn loads(surface: &IndexedSurface, catalog: &Catalog, name: &str, at: i64) -> IndexedSurface {
    let loading =
        super::super::load(surface, catalog, &strings(&[name]), Timestamp::from_millis(at), &Counting::tools_alone());
    surface.after_loading(&loading)
}

fn unloads(surface: &IndexedSurface, catalog: &Catalog, name: &str) -> IndexedSurface {
    surface.after_unloading(catalog, &super::super::unload(surface, catalog, &strings(&[name])))
}

/// The surface within that budget, and the names of what is unloaded for it.
fn within(surface: &IndexedSurface, catalog: &Catalog, max_tools: u64) -> (IndexedSurface, String) {
    let loading = surface.within_other_budget(catalog, tools(max_tools), &COUNTING).unwrap().unwrap();
    let gone = loading.unloaded.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(" ").replace("a.", "");
    (surface.after_loading(&loading), gone)
}

fn five() -> Catalog {
    catalog(&["five", "four", "one", "three", "two"].map(|name| tool("a", name)))
}

#[test]
fn a_first_budget_leaves_unloaded_what_was_unloaded() {
    let catalog = five();
    let made = unloads(&make(&catalog, &request()).indexed, &catalog, "one");
    for max_tools in [4, 9] {
        let (first, gone) = within(&made, &catalog, max_tools);
        assert_eq!((loaded(&first, &catalog).as_str(), gone.as_str()), ("five four three two", ""), "{max_tools}");
        assert_eq!(for_budget(&first, &catalog), "", "somebody unloaded it");
    }
    // So it is with what was loaded by hand.
    let few = make(&catalog, &SurfaceRequest { defer: DeferPolicy::All, ..request() }).indexed;
    let few = loads(&loads(&few, &catalog, "one", 2), &catalog, "two", 3);
    let (first, gone) = within(&unloads(&few, &catalog, "one"), &catalog, 1);
    assert_eq!((loaded(&first, &catalog).as_str(), gone.as_str()), ("two", ""));
}

#[test]
fn what_is_loaded_keeps_its_order() {
    let catalog = catalog(&[
        tool_with("a", "deferred", json!({ "should_defer": true })),
        tool("a", "four"),
        tool("a", "one"),
        tool("a", "two"),
    ]);
    let made = loads(&make(&catalog, &request()).indexed, &catalog, "deferred", 2);
    // One that the rules load is loaded again.
    let made = loads(&unloads(&made, &catalog, "one"), &catalog, "one", 3);
    let before = loaded(&made, &catalog);
    assert_eq!(before, "four one two deferred");
    assert_eq!(loaded(&within(&made, &catalog, 9).0, &catalog), before);
}

#[test]
fn tools_that_are_not_loaded_do_not_count_among_the_many() {
    let many: Vec<Registration> = (0..1_003).map(|n| tool("a", &format!("t{n:04}"))).collect();
    let catalog = catalog(&many);
    let mut surface = make(&catalog, &SurfaceRequest { defer: DeferPolicy::None, ..request() }).indexed;
    for n in 0..2 {
        surface = unloads(&surface, &catalog, &format!("a.t{n:04}"));
    }
    let other = |surface: &IndexedSurface| surface.within_other_budget(&catalog, tools(1_000), &COUNTING);
    assert_eq!(other(&surface).unwrap_err(), NoOtherBudget::Crowd);
    surface = unloads(&surface, &catalog, "a.t0002");
    let first = surface.after_loading(&other(&surface).unwrap().unwrap());
    assert_eq!(first.budget(&catalog, Shut::NOTHING).map(|used| (used.tools, used.deferred)), Some((1_000, 0)));
    assert_eq!(first.counts(&catalog, Shut::NOTHING).loaded, 1_000);
}

#[test]
fn the_least_used_goes_and_a_call_before_the_budget_is_a_use() {
    let catalog = five();
    let made = make(&catalog, &request()).indexed;
    let used = |id: &ToolId| (id.as_str() != "tool_a_two").then(|| Timestamp::from_millis(5_000));
    let first = made.within_other_budget(&catalog, tools(4), &Counting { used: &used, ..COUNTING }).unwrap().unwrap();
    assert_eq!(first.unloaded.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a.two"]);
    // It is written down: who knows of no use goes by it.
    let surface = loads(&made.after_loading(&first), &catalog, "two", 4_000);
    assert!(loaded(&surface, &catalog).contains("two"));
    assert_eq!(within(&surface, &catalog, 3).1, "two");
}

#[test]
fn a_difference_from_before_the_first_budget_tells_what_later_ones_unloaded() {
    let catalog = catalog(&[
        tool_with("a", "edit", json!({ "should_defer": true })),
        tool("a", "list"),
        tool("a", "move"),
        tool("a", "read"),
        tool("a", "write"),
    ]);
    let made = Arc::new(make(&catalog, &request()).indexed);
    let (first, gone) = within(&made, &catalog, 3);
    assert_eq!(gone, "list");
    let (last, gone) = within(&loads(&first, &catalog, "edit", 2_000), &catalog, 2);
    assert_eq!((gone.as_str(), loaded(&last, &catalog).as_str()), ("read", "write edit"));
    let last = Arc::new(last);
    let expected = ["edit", "list", "move", "read"].map(|name| format!("Changed tool_a_{name}"));
    let mut from_moment = SurfaceWatcher::from_moment(Arc::clone(&last), &catalog, made.moment(&catalog));
    assert_eq!(told(&mut from_moment, &last, &catalog), expected);
    let mut from_known = SurfaceWatcher::from_now(Arc::clone(&made), &catalog);
    assert_eq!(told(&mut from_known, &last, &catalog), expected);
}

/// A step that is about too many tools is not remembered; who followed all the time is told anew as well.
#[test]
fn after_a_first_budget_of_very_many_the_surface_is_told_anew() {
    let many: Vec<Registration> = (0..600).map(|n| tool("a", &format!("t{n:03}"))).collect();
    let catalog = catalog(&many);
    let made = Arc::new(make(&catalog, &SurfaceRequest { defer: DeferPolicy::None, ..request() }).indexed);
    let last = Arc::new(within(&within(&made, &catalog, 600).0, &catalog, 1).0);
    for comes_back in [false, true] {
        let mut follower = Follower::of(&made, &catalog);
        if comes_back {
            follower.breaks(&last, &catalog);
        }
        while follower.goes_on(&last, &catalog, 50) {}
        assert_eq!(follower.known, state(&last, &catalog));
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let space = prop::sample::select(vec![None, Some("b"), Some("b.c")]);
    prop_oneof![
        2 => any_tool().prop_map(|tool| Event::Registered(Box::new(tool))),
        1 => (0..8u32).prop_map(Event::Retired),
        4 => (0..8u32).prop_map(Event::Loaded),
        4 => (0..8u32).prop_map(Event::Unloaded),
        3 => any_budget().prop_map(Event::OtherBudget),
        1 => (prop::option::of(0..8u32), space).prop_map(|(tool, space)| Event::Extended(tool, space)),
    ]
}

fn loaded_ids(surface: &IndexedSurface, catalog: &Catalog) -> BTreeSet<ToolId> {
    now(surface, catalog).loaded_tools.into_iter().map(|tool| tool.tool_id).collect()
}

/// A budget loads nothing, and what it says it unloads is what was loaded and is no more.
fn check_budget(surface: &IndexedSurface, catalog: &Catalog, budget: Budget) -> Result<(), TestCaseError> {
    let Ok(Some(loading)) = surface.within_other_budget(catalog, budget, &COUNTING) else { return Ok(()) };
    let (before, now) = (loaded_ids(surface, catalog), loaded_ids(&surface.after_loading(&loading), catalog));
    prop_assert!(now.is_subset(&before), "{:?} and {:?}", before, now);
    let told: BTreeSet<ToolId> = loading.unloaded.iter().map(|tool| tool.tool_id.clone()).collect();
    // What was loaded and is hidden now goes, too.
    let shown: BTreeSet<ToolId> = told.intersection(&before).cloned().collect();
    prop_assert_eq!(&shown, &before.difference(&now).cloned().collect());
    for id in told.difference(&shown) {
        let entry = catalog.get(id).unwrap();
        prop_assert!(!matches!(surface.standing(entry), Availability::Deferred(_)), "{} was not loaded", id);
    }
    Ok(())
}

proptest! {
    /// Whatever is loaded, unloaded and declared before the first budget and after it: no budget loads anything or says that it unloaded what
    /// was not loaded, and from every moment the difference leads to what there is, for who followed from there and who comes back.
    #[test]
    fn a_first_budget_loads_nothing_and_every_moment_stays_known(
        before in prop::collection::vec(any_tool(), 0..10),
        request in any_request(),
        events in prop::collection::vec(any_event(), 0..25),
    ) {
        let mut catalog = catalog(&[]);
        apply(&mut catalog, &before);
        let mut surface = Arc::new(make(&catalog, &request).indexed);
        let mut followers = Vec::new();
        for event in &events {
            followers.extend([Follower::of(&surface, &catalog), Follower::of(&surface, &catalog)]);
            if let Event::OtherBudget(budget) = event {
                check_budget(&surface, &catalog, *budget)?;
            }
            surface = after(event, &surface, &mut catalog);
        }
        let now = state(&surface, &catalog);
        for (at, mut follower) in followers.into_iter().enumerate() {
            if at % 2 == 0 {
                follower.breaks(&surface, &catalog);
            }
            while follower.goes_on(&surface, &catalog, 3) {}
            prop_assert_eq!(&follower.known, &now, "from before event {}", at / 2);
        }
    }
}
