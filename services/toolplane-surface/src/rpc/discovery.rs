//! Searching a surface, loading tools, and telling schedulers what a name means.

use prost::Message as _;
use tonic::Request;
use toolplane_catalog::search::{Answer, Filter, FilterKind, Position, Question};
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_proto::v1::resolve_tool_response::Resolution;
use toolplane_proto::v1::unload_outcome;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_runtime::{ApiError, page};

use super::api::SurfaceApi;
use super::encode;
use crate::declarations;
use crate::error::of_field;
use crate::learning::today;
use crate::meaning::Asked;
use crate::providers::HIDDEN_SURFACE;
use crate::surfaces::{Meaning, RefusalKind, Resolved};
use toolplane_runtime::Caller;
use toolplane_runtime::caller::Role;

/// The orders a page token can be of.
const WORDS: &str = "words";
const MEANING: &str = "meaning";
const DEFAULT_MATCHES: usize = 10;
const MAX_MATCHES: usize = 100;
const MAX_NAMES: usize = 100;
/// Most values of one filter.
const MAX_FILTERS: usize = 100;
/// Longest query, in bytes.
const MAX_QUERY_BYTES: usize = 8 * 1024;

pub(super) async fn search(
    api: &SurfaceApi,
    request: Request<v1::SearchToolsRequest>,
) -> Result<v1::SearchToolsResponse, ApiError> {
    let caller = Caller::of(&request);
    let tenant = caller.tenant.clone();
    let request = request.into_inner();
    let id = field::surface(&request.surface_id).map_err(of_field)?;
    let filters = filters(&request)?;
    if (request.query.trim().is_empty() && filters.is_empty()) || request.query.len() > MAX_QUERY_BYTES {
        let rule = format!("must have 1 to {MAX_QUERY_BYTES} bytes; it may be empty where a filter is given");
        return Err(ApiError::invalid_argument("query", rule));
    }
    let limit = match usize::try_from(request.limit) {
        Ok(0) => DEFAULT_MATCHES,
        Ok(limit) => limit.min(MAX_MATCHES),
        Err(_) => MAX_MATCHES,
    };
    let scope = ("search", &tenant, &request.surface_id, &request.query, &filters);
    let after = page::position(&scope, &request.page_token)?.map(|text| position(&text)).transpose()?;
    let asked = match &api.meaning {
        Some(meaning) => meaning.ask(&tenant, &request.query).await,
        None => Asked::Not,
    };
    let meaning = asked.nearest();
    let after = after.map(|(position, by_meaning)| same_order(position, by_meaning, meaning.is_some())).transpose()?;
    let thesaurus = api.registry.0.thesauri.of_tenant(&tenant);
    let learned = if request.without_use { None } else { api.registry.0.learning.of_tenant(&tenant) };
    let learned = learned.as_ref().map(|learned| learned.on(today()));
    let text = &request.query;
    let thesaurus = &thesaurus;
    let question = Question { text, filters: &filters, limit, after: after.as_ref(), thesaurus, learned, meaning };
    let Answer { mut result, next } = api.registry.search(&tenant, &id, &question).await?;
    if !request.without_use {
        api.registry.0.learning.found(&caller, &id, &result);
    }
    if let Some(next) = next {
        let order = if meaning.is_some() { MEANING } else { WORDS };
        result.next_page_token = page::token(&scope, &format!("{order} {} {}", next.score, next.tool_id));
    }
    asked.word(api.registry.tenant(&tenant).catalog.read().len()).clone_into(&mut result.meaning);
    // A tool may bring much of its own; the names of all matches are told anyway.
    let refs = result.refs.iter().map(v1::DeferredToolRef::from);
    let told = page::fill(refs, result.refs.len(), v1::DeferredToolRef::encoded_len).len();
    result.refs.truncate(told);
    let wants_json = request.view() == v1::RecordView::Json;
    Ok(v1::SearchToolsResponse {
        result: Some((&result).into()),
        json: wants_json.then(|| (&JsonPayload::of(&result)).into()),
    })
}

