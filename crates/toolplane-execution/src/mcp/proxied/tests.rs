use toolplane_sandbox::{PlainRequest, Target};

use super::body::Body;
use super::{method, sent_to};

fn url(host: &str, port: u16, authority: &str) -> String {
    let target = Target { host: host.into(), port, tunnel: false };
    let fields = Vec::new();
    let request = PlainRequest { method: "GET".into(), authority: authority.into(), path: "/a?b=c".into(), fields };
    sent_to(&target, &request).map(String::from).unwrap_or_default()
}

#[test]
fn what_leaves_the_machine_goes_over_tls() {
    assert_eq!(url("api.example.com", 80, "API.example.com"), "https://api.example.com/a?b=c");
    assert_eq!(url("api.example.com", 80, "api.example.com:80"), "https://api.example.com/a?b=c");
    assert_eq!(url("api.example.com", 443, "api.example.com:443"), "https://api.example.com/a?b=c");
    assert_eq!(url("api.example.com", 8443, "api.example.com:8443"), "https://api.example.com:8443/a?b=c");
    assert_eq!(url("192.0.2.1", 80, "192.0.2.1"), "https://192.0.2.1/a?b=c");
    assert_eq!(url("127.0.0.1", 8080, "127.0.0.1:8080"), "http://127.0.0.1:8080/a?b=c");
    assert_eq!(url("::1", 80, "[::1]"), "http://[::1]/a?b=c");
    assert_eq!(url("localhost", 80, "localhost"), "http://localhost/a?b=c");
    assert_eq!(url("localhost.example.com", 80, "localhost.example.com"), "https://localhost.example.com/a?b=c");
}

#[test]
fn a_body_has_one_length() {
    let of = |fields: &[(&str, &str)]| {
        let fields: Vec<_> = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Body::of(&fields).ok()
    };
    assert!(of(&[("Accept", "*/*")]).is_some() && of(&[("content-length", " 12 ")]).is_some());
    for wrong in [
        &[("Transfer-Encoding", "chunked")][..],
        &[("Content-Length", "1"), ("content-length", "1")],
        &[("Content-Length", "+1")],
        &[("Content-Length", "")],
        &[("Content-Length", "99999999999999999999")],
    ] {
        assert_eq!(of(wrong), None, "{wrong:?}");
    }
    assert!(method("trace").is_err() && method("PATCH").is_ok());
}
