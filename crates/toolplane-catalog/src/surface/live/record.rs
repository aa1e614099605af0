//! A live surface as the standard's record.

use toolplane_records::ids::SurfaceId;
use toolplane_records::surface::ToolSurface;
use toolplane_records::time::Timestamp;

use super::LiveSurface;
use crate::catalog::Catalog;
use crate::surface::indexed::IndexedSurface;
use crate::surface::misnamed::Misnamed;
use crate::surface::record::head;
use crate::surface::request::SurfaceRequest;
use crate::surface::shut::Shut;

impl LiveSurface {
    /// The surface without its tools.
    pub fn head(&self, catalog: &Catalog) -> ToolSurface {
        let made = &*self.made;
        let head = head(&made.request, &self.added, made.surface_id.clone(), made.created_at);
        ToolSurface {
            model_capabilities: made.model_capabilities.clone(),
            revision: self.revision(catalog),
            parent_surface_id: made.parent.as_ref().map(|parent| parent.surface_id.clone()),
            ..head
        }
    }
}

/// The surface `request` asks for as a record of every tool, its lists in order of tool ids.
///
/// # Errors
///
/// Everything [`LiveSurface::make`] fails with.
pub fn select(
    catalog: &Catalog,
    request: &SurfaceRequest,
    surface_id: SurfaceId,
    now: Timestamp,
) -> Result<ToolSurface, Misnamed> {
    let surface = IndexedSurface::from(LiveSurface::make(catalog, request, surface_id, now)?);
    Ok(surface.record(catalog, Shut::NOTHING))
}
