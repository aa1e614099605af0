//! Several surface and several permission processes: what one was told holds for calls that another is asked about, and any
//! of them may go.

use toolplane_records::cluster::ClusterRole as Role;

use super::*;
use crate::hooks::text;

/// Says which version of it ran; running it again does no harm.
fn version(number: usize) -> TestTool {
    TestTool {
        name: "test.version".to_owned(),
        schema: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        argv: ["echo".to_owned(), format!("version {number}")].to_vec(),
        idempotent: true,
        read_only: true,
        timeout_ms: 60_000,
    }
}

fn denial() -> v1::PermissionRule {
    v1::PermissionRule {
        source: "user_settings".to_owned(),
        source_code: v1::RuleSource::UserSettings.into(),
        behavior: v1::Behavior::Deny.into(),
        matcher: "test.version".to_owned(),
        reason: "not for now".to_owned(),
        ..Default::default()
    }
}

struct Services {
    many: Many,
    versions: usize,
}

impl Services {
    async fn start() -> Self {
        let processes = Processes::start(shared(1, 1).with_services(2, 2)).await.unwrap();
        let surface = processes.clients_by("surface-1").unwrap().clone();
        register(&surface, vec![version(0).registration().unwrap()]).await;
        register(&surface, tools::examples().unwrap()).await;
        let surface_id = crate::bed::surface(processes.clients_by("surface-2").unwrap()).await;
        Self { many: Many { processes, surface_id }, versions: 0 }
    }

    async fn call(&self) -> v1::ToolResult {
        let clients = self.many.by("scheduler-1");
        let request =
            v1::InvokeRequest { spec: Some(self.many.spec("test.version", &json!({}))), ..Default::default() };
        let mut stream = clients.invocations().invoke(request).await.unwrap().into_inner();
        let mut result = None;
        while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
            result = message.result.or(result);
        }
        *result.unwrap()
    }

    /// A version that was registered by way of `process` is the one that runs next.
    async fn runs_what_was_registered_by(&mut self, process: &str) {
        self.versions += 1;
        register(&self.many.by(process), vec![version(self.versions).registration().unwrap()]).await;
        let result = self.call().await;
        assert!(!result.is_error, "{process}: {:?}", result.error);
        let ran = text(&result).lines().next().unwrap_or_default().to_owned();
        assert_eq!(ran, format!("version {}", self.versions), "{process}");
    }

    /// A rule that was added by way of one process decides the next call, and no call once it was revoked by way of the other.
    async fn denies_what_is_denied_by(&self, one: &str, other: &str) {
        let rules = v1::AddRulesRequest { rules: vec![denial()], ..Default::default() };
        let added = self.many.by(one).permissions().add_rules(rules).await.unwrap().into_inner().rules.remove(0);
        let denied = self.call().await;
        assert!(denied.is_error && text(&denied).contains("not for now"), "{denied:?}");
        let revoked = v1::RevokeRuleRequest { rule_id: added.rule_id, ..Default::default() };
        self.many.by(other).permissions().revoke_rule(revoked).await.unwrap();
        let allowed = self.call().await;
        assert!(!allowed.is_error, "{:?}", allowed.error);
    }
}

#[tokio::test]
async fn calls_go_by_what_any_process_was_told() {
    let mut services = Services::start().await;
    for _ in 0..5 {
        services.runs_what_was_registered_by("surface-1").await;
        services.runs_what_was_registered_by("surface-2").await;
        services.denies_what_is_denied_by("permission-1", "permission-2").await;
        services.denies_what_is_denied_by("permission-2", "permission-1").await;
    }
    let names = [Role::Surface, Role::Permission].map(|role| services.many.processes.names_of(role));
    for (gone, stays) in [(0, 1), (1, 0)] {
        for names in &names {
            services.many.processes.kill(&names[gone]).unwrap();
        }
        let begin = Instant::now();
        services.runs_what_was_registered_by(&names[0][stays]).await;
        println!("the first change after a death was answered and called after {} ms", begin.elapsed().as_millis());
        services.runs_what_was_registered_by(&names[0][stays]).await;
        services.denies_what_is_denied_by(&names[1][stays], &names[1][stays]).await;
        for names in &names {
            services.many.processes.start_again(&names[gone]).await.unwrap();
        }
        services.runs_what_was_registered_by(&names[0][gone]).await;
        services.denies_what_is_denied_by(&names[1][gone], &names[1][stays]).await;
    }
}

/// A question that one permission process put is listed and answered at the other, after the first is gone.
#[tokio::test]
async fn a_question_is_answered_wherever_somebody_is() {
    let mut services = Services::start().await;
    let ask = v1::PermissionRule { behavior: v1::Behavior::Ask.into(), ..denial() };
    let rules = v1::AddRulesRequest { rules: vec![ask], ..Default::default() };
    services.many.by("permission-1").permissions().add_rules(rules).await.unwrap();
    let clients = services.many.by("scheduler-1");
    for (gone, stays) in [("permission-1", "permission-2"), ("permission-2", "permission-1")] {
        let id = submit(&clients, services.many.spec("test.version", &json!({}))).await;
        services.many.processes.kill(gone).unwrap();
        let people = services.many.by(stays);
        let pending = v1::ListApprovalsRequest { state: v1::ApprovalState::Pending.into(), ..Default::default() };
        let listed = people.permissions().list_approvals(pending).await.unwrap().into_inner().approvals;
        let asked = listed.into_iter().find(|approval| approval.invocation_id == id).unwrap();
        let answer = v1::ResolveApprovalRequest {
            approval_id: asked.approval_id,
            option: v1::PermissionOption::AllowOnce.into(),
            resolved_by: "ann".to_owned(),
            ..Default::default()
        };
        people.permissions().resolve_approval(answer).await.unwrap();
        let result = follow(&clients, &id, &mut Vec::new()).await.unwrap();
        assert!(!result.is_error, "{:?}", result.error);
        services.many.processes.start_again(gone).await.unwrap();
    }
}

/// Every surface and every permission process is killed and started again, one after the other, while calls are made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_of_either_service_fail_no_call() {
    let mut services = Services::start().await;
    let ways = vec![services.many.by("scheduler-1")];
    let load = Load::start(4, ways, &services.many.surface_id);
    let names = [Role::Surface, Role::Permission].map(|role| services.many.processes.names_of(role)).concat();
    for name in names {
        let before = load.done();
        services.many.processes.kill(&name).unwrap();
        load.until_done(before + 20).await;
        services.many.processes.start_again(&name).await.unwrap();
        load.until_done(before + 40).await;
    }
    let made = load.finish().await;
    println!("{} calls, {} tries more than calls", made.calls, made.tries - made.calls);
    assert_eq!(made.failed, Vec::<String>::new());
}
