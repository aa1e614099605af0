use super::Identity;
use crate::error::ExecutorError;
use toolplane_records::ids::WorkerId;

#[test]
fn the_name_stays_and_the_incarnation_changes() {
    let dir = tempfile::tempdir().unwrap();
    let first = Identity::take(dir.path(), None).unwrap();
    let (name, incarnation) = (first.worker_id.clone(), first.incarnation.clone());
    drop(first);
    let second = Identity::take(dir.path(), None).unwrap();
    assert_eq!(second.worker_id, name);
    assert_ne!(second.incarnation, incarnation);
}

#[test]
fn two_workers_never_share_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let held = Identity::take(dir.path(), None).unwrap();
    let refused = Identity::take(dir.path(), Some(WorkerId::from_trusted("other"))).unwrap_err();
    assert_eq!(refused.code(), "EXECUTOR_LOCKED");
    drop(held);
    let given = Identity::take(dir.path(), Some(WorkerId::from_trusted("other"))).unwrap();
    assert_eq!(given.worker_id.as_str(), "other");
}

#[test]
fn a_damaged_name_is_refused_and_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    drop(Identity::take(dir.path(), None).unwrap());
    std::fs::write(dir.path().join("executor/worker_id"), "two words").unwrap();
    let refused = Identity::take(dir.path(), None).unwrap_err();
    assert!(matches!(&refused, ExecutorError::WorkerId { text, .. } if text == "two words"), "{refused}");
}
