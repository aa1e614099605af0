//! URLs: what is known of them.

use super::*;

#[test]
fn hosts_have_one_spelling() {
    for (text, host, port) in [
        ("https://Example.COM./a?b#c", "example.com", Some(443)),
        ("http://bücher.example", "xn--bcher-kva.example", Some(80)),
        ("http://0x7f.1/", "127.0.0.1", Some(80)),
        ("http://2130706433/", "127.0.0.1", Some(80)),
        ("http://017700000001:81/", "127.0.0.1", Some(81)),
        ("http://①②⑦.⓪.⓪.①/", "127.0.0.1", Some(80)),
        ("http://127.1/", "127.0.0.1", Some(80)),
        ("http://[::FFFF:7f00:1]/", "::ffff:127.0.0.1", Some(80)),
        ("http://allowed.test@evil.test/", "evil.test", Some(80)),
        ("http://e%78ample.com/", "example.com", Some(80)),
        ("gopher://EVIL.test:70/", "evil.test", Some(70)),
        ("redis://0x7f.1/", "127.0.0.1", None),
    ] {
        let fact = parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        assert_eq!((fact.host.as_str(), fact.port), (host, port), "{text}");
    }
}

#[test]
fn what_programs_read_differently_is_no_url() {
    for text in [
        "",
        "example.com",
        "http:example.com",
        "http:/example.com",
        "http:///",
        "file:///etc/passwd",
        "data:text/plain,x",
        "http://evil.test\\@allowed.test/",
        "http://a b/",
        "http://a\n.b/",
        "\thttp://a/",
        "http://a\0/",
        "http://[::1/",
        "http://999.1.1.1/",
        "http://a<b/",
        "mailto:a@b",
        "foo:bar://x",
        "http://./",
    ] {
        assert!(parse(text).is_err(), "{text:?}: {:?}", parse(text));
    }
    assert!(parse(&format!("http://a/{}", "b".repeat(MAX_URL))).is_err());
}

#[test]
fn addresses_and_names_that_are_not_public_are_known() {
    for host in [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "a.localhost",
        "127.1",
        "0",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.0.192",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "203.0.113.9",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fc00::1]",
        "[ff02::1]",
        "[2001:db8::1]",
        "[2001::1]",
        "[3fff::1]",
        "printer",
        "db.internal",
        "x.local",
        "router.lan",
        "a.home.arpa",
    ] {
        assert!(parse(&format!("http://{host}/")).is_ok_and(|fact| fact.non_public), "{host}");
    }
    for host in [
        "example.com",
        "1.1.1.1",
        "8.8.8.8",
        "172.32.0.1",
        "100.128.0.1",
        "192.0.1.1",
        "[2606:4700::1111]",
        "[::ffff:8.8.8.8]",
        "[64:ff9b::808:808]",
        "[2002:808:808::]",
        "local.example",
    ] {
        assert!(parse(&format!("http://{host}/")).is_ok_and(|fact| !fact.non_public), "{host}");
    }
}
