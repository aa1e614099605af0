//! Surfaces within surfaces: none shows what one above it does not, and each says who hides what.

use std::collections::BTreeMap;

use proptest::prelude::*;
use toolplane_records::payload::JsonPayload;

use super::live::{any_request, any_tool, apply, retire};
use super::watching::{Event, Follower, after, any_event, state, told};
use super::*;

/// Surfaces that are within each other, the uppermost first.
struct Line(Vec<Arc<IndexedSurface>>);

impl Line {
    fn of(catalog: &Catalog, requests: &[SurfaceRequest]) -> Self {
        let mut line = Self(Vec::new());
        for request in requests {
            let id = SurfaceId::from_trusted(format!("s{}", line.0.len()));
            line.0.push(Arc::new(below(line.0.last(), catalog, request, id)));
        }
        line
    }

    fn lowest(&self) -> &Arc<IndexedSurface> {
        self.0.last().unwrap()
    }

    /// One of them is another now; those below it are put below that, each as it is stored.
    fn put(&mut self, at: usize, surface: Arc<IndexedSurface>) {
        let line = std::mem::take(&mut self.0);
        for (place, old) in line.into_iter().enumerate() {
            let surface = if place == at { Arc::clone(&surface) } else { old };
            let stored = IndexedSurface::read(&surface.write().unwrap()).unwrap();
            self.0.push(Arc::new(stored.within(self.0.last().cloned())));
        }
    }

    fn happens(&mut self, at: usize, event: &Event, catalog: &mut Catalog) {
        let at = at % self.0.len();
        let changed = after(event, &self.0[at], catalog);
        self.put(at, changed);
    }
}

fn below(
    above: Option<&Arc<IndexedSurface>>,
    catalog: &Catalog,
    request: &SurfaceRequest,
    id: SurfaceId,
) -> IndexedSurface {
    let made =
        LiveSurface::make_within(catalog, request, id, Timestamp::from_millis(1000), above.cloned(), Shut::NOTHING);
    made.unwrap().loaded_within_budget(catalog, &COUNTING).into()
}

fn of_spaces(spaces: &[&str]) -> SurfaceRequest {
    SurfaceRequest { namespaces: strings(spaces), ..request() }
}

fn lists(surface: &IndexedSurface, catalog: &Catalog) -> String {
    let now = now(surface, catalog);
    let (loaded, deferred) = names(&now);
    format!("{} | {}", loaded.join(" "), deferred.join(" "))
}

fn why(surface: &IndexedSurface, catalog: &Catalog, name: &str) -> (HiddenReason, String) {
    match super::super::resolve(surface, catalog, name, None) {
        Resolution::Blocked(tool) | Resolution::Excluded(tool) => (tool.reason, tool.message),
        other => panic!("{name}: {other:?}"),
    }
}

fn extended(surface: &IndexedSurface, catalog: &Catalog, spaces: &[&str]) -> Arc<IndexedSurface> {
    let by = Extension { namespaces: strings(spaces), ..Extension::default() };
    Arc::new(surface.after_extending(catalog, &by).unwrap().unwrap())
}

#[test]
fn a_surface_shows_what_it_chooses_of_what_those_above_it_show() {
    let catalog = catalog(&[tool("a", "one"), tool("a", "two"), tool("b", "three"), tool("c", "four")]);
    let top = SurfaceRequest { blocked: vec![blocked("a.two")], ..of_spaces(&["a", "b"]) };
    let line = Line::of(&catalog, &[top, request(), of_spaces(&["a", "c"])]);
    assert_eq!(lists(&line.0[1], &catalog), "a.one b.three | ");
    assert_eq!(lists(line.lowest(), &catalog), "a.one | ");
    let (reason, message) = why(line.lowest(), &catalog, "a.two");
    assert_eq!(reason, HiddenReason::PolicyBlocked);
    assert_eq!(message, "not today (says the surface `s0`, which this one is within)");
    let (reason, message) = why(line.lowest(), &catalog, "c.four");
    assert_eq!(reason, HiddenReason::NotSelected);
    assert!(message.starts_with("is not part of the surface `s0`, which this one is within"), "{message}");
    let (_, message) = why(line.lowest(), &catalog, "b.three");
    assert!(message.starts_with("is not part of this surface"), "what it leaves out itself it says itself: {message}");
    let record = now(line.lowest(), &catalog);
    assert_eq!(record.parent_surface_id, Some(SurfaceId::from_trusted("s1")));
    assert_eq!(record.blocked_tools.len(), 1, "what one above blocks is blocked: {record:?}");
    assert_eq!(record.excluded_tools, [], "what one above has not is in no list");
}

