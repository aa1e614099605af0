//! Locks that nobody holds or waits for are granted in the commit that accepts a call: one durable write instead of two.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::{BoxFuture, try_join};
use parking_lot::Mutex;
use toolplane_lifecycle::{Effect, Known, Scope, Transition, locks};
use toolplane_records::locks::LockDomain;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::Hold;
use toolplane_store::{IndexEntry, ScoreRange};

use super::keys;
use super::settle::{expected, write_domain};
use crate::dispatch::{Granted, LocksAtOnce};
use crate::storage::commit::Builder;
use crate::storage::{RecordError, Storage, keys as store_keys};

/// Most wishes of a domain that are looked through for a call that has to be waited for.
const WISHES: usize = 64;

/// Grants free locks to calls that are about to be accepted.
#[derive(Debug)]
pub(crate) struct FreeLocks {
    storage: Storage,
    /// Domains for which a call is being accepted so. Calls that come meanwhile wait for their locks together, in one commit: each would
    /// only make the commits of the others fail.
    taken: Taken,
    /// How long a lock stays with an ended call whose worker may not know it, milliseconds.
    linger_ms: i64,
}

impl FreeLocks {
    pub(crate) fn new(storage: Storage, linger_ms: i64) -> Self {
        Self { storage, taken: Taken::default(), linger_ms }
    }

    async fn try_grant(
        &self,
        accepted: &Transition,
        scope: Scope,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<Granted>, RecordError> {
        let Some(turn) = Turn::take(&self.taken, &scope) else { return Ok(None) };
        let record = &accepted.invocation;
        let (key, wishes) = (keys::domain(&record.tenant, name), store_keys::coordination(&scope));
        let (stored, wishes) =
            try_join(self.storage.get(&key), self.storage.scan(&wishes, ScoreRange::all(), WISHES)).await?;
        let before = match &stored {
            Some(stored) => serde_json::from_slice(&stored.bytes)?,
            None => super::settle::new_domain(&record.tenant, name, now),
        };
        if wishes.len() == WISHES || !wishes.iter().all(|wish| holds_ticket(&before, wish)) {
            return Ok(None);
        }
        let known = Known::from([(record.invocation_id.clone(), Some(record.clone()))]);
        let mut step = locks::settle(&before, &known, self.linger_ms, now);
        let Some(granted) = step.transitions.pop().filter(|_| step.missing.is_empty()) else { return Ok(None) };
        let mut rest = Builder::default();
        rest.compare(key.clone(), expected(stored.as_ref()));
        write_domain(&mut rest, &key, &step.domain, now)?;
        let mut transition = accepted.clone();
        transition.effects.retain(|effect| *effect != Effect::Settle(scope.clone()));
        Ok(Some(Granted { transition: transition.then(granted), rest: rest.done(false), turn: Box::new(turn) }))
    }
}

impl LocksAtOnce for FreeLocks {
    fn grant<'a>(
        &'a self,
        accepted: &'a Transition,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Granted>, RecordError>> {
        let record = &accepted.invocation;
        // A member of a batch is released by its batch.
        let name = record.lock_domain.as_ref().filter(|_| record.holds == [Hold::Locks] && record.batch.is_none());
        let Some(name) = name else { return Box::pin(std::future::ready(Ok(None))) };
        let scope = Scope::Locks { tenant: record.tenant.clone(), domain: name.clone() };
        Box::pin(self.try_grant(accepted, scope, name, now))
    }
}

/// See [`FreeLocks`].
type Taken = Arc<Mutex<HashSet<Scope>>>;

/// A domain whose next call is being accepted.
#[derive(Debug)]
struct Turn {
    taken: Taken,
    scope: Scope,
}

impl Turn {
    fn take(taken: &Taken, scope: &Scope) -> Option<Self> {
        taken.lock().insert(scope.clone()).then(|| Self { taken: taken.clone(), scope: scope.clone() })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.taken.lock().remove(&self.scope);
    }
}

/// Whether what is wished concerns a call that has its place already: most wishes are of calls that have ended. What their tickets
/// exclude is excluded until they are taken back. A call without a ticket waits, and is not overtaken.
fn holds_ticket(domain: &LockDomain, wish: &IndexEntry) -> bool {
    domain.tickets.iter().any(|ticket| domain.tenant.scoped(&ticket.invocation_id) == wish.member)
}