/// The filters in the fields of a request.
fn filters(request: &v1::SearchToolsRequest) -> Result<Vec<Filter>, ApiError> {
    let fields = [
        (FilterKind::Namespace, "namespaces", &request.namespaces),
        (FilterKind::Kind, "kinds", &request.kinds),
        (FilterKind::Risk, "risk_levels", &request.risk_levels),
        (FilterKind::Provider, "providers", &request.providers),
        (FilterKind::Tag, "tags", &request.tags),
        (FilterKind::Capability, "capabilities", &request.capabilities),
    ];
    let mut filters = Vec::new();
    for (by, field, values) in fields {
        if values.len() > MAX_FILTERS {
            let rule = format!("has {} values; at most {MAX_FILTERS} are allowed", values.len());
            return Err(ApiError::invalid_argument(field, rule));
        }
        for value in values {
            filters
                .push(Filter::new(by, value, false).map_err(|fault| ApiError::invalid_argument(field, fault.message))?);
        }
    }
    Ok(filters)
}

/// The position in a token a process of this role made, and whether its list was ordered by meaning too.
fn position(text: &str) -> Result<(Position, bool), ApiError> {
    let read = || {
        let (order, position) = text.split_once(' ')?;
        let (score, id) = position.split_once(' ')?;
        let position = Position { score: score.parse().ok()?, tool_id: ToolId::parse(id).ok()? };
        matches!(order, WORDS | MEANING).then_some((position, order == MEANING))
    };
    read().ok_or_else(|| ApiError::invalid_argument("page_token", "is not a token of this list"))
}

/// The position, when the list has the order it is a position of.
fn same_order(position: Position, by_meaning: bool, now: bool) -> Result<Position, ApiError> {
    if by_meaning == now {
        return Ok(position);
    }
    let rule =
        "is of a list in another order: the embedding model has come or gone since; ask for the first page again";
    Err(ApiError::invalid_argument("page_token", rule))
}

pub(super) async fn load(
    api: &SurfaceApi,
    request: Request<v1::LoadToolsRequest>,
) -> Result<v1::LoadToolsResponse, ApiError> {
    let caller = Caller::of(&request);
    let tenant = caller.tenant.clone();
    let request = request.into_inner();
    let id = field::surface(&request.surface_id).map_err(of_field)?;
    some_names(&request.names)?;
    fits_an_answer(api, &tenant, &request.names)?;
    let loaded = api.registry.load(tenant, id.clone(), request.names).await?;
    let used = loaded.meanings.iter().filter_map(|(_, meaning)| match meaning {
        Meaning::Callable(entry, _) => Some(entry.tool_id().clone()),
        Meaning::Refused(_) => None,
    });
    api.registry.0.learning.loaded(&caller, &id, &used.collect::<Vec<_>>());
    let outcomes = loaded.meanings.into_iter().map(|(name, meaning)| v1::LoadOutcome {
        name,
        outcome: Some(match meaning {
            Meaning::Callable(entry, tool) => Outcome::Loaded(encode::loaded(&entry, &tool)),
            Meaning::Refused(refusal) => Outcome::Failure(encode::not_callable(refusal)),
        }),
    });
    Ok(v1::LoadToolsResponse { outcomes: outcomes.collect(), surface_revision: loaded.revision })
}

fn some_names(names: &[String]) -> Result<(), ApiError> {
    if names.is_empty() || names.len() > MAX_NAMES {
        let rule = format!("has {} names; 1 to {MAX_NAMES} are allowed", names.len());
        return Err(ApiError::invalid_argument("names", rule));
    }
    Ok(())
}

