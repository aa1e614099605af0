use parking_lot::Mutex;
use toolplane_records::assurance::CallAssurance;
use toolplane_records::decision_request::{CallSignals, CalledTool};
use toolplane_records::ids::{ApprovalId, DecisionId, InvocationId, TenantId, ToolId};
use toolplane_records::invocation::InputSafety;
use toolplane_records::mode::Mode;
use toolplane_records::payload::JsonPayload;
use toolplane_records::taint::Taint;
use toolplane_records::time::Timestamp;

use super::*;

/// Rules that change when a test says so.
#[derive(Debug, Default)]
struct Rules(Mutex<Option<(&'static str, u64)>>);

impl KnownRules for Rules {
    fn rules(&self) -> BoxFuture<'_, Option<RulesInForce>> {
        let rules = self.0.lock().map(|(digest, changes)| RulesInForce { digest: digest.into(), changes });
        Box::pin(async { rules })
    }
}

fn under(digest: &'static str) -> (Arc<Rules>, ReusableDecisions) {
    let rules = Arc::new(Rules(Mutex::new(Some((digest, 1)))));
    (rules.clone(), ReusableDecisions::new(rules))
}

fn question(call: &str) -> DecisionRequest {
    let tool = ToolFacts::named(ToolId::from_trusted("tool_notes"), "notes.add", "notes");
    let caller = CallerContext { session_ref: "one".into(), ..CallerContext::of(TenantId::from_trusted("default")) };
    DecisionRequest {
        safety: SafetyClaims { facts: Some(InputSafety::default()), ..SafetyClaims::default() },
        ..DecisionRequest::new(
            InvocationId::from_trusted(call),
            caller,
            CalledTool::of(tool, Digest::of(b"declaration")),
            JsonPayload::from_checked(format!("{{\"note\":\"of {call}\"}}")),
        )
    }
}

fn made(request: &DecisionRequest, behavior: Behavior) -> PermissionDecision {
    PermissionDecision {
        policy_digest: "rules".into(),
        source: Some("project_settings".into()),
        rule_refs: vec!["notes".into()],
        ..PermissionDecision::new(
            request.decision_id("rules", behavior, "project_settings"),
            request.invocation_id.clone(),
            behavior,
            Timestamp::from_millis(1),
        )
    }
}

async fn keep(decisions: &ReusableDecisions, reach: Reach) -> DecisionId {
    let first = question("inv_1");
    let decision = made(&first, Behavior::Allow);
    decisions.keep(&first, decisions.rules().await, Some(reach), &decision).await;
    decision.decision_id
}

fn now() -> Timestamp {
    Timestamp::from_millis(7)
}

const NOTHING: Reach = Reach { input: false, session: false, surface: false };

#[tokio::test]
async fn another_call_gets_a_decision_of_its_own() {
    let (_, decisions) = under("rules");
    assert_eq!(decisions.find(&question("inv_2"), now()).await, None);
    let from = keep(&decisions, NOTHING).await;
    let mut second = question("inv_2");
    second.deadline_at = Some(Timestamp::from_millis(99));
    let found = decisions.find(&second, now()).await.unwrap();
    let asked = made(&second, Behavior::Allow);
    let expected = PermissionDecision {
        decided_at: now(),
        expires_at: Some(Timestamp::from_millis(99)),
        reused_from: Some(from),
        ..asked
    };
    assert_eq!(found, expected, "with the id the service would have given it");
}

#[tokio::test]
async fn whatever_is_always_looked_at_must_be_the_same() {
    let (_, decisions) = under("rules");
    keep(&decisions, NOTHING).await;
    let base = || question("inv_2");
    assert!(decisions.find(&base(), now()).await.is_some());
    let caller = |change: fn(&mut CallerContext)| {
        let mut request = base();
        change(&mut request.caller);
        request
    };
    let named = ToolFacts::named(ToolId::from_trusted("tool_notes"), "notes.drop", "notes");
    let hooked = CallSignals { assurance: Some(CallAssurance::default()), ..CallSignals::default() };
    let taint = Taint { label: "markup".into(), invocation_ids: Vec::new(), since: now() };
    let read_only = InputSafety { is_read_only: true, ..InputSafety::default() };
    let asking = |json: &str| {
        let mut request = base();
        request.input.shown = JsonPayload::from_checked(json.to_owned());
        request
    };
    let others = [
        caller(|caller| caller.tenant = TenantId::from_trusted("other")),
        caller(|caller| caller.actor_ref = "guest".into()),
        caller(|caller| caller.caller_ref = "key".into()),
        caller(|caller| caller.roles = vec!["admin".into()]),
        caller(|caller| caller.mode = Some(Mode::Plan)),
        caller(|caller| caller.can_ask = false),
        DecisionRequest { tool: CalledTool::of(named, Digest::of(b"declaration")), ..base() },
        DecisionRequest { tool: CalledTool { declaration_digest: Digest::of(b"another"), ..base().tool }, ..base() },
        DecisionRequest { safety: SafetyClaims { facts: Some(read_only), ..SafetyClaims::default() }, ..base() },
        DecisionRequest { safety: SafetyClaims { trusted: vec!["is_read_only".into()], ..base().safety }, ..base() },
        DecisionRequest { safety: SafetyClaims { unknown: vec!["is_read_only".into()], ..base().safety }, ..base() },
        DecisionRequest { signals: hooked, ..base() },
        DecisionRequest { signals: CallSignals { taints: Some(Vec::new()), ..CallSignals::default() }, ..base() },
        DecisionRequest { signals: CallSignals { taints: Some(vec![taint]), ..CallSignals::default() }, ..base() },
        DecisionRequest { approval_ref: Some(ApprovalId::from_trusted("appr_1")), ..base() },
        DecisionRequest { dry_run: true, ..base() },
        asking(r#"{"dangerouslyDisableSandbox":true}"#),
        asking("{\"s\\u0061ndbox_profile\":\"none\"}"),
    ];
    for other in others {
        assert_eq!(decisions.find(&other, now()).await, None, "{other:?}");
    }
}

#[tokio::test]
async fn what_was_looked_at_must_be_the_same() {
    let elsewhere = || {
        let mut request = question("inv_2");
        request.caller.session_ref = "two".into();
        request.caller.surface_id = Some(SurfaceId::from_trusted("surf_2"));
        request
    };
    for (reach, found) in [
        (NOTHING, true),
        (Reach { session: true, ..NOTHING }, false),
        (Reach { surface: true, ..NOTHING }, false),
        (Reach { input: true, ..NOTHING }, false),
    ] {
        let (_, decisions) = under("rules");
        keep(&decisions, reach).await;
        assert_eq!(decisions.find(&elsewhere(), now()).await.is_some(), found, "{reach:?}");
        assert_eq!(decisions.find(&question("inv_3"), now()).await.is_some(), !reach.input, "{reach:?}");
    }
}

#[tokio::test]
async fn a_change_of_the_rules_ends_it() {
    let (rules, decisions) = under("rules");
    keep(&decisions, NOTHING).await;
    *rules.0.lock() = Some(("others", 2));
    assert_eq!(decisions.find(&question("inv_2"), now()).await, None);
    *rules.0.lock() = None;
    assert_eq!(decisions.find(&question("inv_2"), now()).await, None, "nothing is known to be in force");
    *rules.0.lock() = Some(("rules", 3));
    assert_eq!(
        decisions.find(&question("inv_2"), now()).await,
        None,
        "what was decided before a change is asked about anew"
    );
    keep(&decisions, NOTHING).await;
    assert!(decisions.find(&question("inv_2"), now()).await.is_some());
}

#[tokio::test]
async fn a_decision_that_a_change_may_have_overtaken_is_not_kept() {
    let (rules, decisions) = under("rules");
    let before = decisions.rules().await;
    let first = question("inv_1");
    let decision = made(&first, Behavior::Allow);
    *rules.0.lock() = Some(("rules", 2));
    decisions.keep(&first, before, Some(NOTHING), &decision).await;
    assert_eq!(decisions.find(&question("inv_2"), now()).await, None);
    // Made under rules this scheduler has not heard of yet.
    *rules.0.lock() = Some(("older", 3));
    decisions.keep(&first, decisions.rules().await, Some(NOTHING), &decision).await;
    *rules.0.lock() = None;
    decisions.keep(&first, decisions.rules().await, Some(NOTHING), &decision).await;
    *rules.0.lock() = Some(("rules", 4));
    assert_eq!(decisions.find(&question("inv_2"), now()).await, None);
}

#[tokio::test]
async fn only_plain_decisions_are_kept() {
    let (_, decisions) = under("rules");
    let first = question("inv_1");
    decisions.keep(&first, decisions.rules().await, Some(NOTHING), &made(&first, Behavior::Ask)).await;
    decisions.keep(&first, decisions.rules().await, None, &made(&first, Behavior::Allow)).await;
    assert_eq!(decisions.find(&question("inv_2"), now()).await, None);
    decisions.keep(&first, decisions.rules().await, Some(NOTHING), &made(&first, Behavior::Deny)).await;
    assert_eq!(decisions.find(&question("inv_2"), now()).await.unwrap().behavior, Behavior::Deny);
}

#[tokio::test]
async fn so_many_are_kept_and_no_more() {
    let (_, decisions) = under("rules");
    for number in 0..=MOST {
        let mut request = question("inv_1");
        request.caller.actor_ref = format!("actor {number}").into();
        decisions.keep(&request, decisions.rules().await, Some(NOTHING), &made(&request, Behavior::Allow)).await;
    }
    assert!(decisions.kept.read().decisions.len() <= MOST);
    let mut last = question("inv_2");
    last.caller.actor_ref = format!("actor {MOST}").into();
    assert!(decisions.find(&last, now()).await.is_some());
}
