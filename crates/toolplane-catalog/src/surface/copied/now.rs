//! A surface as it is now: what the catalog says today of the tools it was made with.

use toolplane_records::surface::{LoadedTool, ToolSurface};

use super::CopiedSurface;
use crate::catalog::Catalog;
use crate::surface::record::deferred_ref;
use crate::surface::resolve::Availability;
use crate::surface::visibility::Hiding;

impl CopiedSurface {
    /// The surface with every tool where it belongs now: one that was retired, disabled or lost its setup since is
    /// hidden with its reason, deferred ones are described as they are declared, and a loaded one says what of its
    /// schema changed since.
    pub(in crate::surface) fn now(&self, catalog: &Catalog) -> ToolSurface {
        let stored = self.surface();
        let (loaded, deferred) = (stored.loaded_tools.len(), stored.deferred_tools.len());
        let mut now = ToolSurface {
            loaded_tools: Vec::with_capacity(loaded),
            deferred_tools: Vec::with_capacity(deferred),
            ..stored.clone()
        };
        for tool in &stored.loaded_tools {
            let Some(entry) = catalog.get(&tool.tool_id) else {
                now.loaded_tools.push(tool.clone());
                continue;
            };
            match self.standing(entry) {
                Availability::Stale(drift) => {
                    let name = entry.tool.full_name().to_owned();
                    now.loaded_tools.push(LoadedTool { name, changed: drift.words(), ..tool.clone() });
                }
                Availability::Hidden(hiding, tool) => hide(&mut now, hiding, tool),
                Availability::Loaded | Availability::Deferred(_) => {
                    now.loaded_tools.push(LoadedTool { name: entry.tool.full_name().to_owned(), ..tool.clone() });
                }
            }
        }
        for tool in &stored.deferred_tools {
            match catalog.get(&tool.tool_id).map(|entry| (entry, self.standing(entry))) {
                Some((_, Availability::Hidden(hiding, tool))) => hide(&mut now, hiding, tool),
                Some((entry, Availability::Deferred(why))) => {
                    now.deferred_tools.push(deferred_ref(entry, why));
                }
                // In two lists, it counts as in the other one.
                Some((_, Availability::Loaded | Availability::Stale(_))) => {}
                None => now.deferred_tools.push(tool.clone()),
            }
        }
        now
    }
}

fn hide(surface: &mut ToolSurface, hiding: Hiding, tool: toolplane_records::surface::HiddenTool) {
    match hiding {
        Hiding::Blocked => surface.blocked_tools.push(tool),
        Hiding::Excluded => surface.excluded_tools.push(tool),
    }
}
