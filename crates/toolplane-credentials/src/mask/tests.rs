//! Secrets do not survive, whatever they are written as and wherever a text is cut; everything else does.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;

use super::*;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

fn mask(secrets: &[(&str, &[u8])]) -> Mask {
    let secrets: Vec<_> = secrets.iter().map(|(name, bytes)| (*name, Secret::new(*bytes))).collect();
    Mask::new(secrets.iter().map(|(name, secret)| (*name, secret)))
}

fn in_pieces(mask: &Mask, bytes: &[u8], pieces: &[usize]) -> Vec<u8> {
    let (mut stream, mut out, mut rest) = (mask.stream(), Vec::new(), bytes);
    let mut sizes = pieces.iter().cycle();
    while !rest.is_empty() {
        let size = sizes.next().map_or(1, |size| (*size).max(1)).min(rest.len());
        stream.push(&rest[..size], &mut out);
        rest = &rest[size..];
    }
    stream.finish(&mut out);
    out
}

#[track_caller]
fn check(mask: &Mask, text: &str, expected: &str) {
    assert_eq!(mask.text(text), expected, "{text}");
    for pieces in [&[1][..], &[3, 1, 7], &[1000]] {
        let out = in_pieces(mask, text.as_bytes(), pieces);
        assert_eq!(String::from_utf8_lossy(&out), expected, "{text} in pieces of {pieces:?}");
    }
}

#[test]
fn a_secret_is_replaced_by_its_name() {
    let mask = mask(&[("github", TOKEN.as_bytes())]);
    check(&mask, &format!("token={TOKEN};"), "token=[credential github];");
    check(&mask, &format!("{TOKEN}{TOKEN} {TOKEN}"), "[credential github] [credential github]");
    check(&mask, "ghp_0123456789abcdefghij and nothing more", "ghp_0123456789abcdefghij and nothing more");
    assert!(matches!(mask.text("nothing"), Cow::Borrowed(_)));
    assert_eq!(format!("{mask:?}"), "Mask");
    assert!(Mask::default().is_empty() && Mask::default().text(TOKEN) == TOKEN);
}

#[test]
fn usual_encodings_are_known() {
    let secret = "pa ss/wörd+\"x\"\\&=1";
    let mask = mask(&[("db", secret.as_bytes())]);
    let all_escaped: String = secret.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
    let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    for (what, text) in [
        ("raw", secret.to_owned()),
        ("percent", utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string()),
        ("lower percent", utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string().to_lowercase()),
        ("form", form),
        ("json", in_json(secret)),
        ("json, all escaped", all_escaped),
        ("hex", hex::encode(secret)),
        ("upper hex", hex::encode_upper(secret)),
        ("base64 url", URL_SAFE_NO_PAD.encode(secret)),
    ] {
        check(&mask, &format!("<{text}>"), "<[credential db]>");
        check(&mask, &text, "[credential db]");
        assert!(!mask.text(&text).contains("ss"), "{what}");
    }
    check(&mask, &STANDARD.encode(secret), "[credential db]==");
}

