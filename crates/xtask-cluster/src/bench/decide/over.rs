//! Decisions of a real process, over TCP.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_records::payload::Digest;
use toolplane_records::rule::PermissionRule;
use toolplane_testkit::clients::{Clients, payload};
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
    v1::DecideRequest {
        tenant: "default".to_owned(),
        actor_ref: "agent-7".to_owned(),
        tool_id: template.tool_id(),
        tool_name: template.name.to_owned(),
        namespace: template.namespace.to_owned(),
        tool_kind: template.kind.as_str().to_owned(),
        declaration_digest: Digest::of(template.name.as_bytes()).to_string(),
        surface_id: "surf_bench".to_owned(),
        permission_input: Some(payload(template.input.to_string())),
        permission_profile: Some((&template.profile()).into()),
        safety: Some(v1::InputSafety { is_read_only: template.read_only, ..Default::default() }),
        unknown_facts: unknown.map(str::to_owned).to_vec(),
        can_ask: false,
        permission_matcher: template.matcher.to_owned(),
        call_input_digest: Digest::of(template.input.to_string().as_bytes()).to_string(),
        caller_roles: vec!["agent".to_owned()],
        session_ref: "sess_bench".to_owned(),
        ..Default::default()
    }
}
