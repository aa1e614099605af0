//! Loading tools, and telling schedulers what a name means.

use tonic::Request;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_proto::v1::resolve_tool_response::Resolution;
use toolplane_proto::v1::unload_outcome;
use toolplane_records::ids::TenantId;
use toolplane_runtime::ApiError;

use super::api::SurfaceApi;
use super::encode;
use super::scope;
use super::watch::moment;
use crate::declarations;
use crate::error::{is_parent_gone, of_field};
use crate::providers::HIDDEN_SURFACE;
use crate::surfaces::{Known, Meaning, RefusalKind, Resolved};
use toolplane_runtime::Caller;
use toolplane_runtime::caller::Role;

const MAX_NAMES: usize = 100;

pub(super) async fn load(
    api: &SurfaceApi,
    request: Request<v1::LoadToolsRequest>,
) -> Result<v1::LoadToolsResponse, ApiError> {
    let caller = Caller::of(&request);
    let tenant = caller.tenant.clone();
    let request = request.into_inner();
    let id = field::surface(&request.surface_id).map_err(of_field)?;
    some_names(&request.names)?;
    scope::within(api, &caller, &id, &request.runtime_refs, "load").await?;
    fits_an_answer(api, &tenant, &request.names)?;
    let loaded = api.parts.edits.load(tenant, id.clone(), request.names).await?;
    let used = loaded.meanings.iter().filter_map(|(_, meaning)| match meaning {
        Meaning::Callable(entry, _) => Some(entry.tool_id().clone()),
        Meaning::Refused(_) => None,
    });
    api.parts.learning.loaded(&caller, &id, &used.collect::<Vec<_>>());
    let outcomes = loaded.meanings.into_iter().map(|(name, meaning)| v1::LoadOutcome {
        name,
        outcome: Some(match meaning {
            Meaning::Callable(entry, tool) => Outcome::Loaded(encode::loaded(&entry, &tool)),
            Meaning::Refused(refusal) => Outcome::Failure(encode::not_callable(refusal)),
        }),
    });
    Ok(v1::LoadToolsResponse {
        outcomes: outcomes.collect(),
        surface_revision: loaded.revision,
        moment: loaded.moment.to_string(),
        unloaded: loaded.unloaded.into_iter().map(encode::unloaded).collect(),
    })
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
    let caller = Caller::of(&request);
    let tenant = caller.tenant.clone();
    let request = request.into_inner();
    let id = field::surface(&request.surface_id).map_err(of_field)?;
    some_names(&request.names)?;
    scope::within(api, &caller, &id, &request.runtime_refs, "unload").await?;
    let unloaded = api.parts.edits.unload(tenant, id, request.names).await?;
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
        let entry = api.parts.registry.tool_named(tenant, name).ok()?;
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
        api.parts.registry.current_at(request.known_revision).await?;
        return Ok(hidden(api, &tenant, &request.name));
    }
    if request.name.is_empty() {
        return Err(ApiError::invalid_argument("name", "is required"));
    }
    let known = Known {
        digest: field::optional_id("known_digest", &request.known_digest).map_err(of_field)?,
        moment: (!request.surface_moment.is_empty())
            .then(|| moment("surface_moment", &request.surface_moment))
            .transpose()?,
    };
    api.parts.registry.current_at(request.known_revision).await?;
    let resolved = match api.parts.names.resolve(&tenant, &id, &request.name, known).await {
        Err(gone) if is_parent_gone(&gone) => return Ok(orphaned(&gone)),
        resolved => resolved?,
    };
    let Resolved { meaning, once, one_at_a_time, policy_refs, scope, above, surface_revision, catalog_revision } =
        resolved;
    if let Meaning::Callable(entry, _) = &meaning {
        api.parts.learning.called(&tenant, &id, entry.tool_id());
    }
    let resolution = match meaning {
        Meaning::Callable(entry, _) => Resolution::Resolved(v1::ResolvedTool {
            registration: Some(declarations::message(entry.tool.registration())),
            digest: entry.tool.digest().to_string(),
            revision: entry.revision,
            once,
            one_at_a_time,
            policy_refs,
            scope_refs: scope.refs().to_vec(),
            scope_role: scope.role().to_owned(),
            above: above.into_iter().map(encode::above).collect(),
        }),
        Meaning::Refused(refusal) => Resolution::NotCallable(encode::not_callable(refusal)),
    };
    Ok(v1::ResolveToolResponse { resolution: Some(resolution), surface_revision, catalog_revision })
}

/// What any name means in a surface that is within one that is not there any more.
fn orphaned(gone: &ApiError) -> v1::ResolveToolResponse {
    let not_callable = v1::NotCallable {
        kind: v1::NotCallableKind::ParentGone.into(),
        message: gone.to_string(),
        ..Default::default()
    };
    let resolution = Some(Resolution::NotCallable(not_callable));
    v1::ResolveToolResponse { resolution, surface_revision: 0, catalog_revision: 0 }
}

/// The tool by which the platform asks a provider what it has. Told to processes of the cluster alone, each time anew.
fn hidden(api: &SurfaceApi, tenant: &TenantId, name: &str) -> v1::ResolveToolResponse {
    let resolution = match api.parts.hidden.tool(tenant, name) {
        Some((registration, revision)) => Resolution::Resolved(v1::ResolvedTool {
            registration: Some(declarations::message(&registration)),
            digest: registration.digest().to_string(),
            revision,
            once: true,
            ..Default::default()
        }),
        None => Resolution::NotCallable(v1::NotCallable {
            kind: v1::NotCallableKind::Unknown.into(),
            message: "no such provider can be asked by a worker".to_owned(),
            ..Default::default()
        }),
    };
    v1::ResolveToolResponse { resolution: Some(resolution), surface_revision: 0, catalog_revision: 0 }
}
