//! Lists: calls, newest first, and workers.

use std::collections::BTreeMap;

use prost::Message as _;
use toolplane_proto::convert::word;
use toolplane_proto::v1;
use toolplane_records::ids::{BatchId, InvocationId, InvocationKey, TenantId, ToolId};
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_runtime::{Caller, page};

use super::encode;
use crate::calls::{CallFilter, Calls};
use crate::dispatch::{Fleet, WorkerLink};
use crate::error::CallError;
use crate::groups::Groups;
use crate::identity::ids_of_key;
use crate::storage::RecordError;

/// The handlers that list calls and workers.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub(super) calls: Calls,
    pub(super) groups: Groups,
    pub(super) fleet: Fleet,
}

impl Listing {
    /// One page of calls.
    pub(super) async fn list(
        &self,
        caller: &Caller,
        request: v1::ListInvocationsRequest,
    ) -> Result<v1::ListInvocationsResponse, CallError> {
        let filter = filter(&request)?;
        let scope = format!("{}/{filter:?}", caller.tenant);
        let after = page::position(&scope, &request.page_token)?.as_deref().and_then(read_place);
        let size = page::size(request.page_size)?;
        if let Some(found) = self.known(&caller.tenant, &filter).await? {
            return Ok(known_page(&scope, found, after, size));
        }
        let found = self.calls.records().list(&caller.tenant, &filter, after, size).await?;
        Ok(v1::ListInvocationsResponse {
            invocations: found.records.iter().map(Into::into).collect(),
            next_page_token: next_token(&scope, found.next),
            damaged_ids: found.damaged,
        })
    }

