//! The worker's side of the contract, spoken by hand: heartbeats beside the stream, kept endings, reports that come too late.

use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Streaming};
use toolplane_proto::v1;
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::worker_service_client::WorkerServiceClient;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::tools::registration;
use toolplane_testkit::{Layout, Processes};

use crate::bed::{PATIENCE, kinds, register, surface};

const CONFIG: &str = r#"
[scheduler]
lease_ms = 1500
offer_ms = 1000
heartbeat_ms = 300
tick_ms = 100

[[permission.rules]]
behavior = "allow"
tool = "hand.*"
reason = "made by hand"
"#;

fn tool(name: &str, idempotent: bool) -> v1::ToolRegistration {
    let id = format!("tool_{}", name.replace('.', "_"));
    let document = json!({
        "declaration": {
            "tool_id": id, "namespace": "hand", "name": name, "description": "Run by hand.",
            "lifecycle": "available", "tool_kind": "native_tool",
            "input_contract": { "strict": true, "model_input_schema": { "type": "object" } },
        },
        "interface": {
            "interface_id": format!("iface_{id}"), "tool_id": id, "is_read_only": false, "is_concurrency_safe": true,
            "is_destructive": false, "is_open_world": false, "is_idempotent": idempotent,
        },
        "execution_profile": {
            "execution_profile_id": format!("exec_{id}"), "execution_kind": "embedded_runtime", "supports_cancel": true,
            "sandboxed": false, "timeout_ms": 20_000, "binding": { "type": "native", "name": "native.noop" },
        },
        "permission_profile": { "permission_profile_id": format!("perm_{id}"), "risk_level": "low" },
    });
    registration(&document.to_string()).unwrap()
}

struct Room {
    _processes: Processes,
    clients: Clients,
    surface_id: String,
}

impl Room {
    async fn open() -> Self {
        Self::with(CONFIG).await
    }

    async fn with(config: &str) -> Self {
        let processes = Processes::start(Layout::new(1, 0, config)).await.unwrap();
        let clients = processes.clients().unwrap().clone();
        register(&clients, vec![tool("hand.once", false), tool("hand.again", true)]).await;
        let surface_id = surface(&clients).await;
        Self { _processes: processes, clients, surface_id }
    }

    fn service(&self) -> WorkerServiceClient<tonic::transport::Channel> {
        WorkerServiceClient::new(self.clients.channel())
    }

    async fn submit(&self, tool: &str) -> String {
        let spec = v1::InvocationSpec {
            surface_id: self.surface_id.clone(),
            tool_name: tool.to_owned(),
            model_input: Some(payload("{}")),
            ..Default::default()
        };
        let request = v1::SubmitInvocationRequest { spec: Some(spec) };
        let accepted = self.clients.invocations().submit_invocation(request).await.unwrap().into_inner();
        accepted.invocation.unwrap().invocation_id
    }

    async fn replay(&self, id: &str) -> (Vec<v1::Event>, v1::ToolResult) {
        let request = v1::WatchInvocationRequest { invocation_id: id.to_owned(), from_seq: 1 };
        let mut stream = self.clients.invocations().watch_invocation(request).await.unwrap().into_inner();
        let mut events = Vec::new();
        while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
            events.extend(message.events);
            if let Some(result) = message.result {
                return (events, result);
            }
        }
        panic!("the stream ended without a result");
    }
}

/// One stream of a worker.
struct Hand {
    reports: mpsc::Sender<v1::WorkRequest>,
    commands: Streaming<v1::WorkResponse>,
    waiting: std::collections::VecDeque<Command>,
}

impl Hand {
    async fn connect(room: &Room, hello: v1::WorkerHello) -> Self {
        let hello = v1::WorkerHello {
            worker_id: "by-hand".into(),
            version: "0".into(),
            slots: 2,
            pools: vec!["native".into()],
            ..hello
        };
        let start = std::time::Instant::now();
        loop {
            let (reports, requests) = mpsc::channel(16);
            reports.send(request(Report::Hello(hello.clone()))).await.unwrap();
            match room.service().work(ReceiverStream::new(requests)).await {
                Ok(answer) => return Self { reports, commands: answer.into_inner(), waiting: Default::default() },
                // The end of the stream before has not been noticed yet.
                Err(status) if status.code() == Code::FailedPrecondition && start.elapsed() < PATIENCE => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(status) => panic!("{status:?}"),
            }
        }
    }

    async fn say(&self, report: Report) {
        self.reports.send(request(report)).await.unwrap();
    }

    /// The next command of this kind; others are passed over.
    async fn hear<T>(&mut self, pick: impl Fn(Command) -> Option<T>) -> T {
        loop {
            while let Some(command) = self.waiting.pop_front() {
                if let Some(found) = pick(command) {
                    return found;
                }
            }
            let message = tokio::time::timeout(PATIENCE, self.commands.message()).await.unwrap().unwrap().unwrap();
            self.waiting.extend(message.commands.into_iter().filter_map(|command| command.command));
        }
    }

