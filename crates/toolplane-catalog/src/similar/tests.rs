//! Similar names: who is found, and that finding them never costs more than it may.

use super::*;
use crate::fixtures::tool;
use crate::limits::CatalogLimits;
use crate::validate::validate;

fn checked(namespace: &str, name: &str) -> Arc<Checked> {
    Arc::new(validate(&tool(namespace, name), &CatalogLimits::default()).unwrap())
}

fn index(names: impl IntoIterator<Item = String>) -> NameIndex {
    let mut index = NameIndex::default();
    for name in names {
        index.put(&checked("big.catalog", &name));
    }
    index
}

fn similar(index: &NameIndex, name: &str) -> Vec<String> {
    index.similar(name, &mut Effort::of_one_request(), |_| true)
}

#[test]
fn the_one_meant_is_found_among_many() {
    let many = (0..3_000).map(|n| format!("tool_{n}")).chain(["read_file".to_owned()]);
    let index = index(many);
    for slip in ["raed_file", "big.catalog.readFile", "big__catalog__read_fil", "read-file", "readfiles"] {
        assert_eq!(similar(&index, slip).first().map(String::as_str), Some("big.catalog.read_file"), "{slip}");
    }
    assert_eq!(similar(&index, "tool_299x").len(), 3);
    assert!(similar(&index, "tool_299x").iter().all(|name| name.starts_with("big.catalog.tool_29")));
    assert_eq!(similar(&index, "launch_rocket"), [""; 0]);
    assert_eq!(similar(&index, ""), [""; 0]);
}

/// The work does not grow with the catalog: each name alone, and all names of a request together.
#[test]
fn the_effort_is_bounded() {
    let index = index((0..4_000).map(|n| format!("common_prefix_{n}")));
    let mut effort = Effort::of_one_request();
    let before = effort;
    index.similar("common_prefix_x", &mut effort, |_| true);
    assert!(before.counted - effort.counted <= MAX_COUNTED);
    assert!(before.compared - effort.compared <= MAX_COMPARED);
    let all: usize = (0..1_000).map(|n| index.similar(&format!("comon_prefix_{n}"), &mut effort, |_| true).len()).sum();
    assert!(all > 0);
    assert_eq!(effort.counted, 0, "a thousand names use up what one request may cost");
    assert_eq!(index.similar("common_prefix_1x", &mut effort, |_| true), [""; 0]);
}

#[test]
fn what_may_not_be_used_is_not_compared() {
    let index = index(["read_file".to_owned(), "read_fine".to_owned()]);
    let mut effort = Effort::of_one_request();
    let before = effort;
    let usable = |tool: &Checked| tool.full_name().ends_with("file");
    assert_eq!(index.similar("read_fil", &mut effort, usable), ["big.catalog.read_file"]);
    assert_eq!(before.compared - effort.compared, 1);
}

#[test]
fn renamed_tools_are_found_by_their_new_name_only() {
    let mut index = index(["first".to_owned(), "other".to_owned()]);
    let mut renamed = tool("big.catalog", "first");
    for round in 0..100 {
        renamed.declaration.name = format!("second_{round}");
        index.put(&Arc::new(validate(&renamed, &CatalogLimits::default()).unwrap()));
    }
    assert_eq!(similar(&index, "second_9x").first().map(String::as_str), Some("big.catalog.second_99"));
    assert_eq!(similar(&index, "firzt"), [""; 0]);
    assert_eq!(similar(&index, "othr"), ["big.catalog.other"]);
    assert!(index.named.len() < 60, "what is gone is cleared away: {}", index.named.len());
}
