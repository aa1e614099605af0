//! What a search or a load belongs to, held to the scope of its surface.

use toolplane_catalog::{OutOfScope, ScopeFacts, broken_ref, said_above};
use toolplane_records::codes;
use toolplane_records::ids::SurfaceId;
use toolplane_runtime::caller::Role;
use toolplane_runtime::{ApiError, Caller};

use super::api::SurfaceApi;

/// Most refs of one request.
const MAX_REFS: usize = 32;

/// Refuses what `caller` asks of a surface that is for something else than `refs` name; `what` is asked, e.g. `search`.
pub(super) async fn within(
    api: &SurfaceApi,
    caller: &Caller,
    id: &SurfaceId,
    refs: &[String],
    what: &str,
) -> Result<(), ApiError> {
    if refs.len() > MAX_REFS {
        let rule = format!("has {} refs; at most {MAX_REFS} are allowed", refs.len());
        return Err(ApiError::invalid_argument("runtime_refs", rule));
    }
    if let Some((index, rule)) = refs.iter().enumerate().find_map(|(index, text)| Some((index, broken_ref(text)?))) {
        return Err(ApiError::invalid_argument(format!("runtime_refs[{index}]"), rule));
    }
    let view = api.parts.surfaces.held(&caller.tenant, id).await?.view();
    let mut rules = view.indexed().lineage().map(|surface| (surface.id(), surface.scope_rules()));
    if view.indexed().lineage().all(|surface| surface.scope_rules().is_silent()) {
        return Ok(());
    }
    let facts = ScopeFacts {
        session: None,
        agent: caller.actor.as_deref().filter(|_| caller.authenticated),
        is_proven: caller.authenticated,
        refs: refs.iter().map(String::as_str).collect(),
        roles: Role::ALL.map(|role| (role.as_str(), caller.is(role))).to_vec(),
    };
    match rules.find_map(|(of, rules)| Some((of, rules.refuses(&facts)?))) {
        Some((of, outside)) => Err(refusal(&outside, what, Some(of).filter(|of| *of != id))),
        None => Ok(()),
    }
}

/// `above` is the surface that the one asked for is within, where that refuses it.
fn refusal(outside: &OutOfScope, what: &str, above: Option<&SurfaceId>) -> ApiError {
    let message = outside.message(what);
    let message = above.map_or_else(|| message.clone(), |above| said_above(&message, above));
    let message = format!("{message} ({})", outside.said_in_request());
    ApiError::PermissionDenied { reason: codes::SURFACE_SCOPE, message }
}