    async fn offer(&mut self) -> v1::LeaseRef {
        let pick = |command| match command {
            Command::Offer(offer) => offer.lease,
            _ => None,
        };
        self.hear(pick).await
    }

    /// Takes an offer and gets the grant to start.
    async fn start(&mut self) -> v1::LeaseRef {
        let lease = self.offer().await;
        self.say(Report::StartRequested(v1::StartRequested { lease: Some(lease.clone()) })).await;
        self.hear(|command| matches!(command, Command::StartGranted(_)).then_some(())).await;
        lease
    }
}

fn request(report: Report) -> v1::WorkRequest {
    v1::WorkRequest { reports: vec![v1::WorkerReport { report: Some(report) }] }
}

fn done(lease: &v1::LeaseRef) -> v1::ExecutionDone {
    let outcome =
        v1::ExecutionOutcome { status: "succeeded".into(), summary: "made by hand".into(), ..Default::default() };
    v1::ExecutionDone { lease: Some(lease.clone()), outcome: Some(outcome) }
}

fn hello(incarnation: &str) -> v1::WorkerHello {
    v1::WorkerHello { incarnation: incarnation.to_owned(), ..Default::default() }
}

#[tokio::test]
async fn heartbeats_beside_the_stream_hold_leases_and_say_what_was_not_heard() {
    let room = Room::open().await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let id = room.submit("hand.once").await;
    let lease = hand.start().await;
    let beat = |lease: &v1::LeaseRef| v1::HeartbeatRequest {
        worker_id: "by-hand".into(),
        incarnation: "first".into(),
        leases: vec![lease.clone()],
    };
    // Without its stream, far longer than a lease lasts.
    drop(hand);
    let mut answer = v1::HeartbeatResponse::default();
    for round in 0..10 {
        tokio::time::sleep(Duration::from_millis(300)).await;
        answer = room.service().heartbeat(beat(&lease)).await.unwrap().into_inner();
        assert!(answer.fenced.is_empty() && answer.unsure.is_empty(), "round {round}: {answer:?}");
        assert_eq!(answer.lease_ms, 1500);
    }
    assert!(answer.cancels.is_empty());
    let cancel = v1::CancelInvocationRequest { invocation_id: id.clone(), ..Default::default() };
    room.clients.invocations().cancel_invocation(cancel).await.unwrap();
    for _ in 0..2 {
        let answer = room.service().heartbeat(beat(&lease)).await.unwrap().into_inner();
        assert_eq!(answer.cancels.len(), 1, "a cancel request is repeated until it is acknowledged");
    }
    let other = v1::LeaseRef { lease_id: "lease_other".into(), ..lease.clone() };
    let answer = room.service().heartbeat(beat(&other)).await.unwrap().into_inner();
    assert_eq!(answer.fenced, [other]);
    let nobody = v1::HeartbeatRequest { worker_id: "not an id".into(), ..beat(&lease) };
    assert_eq!(room.service().heartbeat(nobody).await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn an_ending_kept_by_a_worker_that_died_counts_when_it_is_back_in_time() {
    let room = Room::with(&CONFIG.replace("lease_ms = 1500", "lease_ms = 60000")).await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let id = room.submit("hand.once").await;
    let lease = hand.start().await;
    drop(hand);
    let back = v1::WorkerHello { previous_incarnation_dead: true, finished: vec![done(&lease)], ..hello("second") };
    let mut hand = Hand::connect(&room, back).await;
    let acknowledged = hand
        .hear(|command| match command {
            Command::DoneAcknowledged(acknowledged) => acknowledged.lease,
            _ => None,
        })
        .await;
    assert_eq!(acknowledged, lease);
    let (events, result) = room.replay(&id).await;
    assert!(!result.is_error, "{:?}", result.error);
    assert_eq!(kinds(&events).iter().filter(|kind| **kind == "tool.invocation.started").count(), 1);
}

#[tokio::test]
async fn a_report_under_an_old_lease_is_kept_as_evidence_and_changes_nothing() {
    let room = Room::open().await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let id = room.submit("hand.again").await;
    let first = hand.offer().await;
    hand.say(Report::Received(v1::LeaseReceived { lease: Some(first.clone()) })).await;
    // Nothing is heard of it: the call is offered again under another lease.
    let second = hand.offer().await;
    assert!(second.lease_no > first.lease_no);
    hand.say(Report::Done(done(&first))).await;
    let fenced = hand
        .hear(|command| match command {
            Command::Fenced(fenced) => fenced.lease,
            _ => None,
        })
        .await;
    assert_eq!(fenced.lease_no, first.lease_no);
    hand.say(Report::Done(done(&second))).await;
    let (events, result) = room.replay(&id).await;
    assert!(!result.is_error, "{:?}", result.error);
    let kinds = kinds(&events);
    let late = kinds.iter().position(|kind| *kind == "ext.invocation.late_report");
    let ended = kinds.iter().position(|kind| *kind == "tool.result.created");
    assert!(late.is_some() && late < ended, "{kinds:?}");
}
