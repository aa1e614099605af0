//! Surfaces within a budget: what they load never exceeds it, and what had to be deferred for it says so.

use std::collections::BTreeMap;

use proptest::prelude::*;
use toolplane_records::surface::SurfaceBudget;

use super::live::{any_request, any_tool, apply, retire};
use super::*;

pub(super) fn any_budget() -> impl Strategy<Value = Budget> {
    let bound = |most: u64| prop_oneof![1 => Just(0), 2 => 1..most];
    (bound(5), bound(14), bound(80)).prop_map(|(max_tools, max_schema_tokens, max_schema_bytes)| Budget {
        max_tools,
        max_schema_tokens,
        max_schema_bytes,
    })
}

fn tools(max_tools: u64) -> Budget {
    Budget { max_tools, ..Budget::default() }
}

fn tokens(max_schema_tokens: u64) -> Budget {
    Budget { max_schema_tokens, ..Budget::default() }
}

/// A tool whose model is told so many words of it.
fn of_words(name: &str, words: usize) -> Registration {
    let mut tool = tool("a", name);
    tool.declaration.description = vec!["w"; words].join(" ");
    tool
}

fn always(name: &str) -> Registration {
    let mut tool = tool_with("a", name, json!({ "always_load": true }));
    tool.declaration.description = "w".to_owned();
    tool
}

fn used(surface: &Shown, catalog: &Catalog) -> SurfaceBudget {
    surface.indexed.budget(catalog, Shut::NOTHING).unwrap()
}

/// What is loaded, in its order, and what of the rest is deferred for the budget.
fn shown(surface: &Shown, catalog: &Catalog) -> String {
    let now = now(&surface.indexed, catalog);
    let deferred = now.deferred_tools.iter().filter(|tool| tool.reason == "budget").map(|tool| tool.name.as_str());
    let told = format!("{} | {}", names(&now).0.join(" "), deferred.collect::<Vec<_>>().join(" "));
    told.replace("a.", "")
}

fn load_at(surface: &Shown, catalog: &Catalog, given: &[&str], at: i64, uses: &[(&str, i64)]) -> (Shown, Loading) {
    let used = |id: &ToolId| {
        let name = catalog.get(id).unwrap().tool.full_name().trim_start_matches("a.").to_owned();
        uses.iter().find(|(used, _)| *used == name).map(|(_, at)| Timestamp::from_millis(*at))
    };
    let counting = Counting { used: &used, ..COUNTING };
    let loading = super::super::load(&surface.indexed, catalog, &strings(given), Timestamp::from_millis(at), &counting);
    (Shown::of(surface.indexed.after_loading(&loading), catalog), loading)
}

fn gone(loading: &Loading) -> Vec<&str> {
    loading.unloaded.iter().map(|tool| tool.name.trim_start_matches("a.")).collect()
}

#[test]
fn what_nobody_may_use_takes_nothing_of_a_budget() {
    let catalog = catalog(&["five", "four", "one", "three", "two"].map(|name| tool("a", name)));
    let id = |name: &str| match catalog.find(name) {
        Lookup::One(entry) => entry.tool_id().clone(),
        other => panic!("{name}: {other:?}"),
    };
    let denied: BTreeMap<ToolId, String> = ["five", "one"].map(|name| (id(name), "is denied".to_owned())).into();
    let made = |request: &SurfaceRequest, denied: &BTreeMap<ToolId, String>| {
        let (shut, at) = (Shut { denied, ..Shut::NOTHING }, Timestamp::from_millis(1000));
        let made = LiveSurface::make_within(&catalog, request, SurfaceId::from_trusted("s1"), at, None, shut).unwrap();
        let surface = IndexedSurface::from(made.loaded_within_budget(&catalog, &Counting { shut, ..COUNTING }));
        let told = surface.record(&catalog, shut);
        let budget = surface.budget(&catalog, shut).map(|used| {
            let left = used.deferred_tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>();
            (used.tools, used.deferred, left.join(" "))
        });
        (names(&told).0.join(" "), budget)
    };
    let within = SurfaceRequest { budget: tools(2), load: strings(&["one"]), ..request() };
    let nothing = BTreeMap::new();
    assert_eq!(made(&within, &nothing), ("a.one a.five".to_owned(), Some((2, 3, "a.four a.three a.two".to_owned()))));
    assert_eq!(made(&within, &denied), ("a.four a.three".to_owned(), Some((2, 1, "a.two".to_owned()))));
    // Nor are there too many to load them all because of it.
    let few = SurfaceRequest { defer: DeferPolicy::Auto { threshold: 3 }, ..request() };
    assert_eq!(made(&few, &nothing), (String::new(), None));
    assert_eq!(made(&few, &denied), ("a.four a.three a.two".to_owned(), None));
}

