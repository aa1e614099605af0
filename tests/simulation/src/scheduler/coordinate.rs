//! What calls share: batches and locks, settled by whoever comes first.

use std::collections::BTreeMap;

use toolplane_lifecycle::{Known, Scope, Transition, batch, locks};
use toolplane_records::batch::Batch;
use toolplane_records::ids::InvocationId;
use toolplane_records::locks::LockDomain;
use toolplane_store::{CommitOutcome, Family};

use super::{LEASE_MS, Scheduler};
use crate::env::{Env, Mutant};
use crate::storage::Draft;

/// The records that were read, with their versions.
#[derive(Default)]
struct Read {
    known: Known,
    versions: BTreeMap<InvocationId, u64>,
}

impl Read {
    fn add(&mut self, ids: &[InvocationId], env: &Env) {
        for id in ids {
            let found = env.storage.invocation(id);
            if let Some((version, _)) = &found {
                self.versions.insert(id.clone(), *version);
            }
            self.known.insert(id.clone(), found.map(|(_, record)| record));
        }
    }
}

impl Scheduler {
    /// Settles every scope that has something to settle.
    pub(super) fn coordinate(&mut self, env: &mut Env) {
        for _ in 0..8 {
            let unsettled = env.storage.unsettled();
            let mut changed = false;
            for (scope, ids) in unsettled {
                changed |= match &scope {
                    Scope::Batch { id, .. } => self.settle_batch(&scope, id.as_str(), &ids, env),
                    Scope::Locks { .. } => self.settle_locks(&scope, &ids, env),
                };
                if self.died {
                    return;
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn settle_batch(&mut self, scope: &Scope, id: &str, ids: &[InvocationId], env: &mut Env) -> bool {
        let Some((version, found)) = env.storage.get::<Batch>(Family::Batch, id) else { return false };
        let mut read = Read::default();
        read.add(ids, env);
        let step = loop {
            let step = batch::settle(&found, &read.known, env.clock());
            if step.missing.is_empty() {
                break step;
            }
            read.add(&step.missing, env);
        };
        let mut draft = Draft::default();
        ids.iter().for_each(|id| draft.settled(scope, id));
        draft.put(Family::Batch, id, Some(version), &step.batch);
        self.store(draft, &step.transitions, &read, env)
    }

    fn settle_locks(&mut self, scope: &Scope, ids: &[InvocationId], env: &mut Env) -> bool {
        let Scope::Locks { tenant, domain } = scope else { return false };
        let name = format!("{tenant}/{domain}");
        let found = env.storage.get::<LockDomain>(Family::LockDomain, &name);
        let version = found.as_ref().map(|(version, _)| *version);
        let mut found = found.map_or_else(|| LockDomain::new(tenant.clone(), domain), |(_, found)| found);
        let mut read = Read::default();
        read.add(ids, env);
        if env.is_broken(Mutant::BargeLocks) {
            found.tickets.clear();
        }
        let step = loop {
            let step = locks::settle(&found, &read.known, LEASE_MS, env.clock());
            if step.missing.is_empty() {
                break step;
            }
            read.add(&step.missing, env);
        };
        if step.domain == found && step.transitions.is_empty() && step.lingering.len() == ids.len() {
            return false;
        }
        let mut draft = Draft::default();
        ids.iter().filter(|id| !step.lingering.contains(id)).for_each(|id| draft.settled(scope, id));
        draft.put(Family::LockDomain, &name, version, &step.domain);
        self.store(draft, &step.transitions, &read, env)
    }

    /// One commit for the scope and all of its calls; false when somebody else was faster.
    fn store(&mut self, mut draft: Draft, transitions: &[Transition], read: &Read, env: &mut Env) -> bool {
        for transition in transitions {
            draft.transition(transition, read.versions.get(transition.id()).copied());
        }
        if env.storage.commit(draft.into_commit()) != CommitOutcome::Applied {
            return true;
        }
        for transition in transitions {
            let version = read.versions.get(transition.id()).copied();
            if self.applied(transition, version, env).is_err() {
                return true;
            }
        }
        true
    }
}
