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

fn header(name: &str, prefix: Option<&str>) -> CredentialPlacement {
    CredentialPlacement::Header { name: name.to_owned(), prefix: prefix.map(str::to_owned) }
}

/// The header a placement gives, or the rule that is broken.
fn placed(credential: &Credential, placement: &CredentialPlacement, field: Option<&str>) -> Result<String, Unfit> {
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
                Injection::Proxy(header) => {
                    let mut headers = HeaderMap::new();
                    assert!(header.put(&Url::parse("https://api.example.com/").unwrap(), &mut headers));
                    let (name, value) = headers.iter().next().unwrap();
                    assert!(value.is_sensitive());
                    format!("{name}: {}", value.to_str().unwrap())
                }
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

fn proxy(hosts: &[&str], name: &str, prefix: Option<&str>) -> CredentialPlacement {
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    CredentialPlacement::Proxy { hosts, name: name.to_owned(), prefix: prefix.map(str::to_owned) }
}

#[test]
fn a_proxy_puts_it_into_requests_to_its_hosts_alone() {
    let token = token("hunter22hunter22");
    let placement = proxy(&["API.example.com.", "*.cdn.example.com", "127.0.0.1", "[::1]"], "Authorization", None);
    let Injection::Proxy(header) = token.place(&placement, None).unwrap() else { panic!("another place") };
    for (url, is_put) in [
        ("https://api.example.com/v1?x=1", true),
        ("https://API.EXAMPLE.COM:8443/", true),
        ("https://a.b.cdn.example.com/", true),
        ("http://127.0.0.1:8080/", true),
        ("http://[::1]/", true),
        // In the clear, beside a host, or what only looks like one.
        ("http://api.example.com/", false),
        ("ftp://api.example.com/", false),
        ("https://cdn.example.com/", false),
        ("https://evilcdn.example.com/", false),
        ("https://api.example.com.evil.com/", false),
        ("https://api.example.com@evil.com/", false),
        ("https://evil.com/api.example.com", false),
        ("http://127.0.0.2/", false),
        ("data:text/plain,api.example.com", false),
    ] {
        let mut headers = HeaderMap::new();
        headers.append("authorization", HeaderValue::from_static("Bearer mine"));
        headers.append("authorization", HeaderValue::from_static("Bearer placeholder"));
        assert_eq!(header.put(&Url::parse(url).unwrap(), &mut headers), is_put, "{url}");
        let shown: Vec<_> = headers.get_all("authorization").iter().map(|value| value.to_str().unwrap()).collect();
        let expected = if is_put { &["Bearer hunter22hunter22"][..] } else { &["Bearer mine", "Bearer placeholder"] };
        assert_eq!(shown, expected, "{url}");
    }
    let hosts = ["api.example.com"];
    assert_eq!(
        placed(&basic(), &proxy(&hosts, "Authorization", None), None).unwrap(),
        "authorization: Basic Ym90Omh1bnRlcjIy"
    );
    assert_eq!(placed(&token, &proxy(&hosts, "X-Key", Some("k=")), None).unwrap(), "x-key: k=hunter22hunter22");
    let many: Vec<String> = (0..33).map(|n| format!("h{n}.example.com")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (placement, rule) in [
        (proxy(&[], "X-Key", None), Unfit::Host),
        (proxy(&many, "X-Key", None), Unfit::Host),
        (proxy(&["*"], "X-Key", None), Unfit::Host),
        (proxy(&["https://api.example.com"], "X-Key", None), Unfit::Host),
        (proxy(&["*.127.0.0.1"], "X-Key", None), Unfit::Host),
        (proxy(&hosts, "Host", None), Unfit::FramingHeader),
        (proxy(&hosts, "X-Key", Some("a\r\n")), Unfit::Character),
    ] {
        assert_eq!(placed(&token, &placement, None), Err(rule), "{placement:?}");
    }
    let (mut headers, mut url) = (HeaderMap::new(), Url::parse("https://api.example.com/").unwrap());
    put_into_request(&[Injection::Proxy(header)], &mut headers, &mut url).unwrap();
    assert!(headers.is_empty(), "a worker's own request is no proxy's");
}

#[test]
fn what_does_not_fit_is_refused() {
    let raw = |text: &str| credential(CredentialKind::Raw, Value::Raw(Secret::new(text)));
    let (query, cookie) =
        (CredentialPlacement::Query { name: "key".into() }, CredentialPlacement::Cookie { name: "key".into() });
    let env = |name: &str| CredentialPlacement::Env { name: name.into() };
    let file = |name: &str| CredentialPlacement::File { name: name.into() };
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
        (token("hunter22"), CredentialPlacement::Cookie { name: "a=b".into() }, None, Unfit::Name),
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
    let place = |placement: &CredentialPlacement| token.place(placement, None).unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer mine"));
    headers.append(COOKIE, HeaderValue::from_static("a=b; sid=mine"));
    headers.append(COOKIE, HeaderValue::from_static("sid = mine; c=d"));
    let mut url = Url::parse("https://api.example.com/v1?key=mine&q=a%20b&key=mine").unwrap();
    let injections = [
        place(&header("Authorization", None)),
        place(&CredentialPlacement::Cookie { name: "sid".into() }),
        place(&CredentialPlacement::Query { name: "key".into() }),
    ];
    put_into_request(&injections, &mut headers, &mut url).unwrap();
    assert_eq!(headers["authorization"], "Bearer hunter22&hunter=22");
    let cookies: Vec<_> = headers.get_all(COOKIE).iter().collect();
    assert_eq!(cookies, ["a=b; c=d; sid=hunter22&hunter=22"]);
    assert_eq!(url.as_str(), "https://api.example.com/v1?q=a%20b&key=hunter22%26hunter%3D22");
    assert!(!format!("{headers:?}").contains("hunter"));
}
