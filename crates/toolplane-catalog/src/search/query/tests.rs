//! The question language.

use super::*;
use crate::filter::FilterKind;

fn words(text: &str) -> WordsQuery {
    match parse(text).unwrap() {
        Query::Words(words) => words,
        Query::Select(names) => panic!("{text:?} selects {names:?}"),
    }
}

/// The clauses of a question, one text each: `+` must, `-` must not, `*` behind a beginning, quotation marks around a phrase.
fn check(text: &str, clauses: &[&str]) {
    let told = words(text).clauses.into_iter().map(|clause| {
        let sign = match clause.need {
            Need::May => "",
            Need::Must => "+",
            Need::Not => "-",
        };
        match clause.text {
            ClauseText::Plain(word) => format!("{sign}{word}"),
            ClauseText::Prefix(beginning) => format!("{sign}{beginning}*"),
            ClauseText::Phrase(words) => format!("{sign}\"{words}\""),
        }
    });
    assert_eq!(told.collect::<Vec<_>>(), clauses, "{text}");
}

#[test]
fn every_form_is_read() {
    check("send an email", &["send", "an", "email"]);
    check("+send -mail fore*", &["+send", "-mail", "fore*"]);
    check("\"pull request\" +\"merge it\" -\"old one\"", &["\"pull request\"", "+\"merge it\"", "-\"old one\""]);
    check("  a\tb\n c ", &["a", "b", "c"]);
    assert_eq!(words("send -mail \"pull request\"").plain, "send pull request");
}

#[test]
fn what_only_looks_like_a_form_is_words() {
    check(
        "e-mail to +1 555 and -5 degrees - or + - not",
        &["e-mail", "to", "+1", "555", "and", "-5", "degrees", "-", "or", "+", "-", "not"],
    );
    check("a 5\" screen", &["a", "5\"", "screen"]);
    check("\"never closed", &["\"never", "closed"]);
    check("what kind: of", &["what", "kind:", "of"]);
    check("* ** C++ a*b", &["*", "**", "C++", "a*b"]);
    check("please select:one", &["please", "select:one"]);
}

#[test]
fn names_are_selected_in_any_case() {
    for text in ["select:a, b,,c ", "SELECT: a,b,c", " Select:a,b , c"] {
        assert_eq!(parse(text).unwrap(), Query::Select(["a", "b", "c"].map(str::to_owned).to_vec()), "{text:?}");
    }
}

#[test]
fn filters_are_no_words() {
    let query = words("namespace:mcp.GitHub issues risk:low -kind:shell_command provider:\"my files\",");
    let told = query.filters.iter().map(|filter| (filter.by, filter.value.as_str(), filter.not)).collect::<Vec<_>>();
    let expected = [
        (FilterKind::Namespace, "mcp.github", false),
        (FilterKind::Risk, "low", false),
        (FilterKind::Kind, "shell_command", true),
        (FilterKind::Provider, "my files", false),
    ];
    assert_eq!(told, expected);
    assert_eq!(query.plain, "issues ,");
    assert_eq!(words("KIND:function").filters.len(), 1);
    let marks = words("tag:Billing -capability:files.read +tag:\"Pet Store\"").filters;
    let told: Vec<_> = marks.iter().map(|filter| (filter.by, filter.value.as_str(), filter.not)).collect();
    let expected = [(FilterKind::Tag, "billing", false), (FilterKind::Capability, "files.read", true)];
    assert_eq!(told, [expected[0], expected[1], (FilterKind::Tag, "pet store", false)]);
}

#[test]
fn a_filter_nothing_can_fit_is_refused_with_what_there_is() {
    let fault = parse("send kind:shel").unwrap_err();
    assert_eq!(fault.by, FilterKind::Kind);
    assert!(fault.message.starts_with("`shel` is no kind of a tool; there are function, "), "{}", fault.message);
    assert!(parse("risk:none_at_all").unwrap_err().message.contains("low, medium, high"));
    assert!(parse("namespace:nobody provider:nobody").is_ok());
}
