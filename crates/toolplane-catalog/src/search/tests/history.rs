//! The same tools give the same answers, whatever came before.

use proptest::prelude::*;

use super::*;

fn any_text() -> impl Strategy<Value = String> {
    let word =
        prop::sample::select(vec!["read", "file", "search", "issue", "weather", "Get", "city", "text", "_", "翻译"]);
    prop::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

fn any_query() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "read",
        "+file",
        "-search",
        "isue",
        "wea*",
        "\"get city\"",
        "text",
        "namespace:n",
        "-kind:function",
        "翻",
        "fiel",
        "t1",
    ]);
    prop::collection::vec(word, 0..5).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_does_not_depend_on_history(texts in prop::collection::vec(any_text(), 1..8), query in any_query()) {
        let tools: Vec<Registration> =
            texts.iter().enumerate().map(|(i, text)| described("n", &format!("t{i}"), &format!("x {text}"))).collect();
        let straight = catalog(&tools);
        let mut detour = Catalog::default();
        for tool in tools.iter().rev() {
            let earlier = described("n", &tool.declaration.name, "weather weather file something else");
            for version in [&earlier, tool] {
                // A reader who holds the index as it was changes nothing.
                let _held = detour.index().snapshot();
                let change = detour.plan_register(std::slice::from_ref(version)).unwrap().remove(0);
                detour.apply(change);
            }
        }
        prop_assert_eq!(find(&straight, &query), find(&detour, &query));
    }

    #[test]
    fn no_text_is_too_strange(text in any::<String>()) {
        let catalog = library();
        let surface = surface(&catalog, DeferPolicy::All);
        let seen = Seen::of(&surface, &catalog, crate::Shut::NOTHING);
        let ask = || super::super::search(&seen, &catalog.index().snapshot(), &question(&text, 3, &Thesaurus::starter()));
        if let Ok(found) = ask() {
            prop_assert!(found.result.matches.len() <= 3 || found.result.query_type == "select");
        }
        prop_assert_eq!(ask(), ask());
    }
}

fn entry(tool: &Registration) -> crate::catalog::CatalogEntry {
    catalog(std::slice::from_ref(tool)).entries().next().unwrap().clone()
}

fn hits(index: &SearchIndex, query: &str) -> usize {
    let answer =
        super::super::search(&Everything::default(), &index.snapshot(), &question(query, 10, &Thesaurus::empty()));
    answer.unwrap().result.matches.len()
}

#[test]
fn a_replaced_tool_is_forgotten() {
    let mut index = SearchIndex::default();
    index.insert(entry(&described("a", "one", "alpha")));
    let before = index.snapshot();
    index.insert(entry(&described("a", "one", "omega")));
    index.insert(entry(&tool("a", "two")));
    assert_eq!((hits(&index, "alpha"), hits(&index, "omega"), hits(&index, "two")), (0, 1, 1));
    let then =
        super::super::search(&Everything::default(), &before, &question("alpha", 10, &Thesaurus::empty())).unwrap();
    assert_eq!(then.result.matches.len(), 1, "a snapshot is of its time");
    index.remove(&toolplane_records::ids::ToolId::from_trusted("tool_a_one"));
    assert_eq!((hits(&index, "omega"), hits(&index, "two"), index.len()), (0, 1, 1));
    index.remove(&toolplane_records::ids::ToolId::from_trusted("tool_a_two"));
    assert_eq!((index.terms(), index.is_empty()), (0, true), "nothing is left of tools that are gone");
}

/// Words of many tools are in many blocks, which split, empty and are filled again.
#[test]
fn many_tools_come_and_go() {
    let mut index = SearchIndex::default();
    let named =
        |number: usize, word: &str| entry(&described("many", &format!("t{number}x"), &format!("common {word}")));
    (0..1_500).for_each(|number| index.insert(named(number, "first")));
    for number in (0..1_500).filter(|number| number % 3 != 0) {
        index.remove(&toolplane_records::ids::ToolId::from_trusted(format!("tool_many_t{number}x")));
    }
    (1_500..2_500).rev().for_each(|number| index.insert(named(number, "second")));
    let count = |query: &str| {
        let snapshot = index.snapshot();
        let answer =
            super::super::search(&Everything::default(), &snapshot, &question(query, 2_000, &Thesaurus::empty()));
        answer.unwrap().result.matches.len()
    };
    assert_eq!((count("common"), count("first"), count("second"), count("+first +second")), (1_500, 500, 1_000, 0));
    assert!(index.heap_bytes() / index.len() < 4_096, "{} bytes a tool", index.heap_bytes() / index.len());
}
