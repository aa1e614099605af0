//! A surface that follows the catalog, as it is stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolplane_records::ids::ToolId;
use toolplane_records::surface::LoadedTool;

use super::steps::Step;
use super::{LiveSurface, Made};
use crate::surface::budget::Account;
use crate::surface::extend::Added;

/// A surface as it is stored.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    /// Tells this form from the one of older versions, a copy of all tools.
    pub(super) form: u32,
    pub(super) made: Arc<Made>,
    pub(super) changes: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) loads: Vec<LoadedTool>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) unloaded: BTreeSet<ToolId>,
    #[serde(default, skip_serializing_if = "nothing")]
    pub(super) added: Arc<Added>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) account: Option<Account>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) steps: Vec<Step>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) noted: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) noted_above: Vec<u64>,
}

fn nothing(added: &Arc<Added>) -> bool {
    added.is_empty()
}

/// The number of the stored form.
pub(super) const FORM: u32 = 2;
/// The same of a surface within another one. Versions that do not know of those cannot read it, and so do not show what it must not show.
const FORM_WITHIN: u32 = 3;

/// Whether a number is one of a surface that follows the catalog.
pub(in crate::surface) fn is_form(form: u32) -> bool {
    [FORM, FORM_WITHIN].contains(&form)
}

impl From<Stored> for LiveSurface {
    fn from(stored: Stored) -> Self {
        let Stored { form: _, made, changes, loads, unloaded, added, account, steps, noted, noted_above } = stored;
        let noted_above = noted_above.into_iter().collect();
        let selection = Arc::new(made.request.selection());
        let places = loads.iter().enumerate().map(|(at, tool)| (tool.tool_id.clone(), at)).collect();
        let above = None;
        Self { made, selection, loads, places, unloaded, added, account, changes, steps, noted, noted_above, above }
    }
}

impl From<LiveSurface> for Stored {
    fn from(surface: LiveSurface) -> Self {
        let LiveSurface { made, loads, unloaded, added, account, changes, steps, noted, noted_above, .. } = surface;
        let noted_above = noted_above.as_slice().to_vec();
        let form = if made.parent.is_some() { FORM_WITHIN } else { FORM };
        Self { form, made, changes, loads, unloaded, added, account, steps, noted, noted_above }
    }
}
