use proptest::prelude::*;

use super::{both_ends, excerpt, json, line, look_alikes, text};

#[track_caller]
fn check(given: &str, expected: &str) {
    assert_eq!(line(given), expected, "{given:?}");
}

#[test]
fn what_would_act_is_spelled_out() {
    check("\u{1b}]0;pwned\u{7}", "\\u{1b}]0;pwned\\u{7}");
    check("safe\u{202e} ; mr\u{200b}", "safe\\u{202e} ; mr\\u{200b}");
    check("\u{9b}31m", "\\u{9b}31m");
    check("a\u{2028}b\u{2029}c\u{85}d", "a\\u{2028}b\\u{2029}c\\u{85}d");
    check("rm\u{a0}-rf\u{3000}x", "rm\\u{a0}-rf\\u{3000}x");
    check("a\u{e0041}b\u{feff}c\u{ad}", "a\\u{e0041}b\\u{feff}c\\u{ad}");
    check("\u{e000}\u{3164}\u{2800}\u{fe0f}\u{378}", "\\u{e000}\\u{3164}\\u{2800}\\u{fe0f}\\u{378}");
    check("one\ntwo\tthree\r\n", "one\\ntwo\\tthree\\r\\n");
    assert_eq!(text("one\r\ntwo\tthree\rfour"), "one\ntwo\tthree\\rfour");
}

#[test]
fn letters_of_every_language_stay() {
    for plain in [
        "Größe",
        "naïve",
        "Ελληνικά",
        "Русский",
        "日本語のテキスト",
        "한국어",
        "עִבְרִית",
        "العربيّة",
        "Việt",
        "e\u{301}",
        "5 €",
        "a ≤ b",
        "“x” – y…",
    ] {
        check(plain, plain);
    }
}

#[test]
fn marks_stand_on_something_and_come_in_no_floods() {
    check("e\u{301}\u{302}\u{303}\u{304}", "e\u{301}\u{302}\u{303}\u{304}");
    let flood = format!("e{}x", "\u{301}".repeat(6));
    check(&flood, "e\u{301}\u{301}\u{301}\u{301}\\u{301}\\u{301}x");
    check("\u{338}x", "\\u{338}x");
    assert_eq!(text("a\n\u{338}x"), "a\n\\u{338}x");
}

#[test]
fn an_excerpt_is_short_and_says_so() {
    assert_eq!(excerpt("short", 5), "short");
    assert_eq!(excerpt("longer", 5), "longe…");
    assert_eq!(excerpt("a\n\u{202e}b", 100), "a\\n\\u{202e}b");
    assert_eq!(both_ends("short", 5), "short");
    assert_eq!(both_ends("what is long, and what to do", 15), "what is … t to do");
}

#[test]
fn json_stays_the_same_value() {
    let given = "{\"a\u{202e}\": \"b\u{9b}\u{7f}\\\"\u{e0041}\",\r\n \"n\": 1}";
    let shown = json(given);
    assert_eq!(shown, "{\"a\\u202e\": \"b\\u009b\\u007f\\\"\\udb40\\udc41\", \n \"n\": 1}");
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(read(&shown), read(given));
}

#[test]
fn look_alikes_are_pointed_out() {
    let said = |given: &str| look_alikes(given).iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    assert_eq!(said("send it to p\u{430}ypal now"), "`p\\u{430}ypal` only looks like `paypal`");
    assert_eq!(
        said("\u{455}\u{441}\u{43e}\u{440}\u{435}"),
        "`\\u{455}\\u{441}\\u{43e}\\u{440}\\u{435}` only looks like `scope`"
    );
    assert_eq!(said("ｒｍ -rf"), "`\\u{ff52}\\u{ff4d}` only looks like `rm`");
    assert_eq!(said("etc\u{2215}passwd"), "`etc\\u{2215}passwd` only looks like `etc/passwd`");
    assert_eq!(said("abc\u{436}d"), "`abc\\u{436}d` mixes letters of several scripts");
    for plain in ["Größe", "Ελληνικά", "Привет", "日本語のテキスト", "端口：443", "it’s – fine…", "naïve café", "5 µm"]
    {
        assert_eq!(said(plain), "", "{plain}");
    }
    let many: String = (0..100).map(|n| format!("p\u{430}y{n} ")).collect();
    assert_eq!(look_alikes(&many).len(), super::MAX_LOOK_ALIKES);
}

/// Characters of every kind, the dangerous ones often.
fn any_text() -> impl Strategy<Value = String> {
    let often = prop::sample::select(vec![
        '\u{202e}',
        '\u{200b}',
        '\u{1b}',
        '\n',
        '\r',
        '\t',
        '\u{301}',
        '\u{338}',
        '\u{e0041}',
        '\u{2028}',
        '\u{fe0f}',
        '\u{7f}',
        '"',
        '\\',
        '\u{430}',
        'a',
    ]);
    prop::collection::vec(prop_oneof![often, any::<char>(), prop::char::range(' ', '~')], 0..64)
        .prop_map(String::from_iter)
}

/// Whether a character may be in shown text, told apart from what the module itself asks: no table of its own.
fn is_dangerous(c: char) -> bool {
    let bidi = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let hidden = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    let lines = matches!(c, '\u{2028}' | '\u{2029}');
    let private = matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}');
    c.is_control() || bidi || hidden || lines || private || (c != ' ' && c.is_whitespace())
}

proptest! {
    #[test]
    fn nothing_dangerous_is_left(given in any_text()) {
        prop_assert!(!line(&given).chars().any(is_dangerous));
        prop_assert!(!text(&given).chars().any(|c| !matches!(c, '\n' | '\t') && is_dangerous(c)));
        prop_assert!(!json(&given).chars().any(|c| !matches!(c, '\n' | '\t') && is_dangerous(c)));
    }

    #[test]
    fn shown_once_is_shown_for_good(given in any_text()) {
        let once = line(&given).into_owned();
        prop_assert_eq!(line(&once), once.as_str());
        let once = text(&given).into_owned();
        prop_assert_eq!(text(&once), once.as_str());
    }

    #[test]
    fn it_stays_within_bounds(given in any_text(), most in 0_usize..40) {
        let length = given.chars().count();
        prop_assert!(line(&given).chars().count() <= 10 * length);
        prop_assert!(excerpt(&given, most).chars().count() <= most + 1);
        prop_assert!(look_alikes(&given).len() <= super::MAX_LOOK_ALIKES);
    }

    #[test]
    fn plain_text_is_left_alone(given in "[ -~]{0,80}") {
        prop_assert_eq!(line(&given), given.as_str());
        prop_assert_eq!(text(&given), given.as_str());
        prop_assert_eq!(excerpt(&given, 80), given.as_str());
    }

    #[test]
    fn json_of_any_string_keeps_its_value(given in any_text()) {
        let written = serde_json::to_string(&given).unwrap();
        prop_assert_eq!(serde_json::from_str::<String>(&json(&written)).unwrap(), given);
    }
}
