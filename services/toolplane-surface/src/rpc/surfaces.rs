//! Making, reading and listing surfaces.

use prost::Message as _;
use tonic::Request;
use toolplane_catalog::{
    BlockedName, Budget, Choosing, DeferPolicy, Extension, IndexedSurface, MAX_LOADED, ModelCapabilities,
    RoleConstraints, ScopeRules, SurfaceRequest, slipped_refs,
};
use toolplane_proto::convert::{field, word};
use toolplane_proto::v1;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_records::ids::TenantId;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::vocabulary::SurfaceScope;
use toolplane_runtime::ApiError;
use uuid::Uuid;

use super::api::SurfaceApi;
use super::encode;
use super::selection::{self, Asked, MAX_WARNED};
use super::shown;
use crate::error::of_field;
use crate::surfaces::{Meaning, Place, Wanted};
use toolplane_runtime::{Caller, page};

/// Longest producer, reason or message, in characters.
const MAX_TEXT_CHARS: usize = 1_000;
/// Most policies that a surface names.
const MAX_POLICIES: usize = 32;
/// Longest name of a policy: as long as rules have them.
const MAX_POLICY_BYTES: usize = 128;
/// Most names and namespaces that are added at once.
const MAX_ADDED: usize = 1_000;

pub(super) async fn create(
    api: &SurfaceApi,
    request: Request<v1::CreateSurfaceRequest>,
) -> Result<v1::CreateSurfaceResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    leaves_room(&request, api.max_message_bytes)?;
    let asked = Asked::from(&request);
    let wanted = read(api, tenant, request, &asked)?;
    let made = api.parts.surfaces.create(&wanted).await?;
    let tenant = &wanted.request.tenant;
    let (surface, _) = shown::alone(api, tenant, made.indexed(), shown::MADE_BYTES);
    let mut warnings = asked.warnings(api, tenant, made.indexed(), &wanted.request.selection());
    let SurfaceRequest { tool_refs, load, .. } = &wanted.request;
    warnings.extend(selection::names_not_shown(
        api,
        tenant,
        made.indexed(),
        &[("tool_refs", tool_refs), ("load", load)],
    ));
    let SurfaceRequest { scope, runtime_refs, .. } = &wanted.request;
    warnings.extend(slipped_refs(*scope, runtime_refs).into_iter().map(selection::warning));
    warnings.extend(beyond_budget(api, &wanted.request, made.indexed()));
    warnings.extend(nothing_left(&wanted, &surface));
    warnings.extend(api.parts.shown.idle_choices(tenant, made.indexed()).into_iter().map(selection::warning));
    Ok(v1::CreateSurfaceResponse { surface: Some(surface), warnings })
}

/// What was to be loaded by name and does not fit into the budget; and that a model cannot load what does not.
fn beyond_budget(api: &SurfaceApi, wanted: &SurfaceRequest, made: &IndexedSurface) -> Vec<v1::SelectionWarning> {
    let warning =
        |field: String, message: &str| v1::SelectionWarning { field, message: message.to_owned(), similar: Vec::new() };
    let left = api.parts.shown.left_for_budget(&wanted.tenant, made, &wanted.load);
    let left = left.into_iter().take(MAX_WARNED);
    let mut told: Vec<v1::SelectionWarning> = left
        .map(|at| warning(format!("load[{at}]"), "is deferred: it does not fit into the budget beside those before it"))
        .collect();
    let cannot_load = wanted.model.deferred_tools == Some(false);
    if cannot_load && api.parts.shown.budget(&wanted.tenant, made).is_some_and(|budget| budget.deferred > 0) {
        let message = "defers tools, and the model cannot load any: it does not see them";
        told.push(warning("budget".to_owned(), message));
    }
    told
}

/// That the surface above shows none of its tools now.
fn nothing_left(wanted: &Wanted, made: &v1::ToolSurface) -> Option<v1::SelectionWarning> {
    let counts = made.counts.unwrap_or_default();
    let is_empty = wanted.parent.is_some() && counts.loaded + counts.deferred == 0;
    is_empty.then(|| v1::SelectionWarning {
        field: "parent_surface_id".to_owned(),
        message: "is of a surface that shows none of the tools this one is for".to_owned(),
        similar: Vec::new(),
    })
}

