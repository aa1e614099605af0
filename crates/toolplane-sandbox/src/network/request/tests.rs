use super::{end_of_head, read};

fn target(head: &str) -> Option<(String, u16, bool)> {
    read(head.as_bytes()).map(|request| (request.target.host, request.target.port, request.target.tunnel))
}

#[test]
fn a_tunnel_names_host_and_port() {
    let connect = |address: &str| target(&format!("CONNECT {address} HTTP/1.1\r\nHost: other.example\r\n\r\n"));
    assert_eq!(connect("Docs.rs:443"), Some(("docs.rs".into(), 443, true)));
    assert_eq!(connect("[2001:DB8::1]:8443"), Some(("2001:db8::1".into(), 8443, true)));
    for wrong in [
        "docs.rs",
        "docs.rs:",
        "docs.rs:0",
        "docs.rs:65536",
        "docs.rs:+80",
        "docs.rs:80:80",
        ":443",
        "a@b:443",
        "[::1",
        "[x]:1",
    ] {
        assert_eq!(connect(wrong), None, "{wrong}");
    }
}

#[test]
fn a_plain_request_goes_on_with_the_host_it_was_judged_by() {
    let head = "GET http://Example.org:8080/a?b=c HTTP/1.1\r\nHost: private.internal\r\nAccept: */*\r\n\
        Proxy-Connection: keep-alive\r\nproxy-authorization: Basic eA==\r\nConnection: keep-alive\r\n\r\n";
    let request = read(head.as_bytes()).unwrap();
    assert_eq!(
        (request.target.host.as_str(), request.target.port, request.target.tunnel),
        ("example.org", 8080, false)
    );
    let sent = "GET /a?b=c HTTP/1.1\r\nHost: Example.org:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n";
    assert_eq!(String::from_utf8(request.plain.unwrap().head()).unwrap(), sent);
    for (address, line) in [("http://a.b", "GET / HTTP/1.1"), ("http://a.b?x", "GET /?x HTTP/1.1")] {
        let request = read(format!("GET {address} HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
        assert!(request.plain.unwrap().head().starts_with(line.as_bytes()) && request.target.port == 80, "{address}");
    }
}

#[test]
fn what_could_be_read_in_two_ways_is_not_read() {
    for head in [
        "GET /a HTTP/1.1\r\n\r\n",
        "GET https://a.b/ HTTP/1.1\r\n\r\n",
        "GET http://a.b@c.d/ HTTP/1.1\r\n\r\n",
        "GET http:///x HTTP/1.1\r\n\r\n",
        "GET http://a.b/x y HTTP/1.1\r\n\r\n",
        "GET  http://a.b/ HTTP/1.1\r\n\r\n",
        "GET http://a.b/\t HTTP/1.1\r\n\r\n",
        "GET http://a.b/#x HTTP/1.1\r\n\r\n",
        "GET http://a.b/ HTTP/2\r\n\r\n",
        "G(T http://a.b/ HTTP/1.1\r\n\r\n",
        "GET http://a.b/ HTTP/1.1\r\n folded: x\r\n\r\n",
        "GET http://a.b/ HTTP/1.1\r\nname : x\r\n\r\n",
        "GET http://a.b/ HTTP/1.1\r\nname: x\ny: z\r\n\r\n",
        "GET http://a.b/ HTTP/1.1\r\nnothing\r\n\r\n",
        "GET http://a.b/ HTTP/1.1\r\n",
        "",
    ] {
        assert_eq!(target(head), None, "{head:?}");
    }
    assert_eq!(end_of_head(b"GET / HTTP/1.1\r\n\r\nbody"), Some(18));
    assert_eq!(end_of_head(b"GET / HTTP/1.1\r\n\n"), None);
}
