//! Answering a search in a surface.

use std::collections::HashSet;

use toolplane_records::surface::{DeferredToolRef, HiddenTool, SearchResult};
use toolplane_records::vocabulary::{LoadingState, SchemaVisibility};

use crate::catalog::{Catalog, CatalogEntry, Lookup};
use crate::surface::{Availability, IndexedSurface, deferred_ref, lookup};
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
/// The answer is about now: a tool that was retired since is hidden, one whose schema changed since it was loaded has to be
/// loaded again. The same surface, catalog and query always give the same answer.
pub fn search(surface: &IndexedSurface, catalog: &Catalog, query: &str, limit: usize) -> SearchResult {
    let query: String = query.chars().take(MAX_QUERY_CHARS).collect();
    let query = query.trim();
    let pending = surface.pending_providers(catalog);
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
        total_deferred_tools: surface.counts(catalog, &|_| None).deferred as u64,
        pending_providers: pending,
        missing_names: found.missing,
        refs: found.tools.into_iter().chain(found.hidden).collect(),
    }
}

#[derive(Default)]
struct SelectedTools {
    tools: Vec<DeferredToolRef>,
    hidden: Vec<DeferredToolRef>,
    missing: Vec<String>,
}

fn select(surface: &IndexedSurface, catalog: &Catalog, names: &str) -> SelectedTools {
    let mut found = SelectedTools::default();
    let mut seen = HashSet::new();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()).take(MAX_SELECTED) {
        let Some(entry) = lookup(surface, catalog, name) else {
            found.missing.push(shown(name, 128));
            continue;
        };
        if !seen.insert(entry.tool_id()) {
            continue;
        }
        match reference(surface, entry) {
            Ok(tool) => found.tools.push(tool),
            Err(hidden) => found.hidden.push(unavailable(entry, hidden)),
        }
    }
    found
}

fn keywords(surface: &IndexedSurface, catalog: &Catalog, query: &str, limit: usize) -> SelectedTools {
    let named: Vec<&CatalogEntry> = match catalog.find(query) {
        Lookup::One(entry) => vec![entry],
        Lookup::Ambiguous(sharing) => sharing.entries().filter(|entry| surface.shows(entry)).collect(),
        Lookup::Unknown => Vec::new(),
    };
    let by_words = catalog.index().search(query);
    let by_words = by_words.iter().filter_map(|hit| catalog.get(&hit.tool_id));
    let mut seen = HashSet::new();
    let fresh = named.into_iter().chain(by_words).filter(|entry| seen.insert(entry.tool_id()));
    let tools = fresh.filter_map(|entry| reference(surface, entry).ok()).take(limit).collect();
    SelectedTools { tools, ..SelectedTools::default() }
}

/// The tool as the surface has it now, or why it is hidden.
fn reference(surface: &IndexedSurface, entry: &CatalogEntry) -> Result<DeferredToolRef, HiddenTool> {
    Ok(match surface.standing(entry) {
        Availability::Hidden(_, tool) => return Err(tool),
        Availability::Deferred(provider) => deferred_ref(entry, provider),
        Availability::Stale(drift) => {
            let changed = drift.words().unwrap_or_default();
            let reason = format!("its schema changed since it was loaded: {changed}");
            DeferredToolRef { reason, ..deferred_ref(entry, None) }
        }
        Availability::Loaded => DeferredToolRef {
            schema_visibility: Some(SchemaVisibility::Loaded),
            loading_state: LoadingState::Loaded,
            reason: String::new(),
            ..deferred_ref(entry, None)
        },
    })
}

fn unavailable(entry: &CatalogEntry, hidden: HiddenTool) -> DeferredToolRef {
    DeferredToolRef {
        loading_state: LoadingState::Unavailable,
        reason: format!("{}: {}", hidden.reason, hidden.message),
        ..deferred_ref(entry, None)
    }
}

fn next_action(found: &SelectedTools, pending: &[String]) -> &'static str {
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
