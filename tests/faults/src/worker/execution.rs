//! One call: wait for the word, write the ledger, visit the guarded resource, report.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;
use toolplane_faultpoint::point;
use toolplane_proto::v1;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::worker_service_client::WorkerServiceClient;
use toolplane_testkit::clients::{payload, payload_bytes};

use super::door;
use super::door::Door;
use super::shared::Worker;
use crate::history::{Edge, Effect};

/// What the ledger tools take.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Input {
    /// How long the effect takes.
    ms: u64,
    /// Ends as a failure.
    fail: bool,
    /// The guarded resource it visits.
    door: Option<String>,
    /// It visits it alone.
    alone: bool,
    /// Bytes of a result that are kept in the object store.
    bytes: usize,
    /// For so long it keeps a thread busy.
    busy_ms: u64,
    /// Reports of progress, spread over its time.
    progress: u32,
    /// It takes the whole worker with it.
    poison: bool,
}

/// How an execution ended.
enum Ending {
    Succeeded(Option<v1::PersistedOutput>),
    Failed,
    /// Stopped from outside.
    Stopped,
}

/// Takes an offered call and runs it.
pub(crate) fn take(worker: &Arc<Worker>, channel: &Channel, lease: v1::LeaseRef, dispatch: v1::Dispatch) {
    let exclusive = dispatch.exclusive_lock;
    let Some(mut taken) = worker.held.take(&lease, dispatch.requires_start_grant, exclusive) else { return };
    let (worker, channel) = (worker.clone(), channel.clone());
    tokio::spawn(async move {
        point("worker.before_start");
        match taken.grant.take() {
            None => worker.held.say(Report::Received(v1::LeaseReceived { lease: Some(lease.clone()) })),
            Some(grant) => {
                worker.held.say(Report::StartRequested(v1::StartRequested { lease: Some(lease.clone()) }));
                let granted = tokio::select! {
                    granted = grant => granted.is_ok(),
                    () = taken.stop.cancelled() => false,
                };
                if !granted {
                    return stopped_early(&worker, &lease);
                }
            }
        }
        if !worker.held.begin(&lease).await {
            return stopped_early(&worker, &lease);
        }
        point("worker.before_effect");
        let begun = Instant::now();
        let ending = run(&worker, &channel, &lease, &dispatch, &taken.stop).await;
        let Some(outcome) = outcome(&worker, &lease, &dispatch, ending, begun) else { return };
        point("worker.before_done");
        let done = v1::ExecutionDone { lease: Some(lease.clone()), outcome: Some(Box::new(outcome)) };
        if worker.held.end(&lease, done) {
            toolplane_wait::pause(Duration::from_millis(5), "the report leaves before the worker dies").await;
            point("worker.after_done");
        }
    });
}

/// Canceled before the first effect.
fn stopped_early(worker: &Worker, lease: &v1::LeaseRef) {
    if worker.held.is_canceled(lease) {
        let released = v1::LeaseReleased { lease: Some(lease.clone()), reason: "canceled".to_owned() };
        worker.held.say(Report::Released(released));
        worker.held.forget(lease);
    }
}

async fn run(
    worker: &Arc<Worker>,
    channel: &Channel,
    lease: &v1::LeaseRef,
    dispatch: &v1::Dispatch,
    stop: &CancellationToken,
) -> Ending {
    let input = payload_bytes(dispatch.call_input.as_ref());
    let input: Input = serde_json::from_slice(&input).unwrap_or_default();
    let effect = Effect {
        invocation: lease.invocation_id.clone(),
        lease_no: lease.lease_no,
        fence: dispatch.fence,
        attempt: dispatch.attempt,
        worker: worker.options.worker_id.clone(),
        edge: Edge::Start,
    };
    if stop.is_cancelled() || !written(worker, &effect, Edge::Start).await {
        return Ending::Stopped;
    }
    point("worker.mid_effect");
    if input.poison {
        // Late enough for the receipt of the call to have left: what dies before that is not charged to the call.
        toolplane_wait::pause(Duration::from_millis(150), "the receipt leaves before the worker dies").await;
        std::process::abort();
    }
    let busy = Instant::now();
    while busy.elapsed() < Duration::from_millis(input.busy_ms) {
        // On purpose not a wait: other work of this runtime is held up.
        std::hint::spin_loop();
    }
    let work = async {
        let visit = input.door.as_deref().map(|key| door::Visit::new(key, input.alone, dispatch, &effect));
        let mut door = match visit {
            Some(visit) => Some(Door::enter(&worker.options.register, visit).await?),
            None => None,
        };
        for step in 0..input.progress {
            worker.held.say(progress(lease, step, input.progress));
            toolplane_wait::pause(Duration::from_millis(input.ms) / input.progress, "the tool takes so long").await;
        }
        if input.progress == 0 {
            toolplane_wait::pause(Duration::from_millis(input.ms), "the tool takes so long").await;
        }
        if let Some(door) = &mut door {
            door.write().await?;
        }
        Ok::<_, String>(door)
    };
    let door = tokio::select! {
        door = work => door,
        () = stop.cancelled() => return Ending::Stopped,
    };
    let door = match door {
        Ok(door) => door,
        Err(_) => return Ending::Failed,
    };
    if input.fail {
        leave(door).await;
        return Ending::Failed;
    }
    if !written(worker, &effect, Edge::End).await {
        return Ending::Stopped;
    }
    leave(door).await;
    point("worker.after_effect");
    if input.bytes == 0 {
        return Ending::Succeeded(None);
    }
    let kept = upload(worker, channel, lease, input.bytes).await;
    point("worker.after_upload");
    Ending::Succeeded(kept)
}

