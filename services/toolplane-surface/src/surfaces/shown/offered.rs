//! The tools of a surface as they are offered to models.

use std::collections::{BTreeSet, HashMap};

use toolplane_catalog::catalog::CatalogEntry;
use toolplane_catalog::{Resolution, resolve};
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_runtime::ApiError;

use super::Showing;

/// Tools to be offered.
#[derive(Debug)]
pub(crate) struct Offered {
    pub(crate) tools: Vec<OfferedTool>,
    pub(crate) left_out: Vec<LeftOut>,
    /// Of the surface.
    pub(crate) revision: u64,
}

/// A tool to be offered.
#[derive(Debug)]
pub(crate) struct OfferedTool {
    pub(crate) entry: CatalogEntry,
    /// It has to be loaded before it can be called.
    pub(crate) deferred: bool,
}

/// A tool that is not offered.
#[derive(Debug)]
pub(crate) struct LeftOut {
    /// None where the name leads to no tool.
    pub(crate) tool_id: Option<ToolId>,
    pub(crate) name: String,
    pub(crate) why: &'static str,
}

/// Where a tool is in a surface.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Loaded,
    Changed,
    Deferred,
    Hidden,
}

impl Showing {
    /// The tools of a surface that have `names`, in that order, or all by their full names; deferred ones only where they are wanted.
    pub(crate) async fn offered(
        &self,
        tenant: &TenantId,
        id: &SurfaceId,
        names: &[String],
        with_deferred: bool,
    ) -> Result<Offered, ApiError> {
        let view = self.surfaces.held(tenant, id).await?.view();
        let surface = self.surface_now(tenant, id).await?;
        let mut places: HashMap<&ToolId, Place> = HashMap::new();
        let hidden = surface.blocked_tools.iter().chain(&surface.excluded_tools);
        places.extend(hidden.map(|tool| (&tool.tool_id, Place::Hidden)));
        places.extend(surface.deferred_tools.iter().map(|tool| (&tool.tool_id, Place::Deferred)));
        places.extend(surface.loaded_tools.iter().map(|tool| match tool.changed {
            None => (&tool.tool_id, Place::Loaded),
            Some(_) => (&tool.tool_id, Place::Changed),
        }));
        let owner = self.registry.tenant(tenant);
        let catalog = owner.catalog.read();
        let mut wanted: Vec<(String, Option<ToolId>)> = match names {
            [] => surface.loaded_tools.iter().map(|tool| (tool.name.clone(), Some(tool.tool_id.clone()))).collect(),
            names => {
                let named = |name: &String| match resolve(view.indexed(), &catalog, name, None) {
                    Resolution::Callable(entry) | Resolution::Changed(entry, _) => Some(entry.tool_id().clone()),
                    Resolution::NotLoaded(tool) => Some(tool.tool_id),
                    Resolution::Blocked(tool) | Resolution::Excluded(tool) => Some(tool.tool_id),
                    Resolution::Unknown => None,
                };
                names.iter().map(|name| (name.clone(), named(name))).collect()
            }
        };
        if names.is_empty() {
            wanted.extend(surface.deferred_tools.iter().map(|tool| (tool.name.clone(), Some(tool.tool_id.clone()))));
            wanted.sort();
        }
        let mut seen = BTreeSet::new();
        let mut offered = Offered { tools: Vec::new(), left_out: Vec::new(), revision: surface.revision };
        for (name, tool_id) in wanted {
            let found =
                tool_id.as_ref().and_then(|id| catalog.get(id)).map(|entry| (entry, places.get(entry.tool_id())));
            let why = match found {
                Some((entry, _)) if !seen.insert(entry.tool_id().clone()) => continue,
                Some((entry, Some(place @ (Place::Loaded | Place::Deferred))))
                    if with_deferred || *place == Place::Loaded =>
                {
                    offered.tools.push(OfferedTool { entry: entry.clone(), deferred: *place == Place::Deferred });
                    continue;
                }
                Some((_, Some(Place::Deferred))) => "deferred",
                Some((_, Some(Place::Changed))) => "changed",
                Some(_) => "hidden",
                None => "unknown",
            };
            let name = found.map_or(name, |(entry, _)| entry.tool.full_name().to_owned());
            offered.left_out.push(LeftOut { tool_id, name, why });
        }
        Ok(offered)
    }
}