/// The budget of a request, none of whose bounds may be larger than what can be loaded.
fn budget(given: v1::SurfaceBudget) -> Result<Budget, ApiError> {
    let v1::SurfaceBudget { max_tools, max_schema_tokens, max_schema_bytes } = given;
    if max_tools > MAX_LOADED {
        let rule = format!("is {max_tools}; at most {MAX_LOADED} tools can be loaded within a budget");
        return Err(ApiError::invalid_argument("budget.max_tools", rule));
    }
    Ok(Budget { max_tools, max_schema_tokens, max_schema_bytes })
}

/// What is kept of a request is in every answer about its surface: it is refused before anything is made when it takes
/// more than half of one.
fn leaves_room(request: &v1::CreateSurfaceRequest, max_message_bytes: usize) -> Result<(), ApiError> {
    let kept = v1::CreateSurfaceRequest {
        tool_refs: Vec::new(),
        namespaces: Vec::new(),
        load: Vec::new(),
        blocked: Vec::new(),
        ..request.clone()
    };
    let (bytes, most) = (kept.encoded_len(), max_message_bytes / 2);
    if bytes <= most {
        return Ok(());
    }
    let rule = format!("and what else is kept with the surface has {bytes} bytes; at most {most} are allowed");
    Err(ApiError::invalid_argument("selection_policy", rule))
}

fn read(
    api: &SurfaceApi,
    tenant: TenantId,
    request: v1::CreateSurfaceRequest,
    asked: &Asked,
) -> Result<Wanted, ApiError> {
    let repeatable = repeatable(&request)?;
    let parent = field::optional_id("parent_surface_id", &request.parent_surface_id).map_err(of_field)?;
    let scope = word::optional_open("scope", &request.scope, request.scope_code).map_err(of_field)?;
    let mut wanted = SurfaceRequest::new(tenant, scope.unwrap_or(SurfaceScope::Session));
    wanted.defer = match v1::DeferPolicy::try_from(request.defer_policy) {
        Ok(v1::DeferPolicy::Unspecified | v1::DeferPolicy::Auto) => {
            let own = if request.defer_threshold == 0 { api.defer_threshold } else { request.defer_threshold };
            DeferPolicy::Auto { threshold: own }
        }
        Ok(v1::DeferPolicy::All) => DeferPolicy::All,
        Ok(v1::DeferPolicy::None) => DeferPolicy::None,
        Err(_) => return Err(unknown("defer_policy", request.defer_policy)),
    };
    let interactive = match v1::InteractionMode::try_from(request.interaction_mode) {
        Ok(v1::InteractionMode::Interactive) => true,
        Ok(v1::InteractionMode::NonInteractive | v1::InteractionMode::Unspecified) => false,
        Err(_) => return Err(unknown("interaction_mode", request.interaction_mode)),
    };
    for (name, text) in
        [("role", &request.role), ("producer", &request.producer), ("surface_reason", &request.surface_reason)]
    {
        bounded(name, text)?;
    }
    for (index, blocked) in request.blocked.iter().enumerate() {
        bounded(&format!("blocked[{index}].message"), &blocked.message)?;
    }
    let model_capabilities: Option<JsonPayload> = object("model_capabilities", request.model_capabilities)?;
    if let Some(given) = &model_capabilities {
        wanted.model = given.parse::<ModelCapabilities>().map_err(|error| {
            ApiError::invalid_argument("model_capabilities", format!("cannot be understood: {error}"))
        })?;
    }
    wanted.role = RoleConstraints { role: request.role, interactive, ..RoleConstraints::default() };
    wanted.pinned = request.pinned;
    wanted.budget = request.budget.map_or(Ok(api.budget), budget)?;
    wanted.producer = request.producer;
    wanted.tool_refs = request.tool_refs;
    wanted.namespaces = none_empty("namespaces", request.namespaces)?;
    wanted.criteria = asked.criteria()?;
    wanted.load = request.load;
    let blocked = request.blocked.into_iter();
    wanted.blocked = blocked.map(|blocked| BlockedName { name: blocked.name, message: blocked.message }).collect();
    wanted.credentials = request.credential_refs.into_iter().collect();
    wanted.feature_gates = request.feature_gate_refs.into_iter().collect();
    wanted.capability_requirements = request.capability_requirements;
    wanted.selection_policy = object("selection_policy", request.selection_policy)?;
    wanted.default_tool_choice =
        field::optional("default_tool_choice", request.default_tool_choice).map_err(of_field)?;
    Choosing::read(wanted.default_tool_choice.as_ref(), wanted.selection_policy.as_ref())
        .map_err(|fault| ApiError::invalid_argument(fault.field, fault.rule))?;
    wanted.policy_refs = policy_refs(request.policy_refs)?;
    wanted.runtime_refs = request.runtime_refs;
    ScopeRules::read(wanted.scope, &wanted.runtime_refs, &wanted.role.role)
        .map_err(|fault| ApiError::invalid_argument(fault.field, fault.rule))?;
    wanted.surface_reason = request.surface_reason;
    Ok(Wanted { request: wanted, parent, model_capabilities, repeatable })
}

