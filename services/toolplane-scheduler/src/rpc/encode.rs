//! Records as messages.

use prost::Message as _;
use toolplane_faultpoint::{Mutant, mutant};
use toolplane_lifecycle::Terminal;
use toolplane_proto::convert::field::instant;
use toolplane_proto::v1;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::{InvocationKey, TenantId};
use toolplane_records::invocation::{InputBodies, Invocation};
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_runtime::Caller;
use toolplane_store::Durability;

use super::sight::seen_by;
use crate::calls::Records;
use crate::dispatch::{Fleet, PoolGap, RecordedWorker, WorkerInfo, WorkerLink};
use crate::error::CallError;

/// Inputs up to this size are repeated by value where two of them are the same.
const MAX_REPEATED_BYTES: u64 = 64 * 1024;
/// Most bytes of inputs that one answer shows by value.
const MAX_SHOWN_BYTES: usize = 1024 * 1024 + MAX_REPEATED_BYTES as usize;
/// Most bytes of a whole answer that shows inputs, and a rest for frames: it stays below what clients take, 4 MiB.
pub(super) const ANSWER_BYTES: usize = 4 * 1024 * 1024 - 64 * 1024;

pub(crate) fn durability(durability: Durability) -> v1::Durability {
    match durability {
        Durability::Fsynced => v1::Durability::Fsynced,
        Durability::FsyncedReplicated => v1::Durability::FsyncedReplicated,
        Durability::Buffered => v1::Durability::Buffered,
    }
}

/// A worker as a reader of `tenant` sees it: workers run calls of every tenant, and each sees its own.
pub(crate) fn worker(link: &WorkerLink, fleet: &Fleet, tenant: &TenantId) -> v1::WorkerRecord {
    let state = if link.is_draining() { v1::WorkerState::Draining } else { v1::WorkerState::Ready };
    let record = known_worker(&link.info_now(), state, link.last_seen(), &link.in_flight(), tenant);
    held_by(fleet, fleet.schedulers().name(), record)
}

/// A worker as it was recorded last. One that is lost has no free slot.
pub(crate) fn recorded_worker(recorded: &RecordedWorker, fleet: &Fleet, tenant: &TenantId) -> v1::WorkerRecord {
    let lost = recorded.is_lost(|scheduler| fleet.schedulers().lives(scheduler));
    let state = match (lost, recorded.draining) {
        (true, _) => v1::WorkerState::Lost,
        (false, true) => v1::WorkerState::Draining,
        (false, false) => v1::WorkerState::Ready,
    };
    let record = known_worker(&recorded.info, state, recorded.seen_at, &recorded.calls, tenant);
    held_by(fleet, &recorded.scheduler, record)
}

/// Which scheduler holds the worker's stream, or held it last.
fn held_by(fleet: &Fleet, scheduler: &str, record: v1::WorkerRecord) -> v1::WorkerRecord {
    let scheduler_endpoint = fleet.schedulers().endpoint_of(scheduler).unwrap_or_default();
    v1::WorkerRecord { scheduler: scheduler.to_owned(), scheduler_endpoint, ..record }
}

fn known_worker(
    info: &WorkerInfo,
    state: v1::WorkerState,
    seen_at: Timestamp,
    calls: &[InvocationKey],
    tenant: &TenantId,
) -> v1::WorkerRecord {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let free = if state == v1::WorkerState::Lost { 0 } else { info.slots.saturating_sub(calls.len()) };
    v1::WorkerRecord {
        worker_id: info.worker_id.to_string(),
        incarnation: info.incarnation.to_string(),
        version: info.version.clone(),
        state: state.into(),
        slots: count(info.slots),
        free_slots: count(free),
        pools: info.pools.clone(),
        native_tools: info.native_tools.clone(),
        credentials: info.credentials.clone().map(|names| v1::WorkerCredentials { names }),
        gaps: info.gaps.iter().map(gap).collect(),
        posture: info.posture.as_ref().map(Into::into),
        connected_at: instant(info.connected_at),
        last_seen_at: instant(seen_at),
        invocation_ids: calls.iter().filter(|call| call.tenant == *tenant).map(|call| call.id.to_string()).collect(),
        ..Default::default()
    }
}

fn gap(gap: &PoolGap) -> v1::PoolGap {
    v1::PoolGap { pool: gap.pool.clone(), reason_code: gap.reason_code.clone(), message: gap.message.clone() }
}

/// The standard's envelope of each log entry.
pub(crate) fn events(record: &Invocation, log: &[LogEvent]) -> Vec<v1::Event> {
    log.iter()
        .filter(|event| event.seq != 2 || !mutant(Mutant::LoseEvent))
        .map(|event| {
            let envelope =
                event.envelope(&record.tenant, &record.invocation_id, &record.tool_id, &record.telemetry_refs);
            v1::Event::from(envelope)
        })
        .collect()
}

pub(crate) fn result(terminal: &Terminal) -> v1::ToolResult {
    v1::ToolResult::from(&terminal.result)
}

/// `value` as the standard's JSON when `view` asks for it.
pub(crate) fn json<T: serde::Serialize>(view: v1::RecordView, value: &T) -> Option<v1::JsonPayload> {
    (view == v1::RecordView::Json).then(|| (&JsonPayload::of(value)).into())
}

/// Leaves out by value what is the model's input once more: the reference, with its digest, says that it is the same. A
/// large input would otherwise be sent four times over and exceed what a client takes. Where hooks or people have made
/// large inputs that differ, the later ones are told by reference too: `ReadPayload` has them. So are those for which the rest of
/// the answer leaves no room.
fn shown_once(record: &Invocation, bodies: InputBodies, room: usize) -> InputBodies {
    let model = record.inputs.model.digest;
    let large = record.inputs.model.size_bytes > MAX_REPEATED_BYTES;
    let mut left = room.min(MAX_SHOWN_BYTES);
    let mut fit = |body: Option<JsonPayload>| {
        let body = body.filter(|body| body.text().len() <= left);
        left -= body.as_ref().map_or(0, |body| body.text().len());
        body
    };
    let keep = |body: Option<JsonPayload>| body.filter(|body| !large || body.digest() != model);
    InputBodies {
        model: fit(bodies.model),
        call: fit(keep(bodies.call)),
        observable: fit(keep(bodies.observable)),
        permission: fit(keep(bodies.permission)),
    }
}

/// The record as message and as the standard's JSON, as far as `view` and `include_inputs` ask for it and `caller` may
/// see it. `beside` is how large the rest of the answer is. Without `include_inputs` the JSON holds what every caller
/// may see of the inputs: a view is not a request for secrets.
pub(crate) async fn invocation_views(
    records: &Records,
    caller: &Caller,
    record: &Invocation,
    view: v1::RecordView,
    include_inputs: bool,
    beside: usize,
) -> Result<(v1::Invocation, Option<v1::JsonPayload>), CallError> {
    let wanted = include_inputs || view == v1::RecordView::Json;
    let bodies = match wanted {
        true => {
            let seen = seen_by(caller, record, records.inputs(record).await?, include_inputs);
            let bare =
                v1::Invocation::from(record).encoded_len() + record.to_json(&InputBodies::default()).text().len();
            // Shown as a message and as JSON.
            shown_once(record, seen, ANSWER_BYTES.saturating_sub(bare + beside) / 2)
        }
        false => InputBodies::default(),
    };
    let json = (view == v1::RecordView::Json).then(|| (&record.to_json(&bodies)).into());
    let shown = if include_inputs { bodies } else { InputBodies::default() };
    Ok((toolplane_proto::convert::invocation::with_inputs(record, &shown), json))
}
