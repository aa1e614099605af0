//! Everything that is kept of ended calls, and what is left of deleted ones, as JSON records in the order of their ends.

use std::collections::VecDeque;

use futures_util::stream::try_unfold;
use prost::Message as _;
use tonic::Status;
use toolplane_proto::convert::field::instant as message_of;
use toolplane_proto::v1;
use toolplane_records::SmolStr;
use toolplane_records::ids::{InvocationId, InvocationKey, TenantId};
use toolplane_records::invocation::{InputBodies, Invocation};
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_runtime::{Caller, page};
use toolplane_store::{IndexEntry, ScoreRange};

use super::follow::{Messages, one_by_one};
use super::list::instant;
use super::sight::seen_by;
use super::status;
use crate::calls::Calls;
use crate::error::CallError;
use crate::keeping::Deletions;
use crate::storage::commit::score;
use crate::storage::{RecordError, keys};

/// Ends looked at at once.
const PAGE: usize = 64;
/// The handler of exports.
#[derive(Clone, Debug)]
pub(super) struct Exporting {
    pub(super) calls: Calls,
    pub(super) deletions: Deletions,
    /// What ended in the last milliseconds is in no export, whatever it is asked for: a commit of that time may be on its way, and what an
    /// export says to have everything of would have a hole.
    pub(super) settle_ms: i64,
}

/// What an export is of.
#[derive(Debug)]
struct Wanted {
    caller: Caller,
    tenant: TenantId,
    /// From the first millisecond to the last one.
    scores: (u64, u64),
    until: Timestamp,
    session: Option<SmolStr>,
    call: Option<InvocationId>,
    inputs: bool,
}

/// How far an export is.
#[derive(Debug)]
enum Stage {
    /// The first message.
    First,
    /// Ended calls, after this one; with ends that were looked up already.
    Calls(Option<IndexEntry>, VecDeque<InvocationKey>),
    /// Tombstones, after this one.
    Tombstones(Option<IndexEntry>),
    /// Only the last message is left.
    Last,
    Over,
}

impl Exporting {
    /// The records of calls that ended, and of deletions, within the time that is asked for.
    pub(super) async fn export(
        &self,
        caller: &Caller,
        tenant: TenantId,
        request: v1::ExportRecordsRequest,
    ) -> Result<Messages<v1::ExportRecordsResponse>, CallError> {
        let given = |text: &str| (!text.is_empty()).then(|| SmolStr::from(text));
        let call = given(&request.invocation_id).map(|id| InvocationId::parse(&id)).transpose();
        let now = self.calls.now().await?;
        let (from, until) = span(now, instant(request.from), instant(request.until), self.settle_ms)?;
        let wanted = Wanted {
            caller: caller.clone(),
            tenant,
            scores: (from.map_or(0, score), score(until).saturating_sub(1)),
            until,
            session: given(&request.session_ref),
            call: call.map_err(|rule| CallError::invalid("invocation_id", rule.to_string()))?,
            inputs: request.include_inputs,
        };
        let steps = try_unfold((self.clone(), wanted, Stage::First), |(exporting, wanted, stage)| async move {
            let next = exporting.step(&wanted, stage).await.map_err(status::of)?;
            Ok::<_, Status>(next.map(|(messages, stage)| (messages, (exporting, wanted, stage))))
        });
        Ok(one_by_one(steps))
    }

    /// What comes next, and where to go on after it.
    async fn step(
        &self,
        wanted: &Wanted,
        stage: Stage,
    ) -> Result<Option<(Vec<v1::ExportRecordsResponse>, Stage)>, CallError> {
        let range = |after: &Option<IndexEntry>| {
            let range = ScoreRange::between(wanted.scores.0, wanted.scores.1);
            after.iter().fold(range, |range, entry| range.after(entry))
        };
        Ok(match stage {
            Stage::First => {
                let first = v1::ExportRecordsResponse {
                    tenant: wanted.tenant.to_string(),
                    until: message_of(wanted.until),
                    ..Default::default()
                };
                // An empty span has nothing, and no score lies in it.
                let is_empty = wanted.scores.0 >= score(wanted.until);
                Some((vec![first], if is_empty { Stage::Last } else { Stage::Calls(None, VecDeque::new()) }))
            }
            Stage::Calls(after, mut found) => match found.pop_front() {
                Some(id) => Some((messages(self.records_of(wanted, &id).await?), Stage::Calls(after, found))),
                None => {
                    let ends =
                        self.calls.storage().scan(keys::ENDED, range(&after), PAGE).await.map_err(RecordError::from)?;
                    let of_tenant = |entry: &IndexEntry| {
                        let id = InvocationKey::parse(&entry.member).ok()?;
                        let is_it =
                            id.tenant == wanted.tenant && wanted.call.as_ref().is_none_or(|call| *call == id.id);
                        is_it.then_some(id)
                    };
                    let stage = match ends.last() {
                        Some(last) => Stage::Calls(Some(last.clone()), ends.iter().filter_map(of_tenant).collect()),
                        None => Stage::Tombstones(None),
                    };
                    Some((Vec::new(), stage))
                }
            },
            Stage::Tombstones(after) => {
                let (found, next) = self.deletions.page(&wanted.tenant, range(&after)).await?;
                // Of which session a call was is not said of it any more: a tombstone is told where all calls are.
                let is_wanted = |id: &InvocationId| match &wanted.call {
                    Some(call) => call == id,
                    None => true,
                };
                let found = found.iter().filter(|tombstone| is_wanted(&tombstone.invocation_id));
                let records = found.map(|tombstone| {
                    record("tombstone", tombstone.invocation_id.as_str(), &JsonPayload::of(tombstone))
                });
                Some((messages(records.collect()), next.map_or(Stage::Last, |next| Stage::Tombstones(Some(next)))))
            }
            Stage::Last => {
                Some((vec![v1::ExportRecordsResponse { complete: true, ..Default::default() }], Stage::Over))
            }
            Stage::Over => None,
        })
    }