#[test]
fn what_one_above_never_had_is_in_no_list_whatever_hides_it_too() {
    let mut catalog = catalog(&[tool("a", "one"), tool("a", "old"), tool("b", "two"), tool("b", "old")]);
    retire(&mut catalog, "tool_a_old");
    retire(&mut catalog, "tool_b_old");
    let blocking = SurfaceRequest { blocked: vec![blocked("b.two"), blocked("a.one")], ..request() };
    let line = Line::of(&catalog, &[of_spaces(&["a"]), blocking, request()]);
    for (surface, of) in [(&line.0[1], "the middle"), (line.lowest(), "the lowest")] {
        let record = now(surface, &catalog);
        let names = |tools: &[HiddenTool]| tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&record.blocked_tools), ["a.one"], "{of}");
        assert_eq!(names(&record.excluded_tools), ["a.old"], "{of}");
        let counts = surface.counts(&catalog, Shut::NOTHING);
        assert_eq!(counts, SurfaceCounts { blocked: 1, excluded: 1, ..SurfaceCounts::default() }, "{of}");
        for name in ["b.two", "b.old"] {
            let (reason, message) = why(surface, &catalog, name);
            assert_eq!(reason, HiddenReason::NotSelected, "{of}: {name}");
            assert!(message.starts_with("is not part of the surface `s0`"), "{of}: {message}");
        }
    }
    let orphan = IndexedSurface::read(&line.0[1].write().unwrap()).unwrap();
    assert_eq!(orphan.counts(&catalog, Shut::NOTHING), SurfaceCounts::default(), "nor without the one above");
}

#[test]
fn what_a_surface_hides_for_its_role_is_hidden_below_it() {
    let catalog = catalog(&[tool("a", "one"), tool_with("a", "ask", json!({ "requires_user_interaction": true }))]);
    let interactive = RoleConstraints { interactive: true, ..RoleConstraints::default() };
    let interactive = SurfaceRequest { role: interactive, ..request() };
    let line = Line::of(&catalog, &[request(), interactive.clone()]);
    assert_eq!(lists(line.lowest(), &catalog), "a.one | ");
    assert_eq!(why(line.lowest(), &catalog, "a.ask").0, HiddenReason::RoleNotAllowed);
    let line = Line::of(&catalog, &[interactive.clone(), interactive]);
    assert_eq!(lists(line.lowest(), &catalog), "a.ask a.one | ");
}