#[test]
fn what_nobody_may_use_any_more_goes_first() {
    let catalog = catalog(&["five", "four", "one", "three", "two"].map(|name| tool("a", name)));
    let within = SurfaceRequest { budget: tools(2), load: strings(&["one", "two"]), ..request() };
    let made = make(&catalog, &within);
    assert_eq!(names(&made).0, ["a.one", "a.two"]);
    let Lookup::One(one) = catalog.find("a.one") else { panic!("no tool") };
    let denied = BTreeMap::from([(one.tool_id().clone(), "is denied".to_owned())]);
    let used = |_: &ToolId| Some(Timestamp::from_millis(5000));
    let load_four = |denied: &BTreeMap<ToolId, String>| {
        let counting = Counting { used: &used, shut: Shut { denied, ..Shut::NOTHING }, ..COUNTING };
        let at = Timestamp::from_millis(9000);
        super::super::load(&made.indexed, &catalog, &strings(&["four"]), at, &counting)
    };
    // Both were asked for by name and stay; that holds of none that nobody may call.
    let nobody = BTreeMap::new();
    assert!(matches!(load_four(&nobody).outcomes[0].1, LoadOutcome::NoRoom { .. }));
    let loading = load_four(&denied);
    assert_eq!((gone(&loading), loading.fresh.len()), (vec!["one"], 1));
}

#[test]
fn a_surface_loads_in_order_what_fits_and_says_what_does_not() {
    let catalog = catalog(&[
        of_words("one", 2),
        of_words("two", 9),
        of_words("three", 3),
        of_words("asked", 1),
        always("always"),
        of_words("other", 4),
    ]);
    let within = |budget| make(&catalog, &SurfaceRequest { budget, load: strings(&["asked"]), ..request() });
    // By id: one, other, three, two.
    assert_eq!(shown(&within(tools(3)), &catalog), "asked always one | other three two");
    assert_eq!(shown(&within(tokens(7)), &catalog), "asked always one three | other two");
    assert_eq!(shown(&within(tokens(1)), &catalog), "asked | always one other three two");
    assert_eq!(shown(&within(tools(99)), &catalog), "asked always one other three two | ");
    let SurfaceBudget { max_tools, tools: loaded, schema_tokens, deferred, deferred_tools, .. } =
        used(&within(tools(3)), &catalog);
    assert_eq!((max_tools, loaded, schema_tokens, deferred), (3, 3, 4, 3));
    assert_eq!(deferred_tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(), ["a.other", "a.three", "a.two"]);
    // What the policy defers is not deferred for the budget.
    let few = make(&catalog, &SurfaceRequest { budget: tools(3), defer: DeferPolicy::All, ..request() });
    assert_eq!(shown(&few, &catalog), "always | ");
    assert_eq!(used(&few, &catalog).deferred, 0);
    assert_eq!(make(&catalog, &request()).indexed.budget(&catalog, Shut::NOTHING), None);
}

#[test]
fn what_does_not_fit_among_very_many_is_not_looked_for_for_ever() {
    let mut many: Vec<Registration> = (0..150).map(|n| of_words(&format!("t{n:03}"), 9)).collect();
    many.push(of_words("u", 1));
    let catalog = catalog(&many);
    let request = SurfaceRequest { budget: tokens(8), defer: DeferPolicy::None, ..request() };
    let surface = make(&catalog, &request);
    assert_eq!(used(&surface, &catalog).deferred, 151);
    assert_eq!(used(&surface, &catalog).deferred_tools.len(), 20);
    assert_eq!(names(&surface).0.len(), 0);
}