    /// Calls whose ids follow from the filter, newest first: those of a batch, or of an idempotency key. `None` when the whole
    /// list has to be looked through.
    async fn known(&self, tenant: &TenantId, filter: &CallFilter) -> Result<Option<Vec<Invocation>>, CallError> {
        let ids: Vec<InvocationId> = match (&filter.batch_id, &filter.idempotency_key) {
            (Some(batch_id), _) => {
                let batch = self.groups.batch(tenant, batch_id).await?;
                let members = batch.into_iter().flat_map(|batch| batch.members);
                members.map(|member| member.invocation_id).collect()
            }
            (None, Some(key)) => ids_of_key(self.calls.storage().shards(), tenant, key),
            (None, None) => return Ok(None),
        };
        let mut found = Vec::new();
        for id in ids {
            match self.calls.records().get(&InvocationKey::new(tenant, &id)).await {
                Ok(record) if filter.admits(&record) => found.push((*record).clone()),
                Ok(_) | Err(RecordError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // A call with an id of its own, or of a batch, may have the key too.
        if filter.batch_id.is_none() && found.is_empty() {
            return Ok(None);
        }
        found.sort_by_key(|record| std::cmp::Reverse(place_of(record)));
        Ok(Some(found))
    }

    /// One page of workers, ordered by id.
    pub(super) async fn workers(
        &self,
        caller: &Caller,
        request: v1::ListWorkersRequest,
    ) -> Result<v1::ListWorkersResponse, CallError> {
        let first = read_count(page::position(&"workers", &request.page_token)?);
        let size = page::size(request.page_size)?;
        let wanted = request.state();
        let all: Vec<_> = self.known_workers(&caller.tenant).await?;
        let fits = |worker: &v1::WorkerRecord| wanted == v1::WorkerState::Unspecified || worker.state() == wanted;
        let all: Vec<_> = all.into_iter().filter(fits).collect();
        let count = all.len();
        let workers = page::fill(all.into_iter().skip(first), size, v1::WorkerRecord::encoded_len);
        let next = first.saturating_add(workers.len());
        let next_page_token = if next < count { page::token(&"workers", &next.to_string()) } else { String::new() };
        let scheduler = self.fleet.schedulers().name().to_owned();
        Ok(v1::ListWorkersResponse { workers, next_page_token, scheduler })
    }

    /// Every worker of the cluster by id, as a reader of `tenant` sees it: those connected here as they are, others as their
    /// schedulers recorded them. One that has left for another scheduler is told of as that one recorded it.
    async fn known_workers(&self, tenant: &TenantId) -> Result<Vec<v1::WorkerRecord>, CallError> {
        let here = self.fleet.here().list();
        let mut known: BTreeMap<String, v1::WorkerRecord> = BTreeMap::new();
        let mut here: BTreeMap<_, _> = here.into_iter().map(|link| (link.info.worker_id.clone(), link)).collect();
        for recorded in self.fleet.recorded().await? {
            let id = &recorded.info.worker_id;
            if here.get(id).is_some_and(|link| recorded.is_newer_than(link, self.fleet.schedulers().name())) {
                here.remove(id);
            }
            known.insert(id.to_string(), encode::recorded_worker(&recorded, &self.fleet, tenant));
        }
        let connected = |link: &WorkerLink| encode::worker(link, &self.fleet, tenant);
        known.extend(here.iter().map(|(id, link)| (id.to_string(), connected(link))));
        Ok(known.into_values().collect())
    }
}

fn known_page(
    scope: &str,
    found: Vec<Invocation>,
    after: Option<(u64, String)>,
    size: usize,
) -> v1::ListInvocationsResponse {
    let mut left = found.into_iter().filter(|record| after.as_ref().is_none_or(|after| place_of(record) < *after));
    let all: Vec<Invocation> = left.by_ref().collect();
    let shown = page::fill(all.iter().map(v1::Invocation::from), size, v1::Invocation::encoded_len);
    let next = all.get(shown.len().wrapping_sub(1)).map(place_of).filter(|_| shown.len() < all.len());
    v1::ListInvocationsResponse {
        invocations: shown,
        next_page_token: next_token(scope, next),
        damaged_ids: Vec::new(),
    }
}

/// The place of a call in the list of all.
fn place_of(record: &Invocation) -> (u64, String) {
    (u64::try_from(record.created_at.as_millis()).unwrap_or(0), record.key().to_string())
}

/// The place a page begins after: score and id.
pub(super) fn read_place(place: &str) -> Option<(u64, String)> {
    let (score, member) = place.split_once(' ')?;
    Some((score.parse().ok()?, member.to_owned()))
}

/// The token for going on after a place; empty at the end.
pub(super) fn next_token(scope: &str, next: Option<(u64, String)>) -> String {
    next.map(|(score, member)| page::token(&scope, &format!("{score} {member}"))).unwrap_or_default()
}

/// How many rows earlier pages had.
pub(super) fn read_count(place: Option<String>) -> usize {
    place.and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// An instant of a request.
pub(super) fn instant(at: Option<prost_types::Timestamp>) -> Option<Timestamp> {
    at.map(|at| Timestamp::from_millis(at.seconds.saturating_mul(1000).saturating_add(i64::from(at.nanos) / 1_000_000)))
}

fn filter(request: &v1::ListInvocationsRequest) -> Result<CallFilter, CallError> {
    let faulty = |error: toolplane_proto::convert::ConvertError| CallError::invalid(&error.field, error.rule);
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let batch_id = given(&request.batch_id).map(|id| BatchId::parse(&id)).transpose();
    let tool_id = given(&request.tool_id).map(|id| ToolId::parse(&id)).transpose();
    Ok(CallFilter {
        statuses: word::optional_open("status", &request.status, request.status_code)
            .map_err(faulty)?
            .into_iter()
            .collect(),
        tool_id: tool_id.map_err(|rule| CallError::invalid("tool_id", rule.to_string()))?,
        surface_id: given(&request.surface_id),
        created_after: instant(request.created_after),
        created_before: instant(request.created_before),
        batch_id: batch_id.map_err(|rule| CallError::invalid("batch_id", rule.to_string()))?,
        session_ref: given(&request.session_ref).map(Into::into),
        queue_state: word::optional_closed("queue_state", request.queue_state).map_err(faulty)?,
        idempotency_key: given(&request.idempotency_key).map(Into::into),
    })
}
