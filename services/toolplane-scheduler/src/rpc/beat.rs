//! Signs of life: leases that go on, and what their holders have not heard yet.

use futures_util::future::join_all;
use toolplane_lifecycle::{Command, LeaseKey, LeaseMessage, unheard};
use toolplane_proto::v1;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_runtime::Caller;

use super::speaker::Said;
use super::wire::{lease_key, lease_ref};
use super::worker_parts::WorkerParts;
use crate::calls::{Calls, is_race};
use crate::error::CallError;
use crate::storage::RecordError;

/// Most leases of one heartbeat.
const MAX_LEASES: usize = 4_096;

/// The outcome of a heartbeat for one lease.
#[derive(Debug)]
pub(super) enum Beat {
    /// The lease goes on; this is what its holder may not have heard.
    Renewed(Vec<LeaseMessage>),
    /// The lease is void.
    Fenced(LeaseKey),
    /// The store did not answer.
    Unsure(LeaseKey),
}

/// Renews one lease where that is due, and gathers what its holder has not answered.
pub(super) async fn renew(calls: &Calls, lease: LeaseKey, lease_ms: i64, now: Timestamp) -> Beat {
    let record = match calls.leased(&lease).await {
        Ok(record) => record,
        Err(RecordError::Refused { .. } | RecordError::NotFound) => return Beat::Fenced(lease),
        Err(_) => return Beat::Unsure(lease),
    };
    let due = record
        .lease
        .as_ref()
        .is_some_and(|held| !held.confirmed || held.expires_at.since_millis(now) < lease_ms * 2 / 3);
    if due {
        let command = |_: &Invocation| Command::Renew { lease: lease.clone(), lease_ms };
        match calls.command(&lease.call(), command).await {
            Ok(_) => {}
            Err(RecordError::Refused { refusal, .. }) if is_race(&refusal) => {
                return Beat::Fenced(lease);
            }
            Err(RecordError::NotFound) => return Beat::Fenced(lease),
            Err(RecordError::Refused { .. }) => {}
            Err(_) => return Beat::Unsure(lease),
        }
    }
    Beat::Renewed(unheard(&record, &lease).collect())
}

/// Answers a heartbeat beside the stream; the worker may be connected to another scheduler.
pub(crate) async fn answer(
    parts: &WorkerParts,
    caller: &Caller,
    request: v1::HeartbeatRequest,
) -> Result<v1::HeartbeatResponse, CallError> {
    if request.leases.len() > MAX_LEASES {
        return Err(CallError::invalid("leases", format!("must have at most {MAX_LEASES} entries")));
    }
    let said = Said {
        within: "",
        worker_id: &request.worker_id,
        incarnation: &request.incarnation,
        lease_id: None,
        for_earlier: request.previous_incarnation_dead,
    };
    let holder = said.holder(&parts.fleet, caller).await?;
    let leases = request.leases.into_iter().map(|lease| lease_key(Some(lease), &holder).map_err(CallError::of_field));
    let leases = leases.collect::<Result<Vec<_>, _>>()?;
    let now = parts.calls.now().await?;
    parts.fleet.here().seen(&holder.worker_id, &request.incarnation, now);
    let lease_ms = parts.terms.lease_ms;
    let beats = leases.into_iter().map(|lease| renew(&parts.calls, lease, i64::from(lease_ms), now));
    let mut response = v1::HeartbeatResponse { lease_ms, ..Default::default() };
    for beat in join_all(beats).await {
        match beat {
            Beat::Renewed(messages) => messages.into_iter().for_each(|message| tell(&mut response, message)),
            Beat::Fenced(lease) => response.fenced.extend(lease_ref(&lease)),
            Beat::Unsure(lease) => response.unsure.extend(lease_ref(&lease)),
        }
    }
    Ok(response)
}

fn tell(response: &mut v1::HeartbeatResponse, message: LeaseMessage) {
    use toolplane_proto::v1::worker_command::Command as Wire;
    match super::wire::command(message.into()).command {
        Some(Wire::Cancel(cancel)) => response.cancels.push(cancel),
        Some(Wire::InputProvided(input)) => response.inputs.push(input),
        _ => {}
    }
}