#[test]
fn what_comes_later_or_grows_takes_nothing_of_the_budget() {
    let mut catalog = catalog(&[of_words("one", 2)]);
    let surface = make(&catalog, &SurfaceRequest { budget: tokens(5), ..request() });
    register(&mut catalog, always("always"));
    register(&mut catalog, of_words("later", 1));
    assert_eq!(shown(&surface, &catalog), "one | always");
    // It is what the agent was shown, until it is loaded anew.
    register(&mut catalog, of_words("one", 50));
    assert_eq!(used(&surface, &catalog).schema_tokens, 2);
    assert!(matches!(resolve(&surface, &catalog, "one"), Resolution::Callable(_)));
    let (same, loading) = load_at(&surface, &catalog, &["one"], 2000, &[]);
    assert!(matches!(&loading.outcomes[0].1, LoadOutcome::NoRoom { shortage, .. }
        if *shortage == Shortage { field: "max_schema_tokens", need: 50, free: 5, budget: 5 }));
    assert_eq!((shown(&same, &catalog), same.revision), (shown(&surface, &catalog), surface.revision + 3));
    // One that takes another schema has to be loaded again, and counts anew then.
    let schema = json!({ "type": "object", "properties": { "n": { "type": "string" } }, "required": ["n"] });
    let mut other = with_schema("one", schema);
    other.declaration.description = "w w w w".to_owned();
    register(&mut catalog, other);
    assert!(matches!(resolve(&surface, &catalog, "one"), Resolution::Changed(..)));
    let (after, _) = load_at(&surface, &catalog, &["one"], 2000, &[]);
    assert!(matches!(resolve(&after, &catalog, "one"), Resolution::Callable(_)));
    assert_eq!(used(&after, &catalog).schema_tokens, 4);
}

#[test]
fn the_least_used_goes_for_what_is_loaded() {
    let mut catalog =
        catalog(&["one", "two", "three", "four", "five"].map(|name| of_words(name, 2)).into_iter().collect::<Vec<_>>());
    register(&mut catalog, always("always"));
    let request = SurfaceRequest { budget: tools(4), load: strings(&["five"]), defer: DeferPolicy::All, ..request() };
    let surface = make(&catalog, &request);
    let (surface, first) = load_at(&surface, &catalog, &["one", "two"], 2000, &[]);
    assert_eq!((shown(&surface, &catalog).as_str(), gone(&first)), ("five always one two | ", vec![]));
    let (surface, second) = load_at(&surface, &catalog, &["three"], 3000, &[("one", 2500)]);
    assert_eq!((shown(&surface, &catalog).as_str(), gone(&second)), ("five always one three | two", vec!["two"]));
    // What is asked for is no victim, though nobody used it for longest, and neither is what the maker named or wants always.
    let (surface, third) = load_at(&surface, &catalog, &["four", "one"], 4000, &[("five", 1), ("always", 1)]);
    assert_eq!((shown(&surface, &catalog).as_str(), gone(&third)), ("five always one four | three two", vec!["three"]));
    assert_eq!(used(&surface, &catalog).deferred_tools[0].name, "a.three", "the latest first");
    let (full, fourth) = load_at(&surface, &catalog, &["two", "one", "four"], 5000, &[]);
    let shortage = Shortage { field: "max_tools", need: 1, free: 0, budget: 4 };
    assert!(matches!(&fourth.outcomes[0].1, LoadOutcome::NoRoom { shortage: told, .. } if *told == shortage));
    assert_eq!(shown(&full, &catalog), shown(&surface, &catalog));
    // Who unloads a tool makes room, and it is not said to have gone for the budget.
    let (surface, _) = unload(&surface, &catalog, &strings(&["one"]));
    let (surface, fifth) = load_at(&surface, &catalog, &["two"], 6000, &[]);
    assert_eq!((shown(&surface, &catalog).as_str(), gone(&fifth)), ("five always four two | three", vec![]));
    // What cannot be used any more goes first.
    retire(&mut catalog, "tool_a_five");
    let (surface, sixth) = load_at(&surface, &catalog, &["one"], 7000, &[]);
    assert_eq!((shown(&surface, &catalog).as_str(), gone(&sixth)), ("always four two one | three", vec!["five"]));
}

