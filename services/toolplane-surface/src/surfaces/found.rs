//! What searches found, on its way into the logs of surfaces.
//!
//! No search waits for the store, and none makes a commit of its own: what was found waits here, and is written together, what many
//! surfaces have to be told in one commit. Whoever changes a surface, or reads its log, writes what waits for it first, so a log has
//! everything in its order. A process that crashes loses what waited, half a second of it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use toolplane_backend::let_others_through;
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::EventClass;
use toolplane_runtime::ApiError;
use toolplane_store::{Append, Commit, CommitOutcome, Expect, StoreError};

use super::{ATTEMPTS, Surfaces};
use crate::cache::Held;
use crate::error::{is_parent_gone, lost, of_store};
use crate::events::Log;
use crate::keys;
use crate::registry::Registry;

/// How often what waits is written.
const EVERY: Duration = Duration::from_millis(500);
/// What of one surface waits at most before all is written.
const MANY: usize = 200;
/// Most bytes that wait; a search that finds something then writes it itself.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// What an entry costs beside its data, about.
const ENTRY_BYTES: usize = 200;
/// Most surfaces that are told in one commit.
const AT_ONCE: usize = 64;

/// What a search found, as the log is told.
#[derive(Clone, Debug)]
pub(crate) struct Find {
    pub(crate) at: Timestamp,
    pub(crate) data: JsonPayload,
}

type Place = (TenantId, SurfaceId);

/// What searches found, and writing it. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Finds {
    registry: Registry,
    surfaces: Surfaces,
    waiting: Arc<Mutex<Waiting>>,
    many: Arc<Notify>,
}

/// What waits.
#[derive(Debug, Default)]
struct Waiting {
    logs: BTreeMap<Place, Vec<Find>>,
    bytes: usize,
}

impl Find {
    fn bytes(&self) -> usize {
        self.data.text().len() + ENTRY_BYTES
    }

    /// As an entry of a log.
    pub(super) fn entry(self) -> (Timestamp, EventClass, JsonPayload) {
        (self.at, EventClass::DeferredDiscovered, self.data)
    }
}

impl Finds {
    pub(crate) fn new(registry: Registry, surfaces: Surfaces) -> Self {
        Self { registry, surfaces, waiting: Arc::default(), many: Arc::default() }
    }

    /// Takes one in; gives it back where there is no room.
    fn add(&self, place: Place, find: Find) -> Option<Find> {
        let mut waiting = self.waiting.lock();
        let bytes = waiting.bytes + find.bytes();
        if bytes > MAX_BYTES {
            return Some(find);
        }
        waiting.bytes = bytes;
        let log = waiting.logs.entry(place).or_default();
        log.push(find);
        if log.len() == MANY {
            self.many.notify_one();
        }
        None
    }

    /// What waits for a surface; it does not wait any longer. Only for who has the surface's turn.
    pub(super) fn take(&self, place: &Place) -> Vec<Find> {
        let mut waiting = self.waiting.lock();
        let taken = waiting.logs.remove(place).unwrap_or_default();
        waiting.bytes -= taken.iter().map(Find::bytes).sum::<usize>();
        taken
    }

    /// What was taken waits again, before what came since.
    pub(super) fn put_back(&self, place: &Place, mut taken: Vec<Find>) {
        if taken.is_empty() {
            return;
        }
        let mut waiting = self.waiting.lock();
        waiting.bytes += taken.iter().map(Find::bytes).sum::<usize>();
        let log = waiting.logs.entry(place.clone()).or_default();
        taken.append(log);
        *log = taken;
    }

    fn places(&self) -> Vec<Place> {
        self.waiting.lock().logs.keys().cloned().collect()
    }

    /// Notes what a search found for the log of its surface. Waits for the store only where too much waits for it already.
    pub(super) async fn note(&self, tenant: &TenantId, id: &SurfaceId, find: Find) -> Result<(), ApiError> {
        let place = (tenant.clone(), id.clone());
        let mut left = Some(find);
        while let Some(find) = left {
            left = self.add(place.clone(), find);
            if left.is_some() {
                self.write_together(&self.places()).await?;
            }
        }
        Ok(())
    }

