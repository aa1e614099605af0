//! The role behind its real listener, on the real store, spoken to over gRPC.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::path::Path;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use tonic::Code;
use toolplane_permission::{Options, Service};
use toolplane_policy::{PolicyConfig, RuleSet};
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_proto::{FILE_DESCRIPTOR_SET, v1};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_runtime::client::{Peer, PeerSettings, connect, own_url};
use toolplane_runtime::server::{Server, ServerSettings, Services, bind};
use toolplane_runtime::status::describe;
use toolplane_runtime::{Shutdown, Tasks};

const PATIENCE: Duration = Duration::from_secs(30);

const RULES: &str = r#"{"rules":[
    {"id":"reads","behavior":"allow","tool":"*","facts":["read_only"],"reason":"reading is fine"},
    {"id":"no_secrets","behavior":"deny","tool":"secrets.*","reason":"secrets stay secret"}
]}"#;

struct Role {
    service: Service,
    client: PermissionServiceClient<Peer>,
    shutdown: Shutdown,
    serving: JoinHandle<()>,
    tasks: Tasks,
}

impl Role {
    async fn start(dir: &Path, approval_ttl_ms: u64) -> Self {
        let rules: PolicyConfig = serde_json::from_str(RULES).unwrap();
        let options = Options {
            store_dir: dir.join("permission"),
            rules: RuleSet::from_config(&rules).unwrap(),
            approval_ttl_ms,
            sweep_every: Duration::from_millis(50),
            poll_every: Duration::from_secs(2),
            max_message_bytes: 4 * 1024 * 1024,
        };
        let shutdown = Shutdown::new();
        let tasks = Tasks::new(shutdown.clone());
        let service = Service::open(options, &tasks).await.unwrap();
        let bound = bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let url = own_url(bound.address(), false);
        let services = service.add_to(Services::new(FILE_DESCRIPTOR_SET).unwrap());
        let server = Server::new(bound, services, ServerSettings::default()).unwrap();
        let running = server.run(shutdown.clone());
        let serving = tokio::spawn(async move {
            running.await.unwrap();
        });
        let client = PermissionServiceClient::new(connect(&url, &PeerSettings::default()).unwrap());
        Self { service, client, shutdown, serving, tasks }
    }

    async fn stop(self) {
        self.shutdown.request();
        timeout(PATIENCE, self.serving).await.unwrap().unwrap();
        self.tasks.join(PATIENCE).await.unwrap();
        self.service.close().await.unwrap();
    }

    async fn decide(&self, request: v1::DecideRequest) -> v1::DecideResponse {
        self.client.clone().decide(request).await.unwrap().into_inner()
    }

    async fn ask(&self, call: &str) -> v1::Approval {
        self.decide(call_of("local.shell.exec", call, false)).await.approval.unwrap()
    }

    async fn resolve(&self, id: &str, behavior: v1::Behavior) -> Result<v1::Approval, tonic::Status> {
        let request = v1::ResolveApprovalRequest {
            approval_id: id.to_owned(),
            behavior: behavior.into(),
            resolved_by: "ann".to_owned(),
            ..Default::default()
        };
        self.client.clone().resolve_approval(request).await.map(|answer| answer.into_inner().approval.unwrap())
    }

    async fn get(&self, id: &str) -> v1::GetApprovalResponse {
        let request = v1::GetApprovalRequest { approval_id: id.to_owned(), view: v1::RecordView::Json.into() };
        self.client.clone().get_approval(request).await.unwrap().into_inner()
    }
}

