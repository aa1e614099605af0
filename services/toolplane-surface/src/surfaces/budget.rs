//! What of a budget a tool takes, when a surface used it last, and what loading did to the budget.

use std::collections::HashMap;

use parking_lot::Mutex;
use toolplane_catalog::catalog::CatalogEntry;
use toolplane_catalog::{Amount, Catalog, LoadOutcome, Loading, Resolution, Shortage, Unloaded, resolve};
use toolplane_records::ids::ToolId;
use toolplane_records::time::Timestamp;

use super::{Loaded, Meaning};
use crate::cache::Held;

/// What of a budget a tool takes: what a model is told of it.
pub(super) fn size(entry: &CatalogEntry) -> Amount {
    let registration = entry.tool.registration();
    let description = &registration.declaration.description;
    let told = toolplane_shapes::told(&registration.alias(), description, registration.model_schema());
    Amount::of_tool(told.tokens, told.bytes)
}

/// When tools of a surface were last used, as far as this process knows.
pub(super) type Uses = HashMap<ToolId, Timestamp>;

impl Held {
    /// The uses that are known, at this moment.
    pub(super) fn uses(&self, now: Timestamp) -> Uses {
        let ago = |age: std::time::Duration| i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let at = |age| Timestamp::from_millis(now.as_millis().saturating_sub(ago(age)));
        self.used().into_iter().map(|(id, age)| (id, at(age))).collect()
    }

    /// Takes note that tools are used in the surface, where that counts: those that are loaded.
    pub(super) fn note_uses(&self, catalog: &Catalog, names: &[String]) {
        let view = self.view();
        if !view.indexed().may_have_budget() {
            return;
        }
        for name in names {
            if let Resolution::Callable(entry) = resolve(view.indexed(), catalog, name, None) {
                self.note_use_of(entry.tool_id());
            }
        }
    }
}

/// What the last try of a change did to the budget.
#[derive(Debug, Default)]
pub(super) struct Spent(Mutex<(Vec<Unloaded>, HashMap<ToolId, Shortage>)>);

impl Spent {
    /// A new try: what one before it would have done is forgotten.
    pub(super) fn begin(&self) {
        *self.0.lock() = Default::default();
    }

    pub(super) fn note(&self, loading: &Loading) {
        let mut spent = self.0.lock();
        spent.0.extend(loading.unloaded.iter().cloned());
        spent.1.extend(loading.outcomes.iter().filter_map(|(_, outcome)| match outcome {
            LoadOutcome::NoRoom { tool_id, shortage } => Some((tool_id.clone(), *shortage)),
            _ => None,
        }));
    }

    /// Puts into an answer what was unloaded, and why what is not loaded is not.
    pub(super) fn tell(self, loaded: Loaded) -> Loaded {
        let (unloaded, shortages) = self.0.into_inner();
        let mut loaded = Loaded { unloaded, ..loaded };
        for (name, meaning) in &mut loaded.meanings {
            let Meaning::Refused(refusal) = meaning else { continue };
            if let Some(shortage) = refusal.tool_id.as_ref().and_then(|id| shortages.get(id)) {
                refusal.message = format!(
                    "{}: load fewer at once, unload others, or give the surface a larger budget (ExtendSurface)",
                    shortage.words(name)
                );
                refusal.shortage = Some(*shortage);
            }
        }
        loaded
    }
}
