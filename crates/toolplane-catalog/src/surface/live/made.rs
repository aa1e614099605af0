//! What a surface is made with: the request for it, and the tools that the names in it lead to.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toolplane_records::ids::{SurfaceId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;

use crate::catalog::{Catalog, Lookup};
use crate::surface::choosing::{Choosing, ToolChoice};
use crate::surface::lineage::Parent;
use crate::surface::misnamed::Misnamed;
use crate::surface::request::{BlockedName, SurfaceRequest};

/// By which declarations of its tools a surface goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Freshness {
    /// Tools come and go with the catalog; each is known by the declaration it had when the surface was made.
    Live,
    /// Every tool is known as it is declared now: nothing has to be loaded again.
    Newest,
    /// Only tools that were there when the surface was made, selected by what they were then.
    Pinned,
}

/// What a surface was made with. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Made {
    pub(super) surface_id: SurfaceId,
    pub(super) created_at: Timestamp,
    pub(super) request: SurfaceRequest,
    /// What the caller said of the model, exactly as it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model_capabilities: Option<JsonPayload>,
    pub(super) freshness: Freshness,
    /// The revision of the catalog it was made at.
    pub(super) as_of: u64,
    /// There were too many tools to load them all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) crowded: bool,
    /// The tools the request names: to consider, to load, and to block, each of these with its message.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) named: BTreeSet<ToolId>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) load: BTreeSet<ToolId>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) blocked: BTreeMap<ToolId, String>,
    /// The tool that its default choice names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) chosen: Option<ToolId>,
    /// The surface it is made within.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<Parent>,
}

impl Made {
    /// What a surface that `request` asks for is made with, within `parent`.
    pub(super) fn of(
        catalog: &Catalog,
        request: &SurfaceRequest,
        surface_id: SurfaceId,
        created_at: Timestamp,
        parent: Option<Parent>,
    ) -> Result<Self, Misnamed> {
        let mut faults = Misnamed::default();
        let named = named_tools(catalog, "tool_refs", &request.tool_refs, &mut faults);
        let load = named_tools(catalog, "load", &request.load, &mut faults);
        let blocked = blocked_tools(catalog, &request.blocked, &mut faults);
        let chosen = match Choosing::stored(request.default_tool_choice.as_ref(), None).choice {
            ToolChoice::Tool(name) => named_tool(catalog, "default_tool_choice".to_owned(), &name, &mut faults),
            ToolChoice::Auto | ToolChoice::Required | ToolChoice::None => None,
        };
        faults.into_result()?;
        let mut request = request.clone();
        request.capability_requirements.sort_unstable();
        request.capability_requirements.dedup();
        Ok(Self {
            surface_id,
            created_at,
            model_capabilities: Some(JsonPayload::of(&request.model)),
            freshness: if request.pinned { Freshness::Pinned } else { Freshness::Live },
            as_of: catalog.revision(),
            crowded: false,
            named,
            load,
            blocked,
            chosen,
            parent,
            request,
        })
    }

    /// The tools it says something about by name.
    pub(super) fn names(&self) -> impl Iterator<Item = &ToolId> {
        self.named.iter().chain(&self.load).chain(self.blocked.keys())
    }

    /// Whether it says something about the tool by name.
    pub(super) fn has_name(&self, id: &ToolId) -> bool {
        self.named.contains(id) || self.load.contains(id) || self.blocked.contains_key(id)
    }

    /// Tools that were there up to this revision of the catalog are loaded by the rules.
    pub(super) fn remembered_up_to(&self) -> u64 {
        match self.freshness {
            Freshness::Live | Freshness::Pinned => self.as_of,
            Freshness::Newest => u64::MAX,
        }
    }
}

/// The tools behind names of a field of a request; those that lead to none, or to several, are faults.
pub(super) fn named_tools(catalog: &Catalog, field: &str, names: &[String], faults: &mut Misnamed) -> BTreeSet<ToolId> {
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
