//! Schedulers that share the store: each has a number of its own, and knows how many there are.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use toolplane_records::profile::serves;
use toolplane_records::time::Timestamp;
use toolplane_store::{Expect, ScoreRange, Versioned};

use super::fence::{Fences, SCHEDULERS};
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, Storage, Written, keys};

/// A scheduler that showed no sign of life for this long does not count; twice that, and its number is given to others.
const SILENT_MS: i64 = 15_000;

/// What one worker serves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Served {
    #[serde(default)]
    pub(crate) pools: Vec<String>,
    #[serde(default)]
    pub(crate) native_tools: Vec<String>,
}

/// The schedulers of a cluster, as they are seen from this one.
#[derive(Debug)]
pub(crate) struct Members {
    storage: Storage,
    /// Made up at each start.
    name: String,
    /// Where this scheduler can be reached, when it knows.
    endpoint: Option<String>,
    fences: Fences,
    view: RwLock<ClusterView>,
    /// Held while the own record changes; true when this scheduler has left.
    left: tokio::sync::Mutex<bool>,
}

#[derive(Debug, Default)]
struct ClusterView {
    /// The own number and the version of its record.
    own: Option<(u64, u64)>,
    /// Living schedulers by number, this one included.
    living: BTreeMap<u64, ClusterMember>,
}

/// One scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ClusterMember {
    /// Made up at each start.
    name: String,
    /// Where it can be reached, when it knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
    /// Pools that workers serve which name no native tools: all that schedulers of earlier versions say.
    #[serde(default)]
    pools: Vec<String>,
    /// What its workers serve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    served: Vec<Served>,
    /// Its last sign of life.
    seen_at: Timestamp,
}

impl Members {
    /// This scheduler among those that share `storage`. It has no number before [`Members::show`].
    pub(crate) fn new(storage: Storage, name: String, endpoint: Option<String>) -> Self {
        Self { storage, name, endpoint, fences: Fences::default(), view: RwLock::default(), left: Default::default() }
    }

    /// The name of this scheduler, made up at each start.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A fence larger than every one this process made before, and than `after`.
    pub(crate) fn next_fence(&self, now: Timestamp, after: u64) -> u64 {
        self.fences.next(now, after)
    }

    /// Whether `member`'s due work is this scheduler's share. When it was not done for a while, it is the share of
    /// every scheduler.
    pub(crate) fn mine(&self, member: &str, overdue_ms: i64, patience_ms: i64) -> bool {
        let view = self.view.read();
        let living = u64::try_from(view.living.len()).unwrap_or(1);
        let Some((own, _)) = view.own.filter(|_| living > 1 && overdue_ms < patience_ms) else { return true };
        let mut hash = DefaultHasher::new();
        member.hash(&mut hash);
        let rank = view.living.keys().position(|number| *number == own);
        rank.is_none_or(|rank| hash.finish() % living == rank as u64)
    }

    /// Whether no other scheduler is known to live.
    pub(crate) fn is_alone(&self) -> bool {
        self.view.read().living.len() <= 1
    }

    /// Whether workers of another living scheduler serve `pool`.
    pub(crate) fn serve(&self, pool: &str) -> bool {
        let view = self.view.read();
        let own = view.own.map(|(number, _)| number);
        let mut others = view.living.iter().filter(|(number, _)| Some(**number) != own);
        let by_one = |served: &Served| serves(&served.pools, &served.native_tools, pool);
        others.any(|(_, member)| serves(&member.pools, &[], pool) || member.served.iter().any(by_one))
    }

    /// Whether the scheduler of that name lives; this one does.
    pub(crate) fn lives(&self, name: &str) -> bool {
        name == self.name || self.view.read().living.values().any(|member| member.name == name)
    }

    /// Where the living scheduler of that name can be reached, when it said so.
    pub(crate) fn endpoint_of(&self, name: &str) -> Option<String> {
        if name == self.name {
            return self.endpoint.clone();
        }
        self.view.read().living.values().find(|member| member.name == name)?.endpoint.clone()
    }

    /// Where other living schedulers can be reached.
    pub(crate) fn others(&self) -> Vec<String> {
        let view = self.view.read();
        let own = view.own.map(|(number, _)| number);
        let others = view.living.iter().filter(|(number, _)| Some(**number) != own);
        others.filter_map(|(_, member)| member.endpoint.clone()).collect()
    }

