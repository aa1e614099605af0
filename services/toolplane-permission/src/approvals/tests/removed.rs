//! What was asked about calls that are not kept any more goes, and leaves no text behind.

use toolplane_records::ids::{InvocationId, TenantId};
use toolplane_records::vocabulary::ApprovalState;

use super::fixture::{Place, allow, asked, question_of, tenant};
use crate::approvals::{BookError, Filter};

#[tokio::test]
async fn a_question_goes_with_its_answer_its_entries_and_its_text_in_the_stream() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let call = InvocationId::from_trusted("inv_1");
        let gone = asked(&book, "inv_1", 60_000).await;
        book.answer(&tenant(), &gone.approval_id, &allow()).await.unwrap();
        let stays = asked(&book, "inv_2", 60_000).await;
        let named = asked(&book, "inv_3", 60_000).await;
        let other = TenantId::from_trusted("other");
        let foreign = book.ask(question_of(&other, "inv_1", book.now().await.unwrap(), 60_000)).await.unwrap();

        let calls = [call.clone()];
        assert_eq!(book.delete(&tenant(), &calls, std::slice::from_ref(&named.approval_id)).await.unwrap(), 2);
        assert_eq!(
            book.delete(&tenant(), &calls, std::slice::from_ref(&named.approval_id)).await.unwrap(),
            0,
            "and once only"
        );
        // One of another tenant is not met by its id.
        assert_eq!(book.delete(&tenant(), &[], std::slice::from_ref(&foreign.approval_id)).await.unwrap(), 0);

        for id in [&gone.approval_id, &named.approval_id] {
            let read = book.get(&tenant(), id).await;
            assert!(matches!(read, Err(BookError::NotFound(_))), "{}: {read:?}", place.name());
        }
        assert_eq!(book.get(&other, &foreign.approval_id).await.unwrap(), foreign);
        for state in [None, Some(ApprovalState::Pending), Some(ApprovalState::Approved)] {
            let listed = book.list(&Filter { tenant: Some(tenant()), state, queue: None }, None, 10).await.unwrap();
            assert!(listed.damaged.is_empty());
            let wanted = if state == Some(ApprovalState::Approved) { 0 } else { 1 };
            assert_eq!(listed.approvals.len(), wanted, "{}: {state:?}", place.name());
        }
        let told = book.changes(0, 10).await.unwrap();
        let ids: Vec<_> = told.changes.iter().map(|(_, approval)| approval.approval_id.clone()).collect();
        assert_eq!(ids, [stays.approval_id.clone(), foreign.approval_id.clone()], "{}", place.name());
        assert_eq!((told.seen, told.head), (5, 5), "watchers go on behind it");
        let store = place.store().await;
        let stream = store.events("approvals", 1, 10).await.unwrap();
        assert_eq!(stream.events.len(), 5);
        for (_, event) in &stream.events {
            let text = String::from_utf8(event.to_vec()).unwrap();
            assert!(!text.contains("git push"), "{}: {text}", place.name());
        }
        let names = store.indexes("approvals").await.unwrap();
        assert!(names.iter().all(|name| !name.ends_with("|inv_3")), "{}: {names:?}", place.name());
    }
}

#[tokio::test]
async fn a_change_is_told_as_it_was_when_it_was_made() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let pending = asked(&book, "inv_1", 60_000).await;
        let approved = book.answer(&tenant(), &pending.approval_id, &allow()).await.unwrap();
        let told = book.changes(0, 10).await.unwrap();
        assert_eq!(told.changes, [(1, pending), (2, approved)], "{}", place.name());
    }
}