pub(super) async fn unload(
    api: &SurfaceApi,
    request: Request<v1::UnloadToolsRequest>,
) -> Result<v1::UnloadToolsResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let id = field::surface(&request.surface_id).map_err(of_field)?;
    some_names(&request.names)?;
    let unloaded = api.registry.unload(tenant, id, request.names).await?;
    let outcomes = unloaded.meanings.into_iter().map(|(name, meaning)| v1::UnloadOutcome {
        name,
        outcome: Some(match meaning {
            Meaning::Refused(refusal) if refusal.kind != RefusalKind::NotLoaded => {
                unload_outcome::Outcome::Failure(encode::not_callable(refusal))
            }
            Meaning::Refused(refusal) => {
                unload_outcome::Outcome::DeferredToolId(refusal.tool_id.map(|id| id.to_string()).unwrap_or_default())
            }
            // Somebody loaded it again before this was told.
            Meaning::Callable(entry, _) => unload_outcome::Outcome::DeferredToolId(entry.tool_id().to_string()),
        }),
    });
    Ok(v1::UnloadToolsResponse { outcomes: outcomes.collect(), surface_revision: unloaded.revision })
}

/// Refuses to load what one answer cannot show: nothing is loaded then.
fn fits_an_answer(api: &SurfaceApi, tenant: &TenantId, names: &[String]) -> Result<(), ApiError> {
    let size = |name: &String| {
        let entry = api.registry.tool_named(tenant, name).ok()?;
        let registration = entry.tool.registration();
        let schema = registration.model_schema().map_or(0, |schema| schema.text().len());
        Some(schema + registration.declaration.description.len())
    };
    let (bytes, most) = (names.iter().filter_map(size).sum::<usize>(), api.max_message_bytes / 2);
    if bytes <= most {
        return Ok(());
    }
    let rule = format!("have schemas of {bytes} bytes together; at most {most} fit into an answer: load fewer at once");
    Err(ApiError::invalid_argument("names", rule))
}

pub(super) async fn resolve(
    api: &SurfaceApi,
    request: Request<v1::ResolveToolRequest>,
) -> Result<v1::ResolveToolResponse, ApiError> {
    let caller = Caller::of(&request);
    let tenant = caller.tenant_named(&request.get_ref().tenant)?;
    let request = request.into_inner();
    let id = field::surface(&request.surface_id).map_err(of_field)?;
    if request.surface_id == HIDDEN_SURFACE && caller.is(Role::Peer) {
        api.registry.current_at(request.known_revision).await?;
        return Ok(hidden(api, &tenant, &request.name));
    }
    if request.name.is_empty() {
        return Err(ApiError::invalid_argument("name", "is required"));
    }
    let known = field::optional_id("known_digest", &request.known_digest).map_err(of_field)?;
    api.registry.current_at(request.known_revision).await?;
    let Resolved { meaning, once, surface_revision, catalog_revision } =
        api.registry.resolve(&tenant, &id, &request.name, known).await?;
    if let Meaning::Callable(entry, _) = &meaning {
        api.registry.0.learning.called(&tenant, &id, entry.tool_id());
    }
    let resolution = match meaning {
        Meaning::Callable(entry, _) => Resolution::Resolved(v1::ResolvedTool {
            registration: Some(declarations::message(entry.tool.registration())),
            digest: entry.tool.digest().to_string(),
            revision: entry.revision,
            once,
        }),
        Meaning::Refused(refusal) => Resolution::NotCallable(encode::not_callable(refusal)),
    };
    Ok(v1::ResolveToolResponse { resolution: Some(resolution), surface_revision, catalog_revision })
}

/// The tool by which the platform asks a provider what it has. Told to processes of the cluster alone, each time anew.
fn hidden(api: &SurfaceApi, tenant: &TenantId, name: &str) -> v1::ResolveToolResponse {
    let resolution = match api.registry.hidden_tool(tenant, name) {
        Some((registration, revision)) => Resolution::Resolved(v1::ResolvedTool {
            registration: Some(declarations::message(&registration)),
            digest: registration.digest().to_string(),
            revision,
            once: true,
        }),
        None => Resolution::NotCallable(v1::NotCallable {
            kind: v1::NotCallableKind::Unknown.into(),
            message: "no such provider can be asked by a worker".to_owned(),
            ..Default::default()
        }),
    };
    v1::ResolveToolResponse { resolution: Some(resolution), surface_revision: 0, catalog_revision: 0 }
}