#[test]
fn a_smaller_budget_unloads_and_a_larger_one_leaves_room() {
    let catalog = catalog(&["one", "two", "three"].map(|name| of_words(name, 2)).into_iter().collect::<Vec<_>>());
    let surface = make(&catalog, &SurfaceRequest { budget: tools(3), load: strings(&["two"]), ..request() });
    let other = |budget| surface.indexed.within_other_budget(&catalog, budget, &COUNTING);
    assert!(other(tools(3)).unwrap().is_none(), "it is what it was");
    let smaller = other(tokens(2)).unwrap().unwrap();
    let after = Shown::of(surface.indexed.after_loading(&smaller), &catalog);
    assert_eq!((shown(&after, &catalog).as_str(), after.revision), ("two | one three", surface.revision + 1));
    assert_eq!((used(&after, &catalog).max_tools, used(&after, &catalog).max_schema_tokens), (0, 2));
    let short = other(tokens(1)).unwrap_err();
    let shortage = Shortage { field: "max_schema_tokens", need: 2, free: 1, budget: 1 };
    assert_eq!(short, NoOtherBudget::Short(shortage), "what stays loaded has to fit");
}

#[test]
fn what_a_smaller_budget_deferred_is_not_said_to_be_deferred_for_a_larger_one() {
    let mut catalog = catalog(&["one", "two", "three"].map(|name| of_words(name, 2)).into_iter().collect::<Vec<_>>());
    let surface = make(&catalog, &SurfaceRequest { budget: tools(1), ..request() });
    let (surface, _) = load_at(&surface, &catalog, &["two"], 2000, &[]);
    assert_eq!((shown(&surface, &catalog).as_str(), used(&surface, &catalog).deferred), ("two | one three", 2));
    let other = |surface: &Shown, catalog: &Catalog, budget| {
        let loading = surface.indexed.within_other_budget(catalog, budget, &COUNTING).unwrap().unwrap();
        Shown::of(surface.indexed.after_loading(&loading), catalog)
    };
    let larger = other(&surface, &catalog, tools(2));
    assert_eq!((shown(&larger, &catalog).as_str(), used(&larger, &catalog).deferred), ("two | ", 0));
    // What comes or goes from now on is deferred for the larger one.
    register(&mut catalog, always("always"));
    let (full, _) = load_at(&larger, &catalog, &["one", "three"], 3000, &[]);
    assert_eq!((shown(&full, &catalog).as_str(), used(&full, &catalog).deferred), ("one three | always two", 2));
    let smaller = other(&full, &catalog, tools(1));
    assert_eq!(used(&smaller, &catalog).deferred, 3);
    assert!(
        other(&smaller, &catalog, tools(9)).indexed.budget(&catalog, Shut::NOTHING).unwrap().deferred_tools.is_empty()
    );
}

