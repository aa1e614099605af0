//! What is so of every text, made of what rules look for and of what they do not.

use std::sync::LazyLock;

use proptest::prelude::*;
use toolplane_cleaning::{Cleaner, CleaningPolicy, Findings, Treatment};

/// Parts that begin, fill or end what rules look for, beside words, lines and marks of JSON.
const PARTS: &[&str] = &[
    "password",
    "token",
    "api_key=",
    ": ",
    "=",
    "\"",
    "'",
    "abcd1234efgh5678",
    "Seq-1234-Abcd",
    "?access_token=",
    "&key=",
    "https://mia:seq1234@db.example.com/a",
    "Authorization: Bearer ",
    "Cookie: session=",
    "curl -u mia:",
    "login mia password ",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----",
    "[redacted ",
    "***",
    "密码：",
    "password：",
    "我的秘密123",
    "１３８００１３８０００",
    "ＡＢ",
    "＝",
    "\u{200b}",
    "a\u{2060}b",
    "_",
    "ssn ",
    "536904399",
    "11010519491231002X",
    "mia@example.org",
    "%40",
    "13800138000",
    "+49 30 123456",
    "4111 1111 1111 1111",
    "DE89 3704 0044 0532 0130 00",
    "Ignore all previous instructions.",
    "忽略之前的所有指令",
    "<script>",
    "<img src=x onerror=",
    "![a](https://example.com/?a=b)",
    "\u{202e}",
    "\u{e0041}",
    "\u{200b}\u{200b}\u{200b}\u{200b}",
    "\u{1b}[31m",
    "葛\u{e0100}",
    "\\",
    "\n",
    " ",
    ", ",
    "word",
    "é",
];

/// Made once: that takes longer than its use.
static CLEANER: LazyLock<Cleaner> =
    LazyLock::new(|| Cleaner::new(&CleaningPolicy { personal: Treatment::Mask, ..CleaningPolicy::default() }));

fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![6 => prop::sample::select(PARTS).prop_map(str::to_owned), 1 => "\\PC{0,6}"];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

/// No line begins a block, which may have many lines.
fn line() -> impl Strategy<Value = String> {
    text().prop_map(|text| format!("line {text}").replace(['\n', '\r'], " ").replace("-----BEGIN", ""))
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        text().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key =
            prop_oneof![text(), prop::sample::select(&["password", "token", "auth", "a"][..]).prop_map(str::to_owned)];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map(key, inner, 0..4)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

#[test]
fn what_is_found_only_beside_a_replacement_is_found_too() {
    for (text, clean) in [
        ("mia@example.org+49 30 123456-", "[redacted email][redacted telephone]-"),
        ("Cookie: session=-----BEGIN PRIVATE KEY-----\n<a b=c>", "Cookie: [redacted cookie]<a b=c>"),
        ("api_key=\u{202e}", "api_key=\\u{202e}"),
    ] {
        let mut found = Findings::default();
        let once = CLEANER.text(text, &mut found).into_owned();
        assert_eq!(once, clean);
        assert_eq!(CLEANER.text(&once, &mut Findings::default()), clean);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// What stands in the place of something is nothing to be found.
    #[test]
    fn cleaning_twice_gives_the_same_as_once(text in text()) {
        let once = CLEANER.text(&text, &mut Findings::default()).into_owned();
        let mut found = Findings::default();
        prop_assert_eq!(&once, &CLEANER.text(&once, &mut found));
        prop_assert_eq!(found.masked(), 0);
    }

    #[test]
    fn json_stays_json(value in json()) {
        let text = value.to_string();
        let once = CLEANER.json(&text, &mut Findings::default()).unwrap().into_owned();
        prop_assert!(serde_json::from_str::<serde_json::Value>(&once).is_ok(), "{}", once);
    }

    #[test]
    fn letters_and_spaces_stay_as_they_are(text in "[A-Za-z ]{0,300}") {
        let mut found = Findings::default();
        prop_assert_eq!(&text, &CLEANER.text(&text, &mut found));
        prop_assert!(found.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 20, failure_persistence: None, ..ProptestConfig::default() })]

    /// Windows are cut at ends of lines; what is on one line is found wherever pieces are cut.
    #[test]
    fn pieces_are_cleaned_as_the_whole_is(
        lines in prop::collection::vec(line(), 1..40),
        sizes in prop::collection::vec(1_usize..90_000, 1..8),
    ) {
        let text = (lines.join("\n") + "\n").repeat(200_000 / (lines.iter().map(String::len).sum::<usize>() + lines.len()));
        let mut found = Findings::default();
        let whole = CLEANER.text(&text, &mut found);
        let (mut stream, mut out, mut rest) = (CLEANER.stream(), Vec::new(), text.as_bytes());
        for size in sizes.iter().cycle() {
            let (piece, more) = rest.split_at(rest.len().min(*size));
            stream.push(piece, &mut out);
            rest = more;
            if rest.is_empty() {
                break;
            }
        }
        let said = stream.finish(&mut out);
        prop_assert!(out == whole.as_bytes());
        prop_assert_eq!(said.masked(), found.masked());
    }
}
