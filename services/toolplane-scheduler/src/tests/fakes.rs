//! Stand-ins for the surface, the permission service and hooks, behind one real listener.

mod serve;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};
use toolplane_proto::v1;
use toolplane_proto::v1::hook_service_server::HookServiceServer;
use toolplane_proto::v1::permission_service_server::PermissionServiceServer;
use toolplane_proto::v1::surface_service_server::SurfaceServiceServer;
use toolplane_records::approval::OF_RESULT;
use toolplane_records::explanation::HookVerdict;
use toolplane_records::payload::JsonPayload;

/// What the stand-in for the permission service says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Allow,
    Ask,
    Deny,
}

type Hook = Box<dyn Fn(&v1::RunHookRequest) -> v1::HookOutput + Send + Sync>;

/// All stand-ins and their state.
#[derive(Clone)]
pub(super) struct Fakes {
    pub(super) url: String,
    state: Arc<State>,
}

struct State {
    tool: Mutex<Option<Value>>,
    /// The moments of surfaces that were asked by; empty ones too.
    moments: Mutex<Vec<String>>,
    /// The schemas of every declaration that was seen, by digest.
    schemas: Mutex<HashMap<String, Option<JsonPayload>>>,
    catalog: broadcast::Sender<()>,
    policy: watch::Sender<String>,
    says: Mutex<Says>,
    /// Paths its decisions keep from calls.
    denied: Mutex<Vec<String>>,
    away: AtomicBool,
    /// Answers it gave before are not valid any more.
    forgets: AtomicBool,
    cut: watch::Sender<bool>,
    refused: AtomicUsize,
    questions: Mutex<Vec<v1::DecideRequest>>,
    approvals: Mutex<HashMap<String, v1::Approval>>,
    answers: broadcast::Sender<v1::Approval>,
    hook: Mutex<Option<Hook>>,
    told: Mutex<Vec<v1::RunHookRequest>>,
}