#[test]
fn a_surface_without_a_budget_gets_one_and_is_what_it_was_before() {
    let catalog = catalog(&["one", "two", "three"].map(|name| of_words(name, 2)).into_iter().collect::<Vec<_>>());
    let request = SurfaceRequest { load: strings(&["two"]), ..request() };
    let surface = make(&catalog, &request);
    assert_eq!(names(&now(&surface.indexed, &catalog)).0.len(), 3);
    let first = surface.indexed.within_other_budget(&catalog, tools(2), &COUNTING).unwrap().unwrap();
    assert!(first.fresh.is_empty(), "nothing is loaded by that");
    let after = Shown::of(surface.indexed.after_loading(&first), &catalog);
    assert_eq!((shown(&after, &catalog).as_str(), gone(&first)), ("three two | one", vec!["one"]));
    assert_eq!((used(&after, &catalog).tools, used(&after, &catalog).deferred), (2, 1));
    // Who goes by a moment of before, or follows from there, is told of the difference alone.
    let mut watcher = SurfaceWatcher::from_now(surface.indexed.clone().into(), &catalog);
    let Progress::Part(part) = watcher.next(&after.indexed.into(), &catalog, 9) else { panic!("it is told") };
    let told: Vec<_> = part.tools.iter().map(|tool| (tool.name.as_str(), tool.for_budget)).collect();
    assert_eq!(told, [("a.one", true)]);
    // What has to stay has to fit, and no budget is none.
    let short = surface.indexed.within_other_budget(&catalog, tokens(1), &COUNTING).unwrap_err();
    assert!(matches!(short, NoOtherBudget::Short(Shortage { field: "max_schema_tokens", need: 2, .. })), "{short:?}");
    assert!(surface.indexed.within_other_budget(&catalog, Budget::default(), &COUNTING).unwrap().is_none());
    // As many as no budget has places for are not counted.
    let many: Vec<Registration> = (0..1_001).map(|n| of_words(&format!("t{n}"), 1)).collect();
    let crowd = super::catalog(&many);
    let surface = make(&crowd, &SurfaceRequest { defer: DeferPolicy::None, ..super::request() });
    assert_eq!(surface.indexed.within_other_budget(&crowd, tools(9), &COUNTING).unwrap_err(), NoOtherBudget::Crowd);
}

#[test]
fn who_follows_is_told_that_it_went_for_the_budget() {
    let mut catalog = catalog(&[of_words("one", 2), of_words("two", 2)]);
    let surface = make(&catalog, &SurfaceRequest { budget: tools(1), ..request() });
    let mut watcher = SurfaceWatcher::from_now(surface.indexed.clone().into(), &catalog);
    let (after, _) = load_at(&surface, &catalog, &["two"], 2000, &[]);
    register(&mut catalog, always("always"));
    let Progress::Part(part) = watcher.next(&after.indexed.into(), &catalog, 9) else { panic!("it is told") };
    let told: Vec<_> = part.tools.iter().map(|tool| (tool.name.as_str(), tool.kind(), tool.for_budget)).collect();
    let (added, changed) = (DifferenceKind::Added, DifferenceKind::Changed);
    assert_eq!(told, [("a.one", changed, true), ("a.two", changed, false), ("a.always", added, true)]);
}

#[derive(Clone, Debug)]
enum Step {
    Declared(Box<Registration>),
    Retired(u32),
    Loaded(Vec<u32>),
    Unloaded(u32),
    Used(u32),
    OtherBudget(Budget),
}

fn any_step() -> impl Strategy<Value = Step> {
    let grown = (any_tool(), 1..8usize).prop_map(|(mut tool, words)| {
        tool.declaration.description = vec!["word"; words].join(" ");
        Step::Declared(Box::new(tool))
    });
    prop_oneof![
        4 => grown,
        1 => (0..8u32).prop_map(Step::Retired),
        4 => prop::collection::vec(0..8u32, 1..4).prop_map(Step::Loaded),
        1 => (0..8u32).prop_map(Step::Unloaded),
        2 => (0..8u32).prop_map(Step::Used),
        1 => any_budget().prop_map(Step::OtherBudget),
    ]
}

