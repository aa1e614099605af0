//! Many at once: the first answer decides, and all others find that.

use std::sync::Arc;

use tokio::task::JoinSet;
use toolplane_records::approval::Approval;
use toolplane_records::ids::ApprovalId;
use toolplane_records::vocabulary::ApprovalState;

use super::fixture::{Place, allow, asked, question, reject, tenant};
use crate::approvals::{Book, BookError};

/// Races on each store.
const RACES: usize = 5_000;
/// Races that run at a time.
const AT_ONCE: usize = 32;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn books_over_one_store_do_not_break_each_other() {
    for mut place in Place::every().await {
        let books = [Arc::new(place.book().await), Arc::new(place.book().await), Arc::new(place.book().await)];
        let mut tasks = JoinSet::new();
        for call in 0..60 {
            let book = Arc::clone(&books[call % books.len()]);
            tasks.spawn(async move { asked(&book, &format!("inv_{}", call / 2), 60_000).await });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let changes = books[0].changes(0, 100).await.unwrap();
        let revisions: Vec<u64> = changes.changes.iter().map(|(revision, _)| *revision).collect();
        assert_eq!(revisions, (1..=30).collect::<Vec<_>>(), "{}: each question once, without a gap", place.name());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_question_ends_once_on_disk() {
    let [embedded, _] = Place::durable().await;
    every_question_ends_once(embedded).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_question_ends_once_in_redis() {
    let [_, redis] = Place::durable().await;
    every_question_ends_once(redis).await;
}

/// Runs all races over two books, and checks that all saw the same ends.
async fn every_question_ends_once(mut place: Place) {
    let books = [Arc::new(place.book().await), Arc::new(place.book().await)];
    let mut ends = [0_usize; 4];
    for group in (0..RACES).collect::<Vec<_>>().chunks(AT_ONCE) {
        let mut races = JoinSet::new();
        for race in group {
            races.spawn(one_race(books.clone(), *race));
        }
        while let Some(end) = races.join_next().await {
            ends[place_of(end.unwrap())] += 1;
        }
    }
    assert_eq!(ends.iter().sum::<usize>(), RACES, "{}", place.name());
    assert!(ends.iter().all(|count| *count > 0), "{}: every kind of end was met: {ends:?}", place.name());
    every_change_is_told_once(&books[1]).await;
}

fn place_of(state: ApprovalState) -> usize {
    match state {
        ApprovalState::Approved => 0,
        ApprovalState::Rejected => 1,
        ApprovalState::Expired => 2,
        _ => 3,
    }
}

/// An approval, a rejection, an expiry and a withdrawal of one question at once, by two processes. Which of them wins
/// is up to chance; that one does, and that all hear which, is not.
async fn one_race(books: [Arc<Book>; 2], race: usize) -> ApprovalState {
    let now = books[0].now().await.unwrap();
    // Some are overdue before the first answer, some become so in between.
    let ttl = [60_000, 60_000, 2, 0][race % 4];
    let id = books[0].ask(question(&format!("inv_{race}"), now, ttl)).await.unwrap().approval_id;
    let (one, other) = (Arc::clone(&books[race % 2]), Arc::clone(&books[1 - race % 2]));
    let mut contenders = JoinSet::new();
    let (book, approved) = (Arc::clone(&one), id.clone());
    contenders.spawn(async move { book.answer(&tenant(), &approved, &allow()).await.map(drop) });
    let (book, rejected) = (Arc::clone(&other), id.clone());
    contenders.spawn(async move { book.answer(&tenant(), &rejected, &reject()).await.map(drop) });
    if race % 4 == 1 {
        let (book, withdrawn) = (other.clone(), id.clone());
        contenders.spawn(async move { book.withdraw(&tenant(), &withdrawn, "canceled").await.map(drop) });
    }
    let book = one.clone();
    contenders.spawn(async move { book.expire_due().await.map(drop) });
    let mut standing = Vec::new();
    while let Some(outcome) = contenders.join_next().await {
        match outcome.unwrap() {
            Ok(()) => {}
            Err(BookError::Settled { state, .. }) => standing.push(state),
            Err(error) => panic!("{error}"),
        }
    }
    let seen = [one.get(&tenant(), &id).await.unwrap(), other.get(&tenant(), &id).await.unwrap()];
    assert_eq!(seen[0], seen[1]);
    assert!(standing.iter().all(|state| *state == seen[0].state), "{standing:?} against {}", seen[0].state);
    whole(&seen[0], &id);
    seen[0].state
}

/// An end with everything that belongs to it.
fn whole(approval: &Approval, id: &ApprovalId) {
    assert!(approval.state.is_final() && approval.resolved_at.is_some(), "{id} is {}", approval.state);
    let decided = approval.resolution.as_ref().map(|decision| decision.behavior.as_str());
    let expected = match approval.state {
        ApprovalState::Approved => Some("allow"),
        ApprovalState::Rejected | ApprovalState::Expired => Some("deny"),
        _ => None,
    };
    assert_eq!(decided, expected, "{id}");
}

/// A watcher of the whole history meets each question once as asked and once as ended, without a gap.
async fn every_change_is_told_once(book: &Book) {
    let (mut after, mut asked, mut ended) = (0, 0, 0);
    loop {
        let page = book.changes(after, 500).await.unwrap();
        let Some((last, _)) = page.changes.last() else { break };
        for (index, (revision, approval)) in page.changes.iter().enumerate() {
            assert_eq!(*revision, after + 1 + index as u64);
            if approval.state.is_final() { ended += 1 } else { asked += 1 }
        }
        after = *last;
    }
    assert_eq!((asked, ended), (RACES, RACES));
}
