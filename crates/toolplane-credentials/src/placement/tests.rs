//! Where credentials are put, and where they do not fit.

use super::*;
use crate::config::CredentialKind;
use crate::credential::Credential;
use crate::error::CredentialError;
use crate::value::Value;

fn credential(kind: CredentialKind, value: Value) -> Credential {
    Credential::new("it", kind, 1, value)
}

fn token(text: &str) -> Credential {
    credential(CredentialKind::Bearer, Value::Token(Secret::new(text)))
}

fn basic() -> Credential {
    let value =
        Value::Basic { user: Secret::new("bot"), password: Secret::new("hunter22"), both: Secret::new("bot:hunter22") };
    credential(CredentialKind::Basic, value)
}

fn header(name: &str, prefix: Option<&str>) -> Placement {
    Placement::Header { name: name.to_owned(), prefix: prefix.map(str::to_owned) }
}

/// The header a placement gives, or the rule that is broken.
fn placed(credential: &Credential, placement: &Placement, field: Option<&str>) -> Result<String, Unfit> {
    match credential.place(placement, field) {
        Ok(injection) => {
            assert!(!format!("{injection:?} {credential:?}").contains("hunter"), "{injection:?}");
            Ok(match injection {
                Injection::Header { name, value } => {
                    assert!(value.is_sensitive());
                    format!("{name}: {}", value.to_str().unwrap())
                }
                Injection::Query { name, value }
                | Injection::Cookie { name, value }
                | Injection::Env { name, value } => {
                    format!("{name}={}", value.reveal_text().unwrap())
                }
                Injection::File { name, content } => format!("{name}<{}", content.reveal_text().unwrap()),
            })
        }
        Err(CredentialError::Unfit { rule, .. }) => Err(rule),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn headers_have_the_form_of_their_kind() {
    let token = token("hunter22hunter22");
    for (placement, expected) in [
        (header("Authorization", None), "authorization: Bearer hunter22hunter22"),
        (header("authorization", Some("Token ")), "authorization: Token hunter22hunter22"),
        (header("X-Api-Key", None), "x-api-key: hunter22hunter22"),
    ] {
        assert_eq!(placed(&token, &placement, None).as_deref(), Ok(expected));
    }
    assert_eq!(
        placed(&basic(), &header("Authorization", None), None).unwrap(),
        "authorization: Basic Ym90Omh1bnRlcjIy"
    );
    assert_eq!(placed(&basic(), &header("X-Password", None), Some("password")).unwrap(), "x-password: hunter22");
}

#[test]
fn what_does_not_fit_is_refused() {
    let raw = |text: &str| credential(CredentialKind::Raw, Value::Raw(Secret::new(text)));
    let (query, cookie) = (Placement::Query { name: "key".into() }, Placement::Cookie { name: "key".into() });
    let env = |name: &str| Placement::Env { name: name.into() };
    let file = |name: &str| Placement::File { name: name.into() };
    for (credential, placement, field, rule) in [
        (raw("hunter22\r\nX-Evil: 1"), header("X-Key", None), None, Unfit::Character),
        (raw("hunter22\n"), header("X-Key", None), None, Unfit::Character),
        (raw("hunter22\u{e9}"), header("X-Key", None), None, Unfit::Character),
        (token("hunter22"), header("X-Key", Some("a\r\nb: ")), None, Unfit::Character),
        (token("hunter22"), header("X Key", None), None, Unfit::Name),
        (token("hunter22"), header("", None), None, Unfit::Name),
        (token("hunter22"), header("Host", None), None, Unfit::FramingHeader),
        (token("hunter22"), header("Transfer-Encoding", None), None, Unfit::FramingHeader),
        (token("hunter22"), header("Proxy-Authorization", None), None, Unfit::FramingHeader),
        (token("hunter22"), header("Cookie", None), None, Unfit::FramingHeader),
        (raw("hunter22\n"), query, None, Unfit::Character),
        (raw("hunter22;b=c"), cookie.clone(), None, Unfit::Character),
        (raw("hunter22 2"), cookie, None, Unfit::Character),
        (token("hunter22"), Placement::Cookie { name: "a=b".into() }, None, Unfit::Name),
        (raw("hunter22\0"), env("KEY"), None, Unfit::Character),
        (token("hunter22"), env("A=B"), None, Unfit::Name),
        (token("hunter22"), env("1A"), None, Unfit::Name),
        (token("hunter22"), env(""), None, Unfit::Name),
        (token("hunter22"), file("../key"), None, Unfit::Name),
        (token("hunter22"), file(".ssh"), None, Unfit::Name),
        (token("hunter22"), env("KEY"), Some("password"), Unfit::NoField),
        (basic(), env("KEY"), Some("token"), Unfit::NoField),
    ] {
        assert_eq!(placed(&credential, &placement, field), Err(rule), "{placement:?}");
    }
    assert_eq!(placed(&raw("hunter22\nhunter22\n"), &file("key.pem"), None).unwrap(), "key.pem<hunter22\nhunter22\n");
    assert_eq!(placed(&basic(), &env("DB_USER"), Some("username")).unwrap(), "DB_USER=bot");
}

#[test]
fn what_a_caller_wrote_gives_way() {
    let token = token("hunter22&hunter=22");
    let place = |placement: &Placement| token.place(placement, None).unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer mine"));
    headers.append(COOKIE, HeaderValue::from_static("a=b; sid=mine"));
    headers.append(COOKIE, HeaderValue::from_static("sid = mine; c=d"));
    let mut url = Url::parse("https://api.example.com/v1?key=mine&q=a%20b&key=mine").unwrap();
    let injections = [
        place(&header("Authorization", None)),
        place(&Placement::Cookie { name: "sid".into() }),
        place(&Placement::Query { name: "key".into() }),
    ];
    put_into_request(&injections, &mut headers, &mut url).unwrap();
    assert_eq!(headers["authorization"], "Bearer hunter22&hunter=22");
    let cookies: Vec<_> = headers.get_all(COOKIE).iter().collect();
    assert_eq!(cookies, ["a=b; c=d; sid=hunter22&hunter=22"]);
    assert_eq!(url.as_str(), "https://api.example.com/v1?q=a+b&key=hunter22%26hunter%3D22");
    assert!(!format!("{headers:?}").contains("hunter"));
}