/// Everything that was promised of a surface at one moment.
fn check(surface: &Shown, catalog: &Catalog) -> Result<(), TestCaseError> {
    let now = now(&surface.indexed, catalog);
    let Some(used) = surface.indexed.budget(catalog, Shut::NOTHING) else { return Ok(()) };
    let keeps = |had: u64, most: u64| most == 0 || had <= most;
    prop_assert!(keeps(used.tools, used.max_tools) && now.loaded_tools.len() as u64 <= used.tools, "{:?}", used);
    prop_assert!(keeps(used.schema_tokens, used.max_schema_tokens), "{:?}", used);
    prop_assert!(keeps(used.schema_bytes, used.max_schema_bytes), "{:?}", used);
    let mut seen = BTreeMap::new();
    let loaded = now.loaded_tools.iter().map(|tool| (&tool.tool_id, "loaded"));
    let deferred = now.deferred_tools.iter().map(|tool| (&tool.tool_id, "deferred"));
    let hidden = now.blocked_tools.iter().chain(&now.excluded_tools).map(|tool| (&tool.tool_id, "hidden"));
    for (id, list) in loaded.chain(deferred).chain(hidden) {
        prop_assert_eq!(seen.insert(id, list), None, "{} is in two lists", id);
    }
    let for_budget = now.deferred_tools.iter().filter(|tool| tool.reason == "budget");
    prop_assert_eq!(used.deferred, for_budget.count() as u64);
    prop_assert_eq!(used.deferred_tools.len() as u64, used.deferred.min(20));
    let counts = surface.indexed.counts(catalog, Shut::NOTHING);
    prop_assert_eq!((counts.loaded, counts.deferred), (now.loaded_tools.len(), now.deferred_tools.len()));
    Ok(())
}

proptest! {
    /// Whatever is loaded, unloaded, used, declared anew and retired: what is loaded keeps the budget, no tool is in two lists, what was
    /// deferred is told, and the same again gives the same bytes.
    #[test]
    fn what_is_loaded_never_exceeds_the_budget(
        before in prop::collection::vec(any_tool(), 0..10),
        request in any_request(),
        budget in any_budget(),
        steps in prop::collection::vec(any_step(), 0..30),
    ) {
        let mut catalog = catalog(&[]);
        apply(&mut catalog, &before);
        let request = SurfaceRequest { budget, ..request };
        let mut surface = make(&catalog, &request);
        prop_assert_eq!(surface.indexed.write().unwrap(), make(&catalog, &request).indexed.write().unwrap());
        check(&surface, &catalog)?;
        let mut uses: BTreeMap<ToolId, Timestamp> = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            let at = Timestamp::from_millis(2000 + i64::try_from(at).unwrap());
            let name = |number: &u32| format!("tool_{number}");
            let used = |id: &ToolId| uses.get(id).copied();
            let counting = Counting { used: &used, ..COUNTING };
            match step {
                Step::Declared(tool) => drop(apply(&mut catalog, std::slice::from_ref(tool))),
                Step::Retired(number) => {
                    if let Ok(change) = catalog.plan_retire(&ToolId::from_trusted(name(number))) {
                        catalog.apply(change);
                    }
                }
                Step::Loaded(numbers) => {
                    let given: Vec<String> = numbers.iter().map(name).collect();
                    let load = || super::super::load(&surface.indexed, &catalog, &given, at, &counting);
                    let loading = load();
                    let after = surface.indexed.after_loading(&loading);
                    prop_assert_eq!(after.write().unwrap(), surface.indexed.after_loading(&load()).write().unwrap());
                    for (_, outcome) in &loading.outcomes {
                        if let LoadOutcome::Loaded(id) | LoadOutcome::AlreadyLoaded(id) = outcome {
                            let entry = catalog.get(id).unwrap();
                            prop_assert!(after.loaded(entry).is_some(), "{} is not loaded", id);
                            prop_assert!(loading.unloaded.iter().all(|tool| tool.tool_id != *id), "{} went", id);
                        }
                    }
                    surface = Shown::of(after, &catalog);
                }
                Step::Unloaded(number) => surface = unload(&surface, &catalog, &[name(number)]).0,
                Step::Used(number) => drop(uses.insert(ToolId::from_trusted(name(number)), at)),
                Step::OtherBudget(budget) => {
                    if !budget.is_none()
                        && let Ok(Some(loading)) = surface.indexed.within_other_budget(&catalog, *budget, &counting)
                    {
                        surface = Shown::of(surface.indexed.after_loading(&loading), &catalog);
                    }
                }
            }
            check(&surface, &catalog)?;
        }
    }
}
