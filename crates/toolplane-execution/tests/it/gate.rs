//! What a sandboxed server over standard input and output reaches with the allow list of an [`EgressGate`].

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use toolplane_catalog::values::Egress;
use toolplane_execution::EgressGate;
use toolplane_sandbox::{Exit, SandboxSpec, Session, StreamRates};

use crate::http::{Names, server};
use crate::server::Server;
use crate::support::sandbox;

/// For each line asks the proxy for a host and a port, by a request or by a tunnel and a request through it, and answers with the status
/// and the first line of what follows.
const FETCHER: &str = "
import socket, sys
def read(answer):
    status = answer.readline().decode().split(' ')[1]
    while answer.readline().strip(): pass
    return status
for line in sys.stdin:
    how, place = line.split()
    try:
        with socket.create_connection(('127.0.0.1', 3128), 20) as proxy:
            answer = proxy.makefile('rb')
            url, status = 'http://' + place + '/echo', '200'
            if how == 'tunnel':
                proxy.sendall(f'CONNECT {place} HTTP/1.1\\r\\n\\r\\n'.encode())
                url, status = '/echo', read(answer)
            if status == '200':
                proxy.sendall(f'GET {url} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'.encode())
                status = read(answer)
            print(status, answer.readline().decode().strip(), flush=True)
    except OSError as error:
        print(error, flush=True)
";

struct Fetcher(Session);

impl Fetcher {
    /// A server that was granted `hosts` and `ports`; without either it was granted nothing.
    async fn open(grant: Option<(&[&str], &[u16])>) -> Self {
        let mut spec = SandboxSpec::server(["/usr/bin/python3", "-c", FETCHER]);
        if let Some((hosts, ports)) = grant {
            let hosts: Vec<_> = hosts.iter().map(|host| (*host).to_owned()).collect();
            spec.network = Some(Arc::new(EgressGate::new(Egress::of_places(&hosts, ports), Arc::new(Names))));
        }
        Self(sandbox().await.0.open(spec, StreamRates::default()).await.unwrap())
    }

    async fn ask(&mut self, how: &str, host: &str, port: u16) -> String {
        let line = format!("{how} {host}:{port}\n");
        self.0.input.write_all(line.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while answer.last() != Some(&b'\n') {
            answer.push(self.0.output.read_u8().await.unwrap());
        }
        String::from_utf8(answer).unwrap().trim_end().to_owned()
    }

    /// Refused both ways, by a text that holds `reason`.
    async fn refused(&mut self, host: &str, port: u16, reason: &str) {
        for how in ["plain", "tunnel"] {
            let said = self.ask(how, host, port).await;
            assert!(said.starts_with("403 ") && said.contains(reason), "{how} {host}:{port}: {said}");
        }
    }

    async fn close(self) -> Exit {
        self.0.close().await.unwrap()
    }
}

fn evidence(exit: &Exit) -> Vec<String> {
    exit.violations.iter().filter(|tried| !tried.probe).map(|tried| tried.evidence()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_reaches_the_hosts_and_ports_it_was_granted_and_nothing_else() {
    let granted = server().await;
    let port = granted.address.port();
    // Another server on a port that is not granted, and one that only listens on the loopback address of the worker.
    let (other, inner) = (server().await, Server::start("127.0.0.1", String::new()).await);
    let hosts = ["ok.test", "127.0.0.77", "mixed.test", "rebound.test", "metadata.test", "gone.test"];
    let mut fetcher = Fetcher::open(Some((&hosts, &[port, inner.address.port()]))).await;

    for how in ["plain", "tunnel"] {
        for host in ["ok.test", "OK.test.", "127.0.0.77"] {
            assert_eq!(fetcher.ask(how, host, port).await, "200 GET /echo HTTP/1.1", "{how} {host}");
        }
        assert!(fetcher.ask(how, "gone.test", port).await.contains("502"));
    }
    assert_eq!(granted.connections(), 6);

    // The ends of names that are not listed themselves; addresses of the worker's own and of others; in other spellings.
    fetcher.refused("ok.test", other.address.port(), "the port is not allowed").await;
    for host in ["allowed.test", "evil-ok.test", "a.ok.test", "localhost"] {
        fetcher.refused(host, port, "the host is not allowed").await;
    }
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254"] {
        fetcher.refused(host, inner.address.port(), "the host is not allowed").await;
    }
    // Names that are listed, and stand for what is not.
    fetcher.refused("rebound.test", inner.address.port(), "stands for 127.0.0.1").await;
    fetcher.refused("metadata.test", port, "stands for 169.254.169.254").await;
    fetcher.refused("mixed.test", port, "stands for 10.0.0.5").await;

    let exit = fetcher.close().await;
    assert_eq!((granted.connections(), other.connections(), inner.connections()), (6, 0, 0));
    let tried = evidence(&exit);
    assert!(tried.iter().all(|tried| tried.starts_with("network_denied:connect(")), "{tried:?}");
    for place in ["169.254.169.254", "metadata.test", "rebound.test", "mixed.test", "127.0.0.1", "::1", "ok.test"] {
        let found = tried.iter().any(|tried| tried.starts_with(&format!("network_denied:connect({place}:")));
        assert!(found, "{place}: {tried:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_a_grant_reaches_nothing() {
    let (public, inner) = (server().await, Server::start("127.0.0.1", String::new()).await);
    let mut fetcher = Fetcher::open(None).await;
    for how in ["plain", "tunnel"] {
        for (host, port) in [("127.0.0.77", public.address.port()), ("127.0.0.1", inner.address.port())] {
            let said = fetcher.ask(how, host, port).await;
            assert!(said.contains("Operation not permitted"), "{said}");
        }
    }
    fetcher.close().await;
    // An empty list is a gate that refuses everything.
    let mut fetcher = Fetcher::open(Some((&[], &[0]))).await;
    fetcher.refused("127.0.0.77", public.address.port(), "the host is not allowed").await;
    fetcher.refused("localhost", inner.address.port(), "the host is not allowed").await;
    fetcher.close().await;
    assert_eq!((public.connections(), inner.connections()), (0, 0));
}
