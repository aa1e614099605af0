//! From ready queues to workers, in the order fairness says.

use toolplane_lifecycle::fairness::Backlog;
use toolplane_lifecycle::{Command, LeaseGrant, LeaseKey, Permit};
use toolplane_records::ids::{InvocationId, LeaseId, TenantId, WorkerId};
use toolplane_records::vocabulary::Band;
use toolplane_store::ScoreRange;

use super::{Failed, OFFER_MS, Scheduler};
use crate::calls::Kind;
use crate::env::Env;
use crate::message::{Address, Message};
use crate::worker::SLOTS;

/// Most calls of one tenant that run at once.
const RUNNING: u64 = 6;

impl Scheduler {
    pub(super) fn dispatch(&mut self, env: &mut Env) {
        let free: usize = self.links.values().map(|link| SLOTS.saturating_sub(link.busy.len())).sum();
        if free == 0 {
            return;
        }
        let backlog: Vec<Backlog> = env
            .storage
            .indexes("queue/")
            .iter()
            .filter_map(|name| {
                let (band, tenant) = name.strip_prefix("queue/")?.split_once('/')?;
                let waiting = env.storage.len(name);
                Some(Backlog { band: band.parse().ok()?, tenant: TenantId::from_trusted(tenant), waiting })
            })
            .collect();
        for pick in self.fairness.pick(&backlog, free) {
            for entry in env.storage.scan(
                &queue(pick.band, &pick.tenant),
                ScoreRange::all(),
                usize::try_from(pick.count).unwrap_or(usize::MAX),
            ) {
                self.claim(&InvocationId::from_trusted(&entry.member), &pick.tenant, env);
                if self.died {
                    return;
                }
            }
        }
    }

    fn claim(&mut self, id: &InvocationId, tenant: &TenantId, env: &mut Env) {
        let free = self.links.iter().filter(|(_, link)| link.busy.len() < SLOTS);
        let Some((worker, life)) = free.min_by_key(|(_, link)| link.busy.len()).map(|(n, link)| (*n, link.life)) else {
            return;
        };
        let permit = Permit { index: format!("running/{tenant}"), below: RUNNING };
        if env.storage.len(&permit.index) >= RUNNING {
            return;
        }
        let fence = env.next_fence();
        let grant = LeaseGrant {
            lease_id: LeaseId::from_trusted(format!("lease_{fence}_{worker}")),
            fence,
            worker_id: worker_id(worker),
            incarnation: life_name(life),
            offer_ms: OFFER_MS,
            permits: vec![permit],
        };
        match self.command(id, |_| Command::Claim(grant.clone()), env) {
            Ok(claimed) => {
                let record = claimed.invocation;
                let Some(lease) = &record.lease else { return };
                if let Some(link) = self.links.get_mut(&worker) {
                    link.busy.insert(id.clone());
                }
                let kind = Kind {
                    idempotent: record.safety.is_idempotent,
                    lock: record.resource_locks.first().map(|lock| lock.mode),
                    approval: false,
                    asks: id.as_str().bytes().last().is_some_and(|last| last == b'7'),
                    cancelable: record.dispatch.as_ref().is_some_and(|dispatch| dispatch.supports_cancel),
                    band: record.band,
                };
                let lock_fence = record.lock_fence.unwrap_or(0);
                let lease = LeaseKey::of(&record, lease);
                self.tell(Address::Worker(worker), Message::Offer { lease, fence, lock_fence, kind }, env);
            }
            Err(Failed::Refused(_) | Failed::Unknown | Failed::Died) => {}
        }
    }
}

fn queue(band: Band, tenant: &TenantId) -> String {
    format!("queue/{band}/{tenant}")
}

/// The name of a worker.
pub(super) fn worker_id(number: usize) -> WorkerId {
    WorkerId::from_trusted(format!("w_{number}"))
}

/// The number in a worker's name.
pub(super) fn number_of(worker: &WorkerId) -> usize {
    worker.as_str().rsplit('_').next().and_then(|number| number.parse().ok()).unwrap_or(usize::MAX)
}

/// The name of one life of a worker.
pub(super) fn life_name(life: u64) -> String {
    format!("life-{life}")
}
