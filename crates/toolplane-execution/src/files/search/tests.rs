use serde_json::json;
use toolplane_records::vocabulary::{ErrorClass, ResultStatus};

use super::super::dir::Dir;
use super::{BOUNDS, Guard, SearchBounds, SearchInput, Stop, search};

fn check(pattern: &str, bounds: SearchBounds, stop: &Stop, stopped_at: Option<&str>, class: Option<ErrorClass>) {
    let root = tempfile::tempdir().unwrap();
    for number in 0..20 {
        std::fs::write(root.path().join(format!("f{number}")), "some text\n".repeat(10)).unwrap();
    }
    let dir = Dir::at(root.path()).unwrap();
    let input: SearchInput = serde_json::from_value(json!({ "pattern": pattern })).unwrap();
    let outcome = search(&dir, input, stop, &Guard::default(), bounds).unwrap();
    let report = outcome.structured_content.as_ref().unwrap().to_value();
    assert_eq!(report.get("stopped_at").and_then(|bound| bound.as_str()), stopped_at);
    let expected = match class {
        None => ResultStatus::Succeeded,
        Some(ErrorClass::PartialFailure) => ResultStatus::PartialSucceeded,
        Some(_) => ResultStatus::TooLarge,
    };
    assert_eq!(outcome.status, expected);
    assert_eq!(outcome.error.map(|error| error.error_class), class);
}

#[test]
fn a_search_that_gave_up_says_so() {
    let (partial, nothing) = (Some(ErrorClass::PartialFailure), Some(ErrorClass::ResultTooLarge));
    check("absent", BOUNDS, &Stop::default(), None, None);
    check("absent", SearchBounds { entries: 5, ..BOUNDS }, &Stop::default(), Some("entries"), nothing);
    check("some", SearchBounds { entries: 5, ..BOUNDS }, &Stop::default(), Some("entries"), partial);
    check("absent", SearchBounds { bytes: 150, ..BOUNDS }, &Stop::default(), Some("bytes"), nothing);
    check("some", SearchBounds { bytes: 150, ..BOUNDS }, &Stop::default(), Some("bytes"), partial);
    let stopped = Stop::default();
    drop(super::super::StopOnDrop(stopped.clone()));
    check("absent", BOUNDS, &stopped, Some("time"), nothing);
}

#[test]
fn a_path_may_be_one_file() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("sub")).unwrap();
    for name in ["sub/one", "sub/two"] {
        std::fs::write(root.path().join(name), "some text\n").unwrap();
    }
    let dir = Dir::at(root.path()).unwrap();
    let found = |path: &str| {
        let glob = (path == "sub/two").then_some("*.rs");
        let input: SearchInput =
            serde_json::from_value(json!({ "pattern": "text", "path": path, "glob": glob })).unwrap();
        search(&dir, input, &Stop::default(), &Guard::default(), BOUNDS)
    };
    let paths = |path: &str| {
        let report = found(path).unwrap().structured_content.unwrap().to_value();
        let matches = report["matches"].as_array().unwrap().clone();
        matches.iter().map(|found| found["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths("sub/one"), ["one"]);
    assert_eq!(paths("sub"), ["one", "two"]);
    assert_eq!(paths("sub/two"), [""; 0], "it does not match the glob");
    let error = found("sub/one/deeper").unwrap_err();
    assert!(error.message.contains("goes through a file"), "{error:?}");
}
