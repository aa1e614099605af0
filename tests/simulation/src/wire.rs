//! What a simulated worker says and hears, in the words of the contract.

use toolplane_lifecycle::{Holder, LeaseKey};
use toolplane_proto::v1;
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::{InvocationId, LeaseId, WorkerId};
use toolplane_records::vocabulary::{ErrorClass, Recoverability, ResultStatus};

use crate::calls::{Kind, WantedCall};
use crate::message::{Ending, Message};

/// How long a tool's question waits, milliseconds.
const INPUT_MS: u32 = 3_000;
/// Calls a worker runs at a time.
const SLOTS: u32 = 4;

/// The name of a worker.
pub fn worker_id(number: usize) -> WorkerId {
    WorkerId::from_trusted(format!("w_{number}"))
}

/// The name of one start of a worker.
pub fn incarnation(life: u64) -> String {
    format!("life-{life}")
}

/// The number in the name of the worker that holds a lease.
pub fn number_of(lease: &LeaseKey) -> Option<usize> {
    lease.holder.worker_id.as_str().rsplit('_').next()?.parse().ok()
}

fn lease_ref(lease: &LeaseKey) -> Option<v1::LeaseRef> {
    Some(v1::LeaseRef {
        invocation_id: lease.invocation_id.to_string(),
        lease_no: lease.lease_no,
        lease_id: lease.lease_id.to_string(),
    })
}

/// A lease as worker `worker` has it in its life `life`.
fn lease_key(lease: Option<v1::LeaseRef>, worker: usize, life: u64) -> Option<LeaseKey> {
    let lease = lease?;
    let lease_id = LeaseId::parse(&lease.lease_id).ok()?;
    Some(LeaseKey {
        tenant: lease_id.tenant(),
        invocation_id: InvocationId::parse(&lease.invocation_id).ok()?,
        lease_no: lease.lease_no,
        lease_id,
        holder: Holder { worker_id: worker_id(worker), incarnation: Some(incarnation(life).into()) },
    })
}

/// The first report of a worker.
pub fn hello(worker: usize, life: u64, held: &[LeaseKey], finished: &[(LeaseKey, Ending)]) -> v1::WorkRequest {
    let hello = v1::WorkerHello {
        worker_id: worker_id(worker).to_string(),
        incarnation: incarnation(life),
        slots: SLOTS,
        pools: vec!["native".to_owned()],
        held: held.iter().filter_map(lease_ref).collect(),
        previous_incarnation_dead: true,
        finished: finished.iter().map(|(lease, ending)| done(lease, *ending)).collect(),
        ..Default::default()
    };
    request(Report::Hello(hello))
}

/// One report as a message of the stream.
pub fn request(report: Report) -> v1::WorkRequest {
    v1::WorkRequest { reports: vec![v1::WorkerReport { report: Some(report) }] }
}

fn done(lease: &LeaseKey, ending: Ending) -> v1::ExecutionDone {
    v1::ExecutionDone { lease: lease_ref(lease), outcome: Some(Box::new(outcome(ending))) }
}

/// A report of a worker; nothing for messages that are none.
pub fn report(message: &Message) -> Option<(usize, Report)> {
    let (lease, report) = match message {
        Message::Received(lease) => (lease, Report::Received(v1::LeaseReceived { lease: lease_ref(lease) })),
        Message::StartRequested(lease) => {
            (lease, Report::StartRequested(v1::StartRequested { lease: lease_ref(lease) }))
        }
        Message::Asked(lease, question) => {
            let asked = v1::InputRequested {
                lease: lease_ref(lease),
                input_id: question.clone(),
                ttl_ms: INPUT_MS,
                ..Default::default()
            };
            (lease, Report::InputRequested(asked))
        }
        Message::Done(lease, ending) => (lease, Report::Done(done(lease, *ending))),
        Message::CancelSeen(lease, supported) => {
            let seen = v1::CancelAcknowledged { lease: lease_ref(lease), supported: *supported };
            (lease, Report::CancelAcknowledged(seen))
        }
        _ => return None,
    };
    Some((number_of(lease)?, report))
}

