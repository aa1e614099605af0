//! What search asks a surface: which tools it shows, and as what.

use toolplane_records::ids::ToolId;
use toolplane_records::surface::{DeferredToolRef, HiddenTool};
use toolplane_records::vocabulary::{LoadingState, SchemaVisibility};

use crate::catalog::{Catalog, CatalogEntry};
use crate::surface::{Availability, Deferral, IndexedSurface, Shut, deferred_ref, hidden_now, hidden_tool};

/// Most tools of a surface that are looked for themselves, instead of asking the surface about all that fit.
const FEW: usize = 256;

/// Who decides which tools an answer may have.
pub trait Shown {
    /// Whether the tool is shown now.
    fn shows(&self, entry: &CatalogEntry) -> bool;

    /// The tool as it is shown now.
    ///
    /// # Errors
    ///
    /// Why it is hidden.
    fn reference(&self, entry: &CatalogEntry) -> Result<DeferredToolRef, HiddenTool>;

    /// All tools that may be shown, where they are few.
    fn few(&self) -> Option<&[ToolId]> {
        None
    }

    /// How many tools are deferred.
    fn deferred(&self) -> u64;

    /// Providers that are waited for, each once, in order.
    fn pending_providers(&self) -> &[String];
}

/// Every tool that can be used at all, as it is declared: what a catalogue shows without a surface.
#[derive(Clone, Debug, Default)]
pub struct Everything {
    /// Providers that are waited for.
    pub pending_providers: Vec<String>,
}

impl Shown for Everything {
    fn shows(&self, entry: &CatalogEntry) -> bool {
        hidden_now(&entry.traits).is_none()
    }

    fn reference(&self, entry: &CatalogEntry) -> Result<DeferredToolRef, HiddenTool> {
        match hidden_now(&entry.traits) {
            Some((_, reason, message)) => Err(hidden_tool(&entry.tool, reason, message)),
            None => Ok(deferred_ref(entry, Deferral::Discover)),
        }
    }

    fn deferred(&self) -> u64 {
        0
    }

    fn pending_providers(&self) -> &[String] {
        &self.pending_providers
    }
}

/// A surface at one moment. It is made while the catalog is held; the search goes on without it.
#[derive(Debug)]
pub struct Seen<'s> {
    surface: &'s IndexedSurface,
    /// Tools that are not to be used.
    shut: Shut<'s>,
    few: Option<Vec<ToolId>>,
    deferred: usize,
    pending_providers: Vec<String>,
}

impl<'s> Seen<'s> {
    /// The surface as the catalog makes it now, without the tools that are not to be used.
    pub fn of(surface: &'s IndexedSurface, catalog: &Catalog, shut: Shut<'s>) -> Self {
        let counts = surface.counts(catalog, shut);
        let shown = counts.loaded + counts.deferred;
        let few = (shown <= FEW).then(|| {
            let tools = surface.tools(catalog, shut, None).take(shown);
            tools.map(|tool| tool.tool_id().clone()).collect()
        });
        Self { surface, shut, few, deferred: counts.deferred, pending_providers: surface.pending_providers(catalog) }
    }
}

impl Shown for Seen<'_> {
    fn shows(&self, entry: &CatalogEntry) -> bool {
        self.surface.shows(entry) && hidden_now(&entry.traits).is_none() && !self.shut.is_shut(entry)
    }

    fn reference(&self, entry: &CatalogEntry) -> Result<DeferredToolRef, HiddenTool> {
        let standing = self.surface.standing(entry);
        if let (Some((reason, why)), false) = (self.shut.why(entry), matches!(standing, Availability::Hidden(..))) {
            return Err(hidden_tool(&entry.tool, reason, why));
        }
        Ok(match standing {
            Availability::Hidden(_, tool) => return Err(tool),
            Availability::Deferred(why) => deferred_ref(entry, why),
            Availability::Stale(drift) => {
                let changed = drift.words().unwrap_or_default();
                let reason = format!("its schema changed since it was loaded: {changed}");
                DeferredToolRef { reason, ..deferred_ref(entry, Deferral::Discover) }
            }
            Availability::Loaded => DeferredToolRef {
                schema_visibility: Some(SchemaVisibility::Loaded),
                loading_state: LoadingState::Loaded,
                reason: String::new(),
                ..deferred_ref(entry, Deferral::Discover)
            },
        })
    }

    fn few(&self) -> Option<&[ToolId]> {
        self.few.as_deref()
    }

    fn deferred(&self) -> u64 {
        self.deferred as u64
    }

    fn pending_providers(&self) -> &[String] {
        &self.pending_providers
    }
}
