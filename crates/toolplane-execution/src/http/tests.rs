use toolplane_catalog::values::Egress;
use toolplane_records::profile::HttpBinding;
use url::Url;

use toolplane_matching::host::is_public;

fn policy(hosts: &[&str], ports: &[u16]) -> Egress {
    Egress::of(&HttpBinding {
        allowed_hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        allowed_ports: ports.to_vec(),
        ..HttpBinding::default()
    })
}

fn check(policy: &Egress, url: &str, allowed: bool) {
    let outcome = policy.check_url(&Url::parse(url).unwrap());
    assert_eq!(outcome.is_ok(), allowed, "{url}: {outcome:?}");
}

#[test]
fn hosts_are_compared_as_hosts() {
    let policy = policy(&["allowed.test", "*.sub.test", "127.0.0.1", "[::1]"], &[]);
    for url in [
        "http://allowed.test/",
        "https://ALLOWED.test./x",
        "http://a.sub.test",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://0x7f000001/",
    ] {
        check(&policy, url, true);
    }
    for url in [
        "http://allowed.test.evil.test/",
        "http://notallowed.test/",
        "http://sub.test/",
        "http://evilsub.test/",
        "http://.sub.test/",
        "http://allowed.test@evil.test/",
        "http://user@allowed.test/",
        "http://evil.test\\@allowed.test/",
        "http://allowed.test:8080/",
        "http://[::ffff:127.0.0.1]/",
        "http://127.0.0.2/",
        "ftp://allowed.test/",
        "file:///etc/passwd",
    ] {
        check(&policy, url, false);
    }
}

#[test]
fn ports_are_checked() {
    check(&policy(&["a.test"], &[8080]), "http://a.test:8080/", true);
    check(&policy(&["a.test"], &[8080]), "http://a.test/", false);
    check(&policy(&["a.test"], &[0]), "http://a.test:1/", true);
}

#[test]
fn special_addresses_are_not_public() {
    let special = [
        "0.0.0.0",
        "10.0.0.5",
        "100.64.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.168.1.1",
        "198.18.0.1",
        "203.0.113.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001::1",
        "2001:db8::1",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:0:127.0.0.1",
        "3fff::1",
    ];
    for address in special {
        assert!(!is_public(address.parse().unwrap()), "{address}");
    }
    for address in
        ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808"]
    {
        assert!(is_public(address.parse().unwrap()), "{address}");
    }
}
