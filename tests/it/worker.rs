//! The worker's side of the contract, written by hand: heartbeats beside the stream, kept endings, reports that come
//! too late.

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

mod early;
mod native;

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
    tool_of(name, idempotent, "native.noop")
}

/// A tool that is run by the native tool `runs`.
fn tool_of(name: &str, idempotent: bool, runs: &str) -> v1::ToolRegistration {
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
            "supports_progress": true, "supports_partial_results": true, "supports_resume": true, "supports_artifacts": true,
            "supports_background": true, "supports_context_modifiers": false, "sandboxed": false, "timeout_ms": 20_000, "binding": { "type": "native", "name": runs },
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
        let request = v1::WatchInvocationRequest { invocation_id: id.to_owned(), from_seq: 1, ..Default::default() };
        let mut stream = self.clients.invocations().watch_invocation(request).await.unwrap().into_inner();
        let mut events = Vec::new();
        while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
            events.extend(message.events);
            if let Some(result) = message.result {
                crate::coverage::ended(&self.clients, &events, &result).await;
                return (events, *result);
            }
        }
        panic!("the stream ended without a result");
    }
}

/// One stream of a worker.
pub(crate) struct Hand {
    pub(crate) reports: mpsc::Sender<v1::WorkRequest>,
    commands: Streaming<v1::WorkResponse>,
    waiting: std::collections::VecDeque<Command>,
}

impl Hand {
    async fn connect(room: &Room, hello: v1::WorkerHello) -> Self {
        Self::at(room.service(), hello).await
    }

    pub(crate) async fn at(service: WorkerServiceClient<tonic::transport::Channel>, hello: v1::WorkerHello) -> Self {
        let worker_id = if hello.worker_id.is_empty() { "by-hand".into() } else { hello.worker_id.clone() };
        let hello = v1::WorkerHello { worker_id, version: "0".into(), slots: 2, pools: vec!["native".into()], ..hello };
        let start = std::time::Instant::now();
        loop {
            let (reports, requests) = mpsc::channel(16);
            reports.send(request(Report::Hello(hello.clone()))).await.unwrap();
            match service.clone().work(ReceiverStream::new(requests)).await {
                Ok(answer) => return Self { reports, commands: answer.into_inner(), waiting: Default::default() },
                // The end of the stream before has not been noticed yet.
                Err(status) if status.code() == Code::FailedPrecondition && start.elapsed() < PATIENCE => {
                    toolplane_wait::look_again().await;
                }
                Err(status) => panic!("{status:?}"),
            }
        }
    }

    pub(crate) async fn say(&self, report: Report) {
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

    /// The next command, whenever it comes; nothing when the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Command> {
        while self.waiting.is_empty() {
            let message = self.commands.message().await.ok()??;
            self.waiting.extend(message.commands.into_iter().filter_map(|command| command.command));
        }
        self.waiting.pop_front()
    }

