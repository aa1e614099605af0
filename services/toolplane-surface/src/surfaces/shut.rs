//! What keeps the tools of a tenant from being used at one moment, for those who tell of it more than once: as it was told, and as it is.

use std::sync::Arc;

use toolplane_catalog::{Catalog, IndexedSurface, Moment, Progress, Shut, ShutChange, ShutThen, SurfaceWatcher};

use crate::denied::DeniedTools;
use crate::providers::{KnownCredentials, UncallableTools};

/// What keeps tools from being used at one moment. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShutTools {
    pub(super) denied: Arc<DeniedTools>,
    pub(super) credentials: KnownCredentials,
    pub(super) uncallable: UncallableTools,
}

impl ShutTools {
    /// What is made of it.
    pub(super) fn look<T>(&self, look: impl FnOnce(Shut<'_>) -> T) -> T {
        let away = |traits: &_| self.uncallable.away(traits);
        let by_traits = |traits: &_| self.uncallable.retired(traits).or_else(|| self.credentials.shut(traits));
        let withheld = self.uncallable.withheld().unwrap_or(Shut::NOTHING.withheld);
        look(Shut { by_traits: &by_traits, denied: &self.denied.tools, withheld, away: &away })
    }

    /// Whether this is surely what `other` is.
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.denied, &other.denied)
            && self.credentials.is(&other.credentials)
            && self.uncallable.is(&other.uncallable)
    }
}

/// What of this somebody was told who follows a surface.
#[derive(Debug)]
pub(super) struct ToldShut {
    told: ShutTools,
    /// As it was when the difference began that is being told.
    towards: ShutTools,
    /// Whether tools were denied that are declared behind this revision of the catalog is not known.
    unsure_behind: Option<u64>,
}

impl ToldShut {
    /// Who follows from now on.
    pub(super) fn of(now: ShutTools) -> Self {
        Self { told: now.clone(), towards: now, unsure_behind: None }
    }

    /// Who knew what there was at a moment, by what stands for what is now; and whether the surface can be told from there on.
    pub(super) fn of_moment(moment: Moment, now: ShutTools, mark: u32) -> (Self, bool) {
        match ShutThen::of(moment.shut, mark) {
            ShutThen::Nothing => (Self::of_revision(now), true),
            ShutThen::Same => (Self { unsure_behind: Some(moment.catalog), ..Self::of(now) }, true),
            ShutThen::Unknown => (Self::of(now), false),
        }
    }

    /// Who knew what there was at a revision, which says nothing of it.
    pub(super) fn of_revision(now: ShutTools) -> Self {
        Self { told: ShutTools::default(), ..Self::of(now) }
    }

    /// What was told.
    pub(super) fn told(&self) -> &ShutTools {
        &self.told
    }

    /// Goes on by one part, with at most `most` tools in it, towards what there is now.
    pub(super) fn step(
        &mut self,
        watcher: &mut SurfaceWatcher,
        surface: &Arc<IndexedSurface>,
        catalog: &Catalog,
        now: ShutTools,
        most: usize,
    ) -> Progress {
        // All parts of a difference lead to one moment.
        if !watcher.is_underway() {
            self.towards = now;
        }
        let (told, towards, unsure_behind) = (&self.told, &self.towards, self.unsure_behind);
        let is_none = told.is(towards);
        let progress = told.look(|before| {
            towards.look(|now| {
                watcher.next_beside(surface, catalog, ShutChange { before, now, is_none, unsure_behind }, most)
            })
        });
        if !watcher.is_underway() {
            self.told = self.towards.clone();
            self.unsure_behind = None;
        }
        progress
    }
}
