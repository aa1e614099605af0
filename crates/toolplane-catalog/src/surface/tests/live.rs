//! Surfaces that follow their catalog.

use std::collections::BTreeMap;

use proptest::prelude::*;
use toolplane_records::surface::DeferredToolRef;

use super::*;
use crate::catalog::CatalogChange;
use crate::filter::{Criteria, FilterKind};

pub(super) fn retire(catalog: &mut Catalog, id: &str) {
    let change = catalog.plan_retire(&ToolId::from_trusted(id)).unwrap();
    catalog.apply(change);
}

fn shown(surface: &Shown, catalog: &Catalog) -> String {
    let now = now(&surface.indexed, catalog);
    let (loaded, deferred) = names(&now);
    format!("{} | {}", loaded.join(" "), deferred.join(" "))
}

#[test]
fn later_tools_are_found_and_not_loaded_by_themselves() {
    let mut catalog = catalog(&[tool("a", "one"), in_state("draft", "draft")]);
    let everything = make(&catalog, &request());
    let only_b = make(&catalog, &SurfaceRequest { namespaces: strings(&["b"]), ..request() });
    register(&mut catalog, tool("a", "two"));
    register(&mut catalog, tool_with("b", "always", json!({ "always_load": true })));
    register(&mut catalog, in_state("draft", "available"));
    assert_eq!(shown(&everything, &catalog), "a.one b.always | a.draft a.two");
    assert_eq!(shown(&only_b, &catalog), "b.always | ");
    assert!(matches!(resolve(&everything, &catalog, "two"), Resolution::NotLoaded(_)));
    let (after, _) = load(&everything, &catalog, &strings(&["two", "draft"]), Timestamp::from_millis(9));
    assert_eq!(shown(&after, &catalog), "a.one b.always a.two a.draft | ", "what was loaded later is behind");
    assert!(matches!(resolve(&after, &catalog, "two"), Resolution::Callable(_)));
    // Even when there are more tools by now than are loaded without asking.
    (0..40).for_each(|n| register(&mut catalog, tool("c", &format!("t{n}"))));
    assert_eq!(names(&now(&after.indexed, &catalog)).0, ["a.one", "b.always", "a.two", "a.draft"]);
    retire(&mut catalog, "tool_a_two");
    assert!(shown(&after, &catalog).starts_with("a.one b.always a.draft | "));
}

#[test]
fn what_is_unloaded_stays_so_until_it_is_loaded_again() {
    let mut catalog =
        catalog(&[tool("a", "one"), tool("a", "two"), tool_with("a", "lazy", json!({ "should_defer": true }))]);
    let made = make(&catalog, &request());
    let (made, _) = load(&made, &catalog, &strings(&["lazy"]), Timestamp::from_millis(9));
    let given = strings(&["lazy", "a.one", "one", "nothing"]);
    let (after, gone) = unload(&made, &catalog, &given);
    assert_eq!(gone, ["tool_a_lazy", "tool_a_one"].map(ToolId::from_trusted), "each once");
    assert_eq!((shown(&after, &catalog).as_str(), after.revision), ("a.two | a.lazy a.one", made.revision + 1));
    assert!(matches!(resolve(&after, &catalog, "one"), Resolution::NotLoaded(_)));
    let (same, gone) = unload(&after, &catalog, &given);
    assert_eq!((gone, same.revision), (vec![], after.revision), "unloading again changes nothing");
    // Whatever the tool says of itself later.
    register(&mut catalog, tool_with("a", "one", json!({ "always_load": true })));
    assert_eq!(shown(&after, &catalog), "a.two | a.lazy a.one");
    let (again, _) = load(&after, &catalog, &strings(&["one"]), Timestamp::from_millis(10));
    assert_eq!(shown(&again, &catalog), "a.one a.two | a.lazy");
    assert!(matches!(resolve(&again, &catalog, "one"), Resolution::Callable(_)));
}