impl Fakes {
    pub(super) async fn start() -> Self {
        let state = Arc::new(State {
            tool: Mutex::new(Some(tool())),
            moments: Mutex::default(),
            schemas: Mutex::default(),
            catalog: broadcast::channel(16).0,
            policy: watch::channel("v1".to_owned()).0,
            says: Mutex::new(Says::Allow),
            denied: Mutex::default(),
            away: AtomicBool::new(false),
            forgets: AtomicBool::new(false),
            cut: watch::channel(false).0,
            refused: AtomicUsize::new(0),
            questions: Mutex::default(),
            approvals: Mutex::default(),
            answers: broadcast::channel(64).0,
            hook: Mutex::default(),
            told: Mutex::default(),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let fakes = Self { url, state };
        let server = tonic::transport::Server::builder()
            .add_service(SurfaceServiceServer::new(fakes.clone()))
            .add_service(PermissionServiceServer::new(fakes.clone()))
            .add_service(HookServiceServer::new(fakes.clone()));
        let incoming = tokio_stream::wrappers::TcpListenerStream::new(listener);
        tokio::spawn(async move { server.serve_with_incoming(incoming).await });
        fakes
    }

    /// From now on rule set `digest` is in force, and says this.
    pub(super) fn rules(&self, digest: &str, says: Says) {
        *self.state.says.lock() = says;
        self.state.policy.send_replace(digest.to_owned());
    }

    /// Its decisions keep these paths from calls.
    pub(super) fn deny_paths(&self, paths: Vec<String>) {
        *self.state.denied.lock() = paths;
    }

    /// Approvals given so far have run out.
    pub(super) fn forget_answers(&self) {
        self.state.forgets.store(true, Ordering::SeqCst);
    }

    /// The permission service answers no question, or does again.
    pub(super) fn mute(&self, mute: bool) {
        self.state.away.store(mute, Ordering::SeqCst);
    }

    /// The permission service is away, its streams too, or back.
    pub(super) fn away(&self, away: bool) {
        self.mute(away);
        self.state.cut.send_replace(away);
    }

    /// How often it was asked without success.
    pub(super) fn refused(&self) -> usize {
        self.state.refused.load(Ordering::SeqCst)
    }

    /// The moments of surfaces that tools were resolved by, in order.
    pub(super) fn moments(&self) -> Vec<String> {
        self.state.moments.lock().clone()
    }

    /// Everything it was asked.
    pub(super) fn questions(&self) -> Vec<v1::DecideRequest> {
        self.state.questions.lock().clone()
    }

    /// Every approval there is.
    pub(super) fn approvals(&self) -> Vec<v1::Approval> {
        self.state.approvals.lock().values().cloned().collect()
    }

    /// Changes one of them.
    pub(super) fn change(&self, approval_id: &str, change: impl FnOnce(&mut v1::Approval)) {
        change(self.state.approvals.lock().get_mut(approval_id).expect("a question"));
    }

    /// Everything hooks were told.
    pub(super) fn told(&self) -> Vec<v1::RunHookRequest> {
        self.state.told.lock().clone()
    }

    /// What every hook does from now on.
    pub(super) fn hook(&self, hook: impl Fn(&v1::RunHookRequest) -> v1::HookOutput + Send + Sync + 'static) {
        *self.state.hook.lock() = Some(Box::new(hook));
    }

    /// The tool is declared anew, or gone.
    pub(super) fn declare(&self, tool: Option<Value>) {
        *self.state.tool.lock() = tool;
        // There is no listener before the first stream is open.
        let _ = self.state.catalog.send(());
    }

    /// Answers the question `approval_id` with yes, perhaps with another input.
    pub(super) fn approve(&self, approval_id: &str, edited: Option<Value>) {
        self.answer(approval_id, v1::Behavior::Allow, edited);
    }

    /// Answers it with no.
    pub(super) fn reject(&self, approval_id: &str) {
        self.answer(approval_id, v1::Behavior::Deny, None);
    }

    fn answer(&self, approval_id: &str, behavior: v1::Behavior, edited: Option<Value>) {
        let mut approvals = self.state.approvals.lock();
        let approval = approvals.get_mut(approval_id).expect("a question");
        let mut decision = approval.request.clone().unwrap();
        decision.decision_id = format!("{}_answer", decision.decision_id);
        decision.behavior = behavior.into();
        decision.expires_at = None;
        decision.updated_input = edited.map(|edited| super::payload(&edited.to_string()));
        decision.user_modified = Some(decision.updated_input.is_some());
        approval.resolution = Some(decision);
        let no = behavior == v1::Behavior::Deny;
        approval.state = if no { v1::ApprovalState::Rejected } else { v1::ApprovalState::Approved }.into();
        approval.feedback = "as discussed".into();
        let _ = self.state.answers.send(approval.clone());
    }

    fn decide(&self, request: &v1::DecideRequest) -> v1::DecideResponse {
        let number = {
            let mut questions = self.state.questions.lock();
            questions.push(request.clone());
            questions.len()
        };
        let denied = |verdict: &v1::HookVerdict| verdict.behavior() == v1::Behavior::Deny;
        let hook = request.hook_verdicts.iter().find(|verdict| denied(verdict));
        let of_result = request.hook_verdicts.iter().any(|verdict| verdict.hook_id == HookVerdict::OF_RESULT);
        let says = match (hook, of_result) {
            (Some(_), _) => Says::Deny,
            (None, true) => {
                if request.can_ask {
                    Says::Ask
                } else {
                    Says::Deny
                }
            }
            (None, false) => *self.state.says.lock(),
        };
        // An approval stands for the question it answered.
        let answered = !self.state.forgets.load(Ordering::SeqCst) && !request.approval_ref.is_empty();
        let standing = says == Says::Ask && answered;
        let behavior = match says {
            Says::Deny => v1::Behavior::Deny,
            Says::Ask if !standing => v1::Behavior::Ask,
            _ => v1::Behavior::Allow,
        };
        let now = i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
        let at =
            |millis: i64| prost_types::Timestamp { seconds: millis / 1000, nanos: (millis % 1000 * 1_000_000) as i32 };
        let reason = match hook {
            Some(verdict) => ("hook", v1::ReasonType::Hook, verdict.message.clone()),
            None => ("rule", v1::ReasonType::Rule, "the test says so".to_owned()),
        };
        let decision = v1::PermissionDecision {
            schema_version: "0.2.0".into(),
            decision_id: format!("perm_{number}"),
            invocation_id: request.invocation_id.clone(),
            behavior: behavior.into(),
            source: of_result.then(|| if says == Says::Deny { "no_approver" } else { OF_RESULT }.to_owned()),
            reason: Some(v1::DecisionReason {
                r#type: reason.0.into(),
                type_code: reason.1.into(),
                message: reason.2,
                ..Default::default()
            }),
            decided_at: Some(at(now)),
            policy_digest: self.state.policy.borrow().clone(),
            denied_paths: Some(v1::DeniedPaths { read: self.state.denied.lock().clone(), ..Default::default() }),
            ..Default::default()
        };
        let approval =
            (behavior == v1::Behavior::Ask).then(|| self.park(request, &decision, number, at(now + 600_000)));
        let explanation = request.dry_run.then(v1::DecisionExplanation::default);
        v1::DecideResponse { decision: Some(decision), approval, explanation, ..Default::default() }
    }

    fn park(
        &self,
        request: &v1::DecideRequest,
        decision: &v1::PermissionDecision,
        number: usize,
        expires_at: prost_types::Timestamp,
    ) -> v1::Approval {
        let approval = v1::Approval {
            schema_version: "0.2.0".into(),
            approval_id: format!("apr_{number}"),
            tenant: request.tenant.clone(),
            invocation_id: request.invocation_id.clone(),
            tool_id: request.tool_id.clone(),
            tool_name: request.tool_name.clone(),
            declaration_digest: request.declaration_digest.clone(),
            input_digest: request.call_input_digest.clone(),
            permission_input: request.permission_input.clone(),
            request: Some(decision.clone()),
            state: v1::ApprovalState::Pending.into(),
            created_at: decision.decided_at,
            expires_at: Some(expires_at),
            ..Default::default()
        };
        self.state.approvals.lock().insert(approval.approval_id.clone(), approval.clone());
        approval
    }
}

/// The tool there is: takes a path and a secret key, and an internal field.
pub(super) fn tool() -> Value {
    json!({
        "declaration": {
            "tool_id": "tool_test", "namespace": "test", "name": "tool", "description": "a test",
            "lifecycle": "available", "tool_kind": "function", "aliases": ["test.other"],
            "input_contract": {
                "model_input_schema": {
                    "type": "object", "additionalProperties": false, "required": ["path"],
                    "properties": { "path": { "type": "string" }, "key": { "type": "string" }, "depth": { "type": "integer" } },
                },
                "runtime_input_schema": { "type": "object", "properties": { "ref": { "type": "string" } } },
                "internal_only_fields": ["ref"],
                "sensitive_fields": ["/key"],
                "defaults": { "depth": 1 },
            },
        },
        "interface": {
            "interface_id": "interface:test", "tool_id": "tool_test", "is_read_only": true, "is_concurrency_safe": true,
            "permission_matcher": "path_pattern",
        },
        "execution_profile": {
            "execution_profile_id": "execution:test", "execution_kind": "embedded_runtime",
            "binding": { "type": "native", "name": "native.echo" },
        },
    })
}
