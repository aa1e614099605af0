use toolplane_records::profile::{ExecutionBinding, HttpBinding};

use super::{Egress, NotAHost};

/// The hosts and ports left of a declaration, or nothing when it is refused.
fn check(allow: &[&str], hosts: &[&str], ports: &[u16], wanted: Option<(&[&str], &[u16])>) {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let egress = Egress::read(&texts(allow), 1000).expect("entries are well-formed");
    let http = HttpBinding { allowed_hosts: texts(hosts), allowed_ports: ports.to_vec(), ..HttpBinding::default() };
    let mut binding = ExecutionBinding::Http(http);
    let narrowed = egress.narrow(&mut binding).map(|()| match binding {
        ExecutionBinding::Http(http) => {
            assert_eq!(http.max_response_bytes, Some(1000));
            (http.allowed_hosts, http.allowed_ports)
        }
        other => panic!("became {other:?}"),
    });
    assert_eq!(
        narrowed.ok(),
        wanted.map(|(hosts, ports)| (texts(hosts), ports.to_vec())),
        "{allow:?} {hosts:?} {ports:?}"
    );
}

#[test]
fn a_declaration_can_only_narrow() {
    check(&[], &["127.0.0.1"], &[], None);
    check(&["127.0.0.1"], &["127.0.0.1", "example.org"], &[8080], Some((&["127.0.0.1"], &[8080])));
    check(&["other.org"], &["example.org"], &[], None);
    check(&["EXAMPLE.org"], &["Example.ORG"], &[], Some((&["example.org"], &[])));
}

#[test]
fn the_narrower_of_two_patterns_stays() {
    check(&["*.example.org"], &["api.example.org", "example.org"], &[], Some((&["api.example.org"], &[])));
    check(&["api.example.org"], &["*.example.org"], &[], Some((&["api.example.org"], &[])));
    check(&["*.example.org"], &["*.a.example.org"], &[], Some((&["*.a.example.org"], &[])));
    check(&["*.example.org"], &["evilexample.org", "*.evilexample.org"], &[], None);
}

#[test]
fn ports_are_those_both_allow() {
    check(&["127.0.0.1:8080"], &["127.0.0.1"], &[8080, 9090], Some((&["127.0.0.1"], &[8080])));
    check(&["127.0.0.1:8080"], &["127.0.0.1"], &[0], Some((&["127.0.0.1"], &[8080])));
    check(&["127.0.0.1:8080"], &["127.0.0.1"], &[], None);
    check(&["h:80", "h"], &["h"], &[81], Some((&["h"], &[81])));
    check(&["h:80", "h:443"], &["h"], &[], Some((&["h"], &[80, 443])));
    check(&["a:1", "b:2"], &["a", "b"], &[0], None);
    check(&["[::1]:8080", "::1"], &["::1"], &[7], Some((&["::1"], &[7])));
}

#[test]
fn a_malformed_entry_is_named() {
    for bad in ["", "http://example.org", "host:port", "*."] {
        assert_eq!(Egress::read(&[bad.to_owned()], 1).unwrap_err(), NotAHost(bad.to_owned()));
    }
}
