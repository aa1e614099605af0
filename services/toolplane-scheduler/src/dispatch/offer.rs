//! Offers: what a worker needs to run a call it was just given.

use std::sync::Arc;

use toolplane_records::invocation::Invocation;
use toolplane_records::payload::{JsonPayload, PayloadRef};
use toolplane_records::vocabulary::InvocationStatus;

use super::message::WorkerMessage;
use super::workers::Workers;
use crate::calls::{CachedCall, Plans};
use crate::plan::DispatchPlan;
use crate::storage::{RecordError, Storage, keys};

/// How a call runs, with which input, and what of that hooks may see where it is less.
type Dispatched = (Arc<DispatchPlan>, JsonPayload, Option<JsonPayload>);

/// The copy of the executor's input that may be shown, where it is another one.
fn shown(record: &Invocation) -> Option<&PayloadRef> {
    let call = record.inputs.call.as_ref()?;
    record.inputs.permission.as_ref().filter(|copy| copy.digest != call.digest)
}

/// Whether hooks are asked about endings of calls with this plan.
pub(crate) type AsksHooks = Box<dyn Fn(&DispatchPlan) -> bool + Send + Sync>;

/// Sends offers. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Offers(Arc<OfferParts>);

struct OfferParts {
    storage: Storage,
    plans: Plans,
    workers: Arc<Workers>,
    asks_hooks: AsksHooks,
    offer_ms: i64,
}

impl Offers {
    /// Offers to `workers`, which wait `offer_ms` for their receipt.
    pub(crate) fn new(
        storage: Storage,
        plans: Plans,
        workers: Arc<Workers>,
        asks_hooks: AsksHooks,
        offer_ms: i64,
    ) -> Self {
        Self(Arc::new(OfferParts { storage, plans, workers, asks_hooks, offer_ms }))
    }

    /// Sends the offer of a lease that was just granted. Renewals of a confirmed lease send nothing, and neither do leases
    /// of workers that are connected elsewhere.
    pub(crate) fn send_if_fresh(&self, call: &CachedCall) {
        let Some(lease) = &call.record.lease else { return };
        if lease.confirmed || !self.0.workers.is_here(&lease.worker_id) {
            return;
        }
        match (&call.plan, &call.input) {
            (Some(plan), Some(input)) if shown(&call.record).is_none() => {
                let offer = self.offer(call, plan.clone(), input.clone(), None);
                self.0.workers.send(&lease.worker_id, offer);
            }
            _ => {
                let (offers, call) = (self.clone(), call.clone());
                self.0.storage.environment().spawn(async move { offers.send_from_store(call).await });
            }
        }
    }

    /// Reads what the offer needs and sends it; when it cannot be read, the offer lapses and is made again.
    async fn send_from_store(&self, call: CachedCall) {
        let Some(worker_id) = call.record.lease.as_ref().map(|lease| lease.worker_id.clone()) else { return };
        match self.read_dispatch(&call).await {
            Ok(Some((plan, input, shown))) => {
                self.0.workers.send(&worker_id, self.offer(&call, plan, input, shown));
            }
            Ok(None) => {
                tracing::error!(invocation_id = %call.record.invocation_id, "a queued call has no plan or input")
            }
            Err(error) => tracing::warn!(invocation_id = %call.record.invocation_id, %error, "could not read a call"),
        }
    }

    async fn read_dispatch(&self, call: &CachedCall) -> Result<Option<Dispatched>, RecordError> {
        let record = &call.record;
        let Some(input) = record.inputs.call.as_ref() else { return Ok(None) };
        let Some(plan) = self.0.plans.of(record).await? else { return Ok(None) };
        let shown = shown(record);
        let wanted = [Some(input), shown].into_iter().flatten();
        let wanted: Vec<_> = wanted.map(|input| keys::payload(&record.key(), &input.digest)).collect();
        let found = self.0.storage.get_many(&wanted).await?;
        let mut found = found.into_iter().map(|stored| Some(JsonPayload::from_checked(stored?.bytes)));
        let Some(input) = found.next().flatten() else { return Ok(None) };
        let copy = found.next().flatten();
        // What may not be shown must not be shown for want of the copy.
        if shown.is_some() && copy.is_none() {
            return Ok(None);
        }
        Ok(Some((plan, input, copy)))
    }

    fn offer(
        &self,
        call: &CachedCall,
        plan: Arc<DispatchPlan>,
        input: JsonPayload,
        shown: Option<JsonPayload>,
    ) -> WorkerMessage {
        // A call that waited long, or through a restart, continues the trace of its own record.
        let of_record = || {
            let position = call.record.telemetry_refs.first()?;
            Some(format!("00-{}-{}-01", position.trace_id, position.span_id))
        };
        let traceparent = call.traceparent.clone().or_else(of_record);
        let (queued_ms, asked) = (queued_ms(&call.record, self.0.offer_ms), (self.0.asks_hooks)(&plan));
        WorkerMessage::Offer { record: call.record.clone(), plan, input, shown, traceparent, queued_ms, asked }
    }
}

/// How long the call of a fresh offer was queued before it was claimed, milliseconds.
fn queued_ms(record: &Invocation, offer_ms: i64) -> u64 {
    let Some(lease) = &record.lease else { return 0 };
    let claimed_at = lease.expires_at.plus_millis(-offer_ms);
    let queued = record.status_transitions.iter().rev().find(|step| step.to == InvocationStatus::Queued);
    queued.map_or(0, |step| u64::try_from(claimed_at.since_millis(step.at)).unwrap_or(0))
}