    /// Shows that this scheduler lives and what its workers serve, and looks who else does. Takes a number at first,
    /// and another one when its own went to another scheduler while it was away. Does nothing over a store that is not
    /// shared, and after [`Members::leave`]. Returns an error when the store does, or when every number is taken.
    pub(crate) async fn show(&self, served: Vec<Served>, now: Timestamp) -> Result<(), RecordError> {
        if !self.storage.is_shared() {
            return Ok(());
        }
        let left = self.left.lock().await;
        if *left {
            return Ok(());
        }
        let own = self.view.read().own;
        let kept = match own {
            Some((number, version)) => self.take_number(number, Expect::Version(version), &served, now).await?,
            None => false,
        };
        if !kept {
            self.find_number(&served, now).await?;
        }
        self.look_around(now).await
    }

    async fn find_number(&self, served: &[Served], now: Timestamp) -> Result<(), RecordError> {
        self.view.write().own = None;
        let numbers: Vec<_> = (0..SCHEDULERS).map(keys::scheduler).collect();
        let found = self.storage.get_each(&numbers).await?;
        for (number, stored) in (0..SCHEDULERS).zip(found) {
            // Who has a number that cannot be read is not known: it is not taken.
            let Ok(stored) = stored else { continue };
            let free = match &stored {
                None => Some(Expect::Absent),
                Some(stored) => {
                    let free = is_free(stored, now) || self.was_here(stored);
                    free.then_some(Expect::Version(stored.version))
                }
            };
            if let Some(expect) = free
                && self.take_number(number, expect, served, now).await?
            {
                self.fences.set_number(number);
                tracing::info!(number, "this scheduler has a number among those that share the store");
                return Ok(());
            }
        }
        Err(toolplane_store::StoreError::Unavailable {
            reason: format!("more than {SCHEDULERS} schedulers share the store"),
        }
        .into())
    }

    /// Whether a number belongs to an earlier life of this scheduler: only one process at a time can listen at its address.
    fn was_here(&self, stored: &Versioned) -> bool {
        let Some(endpoint) = &self.endpoint else { return false };
        serde_json::from_slice::<ClusterMember>(&stored.bytes)
            .is_ok_and(|member| member.endpoint.as_ref() == Some(endpoint))
    }

    async fn take_number(
        &self,
        number: u64,
        expect: Expect,
        served: &[Served],
        now: Timestamp,
    ) -> Result<bool, RecordError> {
        let (name, endpoint) = (self.name.clone(), self.endpoint.clone());
        let plain = served.iter().filter(|served| served.native_tools.is_empty());
        let mut pools: Vec<String> = plain.flat_map(|served| served.pools.clone()).collect();
        pools.sort_unstable();
        pools.dedup();
        let mut builder = Builder::default();
        builder.compare(keys::scheduler(number), expect);
        builder.put_json(
            keys::scheduler(number),
            &ClusterMember { name, endpoint, pools, served: served.to_vec(), seen_at: now },
        )?;
        builder.enter(keys::SCHEDULERS, number.to_string(), score(now));
        if !matches!(self.storage.write(builder.done(true)).await?, Written::Applied) {
            return Ok(false);
        }
        let version = match expect {
            Expect::Absent => 1,
            Expect::Version(version) => version + 1,
        };
        self.view.write().own = Some((number, version));
        Ok(true)
    }

    async fn look_around(&self, now: Timestamp) -> Result<(), RecordError> {
        let recent = ScoreRange::between(score(now.plus_millis(-SILENT_MS)), u64::MAX);
        let entries = self.storage.scan(keys::SCHEDULERS, recent, usize::try_from(SCHEDULERS).unwrap_or(64)).await?;
        let numbers: Vec<u64> = entries.iter().filter_map(|entry| entry.member.parse().ok()).collect();
        let wanted: Vec<_> = numbers.iter().map(|number| keys::scheduler(*number)).collect();
        let found = self.storage.readable(&wanted).await?;
        let members = numbers.into_iter().zip(found).filter_map(|(number, stored)| {
            Some((number, serde_json::from_slice::<ClusterMember>(&stored?.bytes).ok()?))
        });
        self.view.write().living = members.collect();
        Ok(())
    }

    /// Gives the number back for good, so that the others take over at once.
    pub(crate) async fn leave(&self) {
        // A loop that still shows this scheduler would take the number again.
        let mut left = self.left.lock().await;
        *left = true;
        let Some((number, version)) = self.view.write().own.take() else { return };
        let mut builder = Builder::default();
        builder.compare(keys::scheduler(number), Expect::Version(version));
        builder.delete(keys::scheduler(number));
        builder.leave(keys::SCHEDULERS, number.to_string());
        if let Err(error) = self.storage.write(builder.done(true)).await {
            tracing::debug!(%error, "this scheduler's number could not be given back; it lapses");
        }
    }
}

fn is_free(stored: &Versioned, now: Timestamp) -> bool {
    match serde_json::from_slice::<ClusterMember>(&stored.bytes) {
        Ok(member) => now.since_millis(member.seen_at) > 2 * SILENT_MS,
        Err(_) => true,
    }
}
