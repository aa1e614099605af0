//! All parts of the role, made and wired. Reading [`Parts::new`] shows the whole house: each part is made from the few it uses, and
//! none of them knows the part that uses it.

use std::sync::Arc;

use crate::denied::Denied;
use crate::learning::Learning;
use crate::memory::Memory;
use crate::providers::{Documents, Gate, HiddenTools, Providers, WorkerCredentials};
use crate::registry::Registry;
use crate::retention::UseNotes;
use crate::surfaces::{Edits, Finds, Showing, SurfaceNames, SurfaceSearch, Surfaces, Watches};
use crate::synonyms::Books;

/// The parts of the role, for those who answer and for its background work. No part holds this. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) registry: Registry,
    pub(crate) denied: Denied,
    pub(crate) credentials: WorkerCredentials,
    pub(crate) documents: Documents,
    pub(crate) hidden: HiddenTools,
    pub(crate) providers: Providers,
    pub(crate) surfaces: Surfaces,
    pub(crate) shown: Showing,
    pub(crate) names: SurfaceNames,
    pub(crate) finds: Finds,
    pub(crate) search: SurfaceSearch,
    pub(crate) edits: Edits,
    pub(crate) watches: Watches,
    pub(crate) books: Books,
    pub(crate) learning: Learning,
}

impl Parts {
    /// Makes the parts around a registry and what is in memory beside it.
    pub(crate) fn new(registry: Registry, memory: &Memory, uses: &UseNotes) -> Self {
        let denied = Denied::new(registry.tenants().clone());
        let credentials = WorkerCredentials::new(Arc::clone(&memory.shelf));
        let documents = Documents::new(registry.clone(), Arc::clone(&memory.shelf));
        let hidden = HiddenTools::new(Arc::clone(&memory.shelf));
        let providers = Providers::new(registry.clone(), Arc::clone(&memory.shelf), documents.clone());
        let gate = Gate::new(registry.clone(), providers.clone(), credentials.clone(), denied.clone());
        let cache = Arc::clone(&memory.surfaces);
        let shelf = Arc::clone(&memory.shelf);
        let surfaces = Surfaces::new(registry.clone(), cache, uses.clone(), credentials.clone(), shelf);
        let shown = Showing::new(registry.clone(), surfaces.clone());
        let names = SurfaceNames::new(registry.clone(), surfaces.clone(), gate.clone());
        let finds = Finds::new(registry.clone(), surfaces.clone());
        let search = SurfaceSearch::new(registry.clone(), surfaces.clone(), finds.clone(), gate);
        let edits = Edits::new(registry.clone(), surfaces.clone(), names.clone(), finds.clone());
        let watches = Watches::new(registry.clone(), surfaces.clone(), edits.clone());
        Self {
            books: Books::new(registry.clone(), memory.thesauri.clone()),
            learning: memory.learning.clone(),
            registry,
            denied,
            credentials,
            documents,
            hidden,
            providers,
            surfaces,
            shown,
            names,
            finds,
            search,
            edits,
            watches,
        }
    }
}
