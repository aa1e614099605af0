use std::sync::Arc;

use toolplane_records::SmolStr;
use toolplane_records::approval::{APPROVALS, REVIEW};
use toolplane_records::assurance::{CallAssurance, Confidence};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::decision_request::{CallSignals, CalledTool, CallerContext};
use toolplane_records::explanation::{ClassifierCheck, HookVerdict};
use toolplane_records::ids::{InvocationId, TenantId, ToolId};
use toolplane_records::invocation::InputSafety;
use toolplane_records::mode::Mode;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::vocabulary::{ApprovalState, ClassifierAuthority, PermissionOption, ReasonType, ToolKind};
use toolplane_runtime::Config;

use super::*;
use crate::rules::Source;

const RULES: &str = r#"
    [permission]
    trust_repositories = true

    [[permission.rules]]
    id = "diffs"
    behavior = "allow"
    tool = "Bash(git diff:*)"

    [[permission.rules]]
    id = "pushes"
    behavior = "ask"
    tool = "Bash(git push:*)"

    [[permission.rules]]
    id = "no_force"
    behavior = "deny"
    tool = "Bash(git push --force:*)"
"#;

fn active(text: &str) -> Arc<Active> {
    let config = Config::from_toml("test.toml".as_ref(), text).unwrap();
    Arc::new(Active::of_source(&Source::of(&config)).unwrap())
}

fn question(command: &str) -> DecisionRequest {
    let shell = ToolFacts::named(ToolId::from_trusted("tool_shell"), "local.shell.exec", "local.shell");
    let shell =
        ToolFacts { kind: Some(ToolKind::ShellCommand), permission_matcher: "shell_pattern".to_owned(), ..shell };
    let caller = CallerContext {
        actor_ref: "ann".into(),
        caller_ref: "key:agent".into(),
        roles: vec!["agent".to_owned()],
        session_ref: "session_1".into(),
        ..CallerContext::of(TenantId::unauthenticated())
    };
    let tool = CalledTool::of(shell, Digest::of(b"declaration"));
    let input = JsonPayload::of(&serde_json::json!({ "command": command }));
    let mut request = DecisionRequest::new(InvocationId::from_trusted("inv_1"), caller, tool, input);
    request.safety.facts = Some(InputSafety::default());
    request
}

/// The same in another mode, or with nobody to ask.
fn called(command: &str, mode: Option<Mode>, can_ask: bool) -> DecisionRequest {
    let request = question(command);
    DecisionRequest { caller: CallerContext { mode, can_ask, ..request.caller }, ..request }
}

