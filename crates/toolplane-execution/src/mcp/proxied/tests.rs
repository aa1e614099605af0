use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use reqwest::{Certificate, Client};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolplane_catalog::values::Egress;
use toolplane_credentials::{Broker, BrokerOptions, Injection, NoTokens, ProxyHeader, Request};
use toolplane_records::credential::CredentialPlacement;
use toolplane_records::ids::ToolId;
use toolplane_records::tool_facts::ToolFacts;
use toolplane_sandbox::{Gate as _, PlainRequest, Target};

use super::body::Body;
use super::{CredentialGate, method, sent_to};
use crate::credentials::{CredentialSource, Injections};
use crate::http::{EgressGate, SystemLookup};

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

const SECRET: &str = "hunter2-swordfish";

/// Answers one request over TLS with the head that it got. Takes the files of its certificate and its key, and prints its port.
const TLS_SERVER: &str = r#"
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
stream = context.wrap_socket(listening.accept()[0], server_side=True)
got = b""
while not got.endswith(b"\r\n\r\nbody"):
    got += stream.recv(4096)
print(got.decode(), flush=True)
stream.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(got) + got)
stream.close()
"#;

struct TlsServer {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
    port: u16,
    certificate: String,
    _folder: tempfile::TempDir,
}

impl TlsServer {
    fn start(name: &str) -> Self {
        let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (certificate, files) = (made.cert.pem(), ["cert", "key"].map(|name| folder.path().join(name)));
        std::fs::write(&files[0], &certificate).unwrap();
        std::fs::write(&files[1], made.signing_key.serialize_pem()).unwrap();
        let mut command = Command::new("/usr/bin/python3");
        let mut child = command.args(["-c", TLS_SERVER]).args(&files).stdout(Stdio::piped()).spawn().unwrap();
        let (mut said, mut line) = (BufReader::new(child.stdout.take().unwrap()), String::new());
        said.read_line(&mut line).unwrap();
        Self { child, said, port: line.trim().parse().unwrap(), certificate, _folder: folder }
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A header for this host with the secret, and where it was got from.
async fn header(host: &str) -> (ProxyHeader, CredentialSource) {
    use std::os::unix::fs::PermissionsExt as _;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), SECRET).unwrap();
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
    let key = json!({"name": "key", "kind": "bearer", "source": {"file": file.path()}, "tools": ["*"]});
    let credentials = vec![serde_json::from_value(key).unwrap()];
    let broker = Broker::new(BrokerOptions::new(credentials, Arc::new(NoTokens))).unwrap();
    let tool = ToolFacts::named(ToolId::parse("tool_x").unwrap(), "test.x", "test");
    let request = Request { name: "key", provider: None, tool: &tool, tenant: "default", actor: None };
    let credential = broker.credential(&request).await.unwrap();
    let hosts = vec![host.to_owned()];
    let placement = CredentialPlacement::Proxy { hosts, name: "Authorization".to_owned(), prefix: None };
    let Injection::Proxy(header) = credential.place(&placement, None).unwrap() else { panic!("another place") };
    (header, CredentialSource::new(Arc::new(broker)))
}

/// Both ends of the connection of a program to its proxy.
async fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let program = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (program, listener.accept().await.unwrap().0)
}

#[tokio::test]
async fn a_host_elsewhere_gets_the_header_over_tls() {
    let mut server = TlsServer::start("api.test");
    let (header, source) = header("api.test").await;
    let egress = Egress::of_places(&["api.test".to_owned()], &[server.port]);
    let trusted = Certificate::from_pem(server.certificate.as_bytes()).unwrap();
    let there = SocketAddr::from(([127, 0, 0, 1], server.port));
    let gate = CredentialGate {
        gate: EgressGate::new(egress.clone(), Arc::new(SystemLookup)),
        egress,
        client: Client::builder().no_proxy().resolve("api.test", there).tls_certs_only([trusted]).build().unwrap(),
        headers: vec![header],
        injections: Arc::new(Injections::default()),
        credentials: Arc::new(source),
    };
    let target = Target { host: "api.test".into(), port: server.port, tunnel: false };
    let fields = [("Content-Length", " 4"), ("Authorization", " Bearer mine"), ("X-Own", " yes")];
    let request = PlainRequest {
        method: "POST".into(),
        authority: format!("api.test:{}", server.port),
        path: "/a?b=c".into(),
        fields: fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
    };
    let (mut program, mut proxy) = connection().await;
    program.write_all(b"dy").await.unwrap();
    gate.answer(&target, &request, b"bo", &mut proxy).expect("it is for the gate").await.unwrap();
    drop(proxy);
    let mut answer = String::new();
    program.read_to_string(&mut answer).await.unwrap();
    let mut got = String::new();
    while !got.ends_with("body\n") {
        assert!(server.said.read_line(&mut got).unwrap() > 0, "{got}");
    }
    assert!(got.starts_with("POST /a?b=c HTTP/1.1\r\n") && got.contains("x-own: yes\r\n"), "{got}");
    assert!(got.contains(&format!("authorization: Bearer {SECRET}\r\n")) && !got.contains("Bearer mine"), "{got}");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n0\r\n\r\n"), "{answer}");
    assert!(answer.contains("Bearer [credential key]") && !answer.contains("swordfish"), "{answer}");
    // A request to another host is not the gate's.
    let other = PlainRequest { authority: "other.test".into(), ..request };
    assert!(gate.answer(&target, &other, b"", &mut program).is_none());
}
