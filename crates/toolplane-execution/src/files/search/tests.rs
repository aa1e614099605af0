use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde_json::json;
use toolplane_records::vocabulary::{ErrorClass, ResultStatus};

use super::{BOUNDS, Bounds, SearchInput, Stop, search};

fn check(bounds: Bounds, stop: &Stop, stopped_at: Option<&str>) {
    let root = tempfile::tempdir().unwrap();
    for number in 0..20 {
        std::fs::write(root.path().join(format!("f{number}")), "some text\n".repeat(10)).unwrap();
    }
    let dir = Dir::open_ambient_dir(root.path(), ambient_authority()).unwrap();
    let input: SearchInput = serde_json::from_value(json!({"pattern": "absent"})).unwrap();
    let outcome = search(&dir, input, stop, bounds).unwrap();
    let report = outcome.structured_content.as_ref().unwrap().to_value();
    assert_eq!(report.get("stopped_at").and_then(|bound| bound.as_str()), stopped_at);
    let expected = if stopped_at.is_some() { ResultStatus::PartialSucceeded } else { ResultStatus::Succeeded };
    assert_eq!(outcome.status, expected);
    assert_eq!(outcome.error.map(|error| error.error_class), stopped_at.map(|_| ErrorClass::PartialFailure));
}

#[test]
fn a_search_that_gave_up_says_so() {
    check(BOUNDS, &Stop::default(), None);
    check(Bounds { entries: 5, ..BOUNDS }, &Stop::default(), Some("entries"));
    check(Bounds { bytes: 150, ..BOUNDS }, &Stop::default(), Some("bytes"));
    let stopped = Stop::default();
    drop(super::super::StopOnDrop(stopped.clone()));
    check(BOUNDS, &stopped, Some("time"));
}
