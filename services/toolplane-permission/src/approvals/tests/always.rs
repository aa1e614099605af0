//! Answers that also hold for later calls.

use toolplane_records::decision::PermissionDecision;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::rule::{PermissionRule, RulePin};
use toolplane_records::vocabulary::{Behavior, PermissionOption, RiskLevel, RuleSource};

use super::fixture::{Place, allow, answer, asked, asking, limits, question, reject, tenant};
use crate::approvals::{Answer, BookError, Limits, options};
use crate::ledger::{Done, Ledger};
use crate::rules::stored;

#[tokio::test]
async fn an_always_brings_its_rule_into_force_with_the_answer() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let id = asked(&book, "inv_1", 60_000).await.approval_id;
        let wide = Answer { suggestion_id: "prefix".to_owned(), ..answer(PermissionOption::AllowAlways) };
        let approved = book.answer(&tenant(), &id, &wide).await.unwrap();
        let rules = stored::load(&Ledger::open(place.store().await).await.unwrap()).await.unwrap();
        let [rule] = rules.rules.as_slice() else { panic!("{:?}", rules.rules) };
        assert_eq!(
            (rule.matcher.as_str(), rule.behavior, rule.source),
            ("Bash(git push:*)", Behavior::Allow, RuleSource::ProjectSettings)
        );
        assert_eq!((rule.scope.tenant.as_str(), rule.scope.session.as_str()), ("default", ""));
        assert_eq!((rule.author.as_str(), rule.origin.as_str()), ("bob", "stored"));
        assert!(
            approved.resolution.as_ref().unwrap().rule_refs.iter().any(|kept| *kept == rule.rule_id),
            "the decision names it"
        );
        assert_eq!(book.answer(&tenant(), &id, &wide).await.unwrap(), approved, "and again changes nothing");
        let narrow = answer(PermissionOption::AllowAlways);
        let refusal = book.answer(&tenant(), &id, &narrow).await.unwrap_err();
        assert!(matches!(refusal, BookError::Settled { .. }), "another rule is another answer: {refusal}");

        let id = asked(&book, "inv_2", 60_000).await.approval_id;
        book.answer(&tenant(), &id, &answer(PermissionOption::RejectAlways)).await.unwrap();
        let rules = stored::load(&Ledger::open(place.store().await).await.unwrap()).await.unwrap();
        let rule = rules.rules.iter().find(|rule| rule.behavior == Behavior::Deny).unwrap();
        assert_eq!((rule.matcher.as_str(), rule.source), ("Bash(git push)", RuleSource::Session), "the narrowest");
        assert_eq!(rule.scope.session, "session_1");
    }
}

#[tokio::test]
async fn an_always_is_about_the_tool_as_it_was_seen() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let now = book.now().await.unwrap();
        let registration = JsonPayload::from_checked(r#"{"declaration":{}}"#);
        let mut shown = question("inv_1", now, 60_000);
        shown.tool_registration = Some(registration.clone());
        let asked_about = book.ask(shown).await.unwrap();
        book.answer(&tenant(), &asked_about.approval_id, &answer(PermissionOption::AllowAlways)).await.unwrap();
        let refused = asked(&book, "inv_2", 60_000).await;
        book.answer(&tenant(), &refused.approval_id, &answer(PermissionOption::RejectAlways)).await.unwrap();

        let ledger = Ledger::open(place.store().await).await.unwrap();
        let rules = stored::load(&ledger).await.unwrap().rules;
        let of = |behavior: Behavior| rules.iter().find(|rule| rule.behavior == behavior).unwrap();
        let pin = RulePin { declaration_digest: asked_about.declaration_digest, registration: Some(registration) };
        assert_eq!(of(Behavior::Allow).pin, Some(pin), "{}", place.name());
        assert_eq!(of(Behavior::Deny).pin, None, "a no holds whatever the tool is made into");

        // As rules were kept before: bound to what their approval was about, or to nothing that is.
        let (id, said) = (&asked_about.approval_id, "0123abcd");
        let old = |name: String| PermissionRule {
            rule_id: stored::rule_id(&tenant(), &name),
            pin: None,
            ..of(Behavior::Allow).clone()
        };
        let lost = "0".repeat(32);
        let olds = [old(format!("{id}.{said}")), old(format!("appr_{lost}.{said}")), old("by_hand".to_owned())];
        let change = stored::addition(&tenant(), &olds, 1_000).unwrap();
        assert_eq!(ledger.apply(change).await.unwrap(), Done::Applied);
        let rules = stored::load(&ledger).await.unwrap().rules;
        let pinned = |old: &PermissionRule| {
            let rule = rules.iter().find(|rule| rule.rule_id == old.rule_id).unwrap();
            rule.pin.as_ref().map(|pin| pin.declaration_digest)
        };
        assert_eq!(pinned(&olds[0]), Some(asked_about.declaration_digest));
        assert_eq!(pinned(&olds[1]), Some(Digest::of(&[])), "nobody knows what was seen");
        assert_eq!(pinned(&olds[2]), None, "a rule typed by hand stays as it was typed");
    }
}

