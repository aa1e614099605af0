//! Credentials that the proxy of a sandbox puts into requests of a server that is a program.

use std::sync::Arc;

use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use toolplane_execution::{CredentialSource, McpOptions};
use toolplane_records::credential::{CredentialPlacement, CredentialUse};
use toolplane_records::mcp::{McpServer, McpStdioServer};

use super::bed::{Bed, call_of, program};
use crate::api::{Api, Reply};
use crate::credentials::{broker, configured, secret};
use crate::server::Server;
use crate::support::text;

const SECRET: &str = "hunter2-swordfish";

/// A worker with the credential `key`, and what holds its file.
async fn bed() -> (Bed, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = secret(folder.path(), "key", SECRET);
    let key = json!({"name": "key", "kind": "bearer", "source": {"file": file}, "tools": ["*"]});
    let broker = broker(vec![configured(key)]);
    broker.load().await;
    let source = Arc::new(CredentialSource::new(Arc::new(broker)));
    (Bed::with_credentials(McpOptions::default(), source).await, folder)
}

/// A server that reaches `hosts` at these ports, with the credential in requests to those of `named`.
fn server(hosts: &[&str], ports: &[u16], named: &[&str]) -> McpStdioServer {
    let mut server = program();
    server.sandbox.allowed_hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    server.sandbox.allowed_ports = ports.to_vec();
    let hosts = named.iter().map(|host| (*host).to_owned()).collect();
    let placement = CredentialPlacement::Proxy { hosts, name: "Authorization".to_owned(), prefix: None };
    server.placed_credentials = vec![CredentialUse::whole("key", placement)];
    server
}

/// What the program is answered to a request, as it sees it.
async fn answered(bed: &Bed, server: &McpStdioServer, request: &str) -> String {
    let call = call_of(McpServer::Stdio(server.clone()), "get", json!({ "request": request }));
    let outcome = bed.run(call).await;
    assert!(outcome.is_success(), "{outcome:?}");
    text(&outcome).chars().rev().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_uses_a_credential_that_it_never_has() {
    let (bed, _folder) = bed().await;
    let api = Api::start(|asked, _| {
        let said = json!({ "method": asked.method, "target": asked.target, "headers": asked.headers });
        let mut reply = Reply::json("200 OK", &said);
        reply.1.push(("X-Echo", asked.header("authorization").to_owned()));
        reply
    })
    .await;
    let port = api.address.port();
    let server = server(&["127.0.0.1"], &[port], &["127.0.0.1"]);
    let ask = |head: &str| head.replace("HOST", &format!("http://127.0.0.1:{port}"));
    let fields = "Authorization: Bearer mine\r\nauthorization: Bearer other\r\nAccept-Encoding: gzip\r\nX-Own: yes";
    let said = answered(&bed, &server, &ask(&format!("GET HOST/a?b=c HTTP/1.1\r\n{fields}\r\n\r\n"))).await;
    let asked = api.last();
    assert_eq!((asked.method.as_str(), asked.target.as_str()), ("GET", "/a?b=c"));
    let got: Vec<_> = asked.headers.iter().filter(|(name, _)| name == "authorization").collect();
    assert_eq!(got, [&("authorization".to_owned(), format!("Bearer {SECRET}"))]);
    assert_eq!((asked.header("accept-encoding"), asked.header("x-own")), ("identity", "yes"));
    // What the host says of it is masked on the way back, in headers too.
    assert!(said.starts_with("HTTP/1.1 200 OK\r\n") && said.ends_with("0\r\n\r\n"), "{said}");
    assert!(!said.contains("swordfish") && said.matches("Bearer [credential key]").count() == 2, "{said}");

    // A body goes along, byte for byte.
    let body = "0123456789abcdef".repeat(8192);
    let length = format!("POST HOST/ HTTP/1.1\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n", body.len());
    let said = answered(&bed, &server, &(ask(&length) + &body)).await;
    assert!(said.starts_with("HTTP/1.1 200 OK"), "{said}");
    let asked = api.last();
    assert_eq!((asked.method.as_str(), asked.header("authorization")), ("POST", &*format!("Bearer {SECRET}")));
    assert!(asked.body == body.as_bytes(), "{} bytes", asked.body.len());
    let held = call_of(McpServer::Stdio(server.clone()), "holds", json!({ "text": "swordfish" }));
    assert_eq!(text(&bed.run(held).await), "False");

    // What could be read in two ways, or echoes a request, is not sent.
    let before = api.asked().len();
    for wrong in [
        "TRACE HOST/ HTTP/1.1\r\n\r\n",
        "POST HOST/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST HOST/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    ] {
        let said = answered(&bed, &server, &ask(wrong)).await;
        assert!(said.starts_with("HTTP/1.1 400 Bad Request"), "{wrong}: {said}");
    }
    assert_eq!(api.asked().len(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_other_host_gets_it() {
    let (bed, _folder) = bed().await;
    let (api, other) = (Api::echo().await, Server::start("127.0.0.77", String::new()).await);
    let (port, beside) = (api.address.port(), other.address.port());
    let server = server(&["127.0.0.1", "127.0.0.77"], &[port, beside], &["127.0.0.1"]);
    let ask = |place: &str| format!("GET http://{place} HTTP/1.1\r\nAuthorization: Bearer mine\r\n\r\n");
    let said = answered(&bed, &server, &ask(&format!("127.0.0.77:{beside}/echo"))).await;
    assert!(said.contains("Authorization: Bearer mine") && !said.contains("swordfish"), "{said}");
    // Not where the program may not go, and not through a tunnel.
    for denied in ["127.0.0.1:1/", "ok.test/"] {
        let said = answered(&bed, &server, &ask(denied)).await;
        assert!(said.starts_with("HTTP/1.1 403 Forbidden"), "{denied}: {said}");
    }
    let inner = "GET /tunnel HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let said = answered(&bed, &server, &format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n{inner}")).await;
    assert!(said.contains("200 Connection established") && said.contains("/tunnel"), "{said}");
    assert_eq!(api.last().header("authorization"), "");
}

/// A name stands for a host elsewhere, so nothing is sent there but over TLS.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_leaves_the_machine_over_tls_alone() {
    let (bed, _folder) = bed().await;
    let listener = TcpListener::bind("127.0.0.77:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = vec![0; 3];
        stream.read_exact(&mut bytes).await.unwrap();
        bytes
    });
    let server = server(&["ok.test", "127.0.0.77"], &[port], &["ok.test"]);
    let said = answered(&bed, &server, &format!("GET http://ok.test:{port}/ HTTP/1.1\r\n\r\n")).await;
    assert!(said.starts_with("HTTP/1.1 502 Bad Gateway"), "{said}");
    assert_eq!(heard.await.unwrap()[..2], [0x16, 3], "a handshake begins");
}

/// The value is a part of what a session is kept for, and a host that refuses it is heard.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_value_is_put_in_at_the_next_call() {
    let (bed, folder) = bed().await;
    let api = Api::echo().await;
    let port = api.address.port();
    let server = server(&["127.0.0.1"], &[port], &["127.0.0.1"]);
    let request = format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n");
    for value in [SECRET, "another-swordfish-22"] {
        secret(folder.path(), "key", value);
        let said = answered(&bed, &server, &request).await;
        assert_eq!(api.last().header("authorization"), format!("Bearer {value}"));
        assert!(said.contains("[credential key]") && !said.contains("swordfish"), "{said}");
    }
}