    /// The next call this worker is offered, by the name of its tool, with its lease.
    async fn offered(&mut self) -> (String, v1::LeaseRef) {
        let pick = |command| match command {
            Command::Offer(offer) => Some((offer.dispatch?.tool_name, offer.lease?)),
            _ => None,
        };
        self.hear(pick).await
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

pub(crate) fn request(report: Report) -> v1::WorkRequest {
    v1::WorkRequest { reports: vec![v1::WorkerReport { report: Some(report) }] }
}

fn done(lease: &v1::LeaseRef) -> v1::ExecutionDone {
    let outcome =
        v1::ExecutionOutcome { status: "succeeded".into(), summary: "made by hand".into(), ..Default::default() };
    v1::ExecutionDone { lease: Some(lease.clone()), outcome: Some(Box::new(outcome)) }
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
        ..Default::default()
    };
    // Without its stream, far longer than a lease lasts.
    drop(hand);
    let mut answer = v1::HeartbeatResponse::default();
    for round in 0..10 {
        toolplane_wait::pause(Duration::from_millis(300), "a lease is renewed over the time it would have ended in")
            .await;
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

/// However many reports of progress a tool makes, its log stays short, and its end waits behind none of them.
#[tokio::test]
async fn twenty_thousand_reports_of_progress_do_not_keep_the_end_out() {
    let room = Room::open().await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let id = room.submit("hand.once").await;
    let lease = hand.start().await;
    let beats = beating(&room, &lease);
    for number in 1..=20_000_u64 {
        hand.say(Report::Progress(step(&lease, number))).await;
    }
    hand.say(Report::Done(done(&lease))).await;
    hand.hear(|command| matches!(command, Command::DoneAcknowledged(_)).then_some(())).await;
    beats.abort();
    let (events, result) = room.replay(&id).await;
    assert_eq!(result.status_code(), v1::ResultStatus::Succeeded);
    let kept = kinds(&events).iter().filter(|kind| **kind == "tool.invocation.progress").count();
    assert!((1..1_000).contains(&kept), "{kept} reports are in the log");
    let left_out = result.evidence_refs.iter().find_map(|told| told.strip_prefix("progress_left_out:"));
    let left_out: usize = left_out.expect("what was left out is told").parse().unwrap();
    assert!(kept + left_out <= 20_000 && left_out > 10_000, "{kept} kept and {left_out} left out");
}

fn step(lease: &v1::LeaseRef, number: u64) -> v1::ProgressReported {
    let progress = v1::ToolProgress {
        schema_version: "0.2.0".into(),
        progress_id: format!("p{number}"),
        invocation_id: lease.invocation_id.clone(),
        sequence: number,
        status: "running".into(),
        message: format!("step {number}"),
        timestamp: Some(prost_types::Timestamp { seconds: 1_700_000_000, nanos: 0 }),
        ..Default::default()
    };
    v1::ProgressReported { lease: Some(lease.clone()), progress: Some(progress) }
}

/// The secret of a lease is worth nothing to another worker: whatever it reports, it is told so, and nothing changes.
#[tokio::test]
async fn another_worker_can_do_nothing_with_a_lease() {
    let room = Room::open().await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let id = room.submit("hand.once").await;
    let lease = hand.start().await;
    let beats = beating(&room, &lease);
    let thief = v1::WorkerHello { worker_id: "thief".into(), held: vec![lease.clone()], ..hello("first") };
    let mut thief = Hand::connect(&room, thief).await;
    let fenced = |command| matches!(command, Command::Fenced(_)).then_some(());
    thief.hear(fenced).await;
    let question = v1::InputRequested {
        lease: Some(lease.clone()),
        input_id: "q".into(),
        prompt: "which?".into(),
        ..Default::default()
    };
    let reports = [
        Report::Progress(step(&lease, 1)),
        Report::InputRequested(question),
        Report::Released(v1::LeaseReleased { lease: Some(lease.clone()), reason: "stolen".into() }),
        Report::Heartbeat(v1::WorkerHeartbeat { leases: vec![lease.clone()], free_slots: 1 }),
        Report::Done(done(&lease)),
    ];
    for report in reports {
        thief.say(report).await;
        thief.hear(fenced).await;
    }
    let beat = v1::HeartbeatRequest {
        worker_id: "thief".into(),
        incarnation: "first".into(),
        leases: vec![lease.clone()],
        ..Default::default()
    };
    assert_eq!(room.service().heartbeat(beat).await.unwrap().into_inner().fenced, vec![lease.clone()]);
    let header = v1::UploadHeader {
        lease: Some(lease.clone()),
        media_type: "text/plain".into(),
        name: "stdout".into(),
        worker_id: "thief".into(),
        incarnation: "first".into(),
        ..Default::default()
    };
    let header = v1::UploadPayloadRequest { part: Some(v1::upload_payload_request::Part::Header(header)) };
    let refused = room.service().upload_payload(tokio_stream::iter([header])).await.unwrap_err();
    assert_eq!(refused.code(), Code::Aborted, "{refused:?}");
    // Its holder goes on as if nothing had happened.
    hand.say(Report::Done(done(&lease))).await;
    hand.hear(|command| matches!(command, Command::DoneAcknowledged(_)).then_some(())).await;
    beats.abort();
    let (events, result) = room.replay(&id).await;
    assert_eq!(result.status_code(), v1::ResultStatus::Succeeded);
    let strange = ["tool.invocation.progress", "ext.invocation.late_report", "ext.invocation.needs_input"];
    assert!(!kinds(&events).iter().any(|kind| strange.contains(kind)), "{:?}", kinds(&events));
}

/// Renews a lease beside the stream, until it is dropped.
fn beating(room: &Room, lease: &v1::LeaseRef) -> tokio::task::JoinHandle<()> {
    let (mut service, lease) = (room.service(), lease.clone());
    tokio::spawn(async move {
        loop {
            let request = v1::HeartbeatRequest {
                worker_id: "by-hand".into(),
                incarnation: "first".into(),
                leases: vec![lease.clone()],
                ..Default::default()
            };
            let _ = service.heartbeat(request).await;
            toolplane_wait::pause(Duration::from_millis(300), "heartbeats lie apart").await;
        }
    })
}

/// The hooks after a call and the rules of its result hold for a worker the platform knows nothing of.
#[tokio::test]
async fn a_redaction_hook_holds_for_a_worker_of_ones_own() {
    let cleans = crate::hooks::hook(
        "cleans",
        "post_tool_use",
        r#"cat > /dev/null; printf '{"hookSpecificOutput":{"updatedToolOutput":"clean"}}'"#,
    );
    let room = Room::with(&format!("{CONFIG}\n{}", cleans.replace("Bash|test.*", "hand.*"))).await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let id = room.submit("hand.once").await;
    let lease = hand.start().await;
    let text = |text: &str| v1::ContentBlock {
        block: Some(v1::content_block::Block::Text(v1::TextBlock { text: text.to_owned() })),
    };
    let outcome = v1::ExecutionOutcome {
        status: "succeeded".into(),
        content: vec![text("s3cret")],
        model_facing_content: vec![text("s3cret too")],
        ui_facing_summary: "s3cret as well".into(),
        ..Default::default()
    };
    hand.say(Report::Done(v1::ExecutionDone { lease: Some(lease), outcome: Some(Box::new(outcome)) })).await;
    hand.hear(|command| matches!(command, Command::DoneAcknowledged(_)).then_some(())).await;
    let (events, result) = room.replay(&id).await;
    let told = format!("{}{}", crate::hooks::text(&result), crate::hooks::context(&events));
    assert!(!told.contains("s3cret") && told.contains("clean"), "{told}");
    assert_eq!((result.is_error, result.ui_facing_summary.as_str()), (false, "clean"));
    let kinds = kinds(&events);
    assert!(kinds.contains(&"tool.hook.post.started") && kinds.contains(&"tool.hook.post.completed"), "{kinds:?}");
}

#[tokio::test]
async fn a_worker_gets_only_calls_of_tools_it_serves() {
    let room = Room::open().await;
    register(&room.clients, vec![tool_of("hand.own", true, "acme.translate")]).await;
    let room = Room { surface_id: surface(&room.clients).await, ..room };
    // Its own worker is in the pool of built-in tools, as the earlier contract had it, and serves none of those.
    let own = v1::WorkerHello { native_tools: vec!["acme.*".into()], ..hello("first") };
    let mut own = Hand::connect(&room, own).await;
    let built_in = v1::WorkerHello { worker_id: "built-in".into(), ..hello("first") };
    let mut built_in = Hand::connect(&room, built_in).await;
    for _ in 0..4 {
        room.submit("hand.own").await;
        room.submit("hand.again").await;
        for (hand, expected) in [(&mut own, "hand.own"), (&mut built_in, "hand.again")] {
            let (tool, lease) = hand.offered().await;
            assert_eq!(tool, expected);
            hand.say(Report::Done(done(&lease))).await;
        }
    }
    let workers = v1::ListWorkersRequest::default();
    let workers = room.clients.invocations().list_workers(workers).await.unwrap().into_inner().workers;
    assert!(workers.iter().any(|worker| worker.native_tools == ["acme.*"]), "{workers:?}");
    let wrong = v1::WorkerHello {
        native_tools: vec!["acme*".into()],
        pools: vec![],
        slots: 1,
        worker_id: "w".into(),
        ..hello("x")
    };
    let (reports, requests) = mpsc::channel(1);
    reports.send(request(Report::Hello(wrong))).await.unwrap();
    let refused = room.service().work(ReceiverStream::new(requests)).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
}

#[tokio::test]
async fn a_report_that_cannot_be_read_is_told_to_its_worker() {
    let room = Room::open().await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let id = room.submit("hand.once").await;
    let lease = hand.start().await;
    let refused = |command| match command {
        Command::ReportRefused(refused) => Some(refused),
        _ => None,
    };
    // No timestamp, no status, no number.
    let progress = v1::ProgressReported { lease: Some(lease.clone()), progress: Some(v1::ToolProgress::default()) };
    hand.say(Report::Progress(progress)).await;
    let told = hand.hear(refused).await;
    assert_eq!((told.report.as_str(), told.lease.as_ref()), ("progress", Some(&lease)));
    assert!(!told.field.is_empty() && !told.rule.is_empty(), "{told:?}");
    hand.say(Report::Done(v1::ExecutionDone { lease: None, outcome: None })).await;
    assert_eq!(hand.hear(refused).await.report, "done");
    hand.reports.send(v1::WorkRequest { reports: vec![v1::WorkerReport { report: None }] }).await.unwrap();
    assert_eq!(hand.hear(refused).await.field, "report");
    // A worker that leaves out what the model is given: it is made from the content.
    let text = v1::content_block::Block::Text(v1::TextBlock { text: "forty-two".into() });
    let outcome = v1::ExecutionOutcome {
        status: "succeeded".into(),
        content: vec![v1::ContentBlock { block: Some(text) }],
        ..Default::default()
    };
    hand.say(Report::Done(v1::ExecutionDone { lease: Some(lease), outcome: Some(Box::new(outcome)) })).await;
    let (_, result) = room.replay(&id).await;
    assert_eq!((result.model_facing_content, result.ui_facing_summary.as_str()), (result.content, "forty-two"));
}