#[test]
fn line_breaks_of_encoders_hide_nothing() {
    let key = [7_u8; 100].map(|byte| byte.wrapping_mul(31)).to_vec();
    let secret = [key, (0..=120).collect()].concat();
    let mask = mask(&[("key", &secret)]);
    let encoded = STANDARD.encode(&secret);
    let lines: Vec<_> = encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    for end in ["\n", "\r\n"] {
        check(&mask, &format!("a\n{}\nb", lines.join(end)).replace('=', ""), "a\n[credential key]\nb");
    }
    let json = serde_json::json!({ "a": lines.join("\n"), "b": 1 }).to_string();
    assert_eq!(mask.json(&json).unwrap().replace('=', ""), r#"{"a":"[credential key]","b":1}"#);
}

#[test]
fn a_replacement_is_no_markup() {
    let mask = mask(&[("x", TOKEN.as_bytes())]);
    check(&mask, &format!("![{TOKEN}](http://evil)"), "![[credential x]](http://evil)");
    check(&mask, &format!("!{TOKEN}(http://evil)"), "![credential x] (http://evil)");
    check(&mask, &format!("{TOKEN}: http://evil"), "[credential x] : http://evil");
}

#[test]
fn overlapping_secrets_leave_nothing_between_them() {
    let mask = mask(&[("a", b"abcdefghij"), ("b", b"ghijklmnop"), ("c", b"defghijk")]);
    check(&mask, "-abcdefghijklmnop-", "-[credential a]-");
    check(&mask, "-ghijklmnop-abcdefghij", "-[credential b]-[credential a]");
    check(&mask, "defghijkdefghijkl", "[credential c]l");
}

#[test]
fn what_was_cut_off_in_a_secret_shows_no_part_of_it() {
    let mask = mask(&[("github", TOKEN.as_bytes())]);
    for cut in 8..TOKEN.len() {
        let (mut stream, mut out) = (mask.stream(), Vec::new());
        stream.push(b"token=", &mut out);
        stream.push(&TOKEN.as_bytes()[..cut], &mut out);
        assert_eq!((out.as_slice(), stream.held()), (&b"token="[..], cut));
        stream.finish_cut(&mut out);
        assert_eq!(out, b"token=[credential github]");
    }
    let (mut stream, mut out) = (mask.stream(), Vec::new());
    stream.push(b"token=ghp_", &mut out);
    stream.finish_cut(&mut out);
    assert_eq!(out, b"token=ghp_");
}

#[test]
fn json_stays_json() {
    let mask = mask(&[("a", b"12345678"), ("q", br#"se","cr":"et"#)]);
    for (text, expected) in [
        (r#"{"n":1234567890,"m":-1.5e3}"#, r#"{"n":"[credential a]90","m":-1.5e3}"#),
        (r#"{"12345678":1,"\u003112345678":2,"12345678":3}"#, ""),
        (r#"{"12345678":1,"312345678":2}"#, r#"{"[credential a]":1,"3[credential a]":2}"#),
        (r#"{"12345678":1,"[credential a]":2}"#, r#"{"[credential a]":1,"[credential a] 2":2}"#),
        (
            r#"{"12345678":1,"b":{"1\u0032345678":["12\u00345678"]}}"#,
            r#"{"[credential a]":1,"b":{"[credential a] 2":["12\u00345678"]}}"#,
        ),
        (r#"["se\",\"cr\":\"et", "x\\nse\",\"cr\":\"et"]"#, r#"["[credential q]", "x\\n[credential q]"]"#),
        (r#"["\n12345678", "\\", "", 0]"#, r#"["\n[credential a]", "\\", "", 0]"#),
    ] {
        match mask.json(text) {
            Ok(masked) => assert_eq!(masked, expected),
            Err(NotJson) => assert_eq!(expected, "", "{text}"),
        }
    }
    assert!(matches!(mask.json(r#"{"a": [1, "b"]}"#), Ok(Cow::Borrowed(_))));
    assert_eq!(mask.json("{12345678"), Err(NotJson));
}

/// A secret of a kind that occurs: a token, any text, any bytes.
fn secret() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[A-Za-z0-9_-]{8,60}".prop_map(String::into_bytes),
        "[ -~]{8,40}".prop_map(String::into_bytes),
        "\\PC{8,20}".prop_map(String::into_bytes),
        "[ab]{8,12}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 8..40),
    ]
}

/// How a secret is written.
#[derive(Clone, Copy, Debug)]
enum Encoding {
    Raw,
    Percent,
    SomePercent,
    Json,
    Hex,
    UpperHex,
    Base64(usize),
    Base64Url(usize),
    Wrapped,
}

fn encoding() -> impl Strategy<Value = Encoding> {
    use Encoding::*;
    prop_oneof![
        Just(Raw),
        Just(Percent),
        Just(SomePercent),
        Just(Json),
        Just(Hex),
        Just(UpperHex),
        (0..5_usize).prop_map(Base64),
        (0..5_usize).prop_map(Base64Url),
        Just(Wrapped),
    ]
}

fn encode(secret: &[u8], encoding: Encoding) -> Vec<u8> {
    let text = std::str::from_utf8(secret).ok();
    let inside = |before: usize| [vec![b'#'; before], secret.to_vec(), vec![b'#'; before / 2]].concat();
    match encoding {
        Encoding::Raw => secret.to_vec(),
        Encoding::Percent => percent_encoding::percent_encode(secret, NON_ALPHANUMERIC).to_string().into_bytes(),
        Encoding::SomePercent => {
            let one = |(index, byte): (usize, &u8)| match index % 3 {
                0 => format!("%{byte:02x}").into_bytes(),
                1 if !matches!(byte, b'%' | b'+') => vec![*byte],
                _ => format!("%{byte:02X}").into_bytes(),
            };
            secret.iter().enumerate().flat_map(one).collect()
        }
        Encoding::Json => match text {
            Some(text) => in_json(text).into_bytes(),
            None => secret.to_vec(),
        },
        Encoding::Hex => hex::encode(secret).into_bytes(),
        Encoding::UpperHex => hex::encode_upper(secret).into_bytes(),
        Encoding::Base64(before) => STANDARD.encode(inside(before)).into_bytes(),
        Encoding::Base64Url(before) => URL_SAFE.encode(inside(before)).into_bytes(),
        Encoding::Wrapped => {
            let encoded = STANDARD.encode(secret).into_bytes();
            encoded.chunks(7).collect::<Vec<_>>().join(&b'\n')
        }
    }
}

/// What stands between the quotes.
fn in_json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// What is left of a secret is nothing that was written of it, wherever the text is cut; and the pieces make no difference.
    #[test]
    fn no_secret_survives(
        secrets in prop::collection::vec((secret(), encoding()), 1..5),
        fill in prop::collection::vec("[ -~]{0,12}|[é\n%\\\\]{0,4}", 6),
        pieces in prop::collection::vec(1..20_usize, 1..6),
    ) {
        let names = ["a", "b", "c", "d", "e"];
        let named: Vec<_> = secrets.iter().zip(names).map(|((secret, _), name)| (name, secret.as_slice())).collect();
        let mask = mask(&named);
        let mut text = Vec::new();
        for ((secret, encoding), fill) in secrets.iter().zip(&fill) {
            text.extend_from_slice(fill.as_bytes());
            // An escape that the text before leaves open would be another text.
            text.push(b' ');
            text.extend(encode(secret, *encoding));
        }
        let masked = mask.bytes(&text);
        for (secret, encoding) in &secrets {
            prop_assert!(!holds(&masked, secret) || holds(b"[credential a]", secret));
            let written = encode(secret, *encoding);
            prop_assert!(!holds(&masked, &written), "{encoding:?}");
        }
        prop_assert_eq!(&in_pieces(&mask, &text, &pieces), masked.as_ref());
    }

    /// A text without the secret is what it was.
    #[test]
    fn other_texts_are_unchanged(text in prop::collection::vec(any::<u8>(), 0..300), pieces in prop::collection::vec(1..9_usize, 1..4)) {
        let mask = mask(&[("a", TOKEN.as_bytes()), ("b", b"\x00\x01\x02\x03secret with spaces")]);
        prop_assert!(matches!(mask.bytes(&text), Cow::Borrowed(_)));
        prop_assert_eq!(in_pieces(&mask, &text, &pieces), text);
    }

    /// What is held back is bounded by the secrets, whatever comes.
    #[test]
    fn memory_is_bounded(seed in "[ab%\\\\u06126\r\n+]{1,40}") {
        let mask = mask(&[("a", b"aaaaaaaab"), ("b", b"abababab ")]);
        let (mut stream, mut out) = (mask.stream(), Vec::new());
        for byte in seed.bytes().cycle().take(400) {
            stream.push(&[byte], &mut out);
            prop_assert!(stream.held() <= 6 * 18 + 12, "{}", stream.held());
        }
    }

    /// JSON stays JSON, and no text in it holds a secret.
    #[test]
    fn json_without_secrets(secrets in prop::collection::vec("[ -~]{8,20}", 1..4), fill in "\\PC{0,10}") {
        let names = ["a", "b", "c"];
        let named: Vec<_> = secrets.iter().zip(names).map(|(secret, name)| (name, secret.as_bytes())).collect();
        let mask = mask(&named);
        let value = serde_json::json!({ "list": secrets, secrets[0].clone(): format!("{fill}{}{fill}", secrets[0]) });
        let text = value.to_string();
        let masked = mask.json(&text).unwrap();
        let read: serde_json::Value = serde_json::from_str(&masked).unwrap();
        prop_assert_eq!(read.as_object().map(serde_json::Map::len), value.as_object().map(serde_json::Map::len));
        let texts: Vec<_> = read["list"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
        prop_assert!(secrets.iter().all(|secret| !texts.contains(secret)), "{masked}");
    }
}

#[test]
fn a_part_of_a_secret_at_a_cut_is_masked() {
    let secret = Secret::new(*b"correct-horse-battery");
    let mask = Mask::new([("it", &secret)]);
    let cut =
        |text: &str, begins, ends| String::from_utf8(mask.cut(text.as_bytes(), begins, ends).into_owned()).unwrap();
    assert_eq!(cut("horse-battery and correct-horse", true, true), "[credential it] and [credential it]");
    assert_eq!(cut("horse-battery and correct-horse", false, true), "horse-battery and [credential it]");
    assert_eq!(cut("horse-battery and correct-horse", true, false), "[credential it] and correct-horse");
    assert_eq!(cut("battery, correct", true, true), "battery, correct", "too little of it to be told from other words");
    assert_eq!(cut("correct-horse-battery", true, true), "[credential it]");
}
