//! What of a surface an answer holds. A surface may have any number of tools, an answer has a bound: beyond it the first
//! tools are told, how many there are, and where to go on.

use prost::Message as _;
use tonic::Request;
use toolplane_catalog::{IndexedSurface, Position, SurfaceTool};
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::surface_tool::Tool;
use toolplane_records::alias;
use toolplane_records::ids::TenantId;
use toolplane_records::surface::ToolSurface;
use toolplane_runtime::{ApiError, Caller, page};

use super::api::SurfaceApi;
use crate::error::of_field;
use crate::surfaces::Told;

/// Most bytes of a surface that is told by itself.
pub(super) const ALONE_BYTES: usize = 512 * 1024;
/// Most bytes of a surface that was just made: who makes one of very many tools goes on to search in it, and shall not wait for them.
pub(super) const MADE_BYTES: usize = 64 * 1024;
/// Most bytes of a surface in a list.
pub(super) const LISTED_BYTES: usize = 32 * 1024;

/// A surface that is told by itself in about `most` bytes, as a message and as what of its record is in that.
pub(super) fn alone(
    api: &SurfaceApi,
    tenant: &TenantId,
    surface: &IndexedSurface,
    most: usize,
) -> (v1::ToolSurface, ToolSurface) {
    let most = most.min(api.max_message_bytes / 4);
    let mut told = api.parts.shown.told(tenant, surface, None, fits(most));
    told.head.outdated = api.parts.shown.outdated(tenant, surface);
    told.head.budget = api.parts.shown.budget(tenant, surface);
    within(tenant, surface, told)
}

/// A surface as one of many, in about `most` bytes.
pub(super) fn listed(api: &SurfaceApi, tenant: &TenantId, surface: &IndexedSurface, most: usize) -> v1::ToolSurface {
    let told = api.parts.shown.told(tenant, surface, None, fits(most));
    within(tenant, surface, told).0
}

/// Whether a further tool fits into about `most` bytes.
fn fits(most: usize) -> impl FnMut(&SurfaceTool) -> bool {
    let mut bytes = 0;
    move |tool| {
        // In a surface it has no alias, and its id is in the list of all, too.
        let told = v1::SurfaceTool { alias: String::new(), ..message(tool) };
        bytes += told.encoded_len() + tool.tool_id().as_str().len() + 4;
        bytes <= most
    }
}

fn within(tenant: &TenantId, surface: &IndexedSurface, told: Told) -> (v1::ToolSurface, ToolSurface) {
    let Told { head, counts, tools, next } = told;
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let record = toolplane_catalog::filled(head, tools);
    let message = v1::ToolSurface {
        counts: Some(v1::SurfaceCounts {
            loaded: number(counts.loaded),
            deferred: number(counts.deferred),
            blocked: number(counts.blocked),
            excluded: number(counts.excluded),
        }),
        next_tools_token: next.map(|next| token(tenant, surface, &next)).unwrap_or_default(),
        ..v1::ToolSurface::from(&record)
    };
    (message, record)
}

/// Answers with a page of a surface's tools.
pub(super) async fn list(
    api: &SurfaceApi,
    request: Request<v1::ListSurfaceToolsRequest>,
) -> Result<v1::ListSurfaceToolsResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let id = field::surface(&request.surface_id).map_err(of_field)?;
    let size = page::size(request.page_size)?;
    let view = api.parts.surfaces.held(&tenant, &id).await?.view();
    let surface = view.indexed();
    let after = page::position(&scope(&tenant, surface), &request.page_token)?;
    let after: Option<Position> = after.map(|after| after.parse().map_err(|_| elsewhere())).transpose()?;
    let mut left = size;
    let fits = |_: &SurfaceTool| {
        let fits = left > 0;
        left = left.saturating_sub(1);
        fits
    };
    let told = api.parts.shown.told(&tenant, surface, after.as_ref(), fits);
    let shown = page::fill(told.tools.iter().map(message), size, v1::SurfaceTool::encoded_len);
    let next = match told.tools.get(shown.len()) {
        Some(_) => shown.len().checked_sub(1).and_then(|last| told.tools.get(last)).map(SurfaceTool::position),
        None => told.next,
    };
    let next_page_token = next.map(|next| token(&tenant, surface, &next)).unwrap_or_default();
    let (revision, moment) = (told.head.revision, told.head.moment);
    Ok(v1::ListSurfaceToolsResponse { tools: shown, next_page_token, revision, moment })
}

fn message(tool: &SurfaceTool) -> v1::SurfaceTool {
    let (name, tool_id) = (tool.name(), tool.tool_id());
    let tool = match tool {
        SurfaceTool::Loaded(tool) => Tool::Loaded(tool.into()),
        SurfaceTool::Deferred(tool) => Tool::Deferred(tool.into()),
        SurfaceTool::Blocked(tool) => Tool::Blocked(tool.into()),
        SurfaceTool::Excluded(tool) => Tool::Excluded(tool.into()),
    };
    v1::SurfaceTool { alias: alias::of(name, tool_id.as_str()), tool: Some(tool) }
}

fn elsewhere() -> ApiError {
    ApiError::invalid_argument("page_token", "is not a token of this list; start again without one")
}

// A tool that is loaded moves to another list, so a place is good until the surface itself is changed. What the catalog
// changes meanwhile is told at its place, if that is still to come.
fn scope<'s>(tenant: &'s TenantId, surface: &'s IndexedSurface) -> (&'static str, &'s str, &'s str, u64) {
    ("ListSurfaceTools", tenant.as_str(), surface.id().as_str(), surface.changes())
}

fn token(tenant: &TenantId, surface: &IndexedSurface, after: &Position) -> String {
    page::token(&scope(tenant, surface), &after.to_string())
}