#[tokio::test]
async fn a_once_brings_no_rule_and_what_is_not_offered_is_refused() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let id = asked(&book, "inv_1", 60_000).await.approval_id;
        let unknown = Answer { suggestion_id: "other".to_owned(), ..answer(PermissionOption::AllowAlways) };
        let pointless = Answer { suggestion_id: "exact".to_owned(), ..allow() };
        for wrong in [unknown, pointless] {
            let refusal = book.answer(&tenant(), &id, &wrong).await.unwrap_err();
            assert!(matches!(refusal, BookError::NotOffered { field: "suggestion_id", .. }), "{refusal}");
        }
        book.answer(&tenant(), &id, &reject()).await.unwrap();
        let mut bare = question("inv_2", book.now().await.unwrap(), 60_000);
        bare.options.retain(|option| !option.kind.is_always());
        let id = book.ask(bare).await.unwrap().approval_id;
        let refusal = book.answer(&tenant(), &id, &answer(PermissionOption::AllowAlways)).await.unwrap_err();
        assert!(matches!(refusal, BookError::NotOffered { field: "option", .. }), "{refusal}");
        assert!(stored::load(&Ledger::open(place.store().await).await.unwrap()).await.unwrap().rules.is_empty());
    }
}

#[tokio::test]
async fn a_tenant_with_too_many_rules_can_still_answer_once() {
    for mut place in Place::every().await {
        let book = place.book_with(Limits { max_rules: 1, ..limits() }).await;
        let first = asked(&book, "inv_1", 60_000).await.approval_id;
        book.answer(&tenant(), &first, &answer(PermissionOption::AllowAlways)).await.unwrap();
        let second = asked(&book, "inv_2", 60_000).await.approval_id;
        let full = book.answer(&tenant(), &second, &answer(PermissionOption::AllowAlways)).await.unwrap_err();
        assert!(matches!(full, BookError::TooMany { limit: 1, .. }), "{}: {full}", place.name());
        book.answer(&tenant(), &second, &allow()).await.unwrap();
    }
}

#[test]
fn options_come_in_one_order_and_never_promise_too_much() {
    let call = toolplane_records::ids::InvocationId::from_trusted("inv_1");
    let mut request = asking(&call, toolplane_records::time::Timestamp::from_millis(0));
    fn kinds(request: &PermissionDecision, session: Option<&str>, risk: Option<RiskLevel>) -> Vec<PermissionOption> {
        options(request, session, "ann", risk).into_iter().map(|option| option.kind).collect()
    }
    use PermissionOption::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    let all = [AllowOnce, AllowAlways, RejectOnce, RejectAlways];
    assert_eq!(kinds(&request, Some("s"), Some(RiskLevel::High)), all);
    let offered = options(&request, Some("s"), "ann", None);
    assert_eq!(offered[1].suggestion_id, "exact", "the narrowest first");
    assert_eq!(options(&request, None, "ann", None)[1].suggestion_id, "prefix", "without a session none for a session");
    assert_eq!(kinds(&request, Some("s"), Some(RiskLevel::Critical)), [AllowOnce, RejectOnce, RejectAlways]);
    request.suggested_updates.clear();
    assert_eq!(kinds(&request, Some("s"), None), [AllowOnce, RejectOnce]);
}
