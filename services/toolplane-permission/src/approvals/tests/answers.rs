use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{ApprovalState, Behavior, PermissionOption};

use super::fixture::{Place, allow, answer, asked, limits, question, reject, tenant};
use crate::approvals::{Answer, BookError, Limits, Resolver};

#[tokio::test]
async fn the_same_question_is_asked_once_and_another_is_another() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let first = asked(&book, "inv_1", 60_000).await;
        assert_eq!(asked(&book, "inv_1", 90_000).await, first, "{}", place.name());
        assert_ne!(asked(&book, "inv_2", 60_000).await.approval_id, first.approval_id);
        assert_eq!(book.changes(0, 10).await.unwrap().head, 2);
    }
}

#[tokio::test]
async fn one_answer_stands_and_the_same_one_again_finds_it() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let id = asked(&book, "inv_1", 60_000).await.approval_id;
        let approved = book.answer(&tenant(), &id, &allow()).await.unwrap();
        assert_eq!(
            (approved.state, approved.chosen_option),
            (ApprovalState::Approved, Some(PermissionOption::AllowOnce))
        );
        let decision = approved.resolution.as_ref().unwrap();
        assert_eq!((decision.behavior, decision.approval_request_ref.as_ref()), (Behavior::Allow, Some(&id)));
        assert!(decision.expires_at.is_some() && decision.decision_id != approved.request.decision_id);
        let carol = Resolver { name: "carol".to_owned(), ..Resolver::default() };
        let same = Answer { by: carol, feedback: "me too".to_owned(), ..allow() };
        assert_eq!(book.answer(&tenant(), &id, &same).await.unwrap(), approved, "{}", place.name());
        let edited = Answer { updated_input: Some(JsonPayload::from_checked("{}")), ..allow() };
        for other in [reject(), answer(PermissionOption::AllowAlways), edited] {
            let refusal = book.answer(&tenant(), &id, &other).await.unwrap_err();
            assert!(matches!(refusal, BookError::Settled { state: ApprovalState::Approved, .. }), "{refusal}");
            assert!(refusal.to_string().contains(decision.decision_id.as_str()), "{refusal}");
        }
    }
}

#[tokio::test]
async fn an_answer_carries_everything_the_person_said() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let id = asked(&book, "inv_1", 60_000).await.approval_id;
        let input = JsonPayload::from_checked(r#"{"command":"git push --dry-run"}"#);
        let block = JsonPayload::from_checked(r#"{"type":"text","text":"not on Fridays"}"#);
        let said = Answer {
            updated_input: Some(input.clone()),
            content_blocks: vec![block.clone()],
            feedback: "only a dry run".to_owned(),
            ..allow()
        };
        book.answer(&tenant(), &id, &said).await.unwrap();
        let kept = place.book().await.get(&tenant(), &id).await.unwrap();
        assert_eq!((kept.updated_input.as_ref(), kept.resolved_by.as_str()), (Some(&input), "bob"));
        let decision = kept.resolution.unwrap();
        assert_eq!((decision.updated_input.as_ref(), decision.user_modified), (Some(&input), Some(true)));
        assert_eq!(
            (decision.accept_feedback.as_deref(), decision.content_blocks),
            (Some("only a dry run"), vec![block])
        );
        assert_eq!(kept.permission_input.text(), r#"{"command":"git push"}"#, "what was shown stays");

        let id = asked(&book, "inv_2", 60_000).await.approval_id;
        let edited = Answer { updated_input: Some(input), ..reject() };
        let refusal = book.answer(&tenant(), &id, &edited).await.unwrap_err();
        assert!(matches!(refusal, BookError::NotOffered { field: "updated_input", .. }), "{refusal}");
    }
}

#[tokio::test]
async fn whoever_edits_an_input_does_not_allow_the_one_that_was_shown_for_ever() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let id = asked(&book, "inv_1", 60_000).await.approval_id;
        let input = JsonPayload::from_checked(r#"{"command":"pwd"}"#);
        let edited = Answer { updated_input: Some(input.clone()), ..answer(PermissionOption::AllowAlways) };
        let refusal = book.answer(&tenant(), &id, &edited).await.unwrap_err();
        assert!(matches!(refusal, BookError::NotOffered { field: "updated_input", .. }), "{refusal}");
        let once = Answer { updated_input: Some(input), ..allow() };
        book.answer(&tenant(), &id, &once).await.expect("the question is still open");
    }
}

#[tokio::test]
async fn a_request_id_repeats_an_answer_and_refuses_another_body() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let id = asked(&book, "inv_1", 60_000).await.approval_id;
        let request =
            |base: Answer| Answer { request_id: Some("11111111-1111-1111-1111-111111111111".to_owned()), ..base };
        let first = book.answer(&tenant(), &id, &request(allow())).await.unwrap();
        assert_eq!(place.book().await.answer(&tenant(), &id, &request(allow())).await.unwrap(), first);
        let reused = book.answer(&tenant(), &id, &request(reject())).await.unwrap_err();
        assert!(matches!(reused, BookError::RequestIdReused(_)), "{reused}");
    }
}