/// Names of policies as rules can write them.
fn policy_refs(refs: Vec<String>) -> Result<Vec<String>, ApiError> {
    if refs.len() > MAX_POLICIES {
        let rule = format!("has {} names; at most {MAX_POLICIES} are allowed", refs.len());
        return Err(ApiError::invalid_argument("policy_refs", rule));
    }
    let is_name = |name: &String| (1..=MAX_POLICY_BYTES).contains(&name.len()) && !name.chars().any(char::is_control);
    match refs.iter().position(|name| !is_name(name)) {
        Some(index) => {
            let rule = format!("must have 1 to {MAX_POLICY_BYTES} bytes without control characters");
            Err(ApiError::invalid_argument(format!("policy_refs[{index}]"), rule))
        }
        None => Ok(refs),
    }
}

/// The request's id, and a digest of everything else in it.
fn repeatable(request: &v1::CreateSurfaceRequest) -> Result<Option<(String, Digest)>, ApiError> {
    if request.request_id.is_empty() {
        return Ok(None);
    }
    let id =
        Uuid::parse_str(&request.request_id).map_err(|_| ApiError::invalid_argument("request_id", "must be a UUID"))?;
    let body = v1::CreateSurfaceRequest { request_id: String::new(), ..request.clone() };
    Ok(Some((id.to_string(), Digest::of(&body.encode_to_vec()))))
}

fn object(name: &str, value: Option<v1::JsonPayload>) -> Result<Option<JsonPayload>, ApiError> {
    let value: Option<JsonPayload> = field::optional(name, value).map_err(of_field)?;
    match &value {
        Some(given) if !given.text().trim_start().starts_with('{') => {
            Err(ApiError::invalid_argument(name, "must be a JSON object"))
        }
        _ => Ok(value),
    }
}

fn unknown(name: &str, number: i32) -> ApiError {
    ApiError::invalid_argument(name, format!("has the unknown value {number}"))
}

fn bounded(name: &str, text: &str) -> Result<(), ApiError> {
    match text.chars().count() {
        length if length > MAX_TEXT_CHARS => {
            let rule = format!("has {length} characters; at most {MAX_TEXT_CHARS} are allowed");
            Err(ApiError::invalid_argument(name, rule))
        }
        _ => Ok(()),
    }
}

pub(super) async fn get(
    api: &SurfaceApi,
    request: Request<v1::GetSurfaceRequest>,
) -> Result<v1::GetSurfaceResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let id = field::surface(&request.surface_id).map_err(of_field)?;
    let view = api.parts.surfaces.held(&tenant, &id).await?.view();
    let (message, record) = shown::alone(api, &tenant, view.indexed(), shown::ALONE_BYTES);
    let wants_json = request.view() == v1::RecordView::Json && message.next_tools_token.is_empty();
    Ok(v1::GetSurfaceResponse { json: wants_json.then(|| (&JsonPayload::of(&record)).into()), surface: Some(message) })
}

/// The words of a list, none of which may be empty: it would choose nothing.
fn none_empty(field: &str, words: Vec<String>) -> Result<Vec<String>, ApiError> {
    match words.iter().position(|word| word.trim().is_empty()) {
        Some(index) => Err(ApiError::invalid_argument(format!("{field}[{index}]"), "is empty")),
        None => Ok(words),
    }
}