fn progress(lease: &v1::LeaseRef, step: u32, of: u32) -> Report {
    let progress = v1::ToolProgress {
        schema_version: "0.2.0".to_owned(),
        progress_id: format!("{}:w{step}", lease.invocation_id),
        invocation_id: lease.invocation_id.clone(),
        sequence: u64::from(step) + 1,
        status: "running".to_owned(),
        status_code: v1::ProgressStatus::Running.into(),
        message: format!("step {step} of {of}"),
        ..Default::default()
    };
    Report::Progress(v1::ProgressReported { lease: Some(lease.clone()), progress: Some(progress) })
}

async fn leave(door: Option<Door>) {
    if let Some(door) = door {
        door.leave().await;
    }
}

/// Writes a line off the threads that talk; false when the disk refused.
async fn written(worker: &Arc<Worker>, effect: &Effect, edge: Edge) -> bool {
    let (worker, effect) = (worker.clone(), effect.clone());
    let written = tokio::task::spawn_blocking(move || worker.ledger.write(effect, edge)).await;
    matches!(written, Ok(Ok(())))
}

/// Keeps a large result in the object store; nothing when the scheduler is away for too long.
async fn upload(worker: &Worker, channel: &Channel, lease: &v1::LeaseRef, bytes: usize) -> Option<v1::PersistedOutput> {
    let mut seed = Sha256::digest(lease.invocation_id.as_bytes()).to_vec();
    seed.resize(bytes, b'.');
    let header = v1::UploadHeader {
        lease: Some(lease.clone()),
        media_type: "application/octet-stream".to_owned(),
        name: "stdout".to_owned(),
        worker_id: worker.options.worker_id.clone(),
        incarnation: worker.incarnation.clone(),
        // As its hello says.
        previous_incarnation_dead: true,
    };
    for _ in 0..20 {
        use v1::upload_payload_request::Part;
        let parts = [Part::Header(header.clone()), Part::Chunk(seed.clone().into())];
        let parts = parts.map(|part| v1::UploadPayloadRequest { part: Some(part) });
        let mut client = WorkerServiceClient::new(channel.clone());
        match client.upload_payload(tokio_stream::iter(parts)).await {
            Ok(answer) => {
                return Some(v1::PersistedOutput {
                    name: "stdout".to_owned(),
                    strategy: v1::PersistenceStrategy::RefOnly.into(),
                    original_size_bytes: bytes as u64,
                    payload: answer.into_inner().payload,
                    reason: "result_exceeded_inline_limit".to_owned(),
                    ..Default::default()
                });
            }
            Err(_) => toolplane_wait::look_again().await,
        }
    }
    None
}

/// What to report; nothing when it may not be reported.
fn outcome(
    worker: &Worker,
    lease: &v1::LeaseRef,
    dispatch: &v1::Dispatch,
    ending: Ending,
    begun: Instant,
) -> Option<v1::ExecutionOutcome> {
    let report = json!({ "report": {
        "lease_no": lease.lease_no, "fence": dispatch.fence, "worker": worker.options.worker_id,
    }});
    let mut outcome = v1::ExecutionOutcome {
        structured_content: Some(payload(report.to_string())),
        duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        ..Default::default()
    };
    let (status, code, error) = match ending {
        Ending::Succeeded(kept) => {
            let block = |kept: v1::PayloadRef| v1::content_block::Block::PersistedOutputRef(kept);
            let named = kept.as_ref().and_then(|kept| kept.payload.clone()).map(block);
            outcome.content.extend(named.map(|block| v1::ContentBlock { block: Some(block) }));
            outcome.persisted.extend(kept);
            ("succeeded", v1::ResultStatus::Succeeded, None)
        }
        Ending::Failed => ("failed", v1::ResultStatus::Failed, Some(("test.failed", "execution_failed"))),
        Ending::Stopped if worker.held.is_canceled(lease) => {
            ("canceled", v1::ResultStatus::Canceled, Some(("cancel.canceled", "canceled")))
        }
        Ending::Stopped => return None,
    };
    (outcome.status, outcome.status_code, outcome.is_error) = (status.to_owned(), code.into(), error.is_some());
    outcome.error = error.map(|(code, class)| v1::ToolError {
        error_code: code.to_owned(),
        error_class: class.to_owned(),
        recoverability: "not_retryable".to_owned(),
        message: format!("the ledger tool ended as {status}"),
        ..Default::default()
    });
    Some(outcome)
}
