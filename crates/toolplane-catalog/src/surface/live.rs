//! A surface as a selection: what was asked for, the revision of the catalog at that moment, and what was loaded since.
//!
//! It holds no list of tools. Which tools it shows, and how, is judged from the catalog when somebody asks: by groups of
//! tools with the same traits, and one by one for the few that the surface itself names.

mod judge;
mod lists;
mod record;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolplane_records::ids::{SurfaceId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::surface::LoadedTool;
use toolplane_records::time::Timestamp;

pub(super) use self::judge::Place;
pub use self::record::select;
use super::misnamed::Misnamed;
use super::request::{BlockedName, DeferPolicy, SurfaceRequest};
use crate::catalog::{Catalog, Lookup};

/// By which declarations of its tools a surface goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Freshness {
    /// Tools come and go with the catalog; each is known by the declaration it had when the surface was made.
    Live,
    /// Every tool is known as it is declared now: nothing has to be loaded again.
    Newest,
}

/// What a surface was made with. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Made {
    surface_id: SurfaceId,
    created_at: Timestamp,
    request: SurfaceRequest,
    /// What the caller said of the model, exactly as it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model_capabilities: Option<JsonPayload>,
    freshness: Freshness,
    /// The revision of the catalog it was made at.
    as_of: u64,
    /// There were too many tools to load them all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    crowded: bool,
    /// The tools the request names: to consider, to load, and to block, each of these with its message.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    named: BTreeSet<ToolId>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    load: BTreeSet<ToolId>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    blocked: BTreeMap<ToolId, String>,
}

/// A surface that follows the catalog.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct LiveSurface {
    made: Arc<Made>,
    /// The request's namespaces, for looking one up.
    namespaces: Arc<HashSet<String>>,
    /// What was loaded since, in the order it was.
    loads: Vec<LoadedTool>,
    places: HashMap<ToolId, usize>,
    /// How often the surface itself was changed; 1 when it is made.
    changes: u64,
}

/// A surface as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// Tells this form from the one of older versions, a copy of all tools.
    form: u32,
    made: Arc<Made>,
    changes: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    loads: Vec<LoadedTool>,
}

/// The number of the stored form.
pub(super) const FORM: u32 = 2;

impl From<Stored> for LiveSurface {
    fn from(stored: Stored) -> Self {
        let Stored { form: _, made, changes, loads } = stored;
        let namespaces = Arc::new(made.request.namespaces.iter().cloned().collect());
        let places = loads.iter().enumerate().map(|(at, tool)| (tool.tool_id.clone(), at)).collect();
        Self { made, namespaces, loads, places, changes }
    }
}

impl From<LiveSurface> for Stored {
    fn from(surface: LiveSurface) -> Self {
        let LiveSurface { made, namespaces: _, loads, places: _, changes } = surface;
        Self { form: FORM, made, changes, loads }
    }
}

impl LiveSurface {
    /// Makes the surface `request` asks for.
    ///
    /// # Errors
    ///
    /// The entries of `tool_refs`, `load` and `blocked` that lead to no tool or to several: a misspelt name must neither
    /// block nothing nor show something else.
    pub fn make(
        catalog: &Catalog,
        request: &SurfaceRequest,
        surface_id: SurfaceId,
        created_at: Timestamp,
    ) -> Result<Self, Misnamed> {
        let mut faults = Misnamed::default();
        let named = named_tools(catalog, "tool_refs", &request.tool_refs, &mut faults);
        let load = named_tools(catalog, "load", &request.load, &mut faults);
        let blocked = blocked_tools(catalog, &request.blocked, &mut faults);
        faults.into_result()?;
        let mut request = request.clone();
        request.capability_requirements.sort_unstable();
        request.capability_requirements.dedup();
        let made = Made {
            surface_id,
            created_at,
            model_capabilities: Some(JsonPayload::of(&request.model)),
            freshness: Freshness::Live,
            as_of: catalog.revision(),
            crowded: false,
            named,
            load,
            blocked,
            request,
        };
        let surface = Self::from(Stored { form: FORM, made: Arc::new(made), changes: 1, loads: Vec::new() });
        let crowded = match surface.made.request.defer {
            DeferPolicy::Auto { threshold } => {
                let counts = surface.counts(catalog, &|_| None);
                counts.loaded + counts.deferred > threshold as usize
            }
            DeferPolicy::All => true,
            DeferPolicy::None => false,
        };
        Ok(surface.with(|made| made.crowded = crowded))
    }

