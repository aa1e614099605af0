//! Search: what is found, in which order, and what is never found.

mod history;
mod language;
mod meaning;
mod near;
mod pages;

use serde_json::{Value, json};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::search::{FoundTool, SearchResult};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{LoadingState, SurfaceScope};

use super::*;
use crate::catalog::Catalog;
use crate::fixtures::{catalog, registration, tool, tool_json};
use crate::registration::Registration;
use crate::surface::{DeferPolicy, IndexedSurface, LiveSurface, SurfaceRequest};

fn described(namespace: &str, name: &str, description: &str) -> Registration {
    with(namespace, name, &json!({ "description": description }))
}

/// A tool with other fields of its declaration.
fn with(namespace: &str, name: &str, fields: &Value) -> Registration {
    let mut json = tool_json(namespace, name);
    for (field, value) in fields.as_object().unwrap() {
        json["declaration"][field] = value.clone();
    }
    registration(&json)
}

fn library() -> Catalog {
    let weather = json!({
        "search_hint": "weather forecast for a city", "description": "Returns temperature and rain.",
        "input_contract": { "model_input_schema": { "type": "object", "properties": { "postalCode": { "type": "string" } } } },
    });
    catalog(&[
        with("weather", "get_forecast", &weather),
        with(
            "weather",
            "control_weather",
            &json!({ "description": "Weather, weather, weather.", "lifecycle": "disabled" }),
        ),
        described("files", "readFile", "Reads a file of the workspace as text."),
        described("files", "search_text", "Searches for a pattern in files of the workspace."),
        described("mcp.github", "search_issues", "Searching issues and pull requests of a repository."),
        described("translate", "translate_text", "翻译文本到其他语言"),
    ])
}

fn question<'a>(text: &'a str, limit: usize, thesaurus: &'a Thesaurus) -> Question<'a> {
    Question { text, filters: &[], limit, after: None, thesaurus, learned: None, meaning: None }
}

fn search(surface: &IndexedSurface, catalog: &Catalog, query: &str, limit: usize) -> SearchResult {
    let seen = Seen::of(surface, catalog, crate::Shut::NOTHING);
    super::search(&seen, &catalog.index().snapshot(), &question(query, limit, &Thesaurus::starter())).unwrap().result
}

/// What is found among all tools of a catalogue.
fn find(catalog: &Catalog, query: &str) -> Vec<FoundTool> {
    find_with(catalog, query, &Thesaurus::starter())
}

fn find_with(catalog: &Catalog, query: &str, thesaurus: &Thesaurus) -> Vec<FoundTool> {
    let answer = super::search(&Everything::default(), &catalog.index().snapshot(), &question(query, 10, thesaurus));
    answer.unwrap().result.found
}

fn names(found: &[FoundTool]) -> Vec<&str> {
    found.iter().map(|tool| tool.name.as_str()).collect()
}

fn surface(catalog: &Catalog, defer: DeferPolicy) -> IndexedSurface {
    made(catalog, &SurfaceRequest { defer, ..SurfaceRequest::new(TenantId::unauthenticated(), SurfaceScope::Turn) })
}

fn made(catalog: &Catalog, request: &SurfaceRequest) -> IndexedSurface {
    LiveSurface::make(catalog, request, SurfaceId::from_trusted("s"), Timestamp::default()).unwrap().into()
}

fn ask(query: &str) -> SearchResult {
    let catalog = library();
    search(&surface(&catalog, DeferPolicy::All), &catalog, query, 10)
}

/// The best match of `query` is `name`.
fn check(query: &str, name: &str) {
    let found = ask(query);
    assert_eq!(found.refs.first().map(|tool| tool.name.as_str()), Some(name), "{query}: {found:?}");
    assert_eq!(found.next_action, "load_schema_then_call");
}

#[test]
fn words_are_found_in_every_field_and_form() {
    check("forecast", "weather.get_forecast");
    check("what will the weather be tomorrow?", "weather.get_forecast");
    check("postal code", "weather.get_forecast");
    check("reading files", "files.readFile");
    check("read_file", "files.readFile");
    check("searched issue", "mcp.github.search_issues");
    check("github", "mcp.github.search_issues");
    check("把文本翻译成英文", "translate.translate_text");
    check("translation of texts", "translate.translate_text");
}

#[test]
fn a_name_asked_for_comes_first() {
    check("files.search_text", "files.search_text");
    check("search_issues", "mcp.github.search_issues");
    check("mcp__github__search_issues", "mcp.github.search_issues");
}

#[test]
fn hidden_tools_never_match_but_say_why_when_selected() {
    let found = ask("weather control_weather disabled");
    assert!(found.refs.iter().all(|tool| tool.name != "weather.control_weather"), "{found:?}");
    assert_eq!(ask("weather.control_weather").refs.iter().filter(|tool| tool.name.contains("control")).count(), 0);
    let exact = ask("select:weather.control_weather");
    assert_eq!(exact.matches, []);
    assert_eq!(exact.refs[0].loading_state, LoadingState::Unavailable);
    assert_eq!(exact.refs[0].reason, "feature_disabled: is disabled");
    assert_eq!(exact.next_action, "not_available");
}

#[test]
fn selecting_is_exact() {
    let found = ask("select:readFile, files.nothing,files__readFile ,weather.get_forecast");
    assert_eq!(found.query_type, "select");
    let matches: Vec<&str> = found.matches.iter().map(|id| id.as_str()).collect();
    assert_eq!(matches, ["tool_files_readFile", "tool_weather_get_forecast"]);
    assert_eq!(found.missing_names, ["files.nothing"]);
    assert_eq!((found.total_deferred_tools, found.next_action.as_str()), (5, "load_schema_then_call"));
    assert_eq!(ask("select:files.nothing").next_action, "refine_query");
}

#[test]
fn loaded_tools_can_be_called_at_once() {
    let catalog = library();
    let found = search(&surface(&catalog, DeferPolicy::None), &catalog, "forecast", 10);
    assert_eq!((found.next_action.as_str(), found.refs[0].loading_state), ("call", LoadingState::Loaded));
    assert_eq!(found.total_deferred_tools, 0);
}

#[test]
fn no_match_is_an_answer() {
    for query in ["quantum chromodynamics", "", "   ", "!!!", "the of and"] {
        let found = ask(query);
        assert_eq!((found.matches.len(), found.next_action.as_str()), (0, "refine_query"), "{query:?}");
        assert_eq!(found.query_type, "keyword");
    }
}

#[test]
fn pending_providers_are_reported() {
    let catalog = library();
    let mut request = SurfaceRequest::new(TenantId::unauthenticated(), SurfaceScope::Turn);
    request.pending_providers.insert("mcp.github".to_owned(), "github".to_owned());
    let surface = made(&catalog, &request);
    let found = search(&surface, &catalog, "github", 10);
    assert_eq!(
        (found.pending_providers.as_slice(), found.next_action.as_str()),
        (&["github".to_owned()][..], "wait_for_provider")
    );
    assert_eq!(search(&surface, &catalog, "chromodynamics", 10).next_action, "wait_for_provider");
    assert_eq!(search(&surface, &catalog, "forecast", 10).next_action, "call");
}

#[test]
fn the_limit_holds_and_long_queries_are_cut() {
    let catalog = library();
    let surface = surface(&catalog, DeferPolicy::All);
    assert_eq!(search(&surface, &catalog, "files weather text issues", 2).matches.len(), 2);
    assert_eq!(search(&surface, &catalog, &"weather ".repeat(10_000), 5).query.chars().count(), 999);
}
