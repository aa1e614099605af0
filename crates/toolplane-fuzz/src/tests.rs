use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::run::FuzzTarget;

/// What the mutations are there for: a reader that fails at one place is found, and told by a small file.
#[test]
fn a_reader_that_panics_is_found_and_its_input_is_kept_small() {
    let folder = tempfile::tempdir().unwrap();
    let target = FuzzTarget::at(folder.path().join("regressions"));
    let read = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        // Sliced where a character may go on.
        if text.len() > 4 {
            let _ = &text[..4];
        }
    };
    let failed = catch_unwind(AssertUnwindSafe(|| target.run(&["plain text"], read)));
    assert!(failed.is_err());
    let kept: Vec<_> = std::fs::read_dir(folder.path().join("regressions")).unwrap().collect();
    assert_eq!(kept.len(), 1);
    let input = std::fs::read(kept[0].as_ref().unwrap().path()).unwrap();
    assert!(input.len() <= 7, "{input:?}");
    // From now on it is tried first.
    let quiet = catch_unwind(AssertUnwindSafe(|| FuzzTarget::at(folder.path().join("regressions")).run(&["a"], read)));
    assert!(quiet.is_err());
    FuzzTarget::at(folder.path().join("regressions")).run(&["a"], |_| {});
}
