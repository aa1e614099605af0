use toolplane_records::approval::REVIEW;
use toolplane_records::ids::{ApprovalId, TenantId};
use toolplane_records::vocabulary::ApprovalState;

use super::fixture::{Place, asked, question, question_of, reject, tenant};
use crate::approvals::{Book, BookError, Filter, Listed};

async fn ids(book: &Book, filter: &Filter, page: usize) -> Vec<ApprovalId> {
    let (mut seen, mut place) = (Vec::new(), None);
    loop {
        let Listed { approvals, next, .. } = book.list(filter, place, page).await.unwrap();
        seen.extend(approvals.into_iter().map(|approval| approval.approval_id));
        place = next;
        if place.is_none() {
            return seen;
        }
    }
}

#[tokio::test]
async fn pages_cover_everything_once_newest_first() {
    for mut place in Place::every().await {
        let book = place.book().await;
        for call in 0..7 {
            asked(&book, &format!("inv_{call}"), 60_000).await;
        }
        let filter = Filter { tenant: Some(tenant()), ..Filter::default() };
        let seen = ids(&book, &filter, 3).await;
        assert_eq!((seen.len(), &seen), (7, &ids(&book, &filter, 100).await), "{}", place.name());
    }
}

#[tokio::test]
async fn lists_are_by_tenant_state_and_queue() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let other = TenantId::from_trusted("other");
        let now = book.now().await.unwrap();
        let first = asked(&book, "inv_1", 60_000).await.approval_id;
        let mut unsure = question("inv_2", now, 60_000);
        unsure.queue = REVIEW.to_owned();
        let unsure = book.ask(unsure).await.unwrap().approval_id;
        let foreign = book.ask(question_of(&other, "inv_1", now, 60_000)).await.unwrap().approval_id;
        book.answer(&tenant(), &first, &reject()).await.unwrap();
        let check = async |tenant: Option<TenantId>, state, queue: Option<&str>, expected: &[&ApprovalId]| {
            let filter = Filter { tenant, state, queue: queue.map(str::to_owned) };
            let mut found = ids(&book, &filter, 10).await;
            let mut expected: Vec<_> = expected.iter().map(|id| (*id).clone()).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{filter:?}");
        };
        check(Some(tenant()), None, None, &[&first, &unsure]).await;
        check(Some(tenant()), Some(ApprovalState::Pending), None, &[&unsure]).await;
        check(Some(tenant()), Some(ApprovalState::Rejected), None, &[&first]).await;
        check(Some(tenant()), None, Some(REVIEW), &[&unsure]).await;
        check(Some(tenant()), Some(ApprovalState::Pending), Some("approvals"), &[]).await;
        check(Some(other.clone()), None, None, &[&foreign]).await;
        check(None, Some(ApprovalState::Pending), None, &[&unsure, &foreign]).await;
        check(None, None, None, &[&first, &unsure, &foreign]).await;
    }
}

#[tokio::test]
async fn another_tenant_sees_nothing() {
    for mut place in Place::every().await {
        let book = place.book().await;
        let id = asked(&book, "inv_1", 60_000).await.approval_id;
        let stranger = TenantId::from_trusted("other");
        assert!(matches!(book.get(&stranger, &id).await, Err(BookError::NotFound(_))));
        assert!(matches!(book.answer(&stranger, &id, &reject()).await, Err(BookError::NotFound(_))));
        assert!(matches!(book.withdraw(&stranger, &id, "x").await, Err(BookError::NotFound(_))));
        let filter = Filter { tenant: Some(stranger), ..Filter::default() };
        assert!(ids(&book, &filter, 10).await.is_empty());
    }
}
