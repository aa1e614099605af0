//! The end of a run: wait until everything has settled, read all of it from the cluster, and judge.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use parking_lot::Mutex;
use tonic::Code;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload_bytes};

use crate::bed::{AGAIN, Bed, NOTHING};
use crate::check::{Verdict, judge};
use crate::history::{
    Answer, CallCourse, CallName, FinalCall, FinalEvent, FinalResult, LockTicket, Record, Report, Step,
};
use crate::load::{Load, Mix, digest_of, final_batch};
use crate::trouble::Trouble;

/// How long no call may come to its end, while some have not, once nothing is broken any more: 60 s at full timers.
const SETTLE: Duration = Duration::from_secs(20);
/// How long all of them may take: on a slow machine many wait for the same locks.
const LONGEST: Duration = Duration::from_secs(10 * 60);
/// Calls read at the same time.
const READERS: usize = 48;
/// Calls of the last trial of each client.
const PROBES: u64 = 20;

/// The event that says that a call has its locks.
const GRANTED: &str = "ext.invocation.lock_granted";

/// Waits for the ends, tries whether everything works, reads every call, stops the cluster, looks for what is left in its
/// store, and judges.
pub async fn finish(bed: &mut Bed) -> Result<Verdict, Trouble> {
    bed.recorder().record(Record::Healed);
    settle(bed).await?;
    probe(bed).await?;
    read_all(bed).await?;
    bed.close().await?;
    let mut history = bed.recorder().history();
    history.add(bed.ledgers()?);
    let mut verdict = judge(&history);
    verdict.violations.truncate(1_000);
    // Of a mutant nothing else was expected.
    if !verdict.is_green() && !bed.is_mutant() {
        println!("kept for you to look into: {}", bed.keep().display());
    }
    Ok(verdict)
}

/// Waits until every accepted call has ended, or none ends any more; the judge finds those that do not.
async fn settle(bed: &Bed) -> Result<(), Trouble> {
    let clients = bed.clients()?;
    let until = Instant::now() + LONGEST;
    let last_end = Mutex::new(Instant::now());
    let goes_on = || Instant::now() < until && last_end.lock().elapsed() < SETTLE;
    let waits = stream::iter(accepted(bed)).map(|invocation| {
        let clients = clients[invocation.len() % clients.len()].clone();
        let (last_end, goes_on) = (&last_end, &goes_on);
        async move {
            while goes_on() {
                let request = v1::WaitInvocationRequest {
                    invocation_id: invocation.clone(),
                    timeout_ms: 2_000,
                    ..Default::default()
                };
                match clients.invocations().wait_invocation(request).await {
                    Ok(answer) if answer.get_ref().done => return *last_end.lock() = Instant::now(),
                    Err(status) if status.code() == Code::NotFound => return,
                    // A scheduler that is told to stop answers at once.
                    Ok(_) | Err(_) => toolplane_wait::look_again().await,
                }
            }
        }
    });
    waits.buffer_unordered(READERS).collect::<Vec<_>>().await;
    Ok(())
}

fn accepted(bed: &Bed) -> BTreeSet<String> {
    let history = bed.recorder().history();
    let ids = history.records().filter_map(|record| match record {
        Record::Submit { answer: Answer::Accepted { invocation, .. }, .. } => Some(invocation.clone()),
        _ => None,
    });
    ids.collect()
}

/// After the last repair every scheduler serves as if nothing had been.
async fn probe(bed: &Bed) -> Result<(), Trouble> {
    let load = Load::new(bed, "probe", Mix::PLAIN, 0)?;
    let ledger = !bed.worker_names().is_empty();
    for (number, _) in bed.scheduler_names().iter().enumerate() {
        let client = u32::try_from(number).unwrap_or_default();
        for call in 0..PROBES {
            let ok = trial(&load, ledger, number as u64, call).await;
            bed.recorder().record(Record::Probe { client, ok });
        }
    }
    Ok(())
}

