//! Decisions of a real process, over TCP.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_records::decision_request::{CalledTool, CallerContext, DecisionRequest};
use toolplane_records::ids::{InvocationId, SurfaceId, TenantId};
use toolplane_records::invocation::InputSafety;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::rule::PermissionRule;
use toolplane_testkit::clients::Clients;
use toolplane_testkit::{Cluster, Options, Problem};

use super::calls::{Template, templates};
use super::rules::{CEDAR, rules};

/// A process with rules.
pub(super) struct Bed {
    cluster: Cluster,
}

/// Asks for decisions about the calls of the bench, in turn.
#[derive(Clone)]
pub(super) struct Caller {
    clients: Clients,
    requests: Arc<[v1::DecideRequest]>,
    turn: Arc<AtomicUsize>,
}

impl Bed {
    /// Starts it with so many rules.
    pub(super) async fn start(count: usize, policies: bool) -> Result<Self, Problem> {
        let folder = crate::bench::folder(&format!("decide-{count}-{policies}"))?;
        let file = |source| Problem::File { path: folder.clone(), source };
        let written: Vec<Value> = rules(count).iter().map(written).collect();
        let path = folder.join("rules.json");
        fs::write(&path, json!({ "rules": written }).to_string()).map_err(file)?;
        let mut config = format!("[log]\nfilter = \"warn\"\n[permission]\nrules_files = [{:?}]\n", path);
        if policies {
            let path = folder.join("bench.cedar");
            fs::write(&path, CEDAR).map_err(file)?;
            config += &format!("cedar_policies = [{path:?}]\n");
        }
        let options = Options { folder: Some(folder.join("cluster")), ..Options::new(config) };
        Ok(Self { cluster: Cluster::start(options).await? })
    }

    pub(super) fn caller(&self) -> Caller {
        let requests = templates().iter().map(request).collect();
        Caller { clients: self.cluster.clients().clone(), requests, turn: Arc::default() }
    }
}

impl Caller {
    pub(super) async fn decide(self) -> Result<(), Problem> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let mut request = self.requests[turn % self.requests.len()].clone();
        request.invocation_id = format!("inv_bench_{turn}");
        let answer = self.clients.permissions().decide(request).await?.into_inner();
        match answer.decision {
            Some(_) if answer.approval.is_none() => Ok(()),
            _ => Err(Problem::Missing("a decision without a question".to_owned())),
        }
    }
}

/// A rule as rules files spell it.
fn written(rule: &PermissionRule) -> Value {
    let mut written = json!(rule);
    if let Some(fields) = written.as_object_mut() {
        fields.remove("origin");
    }
    written
}

fn request(template: &Template) -> v1::DecideRequest {
    let unknown = ["is_open_world", "is_idempotent", "is_concurrency_safe"];
    let caller = CallerContext {
        actor_ref: "agent-7".into(),
        roles: vec!["agent".to_owned()],
        session_ref: "sess_bench".into(),
        surface_id: Some(SurfaceId::from_trusted("surf_bench")),
        can_ask: false,
        ..CallerContext::of(TenantId::unauthenticated())
    };
    let tool = CalledTool::of(template.tool(), Digest::of(template.name.as_bytes()));
    let id = InvocationId::from_trusted("inv_bench");
    let mut request = DecisionRequest::new(id, caller, tool, JsonPayload::of(&template.input));
    request.safety.facts = Some(InputSafety { is_read_only: template.read_only, ..InputSafety::default() });
    request.safety.unknown = unknown.map(str::to_owned).to_vec();
    (&request).into()
}