#[test]
fn what_a_surface_is_extended_by_comes_deferred() {
    let always = tool_with("c", "always", json!({ "always_load": true }));
    let old = changed("old", "lifecycle", json!("deprecated"));
    let mut catalog =
        catalog(&[tool("a", "one"), old, tool("b", "two"), tool("b.c", "three"), always, tool("d", "four")]);
    let made = make(&catalog, &SurfaceRequest { tool_refs: strings(&["a.one"]), ..request() });
    let by = |tools: &[&str], namespaces: &[&str], load: &[&str]| Extension {
        tool_refs: strings(tools),
        namespaces: strings(namespaces),
        load: strings(load),
        ..Extension::default()
    };
    let after =
        made.indexed.after_extending(&catalog, &by(&["d.four", "a.old"], &["b", "c"], &["one"])).unwrap().unwrap();
    let after = Shown::of(after, &catalog);
    assert_eq!(shown(&after, &catalog), "a.one c.always | a.old b.c.three b.two d.four");
    assert_eq!(after.revision, made.revision + 1);
    let policy = after.selection_policy.clone().unwrap();
    assert!(
        policy.text().contains(r#""added":{"tools":["tool_a_old","tool_d_four"],"namespaces":["b","c"]}"#),
        "{}",
        policy.text()
    );
    register(&mut catalog, tool("b", "later"));
    assert!(matches!(resolve(&after, &catalog, "later"), Resolution::NotLoaded(_)));
    let (loaded, _) = load(&after, &catalog, &strings(&["four"]), Timestamp::from_millis(9));
    assert!(shown(&loaded, &catalog).starts_with("a.one c.always d.four | "));
    // The same again is nothing new, and neither is what is within.
    assert_eq!(
        after.indexed.after_extending(&catalog, &by(&["one"], &["b", "c"], &["four"])).map(|new| new.is_none()),
        Ok(true)
    );
    let misnamed = after.indexed.after_extending(&catalog, &by(&["nothing"], &[], &[])).unwrap_err();
    assert!(matches!(misnamed, NotExtended::Misnamed(_)), "{misnamed:?}");
    let many: Vec<String> = (0..3_000).map(|n| format!("n{n}")).collect();
    let many = after.indexed.after_extending(&catalog, &Extension { namespaces: many, ..Extension::default() });
    assert!(matches!(many, Err(NotExtended::Full { .. })));
    // A surface of everything has all of it, and stays one of everything.
    let everything = make(&catalog, &request());
    let after = everything.indexed.after_extending(&catalog, &by(&["old"], &["b"], &[])).unwrap().unwrap();
    let (before, after) = (now(&everything.indexed, &catalog), now(&after, &catalog));
    assert_eq!(after.loaded_tools, before.loaded_tools);
    assert_eq!(names(&after).1, ["a.old"]);
}

#[test]
fn a_tool_that_comes_back_is_loaded_as_it_was() {
    let mut catalog = catalog(&[tool("a", "one"), tool("a", "two")]);
    let surface = make(&catalog, &request());
    register(&mut catalog, in_state("one", "disabled"));
    assert_eq!(shown(&surface, &catalog), "a.two | ");
    register(&mut catalog, tool("a", "one"));
    assert_eq!(shown(&surface, &catalog), "a.one a.two | ");
    assert!(matches!(resolve(&surface, &catalog, "one"), Resolution::Callable(_)));
}

#[test]
fn a_tool_whose_description_changes_every_day_is_not_loaded_again() {
    let told = |day: u32| {
        let mut one = tool("a", "one");
        one.declaration.description = format!("of day {day}");
        one
    };
    let mut catalog = catalog(&[told(0)]);
    let surface = make(&catalog, &request());
    let known = catalog.get(&ToolId::from_trusted("tool_a_one")).unwrap().tool.digest();
    (1..200).for_each(|day| register(&mut catalog, told(day)));
    assert!(matches!(resolve(&surface, &catalog, "one"), Resolution::Callable(_)));
    assert_eq!(catalog.get(&ToolId::from_trusted("tool_a_one")).unwrap().since(&known), Drift::None);
    // What is remembered has its bound.
    (200..400).for_each(|day| register(&mut catalog, told(day)));
    assert_eq!(catalog.get(&ToolId::from_trusted("tool_a_one")).unwrap().since(&known), Drift::Forgotten);
}

#[test]
fn what_is_loaded_by_the_rules_is_known_by_the_declaration_of_then() {
    let one = |kind: &str| with_schema("one", json!({ "type": "object", "properties": { "n": { "type": kind } } }));
    let mut catalog = catalog(&[one("string")]);
    register(&mut catalog, one("integer"));
    let surface = make(&catalog, &request());
    assert!(matches!(resolve(&surface, &catalog, "one"), Resolution::Callable(_)));
    register(&mut catalog, one("string"));
    assert!(matches!(resolve(&surface, &catalog, "one"), Resolution::Changed(..)));
    register(&mut catalog, one("integer"));
    assert!(matches!(resolve(&surface, &catalog, "one"), Resolution::Callable(_)));
    (0..40).for_each(|n| register(&mut catalog, one(["string", "boolean"][n % 2])));
    let forgotten = resolve(&surface, &catalog, "one");
    assert!(matches!(forgotten, Resolution::Changed(_, Drift::Forgotten)), "{forgotten:?}");
    let newest = LiveSurface::make(&catalog, &request(), SurfaceId::default_surface(), Timestamp::default()).unwrap();
    let newest = Shown::of(newest.newest().into(), &catalog);
    assert_eq!(newest.revision, catalog.revision());
    register(&mut catalog, one("string"));
    assert!(matches!(resolve(&newest, &catalog, "one"), Resolution::Callable(_)));
}

#[test]
fn what_is_shut_is_told_among_the_blocked() {
    let catalog = catalog(&[tool("a", "one"), tool("b", "two"), tool("b", "three")]);
    let surface = make(&catalog, &SurfaceRequest { load: strings(&["two"]), ..request() });
    let by_traits = |traits: &crate::Traits| {
        (traits.namespace == "b").then(|| (HiddenReason::CredentialMissing, "no key".to_owned()))
    };
    let shut = Shut { by_traits: &by_traits, ..Shut::NOTHING };
    let record = surface.indexed.record(&catalog, shut);
    let blocked: Vec<_> = record.blocked_tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((names(&record).0, blocked), (vec!["a.one"], vec!["b.three", "b.two"]));
    let counts = surface.indexed.counts(&catalog, shut);
    assert_eq!((counts.loaded, counts.blocked, counts.all()), (1, 2, 3));
}

#[test]
fn a_surface_of_before_is_read_and_stays_a_copy() {
    let mut catalog = catalog(&[tool("a", "one"), tool_with("a", "lazy", json!({ "should_defer": true }))]);
    let record = select(&catalog, &request(), SurfaceId::from_trusted("s1"), Timestamp::default()).unwrap();
    let copy = Shown::of(IndexedSurface::read(&serde_json::to_vec(&record).unwrap()).unwrap(), &catalog);
    assert_eq!(copy.record, record);
    register(&mut catalog, tool("a", "later"));
    assert_eq!(shown(&copy, &catalog), "a.one | a.lazy");
    assert!(matches!(resolve(&copy, &catalog, "later"), Resolution::Excluded(_)));
    let (after, _) = load(&copy, &catalog, &strings(&["lazy"]), Timestamp::default());
    assert_eq!((shown(&after, &catalog).as_str(), after.revision), ("a.one a.lazy | ", 2));
    let (without, _) = unload(&after, &catalog, &strings(&["a.one", "later"]));
    assert_eq!((shown(&without, &catalog).as_str(), without.revision), ("a.lazy | a.one", 3));
    // A page goes on behind a tool that is in another list by now.
    let first = copy.indexed.tools(&catalog, Shut::NOTHING, None).next().unwrap().position();
    retire(&mut catalog, "tool_a_one");
    let rest: Vec<_> =
        copy.indexed.tools(&catalog, Shut::NOTHING, Some(&first)).map(|tool| tool.name().to_owned()).collect();
    assert_eq!(rest, ["a.lazy", "a.one"]);
}

pub(super) fn any_tool() -> impl Strategy<Value = Registration> {
    let lifecycle = prop::sample::select(vec!["available", "deferred", "disabled", "draft", "deprecated"]);
    let wishes = prop::sample::select(vec![json!({}), json!({ "always_load": true }), json!({ "should_defer": true })]);
    let space = prop::sample::select(vec!["a", "b", "b.c"]);
    let tags = prop::sample::select(vec![vec![], vec!["X"], vec!["y", "x"]]);
    (0..8u32, space, lifecycle, wishes, tags).prop_map(|(number, space, lifecycle, wishes, tags)| {
        let mut tool = tool_with(space, &format!("t{number}"), wishes);
        let id = ToolId::from_trusted(format!("tool_{number}"));
        tool.declaration.tool_id = id.clone();
        tool.interface.as_mut().unwrap().tool_id = id;
        tool.declaration.lifecycle = lifecycle.parse().unwrap();
        tool.declaration.tags = strings(&tags);
        tool
    })
}

pub(super) fn tagged(tags: &[&str]) -> Criteria {
    let mut criteria = Criteria::default();
    tags.iter().for_each(|tag| criteria.also(FilterKind::Tag, tag).unwrap());
    criteria
}

pub(super) fn any_request() -> impl Strategy<Value = SurfaceRequest> {
    let spaces = prop::sample::select(vec![vec![], vec!["b"], vec!["a", "b.c"]]);
    let defer = prop::sample::select(vec![DeferPolicy::Auto { threshold: 3 }, DeferPolicy::All, DeferPolicy::None]);
    let pinned = prop::sample::select(vec![false, false, true]);
    let tags = prop::sample::select(vec![vec![], vec!["x"], vec!["y"]]);
    (spaces, defer, any::<bool>(), pinned, tags).prop_map(|(spaces, defer, cannot_defer, pinned, tags)| {
        let criteria = tagged(&tags);
        let mut request = SurfaceRequest { namespaces: strings(&spaces), criteria, defer, pinned, ..request() };
        request.model.deferred_tools = cannot_defer.then_some(false);
        request
    })
}

pub(super) fn apply(catalog: &mut Catalog, tools: &[Registration]) -> Vec<CatalogChange> {
    let planned = tools.iter().filter_map(|tool| {
        let changes = catalog.plan_register(std::slice::from_ref(tool)).ok()?;
        changes.iter().cloned().for_each(|change| catalog.apply(change));
        Some(changes)
    });
    planned.flatten().collect()
}

proptest! {
    /// Tools that nobody may call are blocked where they were shown, and nothing else is different.
    #[test]
    fn what_nobody_may_call_is_blocked(
        tools in prop::collection::vec(any_tool(), 0..12),
        request in any_request(),
        wanted in prop::collection::vec(0..8u32, 0..4),
        numbers in prop::collection::vec(0..8u32, 0..6),
    ) {
        let mut catalog = catalog(&[]);
        apply(&mut catalog, &tools);
        let names: Vec<String> = wanted.iter().map(|number| format!("tool_{number}")).collect();
        let (made, _) = load(&make(&catalog, &request), &catalog, &names, Timestamp::default());
        let tools: Vec<_> = made.indexed.tools(&catalog, Shut::NOTHING, None).collect();
        let denied: BTreeMap<ToolId, String> = catalog.entries().map(|entry| entry.tool_id().clone())
            .filter(|id| numbers.iter().any(|number| id.as_str() == format!("tool_{number}"))).map(|id| (id, "denied".to_owned())).collect();
        let shut = Shut { denied: &denied, ..Shut::NOTHING };
        let kept: Vec<_> = made.indexed.tools(&catalog, shut, None).collect();
        let is_shut = |tool: &&SurfaceTool| {
            denied.contains_key(tool.tool_id()) && matches!(tool, SurfaceTool::Loaded(_) | SurfaceTool::Deferred(_))
        };
        let blocked = |tool: &SurfaceTool| matches!(tool, SurfaceTool::Blocked(tool) if tool.reason == HiddenReason::PolicyBlocked && tool.message == "denied");
        prop_assert_eq!(kept.iter().filter(|tool| blocked(tool)).count(), tools.iter().filter(is_shut).count());
        let others = |tools: &[SurfaceTool]| -> Vec<SurfaceTool> {
            tools.iter().filter(|tool| !blocked(tool) && !is_shut(tool)).cloned().collect()
        };
        prop_assert_eq!(others(&kept), others(&tools));
        let mut counted = SurfaceCounts::default();
        kept.iter().for_each(|tool| *counted.of(tool.position().list) += 1);
        prop_assert_eq!(made.indexed.counts(&catalog, shut), counted);
        for (at, tool) in kept.iter().enumerate() {
            let rest: Vec<_> = made.indexed.tools(&catalog, shut, Some(&tool.position())).collect();
            prop_assert_eq!(&rest[..], &kept[at + 1..]);
        }
    }

    /// Whatever changes: every tool is in one list at most, counts are those of the lists, a list goes on from any place,
    /// and what is loaded is what was loaded, or says why it is not any more.
    #[test]
    fn lists_counts_and_pages_agree(
        before in prop::collection::vec(any_tool(), 0..12),
        after in prop::collection::vec(any_tool(), 0..12),
        request in any_request(),
        wanted in prop::collection::vec(0..8u32, 0..4),
        unwanted in prop::collection::vec(0..8u32, 0..4),
        added in prop::sample::select(vec![None, Some("b"), Some("b.c")]),
    ) {
        let mut catalog = catalog(&[]);
        let mut changes = apply(&mut catalog, &before);
        let names: Vec<String> = wanted.iter().map(|number| format!("tool_{number}")).collect();
        let known = |name: &String| matches!(catalog.find(name), Lookup::One(_));
        let request = SurfaceRequest { load: names.iter().take(1).filter(|name| known(name)).cloned().collect(), ..request };
        let made = make(&catalog, &request);
        let (made, _) = load(&made, &catalog, &names, Timestamp::from_millis(5));
        let unwanted: Vec<String> = unwanted.iter().map(|number| format!("tool_{number}")).collect();
        let (made, gone) = unload(&made, &catalog, &unwanted);
        let by = Extension {
            tool_refs: names.iter().filter(|name| matches!(catalog.find(name), Lookup::One(_))).cloned().collect(),
            namespaces: added.map(str::to_owned).into_iter().collect(),
            ..Extension::default()
        };
        let extended = made.indexed.after_extending(&catalog, &by);
        let refused = request.pinned && by != Extension::default();
        prop_assert_eq!(extended.as_ref().err(), refused.then_some(&NotExtended::Pinned));
        let extended = extended.unwrap_or(None);
        let made = extended.map_or(made, |extended| Shown::of(extended, &catalog));
        let first = made.record.clone();
        changes.extend(apply(&mut catalog, &after));
        let record = now(&made.indexed, &catalog);

        let mut ids: Vec<_> = record.tool_refs.clone();
        ids.dedup();
        prop_assert_eq!(ids.len(), record.tool_refs.len(), "in one list at most");
        let counts = made.indexed.counts(&catalog, Shut::NOTHING);
        let lists = (record.loaded_tools.len(), record.deferred_tools.len(), record.blocked_tools.len());
        prop_assert_eq!((counts.loaded, counts.deferred, counts.blocked), lists);
        prop_assert_eq!(counts.excluded, record.excluded_tools.len());

        let tools: Vec<_> = made.indexed.tools(&catalog, Shut::NOTHING, None).collect();
        for (at, tool) in tools.iter().enumerate() {
            let text = tool.position().to_string();
            let rest: Vec<_> = made.indexed.tools(&catalog, Shut::NOTHING, Some(&text.parse().unwrap())).collect();
            prop_assert_eq!(&rest[..], &tools[at + 1..]);
            let entry = catalog.get(tool.tool_id()).unwrap();
            let is_shown = matches!(tool, SurfaceTool::Loaded(_) | SurfaceTool::Deferred(_));
            prop_assert_eq!(made.indexed.shows(entry), is_shown);
            prop_assert_eq!(made.indexed.loaded(entry).is_some(), matches!(tool, SurfaceTool::Loaded(_)));
        }

        // No prompt grows by itself.
        let had: BTreeSet<_> = first.loaded_tools.iter().map(|tool| &tool.tool_id).collect();
        for tool in record.loaded_tools.iter().filter(|tool| !had.contains(&tool.tool_id)) {
            let entry = catalog.get(&tool.tool_id).unwrap();
            let may = entry.traits.always_load || request.model.deferred_tools == Some(false)
                || names.contains(&tool.tool_id.to_string());
            prop_assert!(may, "{:?} came in by itself", tool);
        }
        let back = record.loaded_tools.iter().find(|tool| gone.contains(&tool.tool_id));
        prop_assert!(back.is_none(), "{:?} was unloaded", back);

        // What is pinned shows nothing that was not shown, except what was loaded since.
        if request.pinned {
            let shown: BTreeSet<_> = first.loaded_tools.iter().map(|tool| &tool.tool_id)
                .chain(first.deferred_tools.iter().map(|tool| &tool.tool_id)).collect();
            let now = record.loaded_tools.iter().map(|tool| &tool.tool_id)
                .chain(record.deferred_tools.iter().map(|tool| &tool.tool_id));
            for tool in now {
                prop_assert!(shown.contains(tool), "{:?} came to a pinned surface", tool);
            }
        }

        // Another process that hears of the same changes says the same, byte by byte.
        let mut other = Catalog::default();
        changes.iter().cloned().for_each(|change| other.apply(change));
        let elsewhere = now(&IndexedSurface::read(&made.indexed.write().unwrap()).unwrap(), &other);
        prop_assert_eq!(serde_json::to_vec(&elsewhere).unwrap(), serde_json::to_vec(&record).unwrap());
    }
}

/// The form of a deferred tool does not depend on which form the surface has.
#[test]
fn a_deferred_tool_is_described_as_it_is_declared() {
    let catalog = catalog(&[tool("a", "one")]);
    let made = make(&catalog, &SurfaceRequest { defer: DeferPolicy::All, ..request() });
    let copy = IndexedSurface::new(made.record.clone());
    let refs = |surface: &IndexedSurface| -> Vec<DeferredToolRef> { now(surface, &catalog).deferred_tools };
    assert_eq!(refs(&made.indexed), refs(&copy));
}

#[test]
fn a_pinned_surface_stays_what_it_was_and_says_what_it_misses() {
    let mut catalog = catalog(&[tool("a", "one"), tool("a", "two"), tool("a", "three"), in_state("draft", "draft")]);
    let pinned = make(&catalog, &SurfaceRequest { pinned: true, ..request() });
    let missed = |catalog: &Catalog| outdated(&pinned.indexed, catalog);
    assert_eq!((missed(&catalog), shown(&pinned, &catalog).as_str()), (None, "a.one a.three a.two | "));
    assert_eq!(pinned.selection_policy.as_ref().unwrap().to_value()["pinned"], json!(true));
    register(&mut catalog, tool("a", "later"));
    register(&mut catalog, in_state("draft", "available"));
    register(
        &mut catalog,
        with_schema("two", json!({ "type": "object", "properties": { "n": { "type": "string" } } })),
    );
    register(&mut catalog, changed("three", "namespace", json!("moved")));
    retire(&mut catalog, "tool_a_one");
    assert_eq!(shown(&pinned, &catalog), "moved.three a.two | ", "by what they were, under the names they have");
    for (name, why) in
        [("a.one", "is retired"), ("a.draft", "is a draft"), ("a.later", "pinned to the tools there were")]
    {
        match resolve(&pinned, &catalog, name) {
            Resolution::Excluded(tool) => assert!(tool.message.contains(why), "{tool:?}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    assert!(matches!(resolve(&pinned, &catalog, "a.two"), Resolution::Changed(_, Drift::Changed(_))));
    let missed = missed(&catalog).unwrap();
    assert_eq!((missed.added, missed.removed, missed.changed, missed.more), (2, 1, 2, false));
    let by = Extension { tool_refs: strings(&["a.later"]), ..Extension::default() };
    assert_eq!(pinned.indexed.after_extending(&catalog, &by).unwrap_err(), NotExtended::Pinned);
    // Loading the changed one again is what makes it callable.
    let (again, _) = load(&pinned, &catalog, &strings(&["a.two", "a.later"]), Timestamp::from_millis(9));
    assert!(matches!(resolve(&again, &catalog, "a.two"), Resolution::Callable(_)));
    assert_eq!(shown(&again, &catalog), "moved.three a.two | ");
}

#[test]
fn a_pinned_surface_misses_no_tool_that_was_never_in_it_however_often_it_changes() {
    let kinds = ["string", "integer"];
    let elsewhere = |kind: &str| {
        let mut other = with_schema("other", json!({ "type": "object", "properties": { "n": { "type": kind } } }));
        other.declaration.namespace = "elsewhere".into();
        other
    };
    let mut catalog = catalog(&[tool("a", "one"), elsewhere("boolean")]);
    let only = SurfaceRequest { pinned: true, namespaces: strings(&["a"]), ..request() };
    let pinned = make(&catalog, &only);
    (0..40).for_each(|n| register(&mut catalog, elsewhere(kinds[n % 2])));
    assert_eq!(outdated(&pinned.indexed, &catalog), None);
}

/// A tool with a tag, a risk and a capability.
fn marked(namespace: &str, name: &str, tag: &str, risk: &str) -> Registration {
    let mut tool = tool_json(namespace, name);
    tool["declaration"]["tags"] = json!([tag]);
    tool["declaration"]["capability_refs"] = json!(["Web.Fetch"]);
    tool["permission_profile"] = json!({
        "permission_profile_id": format!("permission:{namespace}.{name}"), "risk_level": risk, "access_kinds": [],
        "write_effects": ["none"], "approval_required": false,
    });
    registration(&tool)
}

fn chosen(by: &[(FilterKind, &str)]) -> Criteria {
    let mut criteria = Criteria::default();
    by.iter().for_each(|(by, word)| criteria.also(*by, word).unwrap());
    criteria
}

#[test]
fn tools_are_chosen_by_what_they_are_and_come_later() {
    let provided = registration(&{
        let mut tool = tool_json("mcp.git", "push");
        tool["declaration"]["tool_id"] = json!("provider:github/push");
        tool["declaration"]["tool_kind"] = json!("mcp_tool");
        tool
    });
    let tools =
        [marked("a", "one", " Billing ", "low"), marked("b", "two", "billing", "high"), tool("a", "plain"), provided];
    let mut catalog = catalog(&tools);
    let check = |namespaces: &[&str], by: &[(FilterKind, &str)], expected: &str| {
        let request = SurfaceRequest { namespaces: strings(namespaces), criteria: chosen(by), ..request() };
        assert_eq!(shown(&make(&catalog, &request), &catalog), expected, "{namespaces:?} {by:?}");
    };
    use FilterKind::{Capability, Kind, Provider, Risk, Tag};
    check(&[], &[(Tag, "BILLING")], "a.one b.two | ");
    check(&["a"], &[(Tag, "billing")], "a.one | ");
    check(&[], &[(Tag, "billing"), (Risk, "high")], "b.two | ");
    check(&[], &[(Risk, "low"), (Risk, "High")], "a.one b.two | ");
    check(&[], &[(Capability, "web.fetch"), (Risk, "low")], "a.one | ");
    check(&[], &[(Kind, "function"), (Tag, "other")], " | ");
    check(&[], &[(Provider, "GitHub")], "mcp.git.push | ");
    for (by, word) in [(Risk, "hgih"), (Kind, "mcp"), (Tag, " ")] {
        assert!(Criteria::default().also(by, word).is_err(), "{word}");
    }
    // A tool is chosen beside those by name, and one that is filed there later is discovered.
    let request =
        SurfaceRequest { tool_refs: strings(&["a.plain"]), criteria: chosen(&[(Tag, "billing")]), ..request() };
    let made = make(&catalog, &request);
    assert_eq!(shown(&made, &catalog), "a.one a.plain b.two | ");
    assert_eq!(made.selection_policy.as_ref().unwrap().to_value()["tags"], json!(["billing"]));
    register(&mut catalog, marked("c", "three", "billing", "low"));
    register(&mut catalog, marked("b", "two", "closed", "high"));
    assert_eq!(shown(&made, &catalog), "a.one a.plain | c.three");
    // Added: what fits all of one request, whatever the surface was made for.
    let by = Extension { namespaces: strings(&["b"]), criteria: chosen(&[(Risk, "high")]), ..Extension::default() };
    let extended = made.indexed.after_extending(&catalog, &by).unwrap().unwrap();
    let after = Shown::of(extended, &catalog);
    assert_eq!(shown(&after, &catalog), "a.one a.plain | b.two c.three");
    assert_eq!(after.indexed.after_extending(&catalog, &by).unwrap().map(|_| ()), None, "the same again");
    assert!(
        after
            .selection_policy
            .as_ref()
            .unwrap()
            .text()
            .contains(r#""selections":[{"namespaces":["b"],"risk_levels":["high"]}]"#)
    );
    register(&mut catalog, marked("b", "four", "x", "high"));
    register(&mut catalog, marked("b", "five", "x", "low"));
    assert_eq!(shown(&after, &catalog), "a.one a.plain | b.four b.two c.three");
}

#[test]
fn words_no_tool_has_are_told_with_those_that_were_meant() {
    let mut catalog = catalog(&[marked("files", "one", "Billing", "low"), marked("mail", "two", "post", "high")]);
    let check = |catalog: &Catalog, namespaces: &[&str], tags: &[&str], expected: &[(&str, &[&str])]| {
        let (namespaces, tags) = (strings(namespaces), strings(tags));
        let criteria = chosen(&tags.iter().map(|tag| (FilterKind::Tag, tag.as_str())).collect::<Vec<_>>());
        let selection = Selection { namespaces: namespaces.iter().cloned().collect(), criteria };
        let asked: [AskedFor<'_>; 2] =
            [(FilterKind::Namespace, "namespaces", &namespaces), (FilterKind::Tag, "tags", &tags)];
        let told = unmatched(catalog, &asked, &selection, None);
        let told: Vec<_> = told.iter().map(|one| (one.field.as_str(), one.similar.clone())).collect();
        let expected: Vec<_> = expected.iter().map(|(field, similar)| (*field, strings(similar))).collect();
        assert_eq!(told, expected);
    };
    check(&catalog, &["files", "mail"], &["billing", "POST"], &[]);
    check(&catalog, &["files", "flies"], &["biling"], &[("namespaces[1]", &["files"]), ("tags[0]", &["billing"])]);
    check(&catalog, &["Files"], &[], &[("namespaces[0]", &["files"])]);
    check(&catalog, &["mail"], &["billing"], &[("", &[])]);
    check(&catalog, &[], &[], &[]);
    retire(&mut catalog, "tool_mail_two");
    check(&catalog, &["mail"], &[], &[("namespaces[0]", &[])]);
}