    /// Writes what waits, now and again, until `stop`, and then what is left.
    pub(crate) async fn write(self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let due = async {
                tokio::select! {
                    _ = tick.tick() => {}
                    () = self.many.notified() => {}
                }
            };
            if stop.run_until_cancelled(due).await.is_none() {
                break;
            }
            if let Err(error) = self.write_together(&self.places()).await {
                tracing::debug!(%error, "what searches found is written later");
            }
        }
        // A store that is gone keeps no process from ending.
        let last = async { self.write_together(&self.places()).await };
        if !matches!(tokio::time::timeout(Duration::from_secs(5), last).await, Ok(Ok(()))) {
            tracing::warn!("what searches found in the last moments is not in the logs of surfaces");
        }
    }

    /// Writes what waits for these surfaces, of many in one commit.
    async fn write_together(&self, places: &[Place]) -> Result<(), ApiError> {
        for places in places.chunks(AT_ONCE) {
            let mut held = HashMap::new();
            for place in places {
                if let Some(surface) = self.held_to_write(place).await? {
                    held.insert(place, surface);
                }
            }
            // One that is being changed right now is written by whoever changes it.
            let turns: Vec<_> =
                held.iter().filter_map(|(place, held)| Some((*place, held, held.turn.try_lock().ok()?))).collect();
            let mut taken: Vec<(&Place, Vec<Find>)> = Vec::new();
            let mut commit = Commit::default();
            for (place, held, _) in &turns {
                let finds = self.take(place);
                taken.push((place, finds.clone()));
                let part = self.noting(place, held, finds).await;
                match part {
                    Ok(part) => {
                        commit.compare.extend(part.compare);
                        commit.events.extend(part.events);
                    }
                    Err(error) => {
                        taken.into_iter().for_each(|(place, finds)| self.put_back(place, finds));
                        return Err(error);
                    }
                }
            }
            if commit.events.is_empty() || is_written(self.registry.store().commit(commit).await) {
                continue;
            }
            taken.into_iter().for_each(|(place, finds)| self.put_back(place, finds));
            drop(turns);
            for place in places {
                self.write_of(place).await?;
            }
        }
        Ok(())
    }

    /// Writes what waits for one surface.
    pub(crate) async fn write_of(&self, place: &Place) -> Result<(), ApiError> {
        for tries in 1..=ATTEMPTS {
            let Some(held) = self.held_to_write(place).await? else { return Ok(()) };
            let turn = held.turn.lock().await;
            let finds = self.take(place);
            if finds.is_empty() {
                return Ok(());
            }
            let written = match self.noting(place, &held, finds.clone()).await {
                Ok(commit) => self.registry.store().commit(commit).await.map_err(of_store_or_gap),
                Err(error) => Err(Some(error)),
            };
            match written {
                Ok(CommitOutcome::Applied | CommitOutcome::Replayed) => return Ok(()),
                Err(Some(error)) => {
                    self.put_back(place, finds);
                    return Err(error);
                }
                // Another process has added to the log, or changed the surface.
                Ok(CommitOutcome::Lost { .. } | CommitOutcome::Full { .. }) | Err(None) => {
                    self.put_back(place, finds);
                    drop(turn);
                    self.surfaces.refresh(&place.0, &place.1).await?;
                    let_others_through(tries).await;
                }
            }
        }
        Err(lost())
    }

    /// The surface that is told; nothing when it is not there any more, and then nothing waits for it any longer: a log of its own is
    /// all that would be left of a deleted one.
    async fn held_to_write(&self, place: &Place) -> Result<Option<Arc<Held>>, ApiError> {
        let held = match self.surfaces.held(&place.0, &place.1).await {
            Err(gone) if is_parent_gone(&gone) => self.surfaces.held_even_orphaned(&place.0, &place.1).await,
            held => held,
        };
        match held {
            Ok(held) => Ok(Some(held)),
            Err(ApiError::NotFound { .. }) => {
                self.take(place);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The commit that adds to a log, which applies only to the surface as it is.
    async fn noting(&self, place: &Place, held: &Held, finds: Vec<Find>) -> Result<Commit, ApiError> {
        let (tenant, id) = place;
        let log = Log::Surface(tenant.clone(), id.clone());
        let entries: Vec<_> = finds.into_iter().map(Find::entry).collect();
        let events: Vec<Append> = match entries.is_empty() {
            true => Vec::new(),
            false => vec![log.append_each(log.head(self.registry.store()).await? + 1, entries)?],
        };
        let compare = match id.is_default() {
            true => Vec::new(),
            false => vec![(keys::surface(tenant, id), Expect::Version(held.view().version()))],
        };
        Ok(Commit { compare, events, ..Commit::default() })
    }
}

fn is_written(outcome: Result<CommitOutcome, StoreError>) -> bool {
    matches!(outcome, Ok(CommitOutcome::Applied | CommitOutcome::Replayed))
}

/// Nothing where the log has come on.
fn of_store_or_gap(error: StoreError) -> Option<ApiError> {
    match error {
        StoreError::SequenceGap { .. } => None,
        error => Some(of_store(error)),
    }
}
