//! Surfaces: every tool is on one list, every hidden one says why, and nothing unseen can be called.

mod budget;
mod choosing;
mod first_budget;
mod lineage;
mod live;
mod meant;
mod scope;
mod shut;
mod watching;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_records::payload::Digest;
use toolplane_records::surface::{HiddenTool, ToolSurface};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ArgumentMode, HiddenReason, LoadingState, SurfaceScope};

use super::*;
use crate::catalog::{Catalog, CatalogEntry, Lookup};
use crate::fixtures::{catalog, registration, tool, tool_json, tool_with};
use crate::history::Drift;
use crate::registration::Registration;
use crate::similar::Effort;

/// A tool takes as many tokens as its description has words, and as many bytes as that has.
const COUNTING: Counting<'static> = Counting { size: &size, used: &|_| None, shut: Shut::NOTHING };

fn size(entry: &CatalogEntry) -> Amount {
    let told = &entry.tool.registration().declaration.description;
    Amount::of_tool(told.split(' ').count() as u64, told.len() as u64)
}

fn request() -> SurfaceRequest {
    SurfaceRequest::new(TenantId::unauthenticated(), SurfaceScope::Session)
}

/// A surface, and its record as it was at that moment.
#[derive(Clone, Debug)]
struct Shown {
    indexed: IndexedSurface,
    record: ToolSurface,
}

impl Shown {
    fn of(indexed: IndexedSurface, catalog: &Catalog) -> Self {
        // Stored and read back it is the same.
        let indexed = IndexedSurface::read(&indexed.write().unwrap()).unwrap();
        Self { record: now(&indexed, catalog), indexed }
    }
}

impl std::ops::Deref for Shown {
    type Target = ToolSurface;

    fn deref(&self) -> &ToolSurface {
        &self.record
    }
}

fn now(surface: &IndexedSurface, catalog: &Catalog) -> ToolSurface {
    surface.record(catalog, Shut::NOTHING)
}

fn resolve<'a>(surface: &Shown, catalog: &'a Catalog, name: &str) -> Resolution<'a> {
    super::resolve(&surface.indexed, catalog, name, None)
}

fn load(surface: &Shown, catalog: &Catalog, names: &[String], now: Timestamp) -> (Shown, Vec<(String, LoadOutcome)>) {
    let loading = super::load(&surface.indexed, catalog, names, now, &COUNTING);
    (Shown::of(surface.indexed.after_loading(&loading), catalog), loading.outcomes)
}

fn unload(surface: &Shown, catalog: &Catalog, names: &[String]) -> (Shown, Vec<ToolId>) {
    let gone = super::unload(&surface.indexed, catalog, names);
    (Shown::of(surface.indexed.after_unloading(catalog, &gone), catalog), gone)
}

fn make(catalog: &Catalog, request: &SurfaceRequest) -> Shown {
    let made = LiveSurface::make(catalog, request, SurfaceId::from_trusted("s1"), Timestamp::from_millis(1000));
    Shown::of(made.unwrap().loaded_within_budget(catalog, &COUNTING).into(), catalog)
}