/// The same, and what others say of it.
fn signalled(command: &str, signals: CallSignals) -> DecisionRequest {
    DecisionRequest { signals, ..question(command) }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn deciding(active: &Arc<Active>, question: DecisionRequest) -> Deciding {
    Deciding::new(Arc::clone(active), question, at(1_000))
}

fn decided(active: &Arc<Active>, question: DecisionRequest) -> PermissionDecision {
    match deciding(active, question).outcome(at(1_000), 60_000) {
        Outcome::Decided(decision) => *decision,
        Outcome::Ask(approval) => approval.request,
    }
}

fn asked(active: &Arc<Active>, question: DecisionRequest) -> Approval {
    match deciding(active, question).outcome(at(1_000), 60_000) {
        Outcome::Ask(approval) => *approval,
        Outcome::Decided(decision) => panic!("{decision:?}"),
    }
}

/// The approval with a yes that holds until `holds_until`.
fn approved(mut approval: Approval, holds_until: i64) -> Approval {
    approval.state = ApprovalState::Approved;
    approval.chosen_option = Some(PermissionOption::AllowOnce);
    approval.resolved_by = "bob".to_owned();
    approval.resolution = Some(PermissionDecision {
        behavior: Behavior::Allow,
        expires_at: Some(at(holds_until)),
        ..approval.request.clone()
    });
    approval
}

fn again(approval: &Approval, command: &str) -> DecisionRequest {
    DecisionRequest { approval_ref: Some(approval.approval_id.clone()), ..question(command) }
}

#[test]
fn the_same_call_under_the_same_rules_gets_the_same_decision() {
    let active = active(RULES);
    let first = decided(&active, question("git diff"));
    assert_eq!((first.behavior, first.reason.as_ref().unwrap().rule_ref.as_deref()), (Behavior::Allow, Some("diffs")));
    assert_eq!((first.mode.as_deref(), first.policy_digest.as_str()), (Some("default"), active.digest()));
    assert_eq!(first, decided(&active, question("git diff")));
    assert_ne!(first.decision_id, decided(&active, question("git diff HEAD")).decision_id);
    let asked = asked(&active, question("git push"));
    assert_eq!(asked.approval_id, super::tests::asked(&active, question("git push")).approval_id);
    assert_eq!(asked.request.approval_request_ref.as_ref(), Some(&asked.approval_id));
}

#[test]
fn any_difference_makes_another_question() {
    let base = active(RULES);
    let first = asked(&base, question("git push"));
    let mut others =
        vec![question("git push origin"), question("git push"), question("git push"), question("git push")];
    others[1].caller.caller_ref = "key:other".into();
    others[2].tool.declaration_digest = Digest::of(b"another declaration");
    others[3].invocation_id = InvocationId::from_trusted("inv_2");
    others.push(again(&first, "git push"));
    for other in others {
        assert_ne!(asked(&base, other.clone()).approval_id, first.approval_id, "{other:?}");
    }
    let stricter = active(&format!("{RULES}\n[[permission.rules]]\nid = \"new\"\nbehavior = \"deny\"\ntool = \"x\"\n"));
    assert_ne!(asked(&stricter, question("git push")).approval_id, first.approval_id, "the policy is part of it");
}

#[test]
fn a_question_says_everything_people_need() {
    let active = active("[[permission.rules]]\nbehavior = \"deny\"\ntool = \"x\"\n");
    let approval = asked(&active, DecisionRequest { deadline_at: Some(at(9_000)), ..question("git log") });
    assert_eq!((approval.queue.as_str(), approval.state), (APPROVALS, ApprovalState::Pending));
    assert_eq!((approval.caller_ref.as_str(), approval.session_ref.as_deref()), ("key:agent", Some("session_1")));
    assert_eq!((approval.expires_at, approval.request.expires_at), (at(9_000), Some(at(9_000))), "with its call");
    let kinds: Vec<_> = approval.options.iter().map(|option| option.kind).collect();
    use PermissionOption::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    assert_eq!(kinds, [AllowOnce, AllowAlways, RejectOnce, RejectAlways]);
    assert!(!approval.request.suggested_updates.is_empty());
    assert_eq!(asked(&active, question("git log")).expires_at, at(61_000), "or with its own time");
}

#[test]
fn a_call_nobody_can_be_asked_about_is_denied() {
    let active = active(RULES);
    let denied = decided(&active, called("git push", None, false));
    assert_eq!(denied.reason.unwrap().reason_type, ReasonType::AsyncAgent);
    assert_eq!(denied.behavior, Behavior::Deny);
    assert_eq!(decided(&active, called("git push", Some(Mode::DontAsk), true)).behavior, Behavior::Deny);
}

#[test]
fn the_mode_of_a_call_that_names_none_is_the_configured_one() {
    let planned =
        active("[permission]\ndefault_mode = \"plan\"\n[[permission.rules]]\nbehavior=\"deny\"\ntool=\"x\"\n");
    let decision = decided(&planned, question("touch x"));
    assert_eq!((decision.behavior, decision.mode.as_deref()), (Behavior::Deny, Some("plan")));
    let own = decided(&planned, called("touch x", Some(Mode::Default), true));
    assert_eq!((own.behavior, own.mode.as_deref()), (Behavior::Ask, Some("default")));
}

#[test]
fn an_agent_that_is_not_sure_goes_to_the_review_queue() {
    let assurance = CallAssurance { confidence: Confidence::new(0.3), ..CallAssurance::default() };
    let signals = CallSignals { assurance: Some(assurance), ..CallSignals::default() };
    let approval = asked(&active(RULES), signalled("git diff", signals));
    assert_eq!(approval.queue, REVIEW);
    assert!(approval.options.iter().all(|option| !option.kind.is_always()), "no rule can answer for it");
}

#[test]
fn what_a_classifier_said_is_part_of_the_decision() {
    let check = ClassifierCheck {
        classifier_ref: "guard".to_owned(),
        pending: true,
        confidence: None,
        reason: String::new(),
        behavior: None,
        authority: ClassifierAuthority::Deny,
    };
    let signals = CallSignals { classifier: Some(check), ..CallSignals::default() };
    let decision = decided(&active(RULES), signalled("git diff", signals));
    assert_eq!(decision.behavior, Behavior::Ask);
    assert_eq!(decision.pending_classifier_check.unwrap().to_value()["classifier_ref"], "guard");
}

#[test]
fn hooks_are_heard_and_only_tighten() {
    let active = active(RULES);
    let say =
        |behavior| HookVerdict { hook_id: "h".to_owned(), behavior, message: String::new(), authoritative: false };
    let mut call = deciding(&active, question("git diff"));
    call.hear([say(Behavior::Ask)], None);
    assert!(call.wants_a_person());
    let mut call = deciding(&active, question("git push"));
    call.hear([say(Behavior::Allow)], None);
    assert!(call.wants_a_person());
    call.hear([say(Behavior::Deny)], None);
    assert_eq!(call.verdict().behavior, Behavior::Deny);
}

#[test]
fn a_decision_holds_no_longer_than_the_rules_behind_it() {
    let text = "[[permission.rules]]\nbehavior = \"allow\"\ntool = \"Bash\"\nexpires_at = \"2030-01-01T00:00:00Z\"\n";
    let active = active(text);
    let decision = decided(&active, question("git diff"));
    assert_eq!((decision.behavior, decision.expires_at), (Behavior::Allow, active.rules()[0].expires_at));
    let sooner = decided(&active, DecisionRequest { deadline_at: Some(at(5_000)), ..question("git diff") });
    assert_eq!(sooner.expires_at, Some(at(5_000)));
}

#[test]
fn an_approval_stands_for_its_own_call_and_question_only() {
    let base = active(RULES);
    let yes = approved(asked(&base, question("git push")), 2_000);
    let stands = |active: &Arc<Active>, question| deciding(active, question).stands(&yes);
    assert_eq!(stands(&base, again(&yes, "git push")), Standing::Yes);
    assert_eq!(stands(&base, again(&yes, "git push origin")), Standing::No, "another input");
    let mut other = again(&yes, "git push");
    other.caller.caller_ref = "key:x".into();
    assert_eq!(stands(&base, other), Standing::No, "another caller");
    let id = InvocationId::from_trusted("inv_2");
    assert_eq!(
        stands(&base, DecisionRequest { invocation_id: id, ..again(&yes, "git push") }),
        Standing::No,
        "single use"
    );
    let mut nobody = again(&yes, "git push");
    nobody.caller.can_ask = false;
    assert_eq!(stands(&base, nobody), Standing::Yes, "nobody has to be asked again");
    let decision = deciding(&base, again(&yes, "git push")).approved(&yes, at(1_000));
    assert_eq!((decision.behavior, decision.expires_at), (Behavior::Allow, Some(at(2_000))));
    assert_eq!(decision.approval_request_ref.as_ref(), Some(&yes.approval_id));
    let late = Deciding::new(Arc::clone(&base), again(&yes, "git push"), at(2_000)).stands(&yes);
    assert_eq!(late, Standing::No, "it held for a while only");
    let rejected = Approval { state: ApprovalState::Rejected, ..yes.clone() };
    assert_eq!(deciding(&base, again(&yes, "git push")).stands(&rejected), Standing::No);
}

#[test]
fn a_changed_policy_is_asked_again_only_for_another_reason() {
    let base = active(RULES);
    let yes = approved(asked(&base, question("git push")), 2_000);
    let with = |rule: &str| active(&format!("{RULES}\n[[permission.rules]]\n{rule}\n"));
    let stands = |active: &Arc<Active>| deciding(active, again(&yes, "git push")).stands(&yes);
    assert_eq!(stands(&with("id = \"z\"\nbehavior = \"allow\"\ntool = \"other\"")), Standing::Yes);
    assert_eq!(
        stands(&with("id = \"z\"\nbehavior = \"ask\"\ntool = \"Bash(git:*)\"")),
        Standing::No,
        "one more objection"
    );
    assert_eq!(stands(&with("id = \"z\"\nbehavior = \"deny\"\ntool = \"Bash(git push)\"")), Standing::NotNeeded);
    let denied = with("id = \"z\"\nbehavior = \"deny\"\ntool = \"Bash(git push)\"");
    assert_eq!(decided(&denied, again(&yes, "git push")).behavior, Behavior::Deny);
    let without = active("[[permission.rules]]\nbehavior = \"deny\"\ntool = \"x\"\n");
    assert_eq!(stands(&without), Standing::No, "the rule that asked is gone, and something else asks");
}

#[test]
fn the_approvers_own_edit_is_not_asked_about_again() {
    let base = active(RULES);
    let mut yes = approved(asked(&base, question("git push")), 2_000);
    yes.updated_input = Some(JsonPayload::from_checked(r#"{"command":"git push --dry-run"}"#));
    let stands = |command| deciding(&base, again(&yes, command)).stands(&yes);
    assert_eq!(stands("git push --dry-run"), Standing::Yes);
    assert_eq!(stands("git push"), Standing::No, "what was shown is not what was approved");
    let mut forced = yes.clone();
    forced.updated_input = Some(JsonPayload::from_checked(r#"{"command":"git push --force"}"#));
    assert_eq!(deciding(&base, again(&yes, "git push --force")).stands(&forced), Standing::NotNeeded, "denied anyway");
}

#[test]
fn a_question_that_waits_is_found_again() {
    let base = active(RULES);
    let waiting = asked(&base, question("git push"));
    assert_eq!(deciding(&base, again(&waiting, "git push")).stands(&waiting), Standing::Waiting);
    let other = active(&format!("{RULES}\n[[permission.rules]]\nid = \"z\"\nbehavior = \"deny\"\ntool = \"x\"\n"));
    assert_eq!(deciding(&other, again(&waiting, "git push")).stands(&waiting), Standing::No, "asked under other rules");
}

#[test]
fn an_allow_of_another_declaration_is_asked_about_again_and_named() {
    let text = format!(
        "[[permission.rules]]\nid = \"seen\"\nbehavior = \"allow\"\ntool = \"local.shell.exec\"\ndeclaration = \"{}\"\n",
        Digest::of(b"declaration")
    );
    let active = active(&text);
    assert_eq!(decided(&active, question("make")).behavior, Behavior::Allow);

    let registration = JsonPayload::from_checked(r#"{"declaration":{"description":"made into something else"}}"#);
    let mut changed = question("make");
    changed.tool.declaration_digest = registration.digest();
    changed.tool.registration_json = Some(registration.bytes().clone());
    let approval = asked(&active, changed.clone());
    assert_eq!(approval.outdated_rule, "seen");
    assert_eq!(approval.tool_registration, Some(registration));
    assert!(approval.request.reason.unwrap().message.contains("declared before"));

    // What is not the registration of the digest is never shown.
    changed.tool.declaration_digest = Digest::of(b"another");
    assert_eq!(asked(&active, changed).tool_registration, None);
}

/// What a surface names is known, so a rule may be about it either way; and the decision names it.
#[test]
fn rules_are_about_the_policies_of_a_surface() {
    let active = active(
        r#"
        [[permission.rules]]
        id = "locked"
        behavior = "deny"
        tool = "*"
        facts = ["surface_policy:locked"]

        [[permission.rules]]
        id = "open"
        behavior = "allow"
        tool = "Bash(ls:*)"
        facts = ["!surface_policy:strict"]
        "#,
    );
    let within = |policies: &[&str]| {
        let mut request = question("ls");
        request.caller.surface_policies = policies.iter().copied().map(SmolStr::new).collect();
        let decision = decided(&active, request);
        assert_eq!(decision.policy_refs, policies);
        decision.behavior
    };
    assert_eq!(within(&[]), Behavior::Allow);
    assert_eq!(within(&["strict"]), Behavior::Ask);
    assert_eq!(within(&["strict", "locked"]), Behavior::Deny);
}

#[test]
fn a_plain_decision_says_which_other_calls_it_stands_for() {
    let rules = r#"
        [[permission.rules]]
        id = "notes"
        behavior = "allow"
        tool = "notes.*"

        [[permission.rules]]
        id = "guests"
        behavior = "deny"
        tool = "*"
        scope = { actor = "guest" }

        [[permission.rules]]
        id = "watch"
        behavior = "deny"
        tool = "notes.drop"
        shadow = true

        [[permission.rules]]
        id = "today"
        behavior = "allow"
        tool = "notes.temporary"
        expires_at = "2999-01-01T00:00:00Z"
    "#;
    let active = active(rules);
    let noting = |name: &str| {
        let request = question("unused");
        let tool = ToolFacts::named(ToolId::from_trusted("tool_notes"), name, "notes");
        DecisionRequest { tool: CalledTool::of(tool, Digest::of(b"declaration")), ..request }
    };
    let reach = |request: DecisionRequest| deciding(&active, request).reach();
    assert_eq!(reach(noting("notes.add")), Some(LookedAt::NOTHING));
    let guest = CallerContext { actor_ref: "guest".into(), ..noting("notes.add").caller };
    assert_eq!(reach(DecisionRequest { caller: guest, ..noting("notes.add") }), Some(LookedAt::NOTHING));
    // What a command is decides.
    let of_input = LookedAt { input: true, ..LookedAt::NOTHING };
    let silent = deciding(&self::active(RULES), called("git diff", None, false));
    assert_eq!((silent.verdict().behavior, silent.reach()), (Behavior::Allow, Some(of_input)));
    // A question, a rule that watches, a rule that ends, a word of others, an approval: for this call alone.
    assert_eq!(reach(question("git push")), None);
    assert_eq!(reach(noting("notes.drop")), None);
    assert_eq!(reach(noting("notes.temporary")), None);
    let assurance = CallSignals { assurance: Some(CallAssurance::default()), ..CallSignals::default() };
    assert_eq!(reach(DecisionRequest { signals: assurance, ..noting("notes.add") }), None);
    let approval_ref = Some(ApprovalId::from_trusted("appr_1"));
    assert_eq!(reach(DecisionRequest { approval_ref, ..noting("notes.add") }), None);
    let mut heard = deciding(&active, noting("notes.add"));
    heard.hear(Vec::new(), None);
    assert_eq!(heard.reach(), None, "a hook was asked");
}
