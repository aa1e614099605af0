use std::collections::BTreeSet;
use std::path::Path;

use super::*;

#[test]
fn every_code_is_there_once_and_says_what_to_do() {
    let mut texts = BTreeSet::new();
    for code in Code::all() {
        let entry = code.entry();
        assert!(texts.insert(entry.text), "`{code}` is there twice");
        assert!(!texts.contains(code.anchor()) || code.anchor() == entry.text, "`{code}`: two places of one name");
        for text in [entry.cause, entry.cure] {
            assert!(
                text.ends_with(['.', '?']) && text.starts_with(char::is_uppercase) || text.starts_with('`'),
                "`{code}`: {text}"
            );
        }
        assert!(!entry.says.is_empty(), "`{code}`");
        assert_eq!(Code::find(entry.text), Some(code));
    }
    assert_eq!(Code::find("no.such_code"), None);
}

#[test]
fn a_family_is_found_by_what_it_begins_with() {
    assert_eq!(PLACEMENT_DECLINED.of("sandbox_unavailable"), "placement.sandbox_unavailable");
    assert_eq!(Code::find("placement.sandbox_unavailable"), Some(PLACEMENT_DECLINED));
    assert_eq!(Code::find("placement.no_worker"), Some(PLACEMENT_NO_WORKER));
    assert_eq!(PLACEMENT_DECLINED.anchor(), "placement");
}

#[test]
fn the_page_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page(), "docs/errors.md is not what the registry says: run `cargo xtask gen`");
    for code in Code::all() {
        assert!(written.contains(&format!("<a id=\"{}\"></a>", code.anchor())), "{code}");
    }
}