    /// All records of one call; none when it was removed meanwhile or is of another session.
    async fn records_of(&self, wanted: &Wanted, id: &InvocationKey) -> Result<Vec<v1::ExportedRecord>, CallError> {
        let records = self.calls.records();
        let call = match records.get(id).await {
            Ok(call) => call,
            Err(RecordError::NotFound) => return Ok(Vec::new()),
            // A record that cannot be read is told as that: an export leaves nothing out in silence.
            Err(RecordError::Damaged(_) | RecordError::Store(toolplane_store::StoreError::Damaged(_))) => {
                let damaged = serde_json::json!({ "invocation_id": id.id, "damaged": true });
                return Ok(vec![record("damaged", id.id.as_str(), &JsonPayload::of(&damaged))]);
            }
            Err(error) => return Err(error.into()),
        };
        if wanted.session.is_some() && wanted.session != call.session_ref {
            return Ok(Vec::new());
        }
        let bodies = match wanted.inputs {
            true => seen_by(&wanted.caller, &call, records.inputs(&call).await?, true),
            false => InputBodies::default(),
        };
        let name = id.id.as_str();
        let mut all = vec![record("invocation", name, &call.to_json(&bodies))];
        for (_, kept) in records.decisions_after(&call, 0, usize::MAX).await? {
            all.extend(kept.map(|kept| record("decision", kept.decision_id.as_str(), &JsonPayload::of(&kept))));
        }
        for kept in records.mutations(&call).await? {
            all.push(record("mutation", &kept.mutation_id, &JsonPayload::of(&kept)));
        }
        for (kept, hook_ref) in records.hooks(&call).await?.iter().zip(&call.hook_refs) {
            all.push(record("hook", hook_ref, &JsonPayload::of(kept)));
        }
        for kept in records.executions(&call).await? {
            all.push(record("execution", &kept.evidence_id, &JsonPayload::of(&kept)));
        }
        if let Some(terminal) = records.result(id).await? {
            let persistence = terminal.persistence.iter();
            all.extend(
                persistence.map(|kept| record("persistence", kept.decision_id.as_str(), &JsonPayload::of(kept))),
            );
            let result = &terminal.result;
            all.push(record("result", result.result_id.as_str(), &JsonPayload::of(result)));
        }
        all.extend(events(&call, &records.log(id).await?));
        Ok(all)
    }
}

/// From when until when an export has everything that is asked for. It never ends before it begins: the next one begins at its end.
fn span(
    now: Timestamp,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
    settle_ms: i64,
) -> Result<(Option<Timestamp>, Timestamp), CallError> {
    let begin = from.unwrap_or(Timestamp::from_millis(0));
    if begin > now {
        return Err(CallError::invalid("from", format!("must not be after now, which is {now}; is {begin}")));
    }
    if let Some(until) = until.filter(|until| *until < begin) {
        return Err(CallError::invalid("until", format!("must not be before `from`, which is {begin}; is {until}")));
    }
    let settled = now.plus_millis(-settle_ms);
    Ok((from, until.map_or(settled, |until| until.min(settled)).max(begin)))
}

fn events(call: &Invocation, log: &[toolplane_records::event::LogEvent]) -> Vec<v1::ExportedRecord> {
    let told = |event: &toolplane_records::event::LogEvent| {
        let event = event.envelope(&call.tenant, &call.invocation_id, &call.tool_id, &call.telemetry_refs);
        record("event", &event.event_id, &JsonPayload::of(&event))
    };
    log.iter().map(told).collect()
}

fn record(kind: &str, id: &str, json: &JsonPayload) -> v1::ExportedRecord {
    v1::ExportedRecord { kind: kind.to_owned(), id: id.to_owned(), json: Some(json.into()) }
}

fn messages(records: Vec<v1::ExportedRecord>) -> Vec<v1::ExportRecordsResponse> {
    let parts = page::split(records, v1::ExportedRecord::encoded_len);
    parts.into_iter().map(|records| v1::ExportRecordsResponse { records, ..Default::default() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an export says to have is there: nothing that may still be on its way is promised, and no export ends before it begins.
    #[test]
    fn an_export_ends_where_everything_is_there() {
        let at = Timestamp::from_millis;
        let until = |from: Option<i64>, until: Option<i64>| {
            let span = span(at(100_000), from.map(at), until.map(at), 5_000);
            span.map(|(_, until)| until.as_millis()).map_err(|error| format!("{error:?}"))
        };
        assert_eq!(until(None, None), Ok(95_000));
        assert_eq!(until(None, Some(90_000)), Ok(90_000));
        assert_eq!(until(None, Some(99_999)), Ok(95_000));
        assert_eq!(until(None, Some(900_000)), Ok(95_000));
        assert_eq!(until(Some(97_000), None), Ok(97_000));
        assert_eq!(until(Some(97_000), Some(99_000)), Ok(97_000));
        assert!(until(Some(90_000), Some(80_000)).unwrap_err().contains("must not be before `from`"));
        assert!(until(Some(100_001), None).unwrap_err().contains("must not be after now"));
    }
}
