//! Leases of a worker that is proven dead: they end at once, instead of when they lapse.

use toolplane_lifecycle::{Command, Timer};
use toolplane_records::ids::{InvocationKey, WorkerId};
use toolplane_store::ScoreRange;

use crate::calls::{CachedCall, Calls};
use crate::storage::{RecordError, keys};

/// Leases looked at at once.
const PAGE: usize = 256;

/// Ends every lease of this worker but those of the start `alive`; returns how many there were. Returns an error when the store
/// does. Must run in a task that is not dropped half way: a worker that hangs up must not leave half of its leases.
pub(crate) async fn end_leases(calls: &Calls, worker_id: &WorkerId, alive: &str) -> Result<usize, RecordError> {
    let mut ended = 0;
    let mut range = ScoreRange::all();
    loop {
        let page = calls.storage().scan(&keys::timers(Timer::Lease), range, PAGE).await?;
        let ids: Vec<_> = page.iter().filter_map(|entry| InvocationKey::parse(&entry.member).ok()).collect();
        let wanted: Vec<_> = ids.iter().map(keys::invocation).collect();
        for stored in calls.storage().readable(&wanted).await?.into_iter().flatten() {
            let Ok(call) = CachedCall::read(&stored) else { continue };
            let Some(lease) = &call.record.lease else { continue };
            if lease.worker_id == *worker_id && lease.incarnation != alive {
                let incarnation = lease.incarnation.clone();
                let gone =
                    |_: &_| Command::WorkerGone { worker_id: worker_id.clone(), incarnation: incarnation.clone() };
                let id = call.record.key();
                calls.tell_receipt(&id).await;
                ended += usize::from(calls.command(&id, gone).await.is_ok());
            }
        }
        match page.last() {
            Some(last) if page.len() == PAGE => range = ScoreRange::all().after(last),
            _ => return Ok(ended),
        }
    }
}
