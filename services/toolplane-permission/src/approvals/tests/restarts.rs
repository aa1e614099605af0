//! What was parked is there after any end of the process.

use std::sync::Arc;

use toolplane_records::vocabulary::{ApprovalState, PermissionOption};

use super::fixture::{Place, allow, answer, asked, tenant};
use crate::approvals::Filter;
use crate::ledger::Ledger;
use crate::rules::stored;

#[tokio::test]
async fn questions_answers_and_rules_survive_restarts() {
    for mut place in Place::durable().await {
        let (parked, approved) = {
            let book = place.book().await;
            let parked = asked(&book, "inv_1", 60_000).await;
            let id = asked(&book, "inv_2", 60_000).await.approval_id;
            (parked, book.answer(&tenant(), &id, &answer(PermissionOption::AllowAlways)).await.unwrap())
        };
        for _ in 0..2 {
            restart(&mut place).await;
            let book = place.book().await;
            assert_eq!(asked(&book, "inv_1", 60_000).await, parked, "{}: the same question", place.name());
            assert_eq!(book.get(&tenant(), &approved.approval_id).await.unwrap(), approved);
            let waiting = Filter { state: Some(ApprovalState::Pending), ..Filter::default() };
            assert_eq!(book.list(&waiting, None, 10).await.unwrap().approvals, std::slice::from_ref(&parked));
            assert_eq!(stored::load(&Ledger::open(place.store().await).await.unwrap()).await.unwrap().rules.len(), 1);
            assert_eq!(book.changes(0, 10).await.unwrap().head, 3);
        }
        let book = place.book().await;
        let answered = book.answer(&tenant(), &parked.approval_id, &allow()).await.unwrap();
        assert_eq!(answered.invocation_id, parked.invocation_id);
    }
}

/// Ends what keeps the store without closing it, and starts it again.
async fn restart(place: &mut Place) {
    match place {
        Place::Memory(_) => {}
        Place::Embedded { open, .. } => {
            let store = open.take().unwrap();
            // Nothing is flushed at its end: the process that holds the files must be gone, that is all.
            assert_eq!(Arc::strong_count(&store), 1);
            drop(store);
        }
        Place::Redis { server } => {
            server.kill();
            server.restart().await.unwrap();
        }
    }
}
