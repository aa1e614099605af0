use std::sync::Arc;

use toolplane_policy::RuleSet;
use toolplane_records::approval::Approval;
use toolplane_records::ids::{ApprovalId, InvocationId, TenantId, ToolId};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ApprovalState, Behavior};
use toolplane_store::{MemoryStore, Store};

use super::*;
use crate::decide::{Decider, Question};

fn tenant() -> TenantId {
    TenantId::unauthenticated()
}

async fn book() -> Book {
    Book::open(Arc::new(MemoryStore::new())).await.unwrap()
}

fn question(call: &str, now: Timestamp, ttl_ms: u64) -> Approval {
    let input = JsonPayload::from_checked(r#"{"command":"rm x"}"#);
    let question = Question {
        invocation_id: InvocationId::from_trusted(call),
        tenant: tenant(),
        actor_ref: String::new(),
        tool_id: ToolId::from_trusted("tool_shell"),
        tool_name: "local.shell.exec".to_owned(),
        namespace: "local.shell".to_owned(),
        declaration_digest: Digest::of(b"declaration"),
        surface_id: None,
        input_digest: input.digest(),
        shown_input: input,
        profile: None,
        safety: None,
        unknown_facts: Vec::new(),
        can_ask: true,
        mode: String::new(),
        deadline_at: None,
    };
    let decision = Decider::new(RuleSet::default()).decide(&question, now);
    Decider::park(question, decision, now, ttl_ms)
}

async fn asked(book: &Book, call: &str, ttl_ms: u64) -> Approval {
    book.ask(question(call, book.now().await.unwrap(), ttl_ms)).await.unwrap()
}

fn answer(allow: bool, request_id: Option<&str>) -> Answer {
    let request_id = request_id.map(str::to_owned);
    Answer { allow, feedback: String::new(), resolved_by: "ann".to_owned(), request_id }
}

async fn pending(book: &Book) -> usize {
    let filter = Filter { tenant: tenant(), state: Some(ApprovalState::Pending) };
    book.list(&filter, None, 100).await.unwrap().0.len()
}

#[tokio::test]
async fn the_same_question_is_asked_once() {
    let book = book().await;
    let first = asked(&book, "inv_1", 60_000).await;
    let again = asked(&book, "inv_1", 90_000).await;
    assert_eq!(first, again);
    assert_eq!(pending(&book).await, 1);
    assert_eq!(book.changes(0, 10).await.unwrap().head, 1);
}

#[tokio::test]
async fn one_answer_stands_and_the_same_one_again_finds_it() {
    let book = book().await;
    let id = asked(&book, "inv_1", 60_000).await.approval_id;
    let approved = book.answer(&tenant(), &id, &answer(true, None)).await.unwrap();
    assert_eq!(approved.state, ApprovalState::Approved);
    let decision = approved.resolution.as_ref().unwrap();
    assert_eq!((decision.behavior, decision.approval_request_ref.as_ref()), (Behavior::Allow, Some(&id)));
    assert_ne!(decision.decision_id, approved.request.decision_id);
    assert_eq!(book.answer(&tenant(), &id, &answer(true, None)).await.unwrap(), approved);
    let refusal = book.answer(&tenant(), &id, &answer(false, None)).await.unwrap_err();
    assert!(refusal.to_string().contains(decision.decision_id.as_str()), "{refusal}");
    assert_eq!(pending(&book).await, 0);
}

#[tokio::test]
async fn of_racing_answers_one_wins_and_everyone_hears_which() {
    let book = Arc::new(book().await);
    for round in 0..50 {
        let id = asked(&book, &format!("inv_{round}"), 60_000).await.approval_id;
        let race = |allow: bool| {
            let (book, id) = (Arc::clone(&book), id.clone());
            tokio::spawn(async move { book.answer(&tenant(), &id, &answer(allow, None)).await.is_ok() })
        };
        let (allow, deny) = (race(true), race(false));
        let (allow, deny) = (allow.await.unwrap(), deny.await.unwrap());
        assert!(allow != deny, "both or none won");
        let stands = book.get(&tenant(), &id).await.unwrap().state;
        assert_eq!(stands, if allow { ApprovalState::Approved } else { ApprovalState::Rejected });
    }
    assert_eq!(book.changes(0, 1000).await.unwrap().changes.len(), 100);
}

#[tokio::test]
async fn a_request_id_repeats_its_answer_and_nothing_else() {
    let book = book().await;
    let one = asked(&book, "inv_1", 60_000).await.approval_id;
    let other = asked(&book, "inv_2", 60_000).await.approval_id;
    let first = book.answer(&tenant(), &one, &answer(true, Some("r"))).await.unwrap();
    assert_eq!(book.answer(&tenant(), &one, &answer(true, Some("r"))).await.unwrap(), first);
    for (id, allow) in [(&one, false), (&other, true)] {
        let refusal = book.answer(&tenant(), id, &answer(allow, Some("r"))).await.unwrap_err();
        assert!(matches!(refusal, BookError::RequestIdReused(_)), "{refusal}");
    }
    assert_eq!(book.get(&tenant(), &other).await.unwrap().state, ApprovalState::Pending);
}

#[tokio::test]
async fn what_is_overdue_is_a_refusal_whoever_looks_first() {
    let book = book().await;
    let swept = asked(&book, "inv_1", 0).await.approval_id;
    assert_eq!(book.expire_due().await.unwrap(), 1);
    assert_eq!(book.expire_due().await.unwrap(), 0);
    let late = asked(&book, "inv_2", 0).await.approval_id;
    let refusal = book.answer(&tenant(), &late, &answer(true, None)).await.unwrap_err();
    assert!(matches!(refusal, BookError::Settled { state: ApprovalState::Expired, .. }), "{refusal}");
    for id in [swept, late] {
        let expired = book.get(&tenant(), &id).await.unwrap();
        assert_eq!(expired.state, ApprovalState::Expired);
        assert_eq!(expired.resolution.unwrap().behavior, Behavior::Deny);
    }
}

#[tokio::test]
async fn a_withdrawn_question_cannot_be_answered_and_a_settled_one_not_withdrawn() {
    let book = book().await;
    let id = asked(&book, "inv_1", 60_000).await.approval_id;
    let withdrawn = book.withdraw(&tenant(), &id, "canceled").await.unwrap();
    assert_eq!((withdrawn.state, withdrawn.feedback.as_str()), (ApprovalState::Withdrawn, "canceled"));
    assert!(book.answer(&tenant(), &id, &answer(true, None)).await.is_err());
    let settled = asked(&book, "inv_2", 60_000).await.approval_id;
    book.answer(&tenant(), &settled, &answer(false, None)).await.unwrap();
    assert_eq!(book.withdraw(&tenant(), &settled, "canceled").await.unwrap().state, ApprovalState::Rejected);
}

#[tokio::test]
async fn pages_cover_everything_once_newest_first() {
    let book = book().await;
    for call in 0..7 {
        asked(&book, &format!("inv_{call}"), 60_000).await;
    }
    let filter = Filter { tenant: tenant(), state: None };
    let (mut seen, mut place): (Vec<ApprovalId>, _) = (Vec::new(), None);
    loop {
        let (page, next) = book.list(&filter, place, 3).await.unwrap();
        seen.extend(page.into_iter().map(|approval| approval.approval_id));
        place = next;
        if place.is_none() {
            break;
        }
    }
    let (all, _) = book.list(&filter, None, 100).await.unwrap();
    assert_eq!(seen, all.into_iter().map(|approval| approval.approval_id).collect::<Vec<_>>());
    assert_eq!(seen.len(), 7);
}

#[tokio::test]
async fn another_tenant_sees_nothing() {
    let book = book().await;
    let id = asked(&book, "inv_1", 60_000).await.approval_id;
    let stranger = TenantId::from_trusted("other");
    assert!(matches!(book.get(&stranger, &id).await, Err(BookError::NotFound(_))));
    assert!(matches!(book.answer(&stranger, &id, &answer(true, None)).await, Err(BookError::NotFound(_))));
    assert!(matches!(book.withdraw(&stranger, &id, "x").await, Err(BookError::NotFound(_))));
}

#[tokio::test]
async fn two_books_on_one_store_do_not_break_each_other() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let one = Arc::new(Book::open(Arc::clone(&store)).await.unwrap());
    let two = Arc::new(Book::open(store).await.unwrap());
    let mut tasks = Vec::new();
    for call in 0..40 {
        let book = Arc::clone(if call % 2 == 0 { &one } else { &two });
        tasks.push(tokio::spawn(async move { asked(&book, &format!("inv_{call}"), 60_000).await }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let changes = one.changes(0, 100).await.unwrap();
    let revisions: Vec<u64> = changes.changes.iter().map(|(revision, _)| *revision).collect();
    assert_eq!(revisions, (1..=40).collect::<Vec<_>>());
}