    /// The same surface with what the caller said of the model exactly as it was given.
    #[must_use]
    pub fn with_model_capabilities(self, given: JsonPayload) -> Self {
        self.with(|made| made.model_capabilities = Some(given))
    }

    /// The same surface, which goes by the newest declarations, and whose revision is that of the catalog.
    #[must_use]
    pub fn newest(self) -> Self {
        let newest = self.with(|made| {
            made.freshness = Freshness::Newest;
            made.as_of = 0;
        });
        Self { changes: 0, ..newest }
    }

    fn with(self, change: impl FnOnce(&mut Made)) -> Self {
        let mut made = Made::clone(&self.made);
        change(&mut made);
        Self { made: Arc::new(made), ..self }
    }

    /// The surface's id.
    pub fn id(&self) -> &SurfaceId {
        &self.made.surface_id
    }

    /// What it was made for.
    pub fn request(&self) -> &SurfaceRequest {
        &self.made.request
    }

    /// How often the surface itself was changed.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Grows with every change of the surface and of the catalog.
    pub fn revision(&self, catalog: &Catalog) -> u64 {
        self.changes + catalog.revision().saturating_sub(self.made.as_of)
    }

    /// How many tools it names itself: what keeping it in memory costs.
    pub fn weight(&self) -> usize {
        let Made { named, load, blocked, request, .. } = &*self.made;
        1 + named.len() + load.len() + blocked.len() + request.namespaces.len() + self.loads.len()
    }

    /// The surface after these tools were loaded; one that was loaded before is known by its new declaration, at its place.
    pub(super) fn after_loading(&self, fresh: Vec<LoadedTool>) -> Self {
        if fresh.is_empty() {
            return self.clone();
        }
        let mut loads = self.loads.clone();
        for tool in fresh {
            match self.places.get(&tool.tool_id).and_then(|at| loads.get_mut(*at)) {
                Some(known) => *known = tool,
                None => loads.push(tool),
            }
        }
        let made = Arc::clone(&self.made);
        Self::from(Stored { form: FORM, made, changes: self.changes.saturating_add(1), loads })
    }

    /// Tools that were there up to this revision of the catalog are loaded by the rules.
    fn remembered_up_to(&self) -> u64 {
        match self.made.freshness {
            Freshness::Live => self.made.as_of,
            Freshness::Newest => u64::MAX,
        }
    }

    /// Every tool that is judged by itself, and not with its group.
    fn special(&self) -> BTreeSet<&ToolId> {
        let Made { named, load, blocked, .. } = &*self.made;
        named.iter().chain(load).chain(blocked.keys()).chain(self.places.keys()).collect()
    }

    fn is_special(&self, id: &ToolId) -> bool {
        let Made { named, load, blocked, .. } = &*self.made;
        self.places.contains_key(id) || named.contains(id) || load.contains(id) || blocked.contains_key(id)
    }
}

fn named_tools(catalog: &Catalog, field: &str, names: &[String], faults: &mut Misnamed) -> BTreeSet<ToolId> {
    let places = names.iter().enumerate().map(|(index, name)| (format!("{field}[{index}]"), name));
    places.filter_map(|(place, name)| named_tool(catalog, place, name, faults)).collect()
}

/// The blocked tools, each with the message it is blocked with.
fn blocked_tools(catalog: &Catalog, blocked: &[BlockedName], faults: &mut Misnamed) -> BTreeMap<ToolId, String> {
    let places = blocked.iter().enumerate().map(|(index, blocked)| (format!("blocked[{index}].name"), blocked));
    places
        .filter_map(|(place, blocked)| {
            named_tool(catalog, place, &blocked.name, faults).map(|tool_id| (tool_id, blocked.message.clone()))
        })
        .collect()
}

fn named_tool(catalog: &Catalog, place: String, name: &str, faults: &mut Misnamed) -> Option<ToolId> {
    match catalog.find(name) {
        Lookup::One(entry) => return Some(entry.tool_id().clone()),
        Lookup::Ambiguous(sharing) => faults.add(place, name, Some(sharing.some_names())),
        Lookup::Unknown => faults.add(place, name, None),
    }
    None
}