fn names(surface: &ToolSurface) -> (Vec<&str>, Vec<&str>) {
    let loaded = surface.loaded_tools.iter().map(|tool| tool.name.as_str()).collect();
    (loaded, surface.deferred_tools.iter().map(|tool| tool.name.as_str()).collect())
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn blocked(name: &str) -> BlockedName {
    BlockedName { name: name.to_owned(), message: "not today".to_owned() }
}

fn in_state(name: &str, lifecycle: &str) -> Registration {
    let mut json = tool_json("a", name);
    json["declaration"]["lifecycle"] = json!(lifecycle);
    registration(&json)
}

fn changed(name: &str, pointer: &str, value: Value) -> Registration {
    let mut json = tool_json("a", name);
    json["declaration"][pointer] = value;
    registration(&json)
}

/// The only tool of the catalog is hidden for `reason` on the list told.
fn check_hidden(tool: Registration, change: impl Fn(&mut SurfaceRequest), blocked: bool, reason: HiddenReason) {
    let catalog = catalog(&[tool]);
    let mut request = request();
    change(&mut request);
    let surface = make(&catalog, &request);
    let list: &[HiddenTool] = if blocked { &surface.blocked_tools } else { &surface.excluded_tools };
    assert_eq!(list.iter().map(|tool| tool.reason).collect::<Vec<_>>(), [reason]);
    assert!(!list[0].message.is_empty());
    assert_eq!(surface.tool_refs.len(), 1);
    assert_eq!(names(&surface), (vec![], vec![]));
    match resolve(&surface, &catalog, &list[0].name) {
        Resolution::Blocked(hidden) => assert_eq!((blocked, hidden.reason), (true, reason)),
        Resolution::Excluded(hidden) => assert_eq!((blocked, hidden.reason), (false, reason)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_hidden_tool_says_why() {
    let as_is = |_: &mut SurfaceRequest| {};
    check_hidden(in_state("x", "retired"), as_is, false, HiddenReason::Retired);
    check_hidden(in_state("x", "retired"), |r| r.blocked = vec![blocked("a.x")], false, HiddenReason::Retired);
    check_hidden(in_state("x", "disabled"), as_is, false, HiddenReason::FeatureDisabled);
    check_hidden(in_state("x", "draft"), as_is, false, HiddenReason::NotSelected);
    check_hidden(in_state("x", "deprecated"), as_is, false, HiddenReason::NotSelected);
    check_hidden(in_state("x", "requires_setup"), as_is, true, HiddenReason::SetupRequired);
    check_hidden(tool("a", "x"), |r| r.blocked = vec![blocked("x")], true, HiddenReason::PolicyBlocked);
    let credentials = tool_with("a", "x", json!({ "required_credentials": ["c1", "c2"] }));
    check_hidden(
        credentials,
        |r| r.credentials = BTreeSet::from(["c1".to_owned()]),
        true,
        HiddenReason::CredentialMissing,
    );
    check_hidden(
        tool_with("a", "x", json!({ "feature_gate_refs": ["g"] })),
        as_is,
        false,
        HiddenReason::FeatureDisabled,
    );
    check_hidden(
        tool_with("a", "x", json!({ "is_enabled": "feature:g" })),
        as_is,
        false,
        HiddenReason::FeatureDisabled,
    );
    check_hidden(tool_with("a", "x", json!({ "is_enabled": false })), as_is, false, HiddenReason::FeatureDisabled);
    let agent = changed("x", "tool_kind", json!("peer_agent_tool"));
    check_hidden(agent, |r| r.role.subagent = true, false, HiddenReason::RecursiveToolForbidden);
    let agent = changed("x", "tool_kind", json!("peer_agent_tool"));
    check_hidden(agent, |r| r.role.role = "subagent".to_owned(), false, HiddenReason::RecursiveToolForbidden);
    let person = tool_with("a", "x", json!({ "requires_user_interaction": true }));
    check_hidden(person, as_is, false, HiddenReason::RoleNotAllowed);
    let pictures = changed("x", "output_contract", json!({ "content_types": ["image"] }));
    let text = || Some(BTreeSet::from(["text".to_owned()]));
    check_hidden(pictures, |r| r.model.content_types = text(), false, HiddenReason::ModelUnsupported);
    let stream = changed("x", "input_contract", json!({ "argument_mode": "stream" }));
    check_hidden(
        stream,
        |r| r.model.argument_modes = Some(vec![ArgumentMode::Json]),
        false,
        HiddenReason::ModelUnsupported,
    );
    let required = |r: &mut SurfaceRequest| r.capability_requirements = strings(&["web"]);
    check_hidden(tool("a", "x"), required, false, HiddenReason::CapabilityMissing);
}

#[test]
fn what_is_satisfied_is_shown() {
    let tools = [
        in_state("old", "deprecated"),
        tool_with(
            "a",
            "gated",
            json!({ "feature_gate_refs": ["g"], "is_enabled": "feature:h", "required_credentials": ["c"] }),
        ),
        changed("agent", "tool_kind", json!("peer_agent_tool")),
        changed("web", "capability_refs", json!(["web"])),
        changed("mixed", "output_contract", json!({ "content_types": ["image", "text"] })),
        tool_with("a", "person", json!({ "requires_user_interaction": true })),
    ];
    let mut request = request();
    request.tool_refs = strings(&["old", "gated", "agent", "web", "mixed", "person"]);
    request.role.interactive = true;
    request.feature_gates = ["g", "h"].map(str::to_owned).into();
    request.credentials = BTreeSet::from(["c".to_owned()]);
    request.model.content_types = Some(BTreeSet::from(["text".to_owned()]));
    let surface = make(&catalog(&tools), &request);
    assert_eq!(names(&surface).0, ["a.agent", "a.gated", "a.mixed", "a.old", "a.person", "a.web"]);
}

#[test]
fn the_request_selects_by_name_and_namespace() {
    let catalog = catalog(&[tool("a", "one"), tool("a.b", "two"), tool("ab", "three"), tool("c", "four")]);
    let mut by_namespace = request();
    by_namespace.namespaces = strings(&["a"]);
    by_namespace.load = strings(&["four"]);
    let surface = make(&catalog, &by_namespace);
    assert_eq!(names(&surface).0, ["a.b.two", "a.one", "c.four"]);
    assert!(surface.excluded_tools.is_empty());
    match resolve(&surface, &catalog, "ab.three") {
        Resolution::Excluded(hidden) => assert_eq!(hidden.reason, HiddenReason::NotSelected),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_caller_says_of_model_and_role_is_kept() {
    let mut request = request();
    request.model = serde_json::from_value(json!({ "content_types": ["text"], "parallel_calls": true })).unwrap();
    request.role = serde_json::from_value(json!({ "subagent": true, "team": "red" })).unwrap();
    let surface = make(&catalog(&[]), &request);
    let kept = json!({ "content_types": ["text"], "parallel_calls": true });
    assert_eq!(surface.record.model_capabilities.unwrap().to_value(), kept);
    let kept = json!({ "subagent": true, "interactive": false, "team": "red" });
    assert_eq!(surface.record.role_constraints.unwrap().to_value(), kept);
}

#[test]
fn names_that_lead_nowhere_are_refused() {
    let catalog = catalog(&[tool("files", "read_file"), tool("web", "search"), tool("code", "search")]);
    let mut request = request();
    request.blocked = vec![blocked("files.raed_file")];
    request.load = strings(&["search"]);
    let found = select(&catalog, &request, SurfaceId::from_trusted("s"), Timestamp::default()).unwrap_err();
    let found = found.violations(catalog.similar());
    assert_eq!(found[0].field, "load[0]");
    assert!(found[0].description.contains("could be any of code.search, web.search"), "{found:?}");
    assert_eq!(found[1].field, "blocked[0].name");
    assert!(found[1].description.contains("similar: files.read_file"), "{found:?}");
}

#[test]
fn the_defer_policy_has_an_order() {
    let tools = [
        tool("a", "plain"),
        tool_with("a", "always", json!({ "always_load": true })),
        tool_with("a", "lazy", json!({ "should_defer": true })),
        in_state("sleeping", "deferred"),
    ];
    let catalog = catalog(&tools);
    let shown = |defer: DeferPolicy, load: &[&str]| {
        let surface = make(&catalog, &SurfaceRequest { defer, load: strings(load), ..request() });
        let (loaded, deferred) = names(&surface);
        format!("{} | {}", loaded.join(" "), deferred.join(" "))
    };
    assert_eq!(shown(DeferPolicy::default(), &[]), "a.always a.plain | a.lazy a.sleeping");
    assert_eq!(shown(DeferPolicy::default(), &["lazy"]), "a.always a.lazy a.plain | a.sleeping");
    assert_eq!(shown(DeferPolicy::Auto { threshold: 3 }, &[]), "a.always | a.lazy a.plain a.sleeping");
    assert_eq!(shown(DeferPolicy::Auto { threshold: 3 }, &["plain"]), "a.always a.plain | a.lazy a.sleeping");
    assert_eq!(shown(DeferPolicy::All, &[]), "a.always | a.lazy a.plain a.sleeping");
    assert_eq!(shown(DeferPolicy::None, &[]), "a.always a.plain | a.lazy a.sleeping");
    let mut cannot = SurfaceRequest { defer: DeferPolicy::All, ..request() };
    cannot.model.deferred_tools = Some(false);
    assert_eq!(names(&make(&catalog, &cannot)).1, [""; 0]);
}

#[test]
fn more_than_twenty_tools_are_deferred() {
    let many: Vec<Registration> = (0..21).map(|i| tool("a", &format!("t{i}"))).collect();
    assert_eq!(names(&make(&catalog(&many[..20]), &request())).0.len(), 20);
    let surface = make(&catalog(&many), &request());
    assert_eq!(names(&surface).1.len(), 21);
    let first = &surface.deferred_tools[0];
    assert_eq!((first.loading_state, first.reason.as_str()), (LoadingState::Discoverable, "deferred_until_discovered"));
    assert_eq!(first.selection_ref, "select:a.t0");
}

#[test]
fn loading_makes_callable() {
    let catalog = catalog(&[tool("a", "one"), tool("a", "two"), in_state("gone", "disabled")]);
    let surface = make(&catalog, &SurfaceRequest { defer: DeferPolicy::All, ..request() });
    assert!(matches!(resolve(&surface, &catalog, "a.one"), Resolution::NotLoaded(_)));
    let asked = strings(&["one", "a__one", "a.onw", "gone"]);
    let (after, outcomes) = load(&surface, &catalog, &asked, Timestamp::from_millis(2000));
    let one = ToolId::from_trusted("tool_a_one");
    assert_eq!(outcomes[0].1, LoadOutcome::Loaded(one.clone()));
    assert_eq!(outcomes[1].1, LoadOutcome::AlreadyLoaded(one));
    assert_eq!(outcomes[2].1, LoadOutcome::Unknown);
    assert!(matches!(&outcomes[3].1, LoadOutcome::Hidden(hidden) if hidden.reason == HiddenReason::FeatureDisabled));
    assert_eq!((surface.revision, after.revision), (1, 2));
    assert_eq!(names(&after), (vec!["a.one"], vec!["a.two"]));
    assert_eq!(after.loaded_tools[0].loaded_at, Some(Timestamp::from_millis(2000)));
    assert!(matches!(resolve(&after, &catalog, "one"), Resolution::Callable(_)));
    let (again, _) = load(&after, &catalog, &asked, Timestamp::from_millis(3000));
    assert_eq!(again.record, after.record);
}

#[test]
fn a_connecting_provider_is_waited_for() {
    let catalog = catalog(&[tool("mcp.github", "issues"), tool("a", "one")]);
    let mut request = request();
    request.pending_providers.insert("mcp".to_owned(), "github-server".to_owned());
    request.load = strings(&["issues"]);
    let surface = make(&catalog, &request);
    assert_eq!(names(&surface), (vec!["a.one"], vec!["mcp.github.issues"]));
    assert_eq!(surface.deferred_tools[0].loading_state, LoadingState::PendingProvider);
    let (after, outcomes) = load(&surface, &catalog, &strings(&["issues"]), Timestamp::default());
    assert!(matches!(&outcomes[0].1, LoadOutcome::Pending { provider, .. } if provider == "github-server"));
    assert_eq!(after.record, surface.record);
}

#[test]
fn the_catalog_has_the_last_word() {
    let mut catalog = catalog(&[tool("a", "one")]);
    let surface = make(&catalog, &request());
    assert!(matches!(resolve(&surface, &catalog, "one"), Resolution::Callable(_)));
    let change = catalog.plan_retire(&ToolId::from_trusted("tool_a_one")).unwrap();
    catalog.apply(change);
    match resolve(&surface, &catalog, "one") {
        Resolution::Excluded(hidden) => assert_eq!(hidden.reason, HiddenReason::Retired),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_shared_bare_name_means_the_tool_that_is_shown() {
    let catalog = catalog(&[tool("web", "search"), tool("code", "search"), tool("web", "fetch")]);
    let everything = make(&catalog, &request());
    assert!(matches!(resolve(&everything, &catalog, "search"), Resolution::Unknown));
    let web = make(&catalog, &SurfaceRequest { namespaces: strings(&["web"]), ..request() });
    match resolve(&web, &catalog, "search") {
        Resolution::Callable(entry) => assert_eq!(entry.tool.full_name(), "web.search"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_shown_tools_are_suggested() {
    let tools = [
        tool("files", "read_file"),
        tool("files", "read_files"),
        tool("web", "fetch"),
        in_state("read_fine", "disabled"),
    ];
    let catalog = catalog(&tools);
    let surface = make(&catalog, &request());
    let similar = |name: &str| similar_in(&surface.indexed, catalog.similar(), name, &mut Effort::of_one_request());
    assert_eq!(similar("readFile"), ["files.read_file", "files.read_files"]);
    assert_eq!(similar("files__read__file"), ["files.read_file", "files.read_files"]);
    assert_eq!(similar("fech"), ["web.fetch"]);
    assert_eq!(similar("launch_rocket"), [""; 0]);
    assert_eq!(similar(&"x".repeat(10_000)), [""; 0]);
}

fn with_schema(name: &str, schema: Value) -> Registration {
    changed(name, "input_contract", json!({ "model_input_schema": schema }))
}

fn register(catalog: &mut Catalog, tool: Registration) {
    for change in catalog.plan_register(&[tool]).unwrap() {
        catalog.apply(change);
    }
}

#[test]
fn a_changed_schema_has_to_be_loaded_again() {
    let one = |kind: &str| json!({ "type": "object", "properties": { "n": { "type": kind } } });
    let mut catalog = catalog(&[with_schema("one", one("string")), tool("a", "two")]);
    let surface = make(&catalog, &request());
    let first = catalog.find("one");
    let Lookup::One(entry) = first else { panic!("{first:?}") };
    let known = entry.tool.digest();
    register(&mut catalog, with_schema("one", one("integer")));
    match resolve(&surface, &catalog, "one") {
        Resolution::Changed(entry, drift) => {
            assert_eq!(entry.revision, 2);
            let words = drift.words().unwrap();
            assert_eq!(words, r#"`/n` changed: `type` is "integer" (was "string")"#);
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(resolve(&surface, &catalog, "two"), Resolution::Callable(_)));
    // Loading it again makes its new schema known; a caller that goes by the older declaration is still told of the
    // change.
    let (after, outcomes) = load(&surface, &catalog, &strings(&["one", "one"]), Timestamp::from_millis(9));
    let id = ToolId::from_trusted("tool_a_one");
    assert_eq!(outcomes[0].1, LoadOutcome::Loaded(id.clone()));
    assert_eq!(outcomes[1].1, LoadOutcome::AlreadyLoaded(id));
    assert_eq!((after.revision, after.loaded_tools.len()), (surface.revision + 2, 2), "the change, and loading it");
    assert!(matches!(resolve(&after, &catalog, "one"), Resolution::Callable(_)));
    let indexed = after.indexed;
    assert!(matches!(super::resolve(&indexed, &catalog, "one", Some(&known)), Resolution::Changed(..)));
    let nobodys = toolplane_records::payload::Digest::of(b"");
    let forgotten = super::resolve(&indexed, &catalog, "one", Some(&nobodys));
    assert!(matches!(forgotten, Resolution::Changed(_, Drift::Forgotten)), "{forgotten:?}");
}

#[test]
fn another_description_changes_no_schema() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "string" } } });
    let mut catalog = catalog(&[with_schema("one", schema)]);
    let surface = make(&catalog, &request());
    let reordered = json!({ "properties": { "n": { "type": "string" } }, "type": "object" });
    let mut described = with_schema("one", reordered);
    described.declaration.description = "does it better".to_owned();
    register(&mut catalog, described);
    assert!(matches!(resolve(&surface, &catalog, "one"), Resolution::Callable(_)));
    let same =
        ToolSurface { revision: surface.revision, moment: surface.moment.clone(), ..now(&surface.indexed, &catalog) };
    assert_eq!(same, surface.record);
    // Loading takes the new declaration in.
    let (after, outcomes) = load(&surface, &catalog, &strings(&["one"]), Timestamp::from_millis(9));
    assert!(matches!(outcomes[0].1, LoadOutcome::Loaded(_)));
    assert_ne!(after.loaded_tools[0].digest, surface.loaded_tools[0].digest);
}

#[test]
fn a_surface_tells_the_state_of_now() {
    let one = |kind: &str| json!({ "type": "object", "properties": { "n": { "type": kind } } });
    let lazy = || tool_with("a", "lazy", json!({ "should_defer": true }));
    let other = || tool_with("a", "other", json!({ "should_defer": true }));
    let mut catalog =
        catalog(&[with_schema("one", one("string")), tool("a", "gone"), tool("a", "off"), lazy(), other()]);
    let surface = make(&catalog, &request());
    assert_eq!(names(&surface), (vec!["a.gone", "a.off", "a.one"], vec!["a.lazy", "a.other"]));
    register(&mut catalog, with_schema("one", one("integer")));
    for gone in ["tool_a_gone", "tool_a_other"] {
        let change = catalog.plan_retire(&ToolId::from_trusted(gone)).unwrap();
        catalog.apply(change);
    }
    register(&mut catalog, in_state("off", "requires_setup"));
    let mut renamed = lazy();
    renamed.declaration.search_hint = "sleeps".to_owned();
    register(&mut catalog, renamed);
    let now = now(&surface.indexed, &catalog);
    assert_eq!(names(&now), (vec!["a.one"], vec!["a.lazy"]));
    assert!(now.loaded_tools[0].changed.as_deref().unwrap().contains("`/n` changed"));
    assert_eq!(now.deferred_tools[0].search_hint, "sleeps");
    let hidden = |list: &[HiddenTool]| list.iter().map(|tool| (tool.name.clone(), tool.reason)).collect::<Vec<_>>();
    let retired = |name: &str| (name.to_owned(), HiddenReason::Retired);
    assert_eq!(hidden(&now.excluded_tools), [retired("a.gone"), retired("a.other")]);
    assert_eq!(hidden(&now.blocked_tools), [("a.off".to_owned(), HiddenReason::SetupRequired)]);
    assert_eq!(now.revision, surface.revision + 5, "as many tools were changed");
}

/// What a request lists is looked up, not walked through for every tool.
#[test]
fn long_lists_select_what_short_ones_do() {
    let catalog = catalog(&[tool("a", "one"), tool("a.b", "two"), tool("ab", "three")]);
    let mut long = request();
    long.namespaces = (0..50_000).map(|n| format!("n{n}")).chain(["a".to_owned()]).collect();
    assert_eq!(names(&make(&catalog, &long)).0, ["a.b.two", "a.one"]);
    let mut wrong = request();
    wrong.load = (0..50_000).map(|n| format!("a.onn{n}")).collect();
    let found = select(&catalog, &wrong, SurfaceId::from_trusted("s"), Timestamp::default()).unwrap_err();
    let found = found.violations(catalog.similar());
    assert_eq!(found.len(), 101);
    assert!(found[0].description.contains("similar: a.one"), "{:?}", found[0]);
    assert!(found[100].description.starts_with("49900 more names"), "{:?}", found[100]);
}
