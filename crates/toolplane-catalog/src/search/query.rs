//! Answering a search in a surface.

use toolplane_records::surface::{DeferredToolRef, HiddenTool, SearchResult, ToolSurface};
use toolplane_records::vocabulary::{LoadingState, SchemaVisibility};

use crate::catalog::{Catalog, Entry, Lookup};
use crate::surface::{deferred_ref, hidden_in};
use crate::violations::shown;

/// Longest query that is looked at, in characters.
const MAX_QUERY_CHARS: usize = 1_000;
/// Most names one exact selection may ask for.
const MAX_SELECTED: usize = 100;

/// Searches the tools of `surface`.
///
/// `select:a,b` asks for tools by name: names that lead nowhere are in `missing_names`, and a hidden tool is in `refs` with the
/// loading state `unavailable` and its reason, but never in `matches`. Any other query is by keywords over loaded and deferred
/// tools, best first, at most `limit`; hidden tools never match. A query that is exactly a tool's name puts that tool first.
/// The same surface, catalog and query always give the same answer.
pub fn search(surface: &ToolSurface, catalog: &Catalog, query: &str, limit: usize) -> SearchResult {
    let query: String = query.chars().take(MAX_QUERY_CHARS).collect();
    let query = query.trim();
    let mut pending: Vec<String> =
        surface.deferred_tools.iter().map(|tool| tool.pending_provider_or_server.clone()).collect();
    pending.retain(|provider| !provider.is_empty());
    pending.sort();
    pending.dedup();
    let found = match query.strip_prefix("select:") {
        Some(names) => select(surface, catalog, names),
        None => keywords(surface, catalog, query, limit),
    };
    SearchResult {
        schema_version: toolplane_records::schema_version(),
        query: query.to_owned(),
        query_type: if query.starts_with("select:") { "select" } else { "keyword" }.to_owned(),
        next_action: next_action(&found, &pending).to_owned(),
        matches: found.tools.iter().map(|tool| tool.tool_id.clone()).collect(),
        total_deferred_tools: surface.deferred_tools.len() as u64,
        pending_providers: pending,
        missing_names: found.missing,
        refs: found.tools.into_iter().chain(found.hidden).collect(),
    }
}

#[derive(Default)]
struct Found {
    tools: Vec<DeferredToolRef>,
    hidden: Vec<DeferredToolRef>,
    missing: Vec<String>,
}

fn select(surface: &ToolSurface, catalog: &Catalog, names: &str) -> Found {
    let mut found = Found::default();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()).take(MAX_SELECTED) {
        let Some(entry) = crate::surface::lookup(surface, catalog, name) else {
            found.missing.push(shown(name, 128));
            continue;
        };
        let (list, reference) = match hidden_in(surface, entry) {
            Some(hidden) => (&mut found.hidden, unavailable(entry, hidden)),
            None => (&mut found.tools, reference(surface, entry)),
        };
        if !list.iter().any(|known| known.tool_id == reference.tool_id) {
            list.push(reference);
        }
    }
    found
}

fn keywords(surface: &ToolSurface, catalog: &Catalog, query: &str, limit: usize) -> Found {
    let named = match catalog.find(query) {
        Lookup::One(entry) => vec![entry],
        Lookup::Ambiguous(entries) => entries,
        Lookup::Unknown => Vec::new(),
    };
    let by_words = catalog.index().search(query);
    let by_words = by_words.iter().filter_map(|hit| catalog.get(&hit.tool_id));
    let mut tools: Vec<DeferredToolRef> = Vec::new();
    for entry in named.into_iter().chain(by_words) {
        if tools.len() >= limit {
            break;
        }
        if !tools.iter().any(|known| known.tool_id == *entry.tool_id()) && hidden_in(surface, entry).is_none() {
            tools.push(reference(surface, entry));
        }
    }
    Found { tools, ..Found::default() }
}

/// The tool as the surface has it: its deferred reference, or one that says it is loaded.
fn reference(surface: &ToolSurface, entry: &Entry) -> DeferredToolRef {
    match surface.deferred_tools.iter().find(|tool| tool.tool_id == *entry.tool_id()) {
        Some(deferred) => deferred.clone(),
        None => DeferredToolRef {
            schema_visibility: Some(SchemaVisibility::Loaded),
            loading_state: LoadingState::Loaded,
            reason: String::new(),
            ..deferred_ref(entry, None)
        },
    }
}

fn unavailable(entry: &Entry, hidden: HiddenTool) -> DeferredToolRef {
    DeferredToolRef {
        loading_state: LoadingState::Unavailable,
        reason: format!("{}: {}", hidden.reason, hidden.message),
        ..deferred_ref(entry, None)
    }
}

fn next_action(found: &Found, pending: &[String]) -> &'static str {
    let any = |state| found.tools.iter().any(|tool| tool.loading_state == state);
    if any(LoadingState::Discoverable) || any(LoadingState::Deferred) {
        "load_schema_then_call"
    } else if any(LoadingState::Loaded) {
        "call"
    } else if any(LoadingState::PendingProvider) || (found.tools.is_empty() && !pending.is_empty()) {
        "wait_for_provider"
    } else if !found.hidden.is_empty() {
        "not_available"
    } else {
        "refine_query"
    }
}
