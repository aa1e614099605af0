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
    /// What hides it, in words, where something does.
    pub(crate) message: String,
}

/// Where a tool is in a surface.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place<'s> {
    Loaded,
    Changed,
    Deferred,
    /// For this reason.
    Hidden(&'s str),
}

/// A tool that is wanted.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    name: String,
    /// None where the name leads to no tool.
    tool_id: Option<ToolId>,
    /// What the surface says of one that is in none of its lists.
    message: String,
}

impl Wanted {
    fn tool(name: &str, tool_id: &ToolId) -> Self {
        Self { name: name.to_owned(), tool_id: Some(tool_id.clone()), message: String::new() }
    }

    /// What a name means.
    fn named(name: &str, resolution: Resolution<'_>) -> Self {
        let (tool_id, message) = match resolution {
            Resolution::Callable(entry) | Resolution::Changed(entry, _) => (Some(entry.tool_id().clone()), None),
            Resolution::NotLoaded(tool) => (Some(tool.tool_id), None),
            Resolution::Blocked(tool) | Resolution::Excluded(tool) => (Some(tool.tool_id), Some(tool.message)),
            Resolution::Unknown => (None, None),
        };
        Self { name: name.to_owned(), tool_id, message: message.unwrap_or_default() }
    }
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
        let mut places: HashMap<&ToolId, Place<'_>> = HashMap::new();
        let hidden = surface.blocked_tools.iter().chain(&surface.excluded_tools);
        places.extend(hidden.map(|tool| (&tool.tool_id, Place::Hidden(&tool.message))));
        places.extend(surface.deferred_tools.iter().map(|tool| (&tool.tool_id, Place::Deferred)));
        places.extend(surface.loaded_tools.iter().map(|tool| match tool.changed {
            None => (&tool.tool_id, Place::Loaded),
            Some(_) => (&tool.tool_id, Place::Changed),
        }));
        let owner = self.registry.tenant(tenant);
        let catalog = owner.catalog.read();
        let named = |name: &String| Wanted::named(name, resolve(view.indexed(), &catalog, name, None));
        let mut wanted: Vec<Wanted> = names.iter().map(named).collect();
        if names.is_empty() {
            wanted.extend(surface.loaded_tools.iter().map(|tool| Wanted::tool(&tool.name, &tool.tool_id)));
            wanted.extend(surface.deferred_tools.iter().map(|tool| Wanted::tool(&tool.name, &tool.tool_id)));
            wanted.sort();
        }
        let mut seen = BTreeSet::new();
        let mut offered = Offered { tools: Vec::new(), left_out: Vec::new(), revision: surface.revision };
        for Wanted { name, tool_id, message } in wanted {
            let found =
                tool_id.as_ref().and_then(|id| catalog.get(id)).map(|entry| (entry, places.get(entry.tool_id())));
            let (why, message) = match found {
                Some((entry, _)) if !seen.insert(entry.tool_id().clone()) => continue,
                Some((entry, Some(place @ (Place::Loaded | Place::Deferred))))
                    if with_deferred || *place == Place::Loaded =>
                {
                    offered.tools.push(OfferedTool { entry: entry.clone(), deferred: *place == Place::Deferred });
                    continue;
                }
                Some((_, Some(Place::Deferred))) => ("deferred", String::new()),
                Some((_, Some(Place::Changed))) => ("changed", String::new()),
                Some((_, Some(Place::Hidden(why)))) => ("hidden", (*why).to_owned()),
                Some(_) => ("hidden", message),
                None => ("unknown", String::new()),
            };
            let name = found.map_or(name, |(entry, _)| entry.tool.full_name().to_owned());
            offered.left_out.push(LeftOut { tool_id, name, why, message });
        }
        Ok(offered)
    }
}