/// The heartbeat of a worker beside its stream.
pub fn heartbeat(worker: usize, life: u64, leases: &[LeaseKey]) -> v1::HeartbeatRequest {
    v1::HeartbeatRequest {
        worker_id: worker_id(worker).to_string(),
        incarnation: incarnation(life),
        leases: leases.iter().filter_map(lease_ref).collect(),
        previous_incarnation_dead: true,
    }
}

/// What the answer to a heartbeat with `leases` says, message by message.
pub fn heard(worker: usize, life: u64, leases: Vec<LeaseKey>, answer: v1::HeartbeatResponse) -> Vec<Message> {
    let key = |lease| lease_key(lease, worker, life);
    let fenced: Vec<LeaseKey> = answer.fenced.into_iter().filter_map(|lease| key(Some(lease))).collect();
    let unsure: Vec<LeaseKey> = answer.unsure.into_iter().filter_map(|lease| key(Some(lease))).collect();
    let renewed = leases.into_iter().filter(|lease| !fenced.contains(lease) && !unsure.contains(lease)).collect();
    let stops = answer.cancels.into_iter().filter_map(|cancel| Some(Message::Stop(key(cancel.lease)?)));
    let answers =
        answer.inputs.into_iter().filter_map(|input| Some(Message::Answer(key(input.lease)?, input.input_id)));
    let told = fenced.into_iter().map(Message::Fenced).chain(stops).chain(answers);
    std::iter::once(Message::Renewed(renewed)).chain(told).collect()
}

/// What a worker is told; nothing for what a simulated one does not heed. `wanted` says what the client asked for.
pub fn told(
    worker: usize,
    life: u64,
    command: v1::WorkerCommand,
    wanted: impl Fn(&InvocationId) -> Option<WantedCall>,
) -> Option<Message> {
    let key = |lease| lease_key(lease, worker, life);
    Some(match command.command? {
        Command::Offer(offer) => {
            let (lease, dispatch) = (key(offer.lease)?, offer.dispatch?);
            let kind: Kind = wanted(&lease.invocation_id)?.kind;
            // Whether it may be executed again is for the scheduler to say.
            let kind = Kind { idempotent: !dispatch.requires_start_grant, ..kind };
            Message::Offer { lease, fence: dispatch.fence, lock_fence: dispatch.lock_fence, kind }
        }
        Command::StartGranted(granted) => Message::StartGranted(key(granted.lease)?),
        Command::StartRefused(refused) => Message::StartRefused(key(refused.lease)?),
        Command::Cancel(cancel) => Message::Stop(key(cancel.lease)?),
        Command::Fenced(fenced) => Message::Fenced(key(fenced.lease)?),
        Command::DoneAcknowledged(done) => Message::Acknowledged(key(done.lease)?),
        Command::InputProvided(input) => Message::Answer(key(input.lease)?, input.input_id),
        Command::Welcome(_) | Command::GoAway(_) | Command::ReportRefused(_) => return None,
    })
}

fn outcome(ending: Ending) -> v1::ExecutionOutcome {
    let failed = |class, code| ToolError::new(code, class, Recoverability::NotRetryable, "it did not work");
    let (status, error) = match ending {
        Ending::Succeeded => (ResultStatus::Succeeded, None),
        Ending::Failed => (ResultStatus::Failed, Some(failed(ErrorClass::ExecutionFailed, codes::EXIT_CODE))),
        Ending::Unavailable => {
            (ResultStatus::Failed, Some(failed(ErrorClass::DependencyUnavailable, codes::HTTP_UNREACHABLE)))
        }
        Ending::Canceled => (ResultStatus::Canceled, Some(failed(ErrorClass::Canceled, codes::EXEC_CANCELED))),
    };
    v1::ExecutionOutcome {
        status: status.to_string(),
        status_code: v1::ResultStatus::from(status).into(),
        is_error: error.is_some(),
        error: error.as_ref().map(Into::into),
        ..Default::default()
    }
}