async fn trial(load: &Arc<Load>, ledger: bool, turn: u64, call: u64) -> bool {
    let key = format!("probe-{turn}-{call}");
    let plan = crate::history::Plan { key, idempotent: ledger, ledger, ..Default::default() };
    let (tool, input) = if ledger { (AGAIN, r#"{"ms":1}"#) } else { (NOTHING, "{}") };
    let spec = load.spec(&plan.key, tool, input.to_owned());
    let asked = tokio::time::timeout(Duration::from_secs(10), load.ask_for(turn, plan, &spec)).await;
    let Ok(Some(invocation)) = asked else { return false };
    let result = load.watch(turn, &invocation, Instant::now() + Duration::from_secs(10)).await;
    result.is_some_and(|result| !result.is_error)
}

/// Reads everything the cluster knows.
async fn read_all(bed: &Bed) -> Result<(), Trouble> {
    let clients = bed.clients()?;
    let mut listed = list(&clients[0]).await?;
    let known: BTreeSet<String> = listed.iter().map(|call| call.invocation_id.clone()).collect();
    for invocation_id in accepted(bed).difference(&known) {
        let request = v1::GetInvocationRequest { invocation_id: invocation_id.clone(), ..Default::default() };
        match clients[0].invocations().get_invocation(request).await {
            Ok(answer) => listed.extend(answer.into_inner().invocation),
            Err(status) if status.code() == Code::NotFound => {
                bed.recorder().record(Record::Missing { invocation: invocation_id.clone() });
            }
            Err(status) => return Err(status.into()),
        }
    }
    let batches: BTreeSet<String> =
        listed.iter().filter_map(|call| call.batch.as_ref().map(|place| place.batch_id.clone())).collect();
    let reads = stream::iter(listed).map(|call| read_one(&clients, call));
    let mut reads = reads.buffer_unordered(READERS);
    while let Some(records) = reads.next().await {
        records?.into_iter().for_each(|record| bed.recorder().record(record));
    }
    for batch_id in batches {
        let answer = clients[0].invocations().get_batch(v1::GetBatchRequest { batch_id, ..Default::default() }).await?;
        if let Some(batch) = answer.into_inner().batch {
            bed.recorder().record(Record::Batch(final_batch(&batch)));
        }
    }
    Ok(())
}

/// Every call there is.
async fn list(clients: &Clients) -> Result<Vec<v1::Invocation>, Trouble> {
    let mut all = Vec::new();
    let mut page_token = String::new();
    loop {
        let request = v1::ListInvocationsRequest { page_size: 500, page_token, ..Default::default() };
        let mut client = clients.invocations().max_decoding_message_size(64 * 1024 * 1024);
        let page = client.list_invocations(request).await?.into_inner();
        all.extend(page.invocations);
        if page.next_page_token.is_empty() {
            return Ok(all);
        }
        page_token = page.next_page_token;
    }
}

/// One call with its log, its result, and what the result refers to. Its log and its result are read at different schedulers.
async fn read_one(clients: &[Clients], call: v1::Invocation) -> Result<Vec<Record>, Trouble> {
    let invocation_id = call.invocation_id.clone();
    let ended = !call.result_id.is_empty();
    let (mut events, mut result) = (Vec::new(), None);
    if ended {
        let request =
            v1::WatchInvocationRequest { invocation_id: invocation_id.clone(), from_seq: 1, ..Default::default() };
        let mut stream = clients[0].invocations().watch_invocation(request).await?.into_inner();
        while let Some(message) = stream.message().await? {
            events.extend(message.events);
        }
        let request = v1::GetResultRequest { invocation_id: invocation_id.clone(), ..Default::default() };
        let last = clients.len() - 1;
        result = clients[last].invocations().get_result(request).await?.into_inner().result;
    }
    let mut records = Vec::new();
    if let Some(result) = result.as_ref().filter(|result| !result.persistence_refs.is_empty()) {
        records.extend(objects(&clients[0], &invocation_id, result).await);
    }
    records.push(Record::Call(Box::new(final_call(call, &events, result.as_ref()))));
    Ok(records)
}

/// Follows the references of a result to their bytes.
async fn objects(clients: &Clients, invocation: &str, result: &v1::ToolResult) -> Vec<Record> {
    let mut records = Vec::new();
    for decision_id in &result.persistence_refs {
        let request = v1::GetPersistenceRequest {
            invocation_id: invocation.to_owned(),
            decision_id: decision_id.clone(),
            ..Default::default()
        };
        let decisions = match clients.invocations().get_persistence(request).await {
            Ok(answer) => answer.into_inner().decisions,
            Err(status) => {
                let problem = Some(format!("decision {decision_id}: {status}"));
                records.push(Record::Object { invocation: invocation.to_owned(), problem });
                continue;
            }
        };
        for kept in decisions.into_iter().filter_map(|decision| decision.persisted_ref) {
            let problem = resolve(clients, invocation, &kept).await.err();
            records.push(Record::Object { invocation: invocation.to_owned(), problem });
        }
    }
    records
}

async fn resolve(clients: &Clients, invocation: &str, kept: &v1::PayloadRef) -> Result<(), String> {
    use sha2::{Digest as _, Sha256};
    let request = v1::ReadPayloadRequest {
        invocation_id: invocation.to_owned(),
        selector: Some(v1::read_payload_request::Selector::Uri(kept.uri.clone())),
        ..Default::default()
    };
    let wrong = |status: tonic::Status| format!("{}: {status}", kept.uri);
    let mut stream = clients.invocations().read_payload(request).await.map_err(wrong)?.into_inner();
    let (mut hash, mut size) = (Sha256::new(), 0);
    while let Some(part) = stream.message().await.map_err(wrong)? {
        size += part.data.len() as u64;
        hash.update(&part.data);
    }
    let digest = format!("sha256:{}", hex::encode(hash.finalize()));
    match digest == kept.digest && size == kept.size_bytes {
        true => Ok(()),
        false => Err(format!("{}: {size} bytes with another digest", kept.uri)),
    }
}

fn final_call(call: v1::Invocation, events: &[v1::Event], result: Option<&v1::ToolResult>) -> FinalCall {
    let step = |step: &v1::StatusTransition| Step { from: step.from.clone(), to: step.to.clone(), seq: step.seq };
    let events: Vec<FinalEvent> = events.iter().map(final_event).collect();
    // Members of a batch share its key; each has a name of its own among the provider's ids.
    let of_batch = call.batch.is_some().then(|| call.native_call_id.clone()).flatten();
    let granted_ms = events.iter().find(|event| event.class == GRANTED).map(|event| event.at_ms);
    let last_logged = events.last().map_or(0, |event| event.seq);
    FinalCall {
        result: result.map(final_result),
        created_ms: millis(call.created_at.as_ref()).unwrap_or_default(),
        ended_ms: millis(call.ended_at.as_ref()),
        cancel_asked: call.cancel.is_some(),
        lease_no: call.lease_no,
        leased: call.lease.is_some(),
        locks: LockTicket { ticket: call.lock_fence, granted_ms },
        course: CallCourse {
            steps: call.status_transitions.iter().map(step).collect(),
            last_seq: if result.is_some() { last_logged.max(call.last_seq) } else { call.last_seq },
            status: call.status,
            events,
        },
        name: CallName {
            key: of_batch.or(call.idempotency_key).unwrap_or_default(),
            invocation: call.invocation_id,
            tenant: call.tenant,
            band: call.priority,
        },
    }
}

fn final_event(event: &v1::Event) -> FinalEvent {
    let data: serde_json::Value =
        serde_json::from_slice(&payload_bytes(event.data.as_ref())).unwrap_or(serde_json::Value::Null);
    let text = |name: &str| data[name].as_str().map(str::to_owned);
    FinalEvent {
        seq: event.sequence,
        class: event.event_type.clone(),
        at_ms: millis(event.time.as_ref()).unwrap_or_default(),
        lease_no: data["lease_no"].as_u64().and_then(|number| u32::try_from(number).ok()),
        worker: text("worker_id"),
        reason: text("reason"),
    }
}

fn final_result(result: &v1::ToolResult) -> FinalResult {
    let content: serde_json::Value =
        serde_json::from_slice(&payload_bytes(result.structured_content.as_ref())).unwrap_or(serde_json::Value::Null);
    let error = result.error.clone().unwrap_or_default();
    FinalResult {
        digest: digest_of(result),
        status: result.status.clone(),
        error_code: error.error_code,
        error_class: error.error_class,
        message: error.message,
        report: serde_json::from_value::<Report>(content["report"].clone()).ok(),
    }
}

fn millis(at: Option<&prost_types::Timestamp>) -> Option<u64> {
    let at = at?;
    let millis = at.seconds.saturating_mul(1_000) + i64::from(at.nanos) / 1_000_000;
    u64::try_from(millis).ok()
}
