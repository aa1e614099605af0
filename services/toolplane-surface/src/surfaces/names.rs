//! What names mean in surfaces, when providers and rules have had their say.

mod called;

use std::sync::Arc;

use toolplane_catalog::{Catalog, Effort, Lookup, Moment, ScopeRules, Unloaded};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_runtime::ApiError;

pub(crate) use called::Called;

use super::Surfaces;
use super::meant::{Meaning, Refusal, RefusalKind, chosen, meaning, meaning_at, suggest};
use crate::cache::Held;
use crate::providers::{Gate, Passage};
use crate::registry::Registry;
use crate::view::View;

/// What a caller knows of the tool it names.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// The declaration it goes by.
    pub(crate) digest: Option<Digest>,
    /// The moment of the surface it goes by.
    pub(crate) moment: Option<Moment>,
}

/// What a name means, and for which declarations.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) meaning: Meaning,
    /// The answer holds for one call alone.
    pub(crate) once: bool,
    /// A batch has to run its calls in the surface one after the other.
    pub(crate) one_at_a_time: bool,
    /// The policies the surface names.
    pub(crate) policy_refs: Vec<String>,
    /// What its scope holds calls to.
    pub(crate) scope: ScopeRules,
    /// The surfaces it is within, each with what its scope holds calls to.
    pub(crate) above: Vec<(SurfaceId, ScopeRules)>,
    /// Revision of the surface the answer is about.
    pub(crate) surface_revision: u64,
    /// Revision of the catalog the answer is about.
    pub(crate) catalog_revision: u64,
}

/// What names mean in a surface after it was changed.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// What each name means now, in the order they were given.
    pub(crate) meanings: Vec<(String, Meaning)>,
    /// Revision of the surface now.
    pub(crate) revision: u64,
    /// The moment the surface is at now.
    pub(crate) moment: Moment,
    /// What was unloaded for the budget.
    pub(crate) unloaded: Vec<Unloaded>,
}

impl Loaded {
    /// Whether a tool that was loaded is declared otherwise by now.
    pub(super) fn is_behind(&self) -> bool {
        let is_behind = |refusal: &Refusal| refusal.kind == RefusalKind::Changed && refusal.shortage.is_none();
        self.meanings.iter().any(|(_, meaning)| matches!(meaning, Meaning::Refused(refusal) if is_behind(refusal)))
    }

    /// What is so after another load, with what was unloaded for both.
    pub(super) fn then(self, next: Self) -> Self {
        let unloaded = [self.unloaded, next.unloaded].concat();
        Self { unloaded, ..next }
    }
}

/// What names mean in surfaces. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceNames {
    registry: Registry,
    surfaces: Surfaces,
    /// What else keeps a tool from being called.
    gate: Gate,
}

impl SurfaceNames {
    pub(crate) fn new(registry: Registry, surfaces: Surfaces, gate: Gate) -> Self {
        Self { registry, surfaces, gate }
    }

    /// What `name` means to a caller that goes by what is `known`, or by what the surface loaded; with the revisions of the
    /// surface and of the catalog the answer is about.
    pub(crate) async fn resolve(
        &self,
        tenant: &TenantId,
        id: &SurfaceId,
        name: &str,
        known: Known,
    ) -> Result<Resolved, ApiError> {
        // Taken before anything is looked at: the answer is at least as new as what it says.
        let catalog_revision = self.registry.revision();
        let owner = self.registry.tenant(tenant);
        let held = match known.moment {
            Some(moment) => self.surfaces.held_at(tenant, id, moment).await?,
            None => self.surfaces.held(tenant, id).await?,
        };
        let view = held.view();
        let (mut meaning, surface_revision, names) = {
            let catalog = owner.catalog.read();
            let meaning = match known.moment {
                Some(moment) => meaning_at(&view, &catalog, name, moment, known.digest.as_ref())?,
                None => meaning(&view, &catalog, name, known.digest.as_ref()),
            };
            let meaning = chosen(&view, meaning, known.moment.is_some());
            (meaning, view.indexed().revision(&catalog), Arc::clone(catalog.similar()))
        };
        suggest(&view, &names, name, &mut meaning, &mut Effort::of_one_request());
        let (meaning, once) = self.passed(tenant, name, meaning).await?;
        if let Meaning::Callable(entry, _) = &meaning
            && view.indexed().may_have_budget()
        {
            held.note_use_of(entry.tool_id());
        }
        let surface = view.indexed();
        let (one_at_a_time, policy_refs) = (surface.one_at_a_time(), surface.policy_refs());
        let scope = surface.scope_rules();
        let above = surface.parents().map(|above| (above.id().clone(), above.scope_rules())).collect();
        Ok(Resolved { meaning, once, one_at_a_time, policy_refs, scope, above, surface_revision, catalog_revision })
    }

