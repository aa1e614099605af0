//! Questions, answers, and stores to keep them in.

use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use toolplane_records::approval::{APPROVALS, Approval};
use toolplane_records::decision::{DecisionReason, PermissionDecision};
use toolplane_records::ids::{InvocationId, TenantId, ToolId};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, PermissionOption, ReasonType, RiskLevel};
use toolplane_store::{MemoryStore, Store};
use toolplane_store_embedded::EmbeddedStore;
use toolplane_store_redis::{RedisOptions, RedisStore};
use toolplane_testkit::redis::RedisServer;

use crate::approvals::{Answer, Binding, Book, Limits, Resolver, options};
use crate::ledger::Ledger;
use toolplane_records::decision::decision_id;

/// A store of its own for one test, which may be opened again.
pub(super) enum Place {
    Memory(Arc<MemoryStore>),
    Embedded { folder: TempDir, open: Option<Arc<EmbeddedStore>> },
    Redis { server: Box<RedisServer> },
}

impl Place {
    /// One of every kind. The last two are what people run.
    pub(super) async fn every() -> Vec<Self> {
        let mut places = vec![Self::Memory(Arc::new(MemoryStore::new()))];
        places.extend(Self::durable().await);
        places
    }

    /// The kinds that survive their process.
    pub(super) async fn durable() -> [Self; 2] {
        let folder = tempfile::tempdir().unwrap();
        let server = RedisServer::start(Default::default()).await.unwrap();
        [Self::Embedded { folder, open: None }, Self::Redis { server: Box::new(server) }]
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Memory(_) => "memory",
            Self::Embedded { .. } => "embedded",
            Self::Redis { .. } => "redis",
        }
    }

    /// The store, as another process would open it where processes can share one.
    pub(super) async fn store(&mut self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => store.clone(),
            Self::Embedded { folder, open } => {
                let opened = || EmbeddedStore::open(folder.path(), Default::default()).unwrap();
                open.get_or_insert_with(|| Arc::new(opened())).clone()
            }
            Self::Redis { server } => Arc::new(RedisStore::open(RedisOptions::standalone(server.url())).await.unwrap()),
        }
    }

    pub(super) async fn book(&mut self) -> Book {
        self.book_with(limits()).await
    }

    pub(super) async fn book_with(&mut self, limits: Limits) -> Book {
        Book::new(Arc::new(Ledger::open(self.store().await).await.unwrap()), limits)
    }
}

pub(super) fn limits() -> Limits {
    Limits { max_pending: 100_000, max_rules: 1_000, holds_ms: 60_000 }
}

pub(super) fn tenant() -> TenantId {
    TenantId::unauthenticated()
}

/// A question of the call `call` that waits for `ttl_ms`.
pub(super) fn question(call: &str, now: Timestamp, ttl_ms: i64) -> Approval {
    question_of(&tenant(), call, now, ttl_ms)
}

pub(super) fn question_of(tenant: &TenantId, call: &str, now: Timestamp, ttl_ms: i64) -> Approval {
    let input = JsonPayload::from_checked(r#"{"command":"git push"}"#);
    let (invocation_id, tool_id) = (InvocationId::from_trusted(call), ToolId::from_trusted("tool_shell"));
    let declaration_digest = Digest::of(b"declaration");
    let binding = Binding {
        tenant,
        invocation: &invocation_id,
        caller: "key:agent",
        tool: &tool_id,
        declaration: &declaration_digest,
        call_input: &input.digest(),
        policy: "sha256:00",
        after: "",
    };
    let approval_id = binding.approval_id();
    let request = asking(&invocation_id, now);
    Approval {
        schema_version: toolplane_records::schema_version(),
        approval_id: approval_id.clone(),
        tenant: tenant.clone(),
        tool_id: tool_id.clone(),
        tool_name: "local.shell.exec".to_owned(),
        declaration_digest,
        input_digest: input.digest(),
        call_input_digest: Some(input.digest()),
        permission_input: input,
        actor_ref: "ann".to_owned(),
        options: options(&request, Some("session_1"), "ann", Some(RiskLevel::Medium)),
        request: PermissionDecision { approval_request_ref: Some(approval_id), ..request },
        state: toolplane_records::vocabulary::ApprovalState::Pending,
        resolution: None,
        resolved_by: String::new(),
        feedback: String::new(),
        created_at: now,
        expires_at: now.plus_millis(ttl_ms),
        resolved_at: None,
        queue: APPROVALS.to_owned(),
        session_ref: Some("session_1".to_owned()),
        surface_id: None,
        caller_ref: "key:agent".to_owned(),
        risk_level: Some(RiskLevel::Medium),
        chosen_option: None,
        updated_input: None,
        tool_registration: None,
        outdated_rule: String::new(),
        definition_changes: Vec::new(),
        invocation_id,
    }
}

/// A decision that asks, with a suggestion for the session and one for the project.
pub(super) fn asking(invocation_id: &InvocationId, now: Timestamp) -> PermissionDecision {
    let update = |id: &str, destination: &str, matcher: &str| {
        JsonPayload::of(&json!({
            "suggestion_id": id,
            "type": "add_rules",
            "behavior": "allow",
            "destination": destination,
            "rules": [{ "source": destination, "behavior": "allow", "matcher": matcher }],
            "preview": { "description": "", "matches": [], "does_not_match": [] },
        }))
    };
    PermissionDecision {
        mode: Some("default".into()),
        source: Some("default".into()),
        reason: Some(DecisionReason {
            reason_type: ReasonType::Other,
            rule_ref: None,
            message: "nothing allows it".into(),
        }),
        suggested_updates: vec![
            update("exact", "session", "Bash(git push)"),
            update("prefix", "project_settings", "Bash(git push:*)"),
        ],
        policy_digest: "sha256:00".into(),
        ..PermissionDecision::new(decision_id(invocation_id, &["asked"]), invocation_id.clone(), Behavior::Ask, now)
    }
}

pub(super) async fn asked(book: &Book, call: &str, ttl_ms: i64) -> Approval {
    book.ask(question(call, book.now().await.unwrap(), ttl_ms)).await.unwrap()
}

pub(super) fn answer(option: PermissionOption) -> Answer {
    Answer {
        option,
        suggestion_id: String::new(),
        updated_input: None,
        content_blocks: Vec::new(),
        feedback: String::new(),
        by: Resolver { name: "bob".to_owned(), ..Resolver::default() },
        request_id: None,
    }
}

pub(super) fn allow() -> Answer {
    answer(PermissionOption::AllowOnce)
}

pub(super) fn reject() -> Answer {
    answer(PermissionOption::RejectOnce)
}