#[test]
fn without_the_one_above_nothing_is_shown_and_nothing_called() {
    let catalog = catalog(&[tool("a", "one")]);
    let line = Line::of(&catalog, &[request(), request()]);
    let stored = String::from_utf8(line.lowest().write().unwrap()).unwrap();
    assert!(stored.starts_with(r#"{"form":3,"#), "versions that know no lines cannot read it: {stored}");
    let orphan = IndexedSurface::read(stored.as_bytes()).unwrap();
    assert_eq!(lists(&orphan, &catalog), " | ");
    let (reason, message) = why(&orphan, &catalog, "a.one");
    assert_eq!(reason, HiddenReason::NotSelected);
    assert!(message.contains("is within the surface `s0`, which is not there any more"), "{message}");
    assert_eq!(orphan.counts(&catalog, Shut::NOTHING), SurfaceCounts::default());
    // Another surface that has its id by now is not the one above.
    let request = request();
    let made = LiveSurface::make(&catalog, &request, SurfaceId::from_trusted("s0"), Timestamp::from_millis(2000));
    let orphan = orphan.within(Some(Arc::new(made.unwrap().into())));
    assert_eq!((lists(&orphan, &catalog).as_str(), orphan.parents().count()), (" | ", 0));
    assert_eq!(lists(&orphan.within(Some(Arc::clone(&line.0[0]))), &catalog), "a.one | ");
}

#[test]
fn without_the_one_above_the_revision_is_not_behind_what_was_told() {
    let mut catalog = catalog(&[tool("a", "one"), tool("b", "two")]);
    let mut line = Line::of(&catalog, &[of_spaces(&["a"]), request(), request()]);
    line.put(0, extended(&line.0[0], &catalog, &["b"]));
    let told = line.lowest().revision(&catalog);
    let stored = |surface: &IndexedSurface| IndexedSurface::read(&surface.write().unwrap()).unwrap();
    // The highest one goes first, then the one in the middle; no log told of the change.
    let middle = Arc::new(stored(&line.0[1]));
    let without_the_highest = stored(line.lowest()).within(Some(middle)).revision(&catalog);
    let alone = stored(line.lowest());
    assert_eq!(alone.parents().count(), 0);
    let revisions = [told, without_the_highest, alone.revision(&catalog)];
    assert!(revisions[0] < revisions[1] && revisions[1] <= revisions[2], "{revisions:?}");
    // What its log is told without those above makes it no smaller either, and it grows on with the catalog.
    let noted = stored(&alone.noting(&catalog));
    assert_eq!(noted.revision(&catalog), revisions[2]);
    register(&mut catalog, tool("c", "three"));
    assert_eq!(noted.revision(&catalog), revisions[2] + 1);
}

#[test]
fn what_one_above_is_extended_by_comes_deferred() {
    let mut catalog = catalog(&[tool("a", "one"), tool("b", "two"), tool("b", "three")]);
    let below = SurfaceRequest { load: strings(&["b.three"]), ..request() };
    let mut line = Line::of(&catalog, &[of_spaces(&["a"]), below]);
    let (moment, revision) = (line.lowest().moment(&catalog), line.lowest().revision(&catalog));
    assert_eq!((moment.to_string().as_str(), revision), ("1.1.3", 1));
    assert_eq!(lists(line.lowest(), &catalog), "a.one | ");
    let mut watcher = SurfaceWatcher::from_now(Arc::clone(line.lowest()), &catalog);
    line.put(0, extended(&line.0[0], &catalog, &["b"]));
    assert_eq!(lists(line.lowest(), &catalog), "a.one b.three | b.two", "what it was made to load alone is loaded");
    assert_eq!(line.lowest().moment(&catalog).to_string(), "1.2.3");
    assert_eq!(line.lowest().revision(&catalog), revision + 1);
    assert_eq!(told(&mut watcher, line.lowest(), &catalog), ["Added tool_b_three", "Added tool_b_two"]);
    let mut again = SurfaceWatcher::from_moment(Arc::clone(line.lowest()), &catalog, moment);
    assert_eq!(told(&mut again, line.lowest(), &catalog), ["Added tool_b_three", "Added tool_b_two"]);
    let mut again = SurfaceWatcher::from_revision(Arc::clone(line.lowest()), &catalog, revision);
    assert_eq!(told(&mut again, line.lowest(), &catalog)[0], "anew", "a revision does not say which of them changed");
    register(&mut catalog, tool("b", "later"));
    assert_eq!(told(&mut watcher, line.lowest(), &catalog), ["Added tool_b_later"]);
}

#[test]
fn what_several_of_a_line_bring_is_told_once() {
    let catalog = catalog(&[tool("a", "one"), tool("b", "two"), tool("b", "three")]);
    let mut line = Line::of(&catalog, &[of_spaces(&["a"]), of_spaces(&["a"])]);
    let mut watcher = SurfaceWatcher::from_now(Arc::clone(line.lowest()), &catalog);
    line.put(0, extended(&line.0[0], &catalog, &["b"]));
    line.put(1, extended(line.lowest(), &catalog, &["b"]));
    let loading =
        super::super::load(line.lowest(), &catalog, &strings(&["b.two"]), Timestamp::from_millis(9), &COUNTING);
    line.put(1, Arc::new(line.lowest().after_loading(&loading)));
    assert_eq!(told(&mut watcher, line.lowest(), &catalog), ["Added tool_b_three", "Added tool_b_two"]);
}

#[test]
fn a_call_that_goes_by_a_moment_is_judged_by_what_those_above_showed_then() {
    let catalog = catalog(&[tool("a", "one"), tool("b", "two")]);
    let below = SurfaceRequest { load: strings(&["b.two"]), ..request() };
    let mut line = Line::of(&catalog, &[of_spaces(&["a"]), below]);
    let moment = line.lowest().moment(&catalog);
    line.put(0, extended(&line.0[0], &catalog, &["b"]));
    let at = |moment: Moment, name: &str| resolve_at(line.lowest(), &catalog, name, moment, None);
    assert!(matches!(at(moment, "a.one"), Ok(Meant::Now(Resolution::Callable(_)))));
    assert!(matches!(at(moment, "b.two"), Ok(Meant::Later { loaded: true, .. })));
    let now = line.lowest().moment(&catalog);
    assert!(matches!(at(now, "b.two"), Ok(Meant::Now(Resolution::Callable(_)))));
    let of = |text: &str| at(text.parse().unwrap(), "a.one").map(drop);
    assert_eq!(of("1.3.2"), Err(WrongMoment::Ahead));
    assert_eq!(of("1.0.2"), Err(WrongMoment::Foreign), "from before it was made");
    assert_eq!([of("1.2"), of("1.1.1.2")], [Err(WrongMoment::Foreign); 2], "of a surface with others above it");
}

#[test]
fn what_leads_nowhere_within_the_one_above_is_told() {
    let catalog = catalog(&[tool("a", "one"), tool("a", "two"), tool("b", "three"), tool("c", "four")]);
    let top = SurfaceRequest { blocked: vec![blocked("a.two")], tool_refs: strings(&["c.four"]), ..of_spaces(&["a"]) };
    let line = Line::of(&catalog, &[top, request(), request()]);
    let all = strings(&["a", "b", "c", "nowhere"]);
    let asked: [AskedFor<'_>; 1] = [(crate::filter::FilterKind::Namespace, "namespaces", &all)];
    let selection = Selection { namespaces: all.iter().cloned().collect(), ..Selection::default() };
    let told = |above: Option<&IndexedSurface>| -> Vec<(String, String)> {
        let told = unmatched(&catalog, &asked, &selection, above);
        told.into_iter().map(|one| (one.field, one.message)).collect()
    };
    let nowhere = ("namespaces[3]".to_owned(), "no tool has the namespace `nowhere` now".to_owned());
    assert_eq!(told(None), std::slice::from_ref(&nowhere));
    let message = "the surface `s1`, which this one is within, shows no tool that has the namespace `b` now";
    let within = ("namespaces[1]".to_owned(), message.to_owned());
    assert_eq!(told(line.lowest().parents().next()), [nowhere, within], "`c` is shown for the tool that is named");
    let names = strings(&["a.one", "a.two", "b.three", "c.four", "nothing"]);
    let told = not_shown(&catalog, Shut::NOTHING, "load", &names, line.lowest());
    let told: Vec<(&str, &str)> = told.iter().map(|one| (one.field.as_str(), one.message.as_str())).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], ("load[1]", "`a.two` not today (says the surface `s0`, which this one is within)"));
    assert!(told[1].0 == "load[2]" && told[1].1.starts_with("`b.three` is not part of the surface `s0`"), "{told:?}");
}

#[test]
fn a_named_tool_that_is_not_shown_is_told_with_why() {
    let catalog = catalog(&[tool("a", "one"), tool("a", "two"), tool("a", "three")]);
    let surface = make(&catalog, &SurfaceRequest { blocked: vec![blocked("a.two")], ..request() }).indexed;
    let Lookup::One(three) = catalog.find("a.three") else { panic!() };
    let denied = BTreeMap::from([(three.tool_id().clone(), "is denied by the rule `r`, whatever the call".to_owned())]);
    let shut = Shut { denied: &denied, ..Shut::NOTHING };
    let names = strings(&["a.one", "three", "a.two", "nothing"]);
    let told = not_shown(&catalog, shut, "load", &names, &surface);
    let told: Vec<String> = told.into_iter().map(|one| format!("{} {}", one.field, one.message)).collect();
    assert_eq!(told, ["load[1] `a.three` is denied by the rule `r`, whatever the call", "load[2] `a.two` not today"]);
}

#[test]
fn each_of_a_line_says_what_may_be_called() {
    let catalog = catalog(&[tool("a", "one"), tool("a", "two")]);
    let with = |choice: Option<&str>, policy: Option<Value>, refs: &[&str]| SurfaceRequest {
        default_tool_choice: choice.map(|choice| JsonPayload::of(&json!(choice))),
        selection_policy: policy.map(|policy| JsonPayload::of(&policy)),
        policy_refs: strings(refs),
        ..request()
    };
    let top = with(Some("a.one"), Some(json!({ "parallel_calls": false })), &["p1", "p2"]);
    let middle = with(None, Some(json!({ "denied_tools": ["a.one"] })), &["p3", "p1"]);
    let line = Line::of(&catalog, &[top, middle, with(None, None, &["p2"])]);
    let surface = line.lowest();
    let chosen = |name: &str| {
        let Lookup::One(entry) = catalog.find(name) else { panic!("{name}") };
        surface.not_chosen(entry, false).map(|(why, id)| (why, id.map(ToString::to_string)))
    };
    assert_eq!(chosen("a.one"), Some((NotChosen::Denied("a.one".to_owned()), Some("s1".to_owned()))));
    assert_eq!(chosen("a.two"), Some((NotChosen::OnlyOther("a.one".to_owned()), Some("s0".to_owned()))));
    assert!(surface.one_at_a_time());
    assert_eq!(surface.policy_refs(), ["p2", "p3", "p1"]);

    let told = |at: usize| {
        let told = line.0[at].idle_choices(&catalog, Shut::NOTHING);
        told.into_iter().map(|one| format!("{} {}", one.field, one.message)).collect::<Vec<_>>()
    };
    assert_eq!(told(0), Vec::<String>::new());
    let why = "parent_surface_id leaves nothing to be called here now: ";
    let by_top = "1 tool is left out by the `default_tool_choice` `a.one` of the surface `s0`";
    let denied = "1 tool is left out by `a.one` in `selection_policy.denied_tools` of";
    assert_eq!(told(1), [format!("{why}{denied} this surface; {by_top}")], "both leave nothing, neither does alone");
    assert_eq!(told(2), [format!("{why}{denied} the surface `s1`; {by_top}")]);
    let top = with(None, Some(json!({ "allowed_tools": ["b.*"] })), &[]);
    // What it says itself that no tool fits keeps nobody from being told the rest.
    let idle = with(None, Some(json!({ "denied_tools": ["c.*"] })), &[]);
    let line = Line::of(&catalog, &[top.clone(), idle]);
    let told = line.lowest().idle_choices(&catalog, Shut::NOTHING);
    let fields: Vec<&str> = told.iter().map(|one| one.field.as_str()).collect();
    assert_eq!(fields, ["selection_policy.denied_tools[0]", "parent_surface_id"]);
    let line = Line::of(&catalog, &[top, request()]);
    let told = line.lowest().idle_choices(&catalog, Shut::NOTHING);
    let all = "all 2 tools are left out by `selection_policy.allowed_tools` of the surface `s0`";
    assert_eq!(
        told.iter().map(|one| one.message.as_str()).collect::<Vec<_>>(),
        [format!("leaves nothing to be called here now: {all}")]
    );
}

#[test]
fn a_copy_and_a_pinned_surface_bound_those_within_them() {
    let mut catalog = catalog(&[tool("a", "one"), tool("a", "two"), tool("b", "three")]);
    let record = now(&make(&catalog, &SurfaceRequest { tool_refs: strings(&["one"]), ..request() }).indexed, &catalog);
    let copy = Arc::new(IndexedSurface::new(record));
    let within = below(Some(&copy), &catalog, &request(), SurfaceId::from_trusted("s9"));
    let pinned = Line::of(&catalog, &[SurfaceRequest { pinned: true, ..of_spaces(&["a"]) }, request()]);
    register(&mut catalog, tool("a", "later"));
    register(&mut catalog, tool("a", "one"));
    assert_eq!(lists(&within, &catalog), "a.one | ");
    assert_eq!(within.counts(&catalog, Shut::NOTHING), SurfaceCounts { loaded: 1, ..SurfaceCounts::default() });
    assert_eq!(lists(pinned.lowest(), &catalog), "a.one a.two | ");
}

proptest! {
    /// Whatever changes, at any of them: nothing is shown or called that one above does not show, lists, counts and places agree, and what
    /// somebody is told who follows is exactly what is shown.
    #[test]
    fn none_shows_what_one_above_hides_and_differences_are_exact(
        before in prop::collection::vec(any_tool(), 0..8),
        requests in prop::collection::vec(any_request(), 2..=4),
        events in prop::collection::vec((0..4usize, any_event()), 0..30),
    ) {
        let mut catalog = catalog(&[]);
        apply(&mut catalog, &before);
        let mut line = Line::of(&catalog, &requests);
        let mut follower = Follower::of(line.lowest(), &catalog);
        let mut moments = BTreeMap::from([(line.lowest().moment(&catalog).to_string(), state(line.lowest(), &catalog))]);
        let mut revision = line.lowest().revision(&catalog);
        for (at, event) in &events {
            line.happens(*at, event, &mut catalog);
            let lowest = line.lowest();
            let moment = lowest.moment(&catalog).to_string();
            let grown = moments.contains_key(&moment) || lowest.revision(&catalog) > revision;
            prop_assert!(grown, "each new moment has a larger revision");
            revision = lowest.revision(&catalog);
            let orphan = IndexedSurface::read(&lowest.write().unwrap()).unwrap();
            prop_assert!(orphan.revision(&catalog) >= revision, "nor does it go back when one above is deleted");
            moments.insert(moment, state(lowest, &catalog));
            for pair in line.0.windows(2) {
                let (above, below) = (state(&pair[0], &catalog), state(&pair[1], &catalog));
                prop_assert!(below.keys().all(|id| above.contains_key(id)), "{below:?} within {above:?}");
                for entry in catalog.entries() {
                    let called = super::super::resolve(&pair[1], &catalog, entry.tool_id().as_str(), None);
                    let is_called = matches!(called, Resolution::Callable(_));
                    prop_assert!(!is_called || above.contains_key(entry.tool_id()));
                }
            }
            let listed = |surface: &IndexedSurface| -> BTreeSet<ToolId> {
                surface.tools(&catalog, Shut::NOTHING, None).map(|tool| tool.tool_id().clone()).collect()
            };
            for pair in line.0.windows(2) {
                prop_assert!(listed(&pair[1]).is_subset(&listed(&pair[0])), "what one above has not is in no list");
            }
            let told: Vec<SurfaceTool> = lowest.tools(&catalog, Shut::NOTHING, None).collect();
            let mut counted = SurfaceCounts::default();
            told.iter().for_each(|tool| *counted.of(tool.position().list) += 1);
            prop_assert_eq!(lowest.counts(&catalog, Shut::NOTHING), counted);
            for (at, tool) in told.iter().enumerate() {
                let rest: Vec<SurfaceTool> = lowest.tools(&catalog, Shut::NOTHING, Some(&tool.position())).collect();
                prop_assert_eq!(&rest, &told[at + 1..]);
            }
            let shown = told.iter().filter(|tool| matches!(tool, SurfaceTool::Loaded(_) | SurfaceTool::Deferred(_)));
            let mut shown: Vec<ToolId> = shown.map(|tool| tool.tool_id().clone()).collect();
            shown.sort();
            prop_assert_eq!(shown, state(lowest, &catalog).into_keys().collect::<Vec<_>>());
            match event {
                Event::GoesOn(most) => drop(follower.goes_on(lowest, &catalog, *most)),
                Event::Breaks => follower.breaks(lowest, &catalog),
                _ => {}
            }
            prop_assert_eq!(Some(&follower.known), moments.get(&follower.moment.to_string()));
        }
        while follower.goes_on(line.lowest(), &catalog, 3) {}
        prop_assert_eq!(&follower.known, &state(line.lowest(), &catalog));
        prop_assert_eq!(follower.watcher.reached(), (line.lowest().moment(&catalog), line.lowest().revision(&catalog)));
    }

    /// The same inputs give the same bytes, and a moment has one text.
    #[test]
    fn the_same_inputs_give_the_same_bytes(
        tools in prop::collection::vec(any_tool(), 0..8),
        requests in prop::collection::vec(any_request(), 1..=4),
    ) {
        let mut catalog = catalog(&[]);
        apply(&mut catalog, &tools);
        let (one, other) = (Line::of(&catalog, &requests), Line::of(&catalog, &requests));
        prop_assert_eq!(one.lowest().write().unwrap(), other.lowest().write().unwrap());
        prop_assert_eq!(now(one.lowest(), &catalog), now(other.lowest(), &catalog));
        let moment = one.lowest().moment(&catalog);
        prop_assert_eq!(moment.to_string().parse::<Moment>(), Ok(moment));
        prop_assert_eq!(moment.above.as_slice().len(), requests.len() - 1);
    }
}
