//! Words of texts.

use super::*;

/// The words of a question that say something, without their endings.
fn terms(text: &str) -> Vec<String> {
    let words = words(text, Side::Query);
    let nothing_told = words.iter().all(|word| is_stop_word(word));
    words.iter().filter(|word| nothing_told || !is_stop_word(word)).map(|word| stem(word)).collect()
}

#[test]
fn identifiers_are_split_and_endings_removed() {
    assert_eq!(terms("getHTTPResponse2xx"), ["gethttpresponse2xx", "get", "http", "respons", "2", "xx"]);
    assert_eq!(terms("read_file.v2"), ["read", "file", "v2", "v", "2"]);
    assert_eq!(terms("重命名file 文"), ["重命", "命名", "file", "文"]);
    assert_eq!(words("重命名", Side::Tool), ["重", "命", "名", "重命", "命名"]);
    for (one, other) in [
        ("movies", "movie"),
        ("queries", "query"),
        ("searching", "search"),
        ("updated", "update"),
        ("running", "run"),
        ("translation", "translate"),
        ("calculator", "calculate"),
        ("files", "file"),
        ("classes", "class"),
        ("boxes", "box"),
        ("installing", "install"),
        ("copied", "copy"),
        ("quickly", "quick"),
    ] {
        assert_eq!(stem(one), stem(other), "{one} {other}");
    }
    for word in ["status", "is", "bus", "access", "été", "s3"] {
        assert_eq!(stem(word), word);
    }
}

#[test]
fn stop_words_are_in_order() {
    // A word out of order would silently not be found by binary search.
    assert_eq!(terms("a about all also am an and any are you your forecast"), [stem("forecast")]);
    assert_eq!(terms("which who why will with would using want please help give forecast"), [stem("forecast")]);
    assert_eq!(terms("the of and"), ["the", "of", "and"]);
}

#[test]
fn words_of_asking_are_in_order() {
    assert!(WEAK_WORDS.is_sorted() && STOP_WORDS.is_sorted());
    assert!(is_weak_word("find") && !is_weak_word("file"));
}

#[test]
fn spellings_that_people_leave_out_are_one() {
    let check =
        |one: &str, other: &str| assert_eq!(words(one, Side::Query), words(other, Side::Query), "{one} {other}");
    check("Résumé Straße Ångström đường", "resume strasse angstrom duong");
    check("ﬁle Ｗｉｄｅ ＡＰＩ２ ①", "file Wide API2 1");
    check("re\u{301}sume\u{301}", "résumé");
    check("ｶﾞｲﾄﾞ", "ガイド");
    check("한국어", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}");
    assert_ne!(words("か", Side::Query), words("が", Side::Query));
}