#[tokio::test]
async fn nobody_answers_for_its_own_call() {
    let caller = |caller_ref: &str, actor: Option<&str>| Resolver {
        name: "someone".to_owned(),
        actor: actor.map(str::to_owned),
        caller_ref: caller_ref.to_owned(),
        may_be_the_caller: false,
    };
    for mut place in Place::every().await {
        let book = place.book().await;
        // The question is of `key:agent`, for the actor `ann`.
        let id = asked(&book, "inv_1", 60_000).await.approval_id;
        for own in [caller("key:agent", None), caller("key:agent", Some("bob")), caller("key:other", Some("ann"))] {
            for option in [PermissionOption::AllowOnce, PermissionOption::RejectOnce] {
                let refusal =
                    book.answer(&tenant(), &id, &Answer { by: own.clone(), ..answer(option) }).await.unwrap_err();
                assert!(matches!(refusal, BookError::SelfApproval), "{own:?}: {refusal}");
            }
        }
        for (call, by) in [
            ("inv_2", caller("key:other", Some("bob"))),
            ("inv_3", caller("", None)),
            ("inv_4", Resolver { may_be_the_caller: true, ..caller("key:agent", Some("ann")) }),
        ] {
            let id = asked(&book, call, 60_000).await.approval_id;
            book.answer(&tenant(), &id, &Answer { by, ..allow() }).await.unwrap();
        }
    }
}

#[tokio::test]
async fn an_expired_question_is_a_refusal_whoever_looks_first() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let swept = asked(&book, "inv_1", 0).await.approval_id;
        assert_eq!(book.expire_due().await.unwrap(), 1);
        assert_eq!(book.expire_due().await.unwrap(), 0, "{}", place.name());
        let late = asked(&book, "inv_2", 0).await.approval_id;
        let refusal = book.answer(&tenant(), &late, &allow()).await.unwrap_err();
        assert!(matches!(refusal, BookError::Settled { state: ApprovalState::Expired, .. }), "{refusal}");
        for id in [swept, late] {
            let expired = book.get(&tenant(), &id).await.unwrap();
            assert_eq!(expired.state, ApprovalState::Expired);
            assert_eq!(expired.resolution.unwrap().behavior, Behavior::Deny);
        }
    }
}

#[tokio::test]
async fn a_withdrawn_question_cannot_be_answered_and_a_settled_one_not_withdrawn() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let id = asked(&book, "inv_1", 60_000).await.approval_id;
        let withdrawn = book.withdraw(&tenant(), &id, "canceled").await.unwrap();
        assert_eq!((withdrawn.state, withdrawn.feedback.as_str()), (ApprovalState::Withdrawn, "canceled"));
        assert!(book.answer(&tenant(), &id, &allow()).await.is_err());
        let settled = asked(&book, "inv_2", 60_000).await.approval_id;
        book.answer(&tenant(), &settled, &reject()).await.unwrap();
        assert_eq!(book.withdraw(&tenant(), &settled, "canceled").await.unwrap().state, ApprovalState::Rejected);
    }
}

#[tokio::test]
async fn a_tenant_has_only_so_many_questions() {
    for mut place in Place::every().await {
        let book = place.book_with(Limits { max_pending: 3, ..limits() }).await;
        let first = asked(&book, "inv_0", 60_000).await.approval_id;
        for call in ["inv_1", "inv_2"] {
            asked(&book, call, 60_000).await;
        }
        let fourth = question("inv_3", book.now().await.unwrap(), 60_000);
        let full = book.ask(fourth.clone()).await.unwrap_err();
        assert!(matches!(full, BookError::TooMany { limit: 3, .. }), "{}: {full}", place.name());
        asked(&book, "inv_0", 60_000).await;
        book.answer(&tenant(), &first, &reject()).await.unwrap();
        book.ask(fourth).await.unwrap();
    }
}

#[tokio::test]
async fn a_question_about_a_result_takes_no_other_input_and_stays_open() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let mut asks = question("inv_1", book.now().await.unwrap(), 60_000);
        asks.request.source = Some(toolplane_records::approval::OF_RESULT.into());
        let id = book.ask(asks).await.unwrap().approval_id;
        let edited = Answer { updated_input: Some(JsonPayload::from_checked(r#"{"command":"true"}"#)), ..allow() };
        let refused = book.answer(&tenant(), &id, &edited).await.unwrap_err();
        let BookError::NotOffered { field: "updated_input", rule } = &refused else { panic!("{refused}") };
        assert!(rule.contains("the result of a call that has run"), "{rule}");
        assert_eq!(book.get(&tenant(), &id).await.unwrap().state, ApprovalState::Pending, "{}", place.name());
        assert_eq!(book.answer(&tenant(), &id, &allow()).await.unwrap().state, ApprovalState::Approved);
    }
}
