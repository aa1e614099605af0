use toolplane_records::mcp::{McpBinding, McpHttpServer, McpServer, McpSharing, McpStdioServer};
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
fn a_document_may_be_larger_than_other_answers() {
    let egress = Egress::read(&["127.0.0.1".to_owned()], 1000).unwrap();
    let wanted = HttpBinding { allowed_hosts: vec!["127.0.0.1".to_owned()], ..HttpBinding::default() };
    let mut binding = ExecutionBinding::Http(HttpBinding { max_response_bytes: Some(5_000_000), ..wanted });
    egress.of_documents().narrow(&mut binding).unwrap();
    assert!(matches!(&binding, ExecutionBinding::Http(http) if http.max_response_bytes == Some(5_000_000)));
    egress.narrow(&mut binding).unwrap();
    assert!(matches!(&binding, ExecutionBinding::Http(http) if http.max_response_bytes == Some(1000)));
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

/// What is left of the hosts and ports of a server's binding, or nothing when it is refused.
fn check_server(allow: &[&str], server: McpServer, wanted: Option<(&[&str], &[u16])>) {
    let allow: Vec<_> = allow.iter().map(|text| (*text).to_owned()).collect();
    // What HTTP tools may do is another matter.
    let egress = Egress::read(&["*.org".to_owned()], 1000).unwrap().with_servers(&allow).unwrap();
    let (provider_id, sharing) = ("p".into(), McpSharing::Tenant);
    let mcp = McpBinding { provider_id, server, tool: None, header_parameters: Vec::new(), sharing };
    let mut binding = ExecutionBinding::Mcp(mcp);
    let narrowed = egress.narrow(&mut binding).map(|()| match binding {
        ExecutionBinding::Mcp(McpBinding { server: McpServer::Http(http), .. }) => {
            (http.allowed_hosts, http.allowed_ports)
        }
        ExecutionBinding::Mcp(McpBinding { server: McpServer::Stdio(stdio), .. }) => {
            (stdio.sandbox.allowed_hosts, stdio.sandbox.allowed_ports)
        }
        _ => unreachable!("bindings keep their kind"),
    });
    let wanted = wanted.map(|(hosts, ports)| (hosts.iter().map(|host| (*host).to_owned()).collect(), ports.to_vec()));
    match narrowed {
        Ok(left) => assert_eq!(Some(left), wanted),
        Err(error) => {
            assert!(wanted.is_none() && error.message.contains("executor.mcp.allow"), "{error:?}");
            assert_eq!(
                (error.error_code.as_str(), error.side_effects.as_deref()),
                ("http.egress_denied", Some("none"))
            );
        }
    }
}

#[test]
fn a_server_over_http_is_where_the_operator_allows() {
    let at = |url: &str, hosts: &[&str], ports: &[u16]| {
        let allowed_hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        McpServer::Http(McpHttpServer {
            url: url.to_owned(),
            allowed_hosts,
            allowed_ports: ports.to_vec(),
            ..McpHttpServer::default()
        })
    };
    check_server(&[], at("https://a.org/mcp", &[], &[]), None);
    check_server(&["a.org"], at("https://A.org/mcp", &[], &[]), Some((&[], &[443])));
    check_server(&["*.org"], at("https://a.org:8443/", &["b.org", "c.com"], &[443]), Some((&["b.org"], &[8443, 443])));
    check_server(&["a.org:443"], at("https://a.org:8443/", &["a.org"], &[443]), None);
    check_server(&["[::1]:9"], at("http://[::1]:9/", &[], &[]), Some((&[], &[9])));
    // Ports of one host are no ports of another: then only its own place is left.
    check_server(&["a.org:1", "b.org:2"], at("http://a.org:1/", &["b.org"], &[2]), Some((&[], &[])));
    check_server(&["b.org"], at("http://a.org/", &["b.org"], &[]), None);
    check_server(&["a.org"], at("ftp://a.org/", &[], &[]), None);
}

#[test]
fn a_server_in_the_sandbox_reaches_what_both_allow() {
    let with = |hosts: &[&str], ports: &[u16]| {
        let mut server = McpStdioServer::default();
        server.sandbox.allowed_hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        server.sandbox.allowed_ports = ports.to_vec();
        McpServer::Stdio(server)
    };
    check_server(&[], with(&[], &[]), Some((&[], &[])));
    check_server(&[], with(&["a.org"], &[]), None);
    check_server(&["a.org:443"], with(&["a.org", "b.org"], &[]), Some((&["a.org"], &[443])));
    check_server(&["*.org"], with(&["a.org"], &[8080]), Some((&["a.org"], &[8080])));
}
#[test]
fn an_operation_is_asked_at_its_one_place_or_not_at_all() {
    let binding = |server: &str, host: &str, port: u16| {
        let json = format!(
            r#"{{"type":"operation","operation":"GET /","method":"GET","server":"{server}","path":"/","allowed_host":"{host}",
            "allowed_port":{port},"max_response_bytes":5000}}"#
        );
        serde_json::from_str::<ExecutionBinding>(&json).expect("a binding")
    };
    let api = || binding("https://api.example.org", "api.example.org", 443);
    let loopback = || binding("http://[::1]:8080", "[::1]", 8080);
    for (allow, mut wanted, allowed) in [
        (&["*.example.org"][..], api(), true),
        (&["api.example.org:443"], api(), true),
        (&["api.example.org:80"], api(), false),
        (&["example.org"], api(), false),
        (&[], api(), false),
        (&["[::1]:8080"], loopback(), true),
        (&["::1"], loopback(), true),
        (&["127.0.0.1"], loopback(), false),
    ] {
        let entries: Vec<String> = allow.iter().map(|entry| (*entry).to_owned()).collect();
        let narrowed = Egress::read(&entries, 1000).expect("entries are well-formed").narrow(&mut wanted);
        assert_eq!(narrowed.is_ok(), allowed, "{allow:?} {wanted:?}");
        if let (ExecutionBinding::Operation(operation), true) = (wanted, allowed) {
            assert_eq!(operation.max_response_bytes, Some(1000));
        }
    }
}
