//! Answers that also hold for later calls.

use toolplane_records::decision::PermissionDecision;
use toolplane_records::vocabulary::{Behavior, PermissionOption, RiskLevel, RuleSource};

use super::fixture::{Place, allow, answer, asked, asking, limits, question, reject, tenant};
use crate::approvals::{Answer, BookError, Limits, options};
use crate::ledger::Ledger;
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
        assert!(approved.resolution.as_ref().unwrap().rule_refs.contains(&rule.rule_id), "the decision names it");
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
        options(request, session, risk).into_iter().map(|option| option.kind).collect()
    }
    use PermissionOption::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    let all = [AllowOnce, AllowAlways, RejectOnce, RejectAlways];
    assert_eq!(kinds(&request, Some("s"), Some(RiskLevel::High)), all);
    let offered = options(&request, Some("s"), None);
    assert_eq!(offered[1].suggestion_id, "exact", "the narrowest first");
    assert_eq!(options(&request, None, None)[1].suggestion_id, "prefix", "without a session none for a session");
    assert_eq!(kinds(&request, Some("s"), Some(RiskLevel::Critical)), [AllowOnce, RejectOnce, RejectAlways]);
    request.suggested_updates.clear();
    assert_eq!(kinds(&request, Some("s"), None), [AllowOnce, RejectOnce]);
}
