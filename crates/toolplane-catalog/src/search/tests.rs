//! Search: what is found, in which order, and what is never found.

use proptest::prelude::*;
use serde_json::json;
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::surface::{SearchResult, ToolSurface};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{LoadingState, SurfaceScope};

use super::text::{stem, terms};
use super::*;
use crate::catalog::Catalog;
use crate::fixtures::{catalog, registration, tool, tool_json};
use crate::registration::Registration;
use crate::surface::{DeferPolicy, IndexedSurface, SurfaceRequest, select};

fn described(namespace: &str, name: &str, description: &str) -> Registration {
    let mut json = tool_json(namespace, name);
    json["declaration"]["description"] = json!(description);
    registration(&json)
}

fn library() -> Catalog {
    let mut weather = tool_json("weather", "get_forecast");
    weather["declaration"]["search_hint"] = json!("weather forecast for a city");
    weather["declaration"]["description"] = json!("Returns temperature and rain.");
    weather["declaration"]["input_contract"] = json!({ "model_input_schema": {
        "type": "object", "properties": { "postalCode": { "type": "string" } } } });
    let mut hidden = tool_json("weather", "control_weather");
    hidden["declaration"]["description"] = json!("Weather, weather, weather.");
    hidden["declaration"]["lifecycle"] = json!("disabled");
    catalog(&[
        registration(&weather),
        registration(&hidden),
        described("files", "readFile", "Reads a file of the workspace as text."),
        described("files", "search_text", "Searches for a pattern in files of the workspace."),
        described("mcp.github", "search_issues", "Searching issues and pull requests of a repository."),
        described("translate", "translate_text", "翻译文本到其他语言"),
    ])
}

fn search(surface: &ToolSurface, catalog: &Catalog, query: &str, limit: usize) -> SearchResult {
    super::search(&IndexedSurface::new(surface.clone()), catalog, query, limit)
}

fn surface(catalog: &Catalog, defer: DeferPolicy) -> ToolSurface {
    let request = SurfaceRequest { defer, ..SurfaceRequest::new(TenantId::unauthenticated(), SurfaceScope::Turn) };
    select(catalog, &request, SurfaceId::from_trusted("s"), Timestamp::default()).unwrap()
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
    let surface = select(&catalog, &request, SurfaceId::from_trusted("s"), Timestamp::default()).unwrap();
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

#[test]
fn identifiers_are_split_and_endings_removed() {
    assert_eq!(terms("getHTTPResponse2xx"), ["gethttpresponse2xx", "get", "http", "respons", "2", "xx"]);
    assert_eq!(terms("read_file.v2"), ["read", "fil", "v2", "v", "2"]);
    assert_eq!(terms("重命名file"), ["重命", "命名", "fil"]);
    for (one, other) in [
        ("movies", "movie"),
        ("queries", "query"),
        ("searching", "search"),
        ("updated", "update"),
        ("running", "run"),
        ("translation", "translate"),
        ("calculator", "calculate"),
        ("files", "file"),
        ("classes", "class"),
        ("boxes", "box"),
        ("installing", "install"),
        ("copied", "copy"),
        ("quickly", "quick"),
    ] {
        assert_eq!(stem(one), stem(other), "{one} {other}");
    }
    for word in ["status", "is", "bus", "access", "été", "s3"] {
        assert_eq!(stem(word), word);
    }
}

#[test]
fn stop_words_are_in_order() {
    // A word out of order would silently not be found by binary search.
    assert_eq!(terms("a about all also am an and any are you your forecast"), [stem("forecast")]);
    assert_eq!(terms("which who why will with would using want please help give forecast"), [stem("forecast")]);
    assert_eq!(terms("the of and"), ["the", "of", "and"]);
}

fn any_text() -> impl Strategy<Value = String> {
    let word =
        prop::sample::select(vec!["read", "file", "search", "issue", "weather", "Get", "city", "text", "_", "翻译"]);
    prop::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_does_not_depend_on_history(texts in prop::collection::vec(any_text(), 1..8), query in any_text()) {
        let tools: Vec<Registration> =
            texts.iter().enumerate().map(|(i, text)| described("n", &format!("t{i}"), &format!("x {text}"))).collect();
        let straight = catalog(&tools);
        let mut detour = Catalog::default();
        for tool in tools.iter().rev() {
            let earlier = described("n", &tool.declaration.name, "weather weather file something else");
            for version in [&earlier, tool] {
                let change = detour.plan_register(std::slice::from_ref(version)).unwrap().remove(0);
                detour.apply(change);
            }
        }
        prop_assert_eq!(straight.index().search(&query), detour.index().search(&query));
    }

    #[test]
    fn no_text_is_too_strange(text in any::<String>()) {
        let catalog = library();
        let surface = surface(&catalog, DeferPolicy::All);
        let found = search(&surface, &catalog, &text, 3);
        prop_assert!(found.matches.len() <= 3 || found.query_type == "select");
        prop_assert_eq!(search(&surface, &catalog, &text, 3), found);
    }
}

#[test]
fn a_replaced_tool_is_forgotten() {
    let mut index = SearchIndex::default();
    let check = |index: &SearchIndex, query: &str, hits: usize| assert_eq!(index.search(query).len(), hits, "{query}");
    let checked =
        |tool: &Registration| crate::validate::validate(tool, &crate::limits::CatalogLimits::default()).unwrap();
    index.insert(&checked(&described("a", "one", "alpha")));
    index.insert(&checked(&described("a", "one", "beta")));
    index.insert(&checked(&tool("a", "two")));
    check(&index, "alpha", 0);
    check(&index, "beta", 1);
    index.remove(&toolplane_records::ids::ToolId::from_trusted("tool_a_one"));
    check(&index, "beta", 0);
    check(&index, "two", 1);
}
