//! Learning from use: a search, then the use of a tool it found, says that its words mean the tool.
//!
//! Nothing here is in the way of a request: what was searched is remembered for some minutes, what was used becomes lessons, and those
//! are written into the store in the background (`learning/keep.rs`), some at a time. What is lost with a process is some seconds of
//! them. What is known is in memory, and what other processes have learned is taken in as it comes.

mod forget;
mod keep;
mod recent;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arc_swap::ArcSwap;
use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::time::Instant;
use toolplane_catalog::search::{Learned, Lesson, Notebook, words_of};
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_records::search::SearchResult;
use toolplane_runtime::Caller;
use toolplane_store::Store;

use crate::options::LearningOptions;
use recent::{Recent, Search};

/// Most lessons that wait to be written; what comes on top is not learned.
const MAX_WAITING: usize = 10_000;
const SECONDS_OF_DAY: u64 = 24 * 60 * 60;

/// What is learned, and what it is learned from. Cheap to clone; without anything inside it is switched off.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learning(Option<Arc<Inner>>);

struct Inner {
    store: Arc<dyn Store>,
    options: LearningOptions,
    recent: Mutex<Recent>,
    waiting: Mutex<Waiting>,
    tenants: DashMap<TenantId, Arc<OfTenant>>,
}

/// Lessons that are not written yet, by the notebook they belong into.
#[derive(Debug, Default)]
struct Waiting {
    lessons: BTreeMap<(TenantId, u8), Vec<Lesson>>,
    count: usize,
}

/// What is known of a tenant.
#[derive(Debug, Default)]
struct OfTenant {
    notebooks: Mutex<HashMap<u8, Written>>,
    learned: ArcSwap<Learned>,
}

/// A notebook as it was written.
#[derive(Clone, Debug)]
struct Written {
    version: u64,
    notebook: Arc<Notebook>,
}

impl OfTenant {
    /// Takes a notebook in as it was written at `version`, unless a newer one is known.
    fn put(&self, number: u8, version: u64, notebook: Notebook) {
        let mut notebooks = self.notebooks.lock();
        if notebooks.get(&number).is_none_or(|known| known.version < version) {
            notebooks.insert(number, Written { version, notebook: Arc::new(notebook) });
        }
    }

    fn era(&self, number: u8) -> u32 {
        self.notebooks.lock().get(&number).map_or(0, |written| written.notebook.era())
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Learning").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Learning {
    pub(crate) fn new(store: Arc<dyn Store>, options: LearningOptions) -> Self {
        Self(options.enabled.then(|| {
            Arc::new(Inner {
                store,
                options,
                recent: Mutex::default(),
                waiting: Mutex::default(),
                tenants: DashMap::default(),
            })
        }))
    }

    /// What use has taught a tenant; nothing where that is switched off, or nothing is known.
    pub(crate) fn of_tenant(&self, tenant: &TenantId) -> Option<Arc<Learned>> {
        let known = self.0.as_ref()?.tenants.get(tenant)?.learned.load_full();
        (!known.is_empty()).then_some(known)
    }

    /// Takes note of what a search found.
    pub(crate) fn found(&self, caller: &Caller, surface: &SurfaceId, result: &SearchResult) {
        let Some(inner) = &self.0 else { return };
        let words = words_of(&result.query);
        if !words.is_empty() {
            let (teacher, found) = (teacher(caller), result.matches.clone());
            let search = Search { teacher, words, found, at: Instant::now() };
            inner.recent.lock().add((caller.tenant.clone(), surface.clone()), search);
        }
    }

    /// Learns from tools that a caller has loaded together.
    pub(crate) fn loaded(&self, caller: &Caller, surface: &SurfaceId, tools: &[ToolId]) {
        self.used(&caller.tenant, surface, Some(teacher(caller)), tools);
    }

    /// Learns from the first call of a tool in a surface. Who calls is not told; in a surface that everybody has, it could be anyone.
    pub(crate) fn called(&self, tenant: &TenantId, surface: &SurfaceId, tool: &ToolId) {
        if !surface.is_default() {
            self.used(tenant, surface, None, std::slice::from_ref(tool));
        }
    }

    fn used(&self, tenant: &TenantId, surface: &SurfaceId, teacher: Option<u32>, tools: &[ToolId]) {
        let Some(inner) = &self.0 else { return };
        let of = (tenant.clone(), surface.clone());
        let credits = inner.recent.lock().credits(&of, teacher, tools, Instant::now());
        let day = today();
        for credit in credits {
            let recent::Credit { words, tool, teacher, weight } = credit;
            let era = inner.of(tenant).era(Lesson::notebook_of(&tool));
            inner.waiting.lock().add(tenant, Lesson { words, tool, teacher, day, weight, era });
        }
    }
}

impl Waiting {
    fn add(&mut self, tenant: &TenantId, lesson: Lesson) {
        if self.count < MAX_WAITING {
            self.count += 1;
            self.lessons.entry((tenant.clone(), Lesson::notebook_of(&lesson.tool))).or_default().push(lesson);
        }
    }
}

/// The day, counted since 1970.
pub(crate) fn today() -> u32 {
    u32::try_from(toolplane_runtime::clock::since_epoch().as_secs() / SECONDS_OF_DAY).unwrap_or(u32::MAX)
}

fn teacher(caller: &Caller) -> u32 {
    Lesson::teacher(&format!("{}|{}", caller.tenant, caller.doer("")))
}
