//! What of a surface an answer holds. A surface may have any number of tools, an answer has a bound: beyond it the first
//! tools are told, how many there are, and where to go on.

use prost::Message as _;
use tonic::Request;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::surface_tool::Tool;
use toolplane_records::alias;
use toolplane_records::surface::ToolSurface;
use toolplane_runtime::{ApiError, Caller, page};

use super::api::SurfaceApi;
use crate::error::of_field;

/// Most bytes of a surface that is told by itself.
const ALONE_BYTES: usize = 512 * 1024;
/// Most bytes of a surface in a list.
pub(super) const LISTED_BYTES: usize = 32 * 1024;

/// A surface that is told by itself, where messages may have `max_message_bytes`.
pub(super) fn alone(surface: &ToolSurface, max_message_bytes: usize) -> v1::ToolSurface {
    within(surface, ALONE_BYTES.min(max_message_bytes / 4))
}

/// The surface with as many of its tools as fit into about `most` bytes.
pub(super) fn within(surface: &ToolSurface, most: usize) -> v1::ToolSurface {
    let mut message = v1::ToolSurface::from(surface);
    if message.encoded_len() <= most {
        return message;
    }
    for list in [&mut message.blocked_tools, &mut message.excluded_tools] {
        list.clear();
    }
    message.loaded_tools.clear();
    message.deferred_tools.clear();
    message.tool_refs.clear();
    let (mut bytes, mut told) = (message.encoded_len(), 0);
    for tool in tools(surface) {
        // Its id is in the list of all, too.
        bytes += tool.encoded_len() + id_of(&tool).len() + 4;
        if bytes > most {
            break;
        }
        told += 1;
        message.tool_refs.push(id_of(&tool).to_owned());
        match tool.tool {
            Some(Tool::Loaded(tool)) => message.loaded_tools.push(tool),
            Some(Tool::Deferred(tool)) => message.deferred_tools.push(tool),
            Some(Tool::Blocked(tool)) => message.blocked_tools.push(tool),
            Some(Tool::Excluded(tool)) => message.excluded_tools.push(tool),
            None => {}
        }
    }
    message.next_tools_token = token(surface, told);
    message
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
    let surface = api.registry.surface_now(&tenant, &id).await?;
    let place = page::position(&scope(&surface), &request.page_token)?;
    let first: usize = place.and_then(|place| place.parse().ok()).unwrap_or(0);
    let shown = page::fill(tools(&surface).skip(first), size, v1::SurfaceTool::encoded_len);
    let next = first.saturating_add(shown.len());
    let next_page_token = if next < count(&surface) { token(&surface, next) } else { String::new() };
    Ok(v1::ListSurfaceToolsResponse { tools: shown, next_page_token, revision: surface.revision })
}

/// All tools in the order in which they are told.
fn tools(surface: &ToolSurface) -> impl Iterator<Item = v1::SurfaceTool> + '_ {
    let loaded = surface.loaded_tools.iter().map(|tool| Tool::Loaded(tool.into()));
    let deferred = surface.deferred_tools.iter().map(|tool| Tool::Deferred(tool.into()));
    let blocked = surface.blocked_tools.iter().map(|tool| Tool::Blocked(tool.into()));
    let excluded = surface.excluded_tools.iter().map(|tool| Tool::Excluded(tool.into()));
    loaded.chain(deferred).chain(blocked).chain(excluded).map(|tool| {
        let (name, tool_id) = match &tool {
            Tool::Loaded(tool) => (&tool.name, &tool.tool_id),
            Tool::Deferred(tool) => (&tool.name, &tool.tool_id),
            Tool::Blocked(tool) | Tool::Excluded(tool) => (&tool.name, &tool.tool_id),
        };
        v1::SurfaceTool { alias: alias::of(name, tool_id), tool: Some(tool) }
    })
}

fn count(surface: &ToolSurface) -> usize {
    let hidden = surface.blocked_tools.len() + surface.excluded_tools.len();
    surface.loaded_tools.len() + surface.deferred_tools.len() + hidden
}

fn id_of(tool: &v1::SurfaceTool) -> &str {
    match &tool.tool {
        Some(Tool::Loaded(tool)) => &tool.tool_id,
        Some(Tool::Deferred(tool)) => &tool.tool_id,
        Some(Tool::Blocked(tool) | Tool::Excluded(tool)) => &tool.tool_id,
        None => "",
    }
}

// A loaded tool moves to another list, so a place is good for one revision.
fn scope(surface: &ToolSurface) -> (&'static str, &str, &str, u64) {
    ("ListSurfaceTools", surface.tenant.as_str(), surface.surface_id.as_str(), surface.revision)
}

fn token(surface: &ToolSurface, next: usize) -> String {
    page::token(&scope(surface), &next.to_string())
}