    /// What a name means when providers have had their say, and whether that holds for one call alone.
    async fn passed(&self, tenant: &TenantId, name: &str, meaning: Meaning) -> Result<(Meaning, bool), ApiError> {
        match meaning {
            Meaning::Callable(entry, tool) => Ok(match self.gate.passage(tenant, &entry).await? {
                Passage::Open => (Meaning::Callable(entry, tool), false),
                Passage::Once => (Meaning::Callable(entry, tool), true),
                Passage::Shut(error) => {
                    (Meaning::Refused(Refusal::of_obstacle(entry.tool_id().clone(), *error)), false)
                }
            }),
            Meaning::Refused(refusal) if refusal.kind == RefusalKind::Unknown => {
                let waiting =
                    self.gate.waiting(tenant, name).map(|(tool_id, error)| Refusal::of_obstacle(tool_id, error));
                Ok((Meaning::Refused(waiting.unwrap_or(refusal)), false))
            }
            Meaning::Refused(refusal) if matches!(refusal.kind, RefusalKind::NotLoaded | RefusalKind::Changed) => {
                // To load it, which would have to be done first, is refused as well.
                let denied = refusal.tool_id.as_ref().and_then(|id| Some((id.clone(), self.gate.denial(tenant, id)?)));
                let denied = denied.map(|(tool_id, error)| Refusal::of_obstacle(tool_id, error));
                Ok((Meaning::Refused(denied.unwrap_or(refusal)), false))
            }
            refused => Ok((refused, false)),
        }
    }

    /// What names mean in a surface, by the surface and the catalog.
    pub(super) fn meanings(&self, tenant: &TenantId, view: &View, names: Vec<String>) -> Loaded {
        let owner = self.registry.tenant(tenant);
        let mark = self.surfaces.mark(tenant);
        let (mut meanings, similar, (revision, moment)): (Vec<_>, _, _) = {
            let catalog = owner.catalog.read();
            let meanings = names.into_iter().map(|name| (meaning(view, &catalog, &name, None), name));
            let meanings = meanings.map(|(meaning, name)| (name, meaning)).collect();
            let now = (view.indexed().revision(&catalog), view.indexed().moment(&catalog).with_shut(mark));
            (meanings, Arc::clone(catalog.similar()), now)
        };
        let mut effort = Effort::of_one_request();
        for (name, meaning) in &mut meanings {
            suggest(view, &similar, name, meaning, &mut effort);
        }
        Loaded { meanings, revision, moment, unloaded: Vec::new() }
    }

    /// What names mean in a surface after they were loaded, when providers have had their say.
    pub(super) fn loaded(&self, tenant: &TenantId, held: &Held, names: Vec<String>, now: Timestamp) -> Loaded {
        let owner = self.registry.tenant(tenant);
        let mut loaded = self.meanings(tenant, &held.view(), names);
        for (name, meaning) in &mut loaded.meanings {
            let shut = match &*meaning {
                Meaning::Callable(entry, _) => {
                    self.gate.obstacle(tenant, entry, now).map(|error| (entry.tool_id().clone(), error))
                }
                Meaning::Refused(refusal) if matches!(refusal.kind, RefusalKind::NotLoaded | RefusalKind::Changed) => {
                    let catalog = owner.catalog.read();
                    let entry = refusal.tool_id.as_ref().and_then(|id| catalog.get(id));
                    entry.and_then(|entry| Some((entry.tool_id().clone(), self.gate.obstacle(tenant, entry, now)?)))
                }
                Meaning::Refused(refusal) if refusal.kind == RefusalKind::Unknown => self.gate.waiting(tenant, name),
                Meaning::Refused(_) => None,
            };
            if let Some((tool_id, error)) = shut {
                *meaning = Meaning::Refused(Refusal::of_obstacle(tool_id, error));
            }
        }
        loaded
    }

    /// Those of `names` that no provider keeps from being called.
    pub(super) fn open(&self, tenant: &TenantId, catalog: &Catalog, names: &[String], now: Timestamp) -> Vec<String> {
        let is_open = |name: &&String| match catalog.find(name) {
            Lookup::One(entry) => self.gate.obstacle(tenant, entry, now).is_none(),
            Lookup::Ambiguous(_) | Lookup::Unknown => true,
        };
        names.iter().filter(is_open).cloned().collect()
    }
}