fn call_of(tool: &str, call: &str, read_only: bool) -> v1::DecideRequest {
    let input = JsonPayload::from_checked(r#"{"command":"ls"}"#);
    v1::DecideRequest {
        invocation_id: call.to_owned(),
        tool_id: format!("tool_{tool}"),
        tool_name: tool.to_owned(),
        namespace: tool.split('.').next().unwrap().to_owned(),
        declaration_digest: Digest::of(b"declaration").to_string(),
        permission_input: Some((&input).into()),
        safety: Some(v1::InputSafety { is_read_only: read_only, ..Default::default() }),
        can_ask: true,
        ..Default::default()
    }
}

#[tokio::test]
async fn every_behavior_carries_its_whole_reason() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path(), 60_000).await;
    let check = async |tool: &str, read_only: bool, can_ask: bool, behavior: v1::Behavior, reason: &str, rule: &str| {
        let answer = role.decide(v1::DecideRequest { can_ask, ..call_of(tool, "inv_1", read_only) }).await;
        let decision = answer.decision.unwrap();
        assert_eq!(decision.behavior(), behavior, "{tool}");
        let why = decision.reason.clone().unwrap();
        assert_eq!((why.r#type.as_str(), why.rule_ref.as_deref().unwrap_or_default()), (reason, rule), "{tool}");
        assert!(decision.policy_digest.starts_with("sha256:") && decision.decided_at.is_some());
        assert_eq!(decision.mode.as_deref(), Some("default"));
        assert_eq!(answer.approval.is_some(), behavior == v1::Behavior::Ask);
        let again = role.decide(v1::DecideRequest { can_ask, ..call_of(tool, "inv_1", read_only) }).await;
        assert_eq!(
            again.decision.unwrap().decision_id,
            decision.decision_id,
            "a repeated question gets the same answer"
        );
    };
    check("files.read", true, true, v1::Behavior::Allow, "rule", "reads").await;
    check("secrets.read", true, true, v1::Behavior::Deny, "rule", "no_secrets").await;
    check("files.write", false, true, v1::Behavior::Ask, "other", "").await;
    check("files.append", false, false, v1::Behavior::Deny, "async_agent", "").await;
    let listed = role.client.clone().list_rules(v1::ListRulesRequest { page_size: 1, ..Default::default() }).await;
    let listed = listed.unwrap().into_inner();
    assert_eq!((listed.rules.len(), listed.rules[0].rule_id.as_str()), (1, "reads"));
    let request = v1::ListRulesRequest { page_size: 1, page_token: listed.next_page_token };
    let rest = role.client.clone().list_rules(request).await.unwrap().into_inner();
    assert_eq!((rest.rules[0].rule_id.as_str(), rest.next_page_token.as_str()), ("no_secrets", ""));
    role.stop().await;
}

#[tokio::test]
async fn a_wrong_request_is_refused_by_its_field() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path(), 60_000).await;
    let good = call_of("files.read", "inv_1", true);
    let broken = v1::json_payload::Body::Inline(r#"{"a":1,"a":2}"#.into());
    let cases = [
        ("invocation_id", v1::DecideRequest { invocation_id: "in v".to_owned(), ..good.clone() }),
        ("tool_name", v1::DecideRequest { tool_name: String::new(), ..good.clone() }),
        ("declaration_digest", v1::DecideRequest { declaration_digest: "abc".to_owned(), ..good.clone() }),
        ("permission_input", v1::DecideRequest { permission_input: None, ..good.clone() }),
        (
            "permission_input",
            v1::DecideRequest {
                permission_input: Some(v1::JsonPayload { body: Some(broken), ..Default::default() }),
                ..good.clone()
            },
        ),
    ];
    for (field, request) in cases {
        let status = role.client.clone().decide(request).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{field}");
        assert!(describe(&status).to_string().contains(field), "{field}: {}", describe(&status));
    }
    let foreign = role.client.clone().decide(v1::DecideRequest { tenant: "other".to_owned(), ..good }).await;
    assert_eq!(foreign.unwrap_err().code(), Code::PermissionDenied);
    let token = v1::ListApprovalsRequest { page_token: "00".to_owned(), ..Default::default() };
    assert_eq!(role.client.clone().list_approvals(token).await.unwrap_err().code(), Code::InvalidArgument);
    let unknown = v1::GetApprovalRequest { approval_id: "nope".to_owned(), ..Default::default() };
    assert_eq!(role.client.clone().get_approval(unknown).await.unwrap_err().code(), Code::NotFound);
    role.stop().await;
}