pub(super) async fn extend(
    api: &SurfaceApi,
    request: Request<v1::ExtendSurfaceRequest>,
) -> Result<v1::ExtendSurfaceResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let asked = Asked::from(&request);
    let v1::ExtendSurfaceRequest { surface_id, tool_refs, namespaces, load, budget: given, .. } = request;
    let id = field::surface(&surface_id).map_err(of_field)?;
    let given = given.map(budget).transpose()?;
    if given.is_some_and(|given| given.is_none()) {
        return Err(ApiError::invalid_argument("budget", "has no bound: one of them must not be 0"));
    }
    let all = tool_refs.len() + load.len() + asked.len();
    if (all == 0 && given.is_none()) || all > MAX_ADDED {
        let rule = format!("and what else is to be added are {all} names and words; 1 to {MAX_ADDED} are allowed");
        return Err(ApiError::invalid_argument("tool_refs", rule));
    }
    let namespaces = none_empty("namespaces", namespaces)?;
    let by = Extension { tool_refs, namespaces, criteria: asked.criteria()?, load, budget: given };
    let (selection, tool_refs) = (by.selection(), by.tool_refs.clone());
    let (held, loaded) = api.parts.edits.extend(tenant.clone(), id, by).await?;
    let view = held.view();
    let (surface, _) = shown::alone(api, &tenant, view.indexed(), shown::MADE_BYTES);
    let mut warnings = asked.warnings(api, &tenant, view.indexed(), &selection);
    // Of those to load it is said why they are not loaded.
    warnings.extend(selection::names_not_shown(api, &tenant, view.indexed(), &[("tool_refs", &tool_refs)]));
    let not_loaded = loaded.meanings.into_iter().filter_map(|(name, meaning)| match meaning {
        Meaning::Callable(..) => None,
        Meaning::Refused(why) => {
            Some(v1::LoadOutcome { name, outcome: Some(Outcome::Failure(encode::not_callable(why))) })
        }
    });
    Ok(v1::ExtendSurfaceResponse {
        surface: Some(surface),
        warnings,
        not_loaded: not_loaded.collect(),
        unloaded: loaded.unloaded.into_iter().map(encode::unloaded).collect(),
    })
}

pub(super) async fn delete(
    api: &SurfaceApi,
    request: Request<v1::DeleteSurfaceRequest>,
) -> Result<v1::DeleteSurfaceResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let id = field::surface(&request.into_inner().surface_id).map_err(of_field)?;
    Ok(v1::DeleteSurfaceResponse { revision: api.parts.surfaces.delete(tenant, id).await? })
}

pub(super) async fn list(
    api: &SurfaceApi,
    request: Request<v1::ListSurfacesRequest>,
) -> Result<v1::ListSurfacesResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let size = page::size(request.page_size)?;
    let filter = word::optional_open("scope", &request.scope, request.scope_code).map_err(of_field)?;
    let scope = ("ListSurfaces", &tenant, filter);
    let after = page::position(&scope, &request.page_token)?.map(|place| read_place(&place)).transpose()?;
    let most = shown::LISTED_BYTES.min(api.max_message_bytes / 4);
    let mut surfaces = Vec::new();
    let tell = |surface: IndexedSurface| {
        let message = shown::listed(api, &tenant, &surface, most);
        let bytes = message.encoded_len();
        surfaces.push(message);
        bytes
    };
    let listed = api.parts.surfaces.list(&tenant, filter, after, size, tell).await?;
    Ok(v1::ListSurfacesResponse {
        surfaces,
        damaged_ids: listed.damaged,
        next_page_token: listed
            .next
            .map(|place| page::token(&scope, &format!("{} {}", place.created_at, place.surface_id)))
            .unwrap_or_default(),
    })
}

fn read_place(text: &str) -> Result<Place, ApiError> {
    let place = text.split_once(' ').and_then(|(created_at, surface_id)| {
        Some(Place { created_at: created_at.parse().ok()?, surface_id: surface_id.to_owned() })
    });
    place
        .ok_or_else(|| ApiError::invalid_argument("page_token", "is not a token of this list; start again without one"))
}