#[tokio::test]
async fn a_question_survives_a_restart_and_is_answered_once() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path(), 60_000).await;
    let asked = role.ask("inv_1").await;
    assert_eq!(asked.state(), v1::ApprovalState::Pending);
    role.stop().await;
    let role = Role::start(dir.path(), 60_000).await;
    assert_eq!(role.ask("inv_1").await, asked, "the same question, not a second one");
    let (approve, reject) = tokio::join!(
        role.resolve(&asked.approval_id, v1::Behavior::Allow),
        role.resolve(&asked.approval_id, v1::Behavior::Deny),
    );
    let (winner, loser) = match (approve, reject) {
        (Ok(winner), Err(loser)) | (Err(loser), Ok(winner)) => (winner, loser),
        outcome => panic!("one answer must win: {outcome:?}"),
    };
    assert_eq!(loser.code(), Code::FailedPrecondition);
    let decision = winner.resolution.clone().unwrap();
    assert!(loser.message().contains(&decision.decision_id), "{}", loser.message());
    assert_eq!(decision.reason.unwrap().r#type, "permission_prompt_tool");
    role.stop().await;
    let role = Role::start(dir.path(), 60_000).await;
    let stored = role.get(&asked.approval_id).await;
    assert_eq!(stored.approval.unwrap(), winner);
    let json = JsonPayload::try_from(stored.json.unwrap()).unwrap().to_value();
    assert_eq!(json["resolution"]["decision_id"], decision.decision_id.as_str());
    role.stop().await;
}

#[tokio::test]
async fn an_unanswered_question_becomes_a_refusal_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path(), 1).await;
    let asked = role.ask("inv_1").await;
    let expired = async {
        loop {
            let approval = role.get(&asked.approval_id).await.approval.unwrap();
            if approval.state() == v1::ApprovalState::Expired {
                return approval;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let expired = timeout(PATIENCE, expired).await.expect("the question expires");
    assert_eq!(expired.resolution.unwrap().behavior(), v1::Behavior::Deny);
    let late = role.resolve(&asked.approval_id, v1::Behavior::Allow).await.unwrap_err();
    assert_eq!(late.code(), Code::FailedPrecondition);
    role.stop().await;
}

#[tokio::test]
async fn a_watcher_misses_nothing_and_may_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path(), 60_000).await;
    let first = role.ask("inv_1").await;
    let watch = async |from_revision| {
        let request = v1::WatchApprovalsRequest { from_revision, ..Default::default() };
        role.client.clone().watch_approvals(request).await.unwrap().into_inner()
    };
    let mut live = watch(0).await;
    let history = timeout(PATIENCE, live.message()).await.unwrap().unwrap().unwrap();
    assert_eq!((history.changes.len(), history.revision), (1, 1));
    role.resolve(&first.approval_id, v1::Behavior::Deny).await.unwrap();
    role.ask("inv_2").await;
    let mut revisions = Vec::new();
    while revisions.len() < 2 {
        let update = timeout(PATIENCE, live.message()).await.unwrap().unwrap().unwrap();
        revisions.extend(update.changes.iter().map(|change| change.revision));
    }
    assert_eq!(revisions, [2, 3]);
    let mut resumed = watch(2).await;
    let rest = timeout(PATIENCE, resumed.message()).await.unwrap().unwrap().unwrap();
    assert_eq!((rest.changes.len(), rest.changes[0].revision, rest.revision), (1, 3, 3));
    let mut caught_up = watch(3).await;
    let nothing = timeout(PATIENCE, caught_up.message()).await.unwrap().unwrap().unwrap();
    assert_eq!((nothing.changes.len(), nothing.revision), (0, 3));
    let mut from_now = watch(u64::MAX).await;
    let third = role.ask("inv_3").await;
    let (mut latest, mut seen) = (0, Vec::new());
    while latest < 4 {
        let update = timeout(PATIENCE, from_now.message()).await.unwrap().unwrap().unwrap();
        latest = update.revision;
        seen.extend(update.changes.into_iter().map(|change| change.approval.unwrap().approval_id));
    }
    assert_eq!(seen, [third.approval_id], "only what came after");
    role.shutdown.request();
    let to_the_end = async { while live.message().await.unwrap().is_some() {} };
    timeout(PATIENCE, to_the_end).await.expect("a stop ends the stream in order");
    role.stop().await;
}
