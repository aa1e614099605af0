//! Runs and sessions that are granted hosts.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::TcpStream;
use toolplane_sandbox::backend::BoxFuture;
use toolplane_sandbox::bubblewrap::BubblewrapOptions;
use toolplane_sandbox::{
    Bubblewrap, Exit, Gate, GateError, SandboxBackend as _, SandboxError, SandboxSpec, StreamRates, Target,
};

use crate::sessions::ask;
use crate::support::{run, sandbox, stderr, stdout};

/// Lets a run reach `allowed.test`, which is a server of this test, and tells what was asked for.
#[derive(Debug)]
struct OneHost {
    server: SocketAddr,
    asked: Mutex<Vec<Target>>,
}

impl Gate for OneHost {
    fn connect(&self, target: Target) -> BoxFuture<'_, Result<TcpStream, GateError>> {
        self.asked.lock().push(target.clone());
        Box::pin(async move {
            match (target.host.as_str(), target.port) {
                ("allowed.test", 80 | 443) => Ok(TcpStream::connect(self.server).await?),
                ("closed.test", _) => Err(GateError::Failed(std::io::ErrorKind::ConnectionRefused.into())),
                (host, port) => Err(GateError::Refused(format!("no rule allows {host}:{port}"))),
            }
        })
    }
}

/// A server that answers every connection with the head of its request, and counts them.
fn server() -> (Arc<OneHost>, Arc<AtomicUsize>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (server, came) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&came);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            count.fetch_add(1, Ordering::SeqCst);
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut [0]).is_ok_and(|length| length > 0) {
                head.push(0);
                let mut rest = [0; 4096];
                let length = stream.read(&mut rest).unwrap_or(0);
                head.extend_from_slice(&rest[..length]);
            }
            let length = head.len();
            let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").as_bytes());
            let _ = stream.write_all(&head);
        }
    });
    (Arc::new(OneHost { server, asked: Mutex::default() }), came)
}

fn python(code: &str, gate: &Arc<OneHost>) -> SandboxSpec {
    let mut spec = SandboxSpec::new(["/usr/bin/python3", "-c", code]);
    spec.limits.wall = Duration::from_secs(60);
    spec.network = Some(Arc::clone(gate) as Arc<dyn Gate>);
    spec
}

fn evidence(exit: &Exit) -> Vec<String> {
    exit.violations.iter().filter(|tried| !tried.probe).map(|tried| tried.evidence()).collect()
}

fn target(host: &str, port: u16, tunnel: bool) -> Target {
    Target { host: host.into(), port, tunnel }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_granted_host_is_reached_by_request_and_by_tunnel() {
    let (gate, came) = server();
    let code = "import urllib.request, http.client\n\
        print(urllib.request.urlopen('http://allowed.test/a?b', timeout=10).read()[1:].decode())\n\
        c = http.client.HTTPConnection('127.0.0.1', 3128, timeout=10); c.set_tunnel('allowed.test', 443)\n\
        c.request('GET', '/inner'); print(c.getresponse().read()[1:].decode())";
    let exit = run(python(code, &gate)).await;
    assert!(exit.success(), "{}", stderr(&exit));
    let said = stdout(&exit);
    assert!(
        said.contains("ET /a?b HTTP/1.1\r\nHost: allowed.test\r\n") && said.contains("ET /inner HTTP/1.1"),
        "{said}"
    );
    assert_eq!(*gate.asked.lock(), [target("allowed.test", 80, false), target("allowed.test", 443, true)]);
    assert_eq!((came.load(Ordering::SeqCst), evidence(&exit)), (2, Vec::new()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_host_is_refused_and_on_record() {
    let (gate, came) = server();
    let code = "import urllib.request, urllib.error\n\
        for host in ['other.test', 'other.test', 'closed.test']:\n\
        \u{20} try: urllib.request.urlopen(f'http://{host}/', timeout=10)\n\
        \u{20} except urllib.error.HTTPError as error: print(error.code, error.read().decode().strip())\n\
        try: urllib.request.urlopen('https://other.test:8443/', timeout=10)\n\
        except OSError as error: print(error)";
    let exit = run(python(code, &gate)).await;
    let said = stdout(&exit);
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines[..2], ["403 no rule allows other.test:80"; 2], "{said}{}", stderr(&exit));
    assert!(lines[2].starts_with("502 the host cannot be reached") && lines[3].contains("403"), "{said}");
    assert_eq!(evidence(&exit), ["network_denied:connect(other.test:80)", "network_denied:connect(other.test:8443)"]);
    assert_eq!(exit.violations.iter().find(|tried| tried.layer == "network").unwrap().count, 2);
    assert_eq!(came.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_but_the_proxy_can_be_reached() {
    let (gate, came) = server();
    let code = format!(
        "import socket as s, os\n\
        def tried(what):\n\
        \u{20} try: what(); print('DONE')\n\
        \u{20} except OSError as error: print(error.errno)\n\
        def tcp(*address): s.socket(s.AF_INET).connect(address)\n\
        tried(lambda: tcp('127.0.0.1', {port}))\n\
        tried(lambda: tcp('10.0.0.1', 80))\n\
        tried(lambda: s.socket(s.AF_INET, s.SOCK_DGRAM))\n\
        tried(lambda: s.socket(s.AF_INET6))\n\
        tried(lambda: s.getaddrinfo('allowed.test', 80))\n\
        c = s.socket(s.AF_INET); c.setblocking(False)\n\
        print(c.connect_ex(('127.0.0.1', 3128)))\n\
        for text in [b'GET / HTTP/1.1\\r\\n\\r\\n', b'x' * 20000, b'']:\n\
        \u{20} c = s.create_connection(('127.0.0.1', 3128)); c.sendall(text); c.shutdown(s.SHUT_WR); print(c.recv(12))",
        port = gate.server.port()
    );
    let exit = run(python(&code, &gate)).await;
    let said = stdout(&exit);
    let lines: Vec<_> = said.lines().collect();
    // Refused; unreachable; not permitted, twice; a name that no server can be asked about; a connection that is under way.
    let refused = [libc::ECONNREFUSED, libc::ENETUNREACH, libc::EPERM, libc::EPERM, libc::EAI_AGAIN, libc::EINPROGRESS];
    assert_eq!(lines[..6], refused.map(|errno| errno.to_string()), "{said}{}", stderr(&exit));
    assert_eq!(lines[6..], ["b'HTTP/1.1 400'"; 3], "{said}{}", stderr(&exit));
    assert!(exit.success() && evidence(&exit).is_empty() && came.load(Ordering::SeqCst) == 0, "{exit:?}");

    // The namespace holds its own loopback and no route.
    let code = "print([line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line])\n\
        print(len(open('/proc/net/route').readlines()) - 1)";
    assert_eq!(stdout(&run(python(code, &gate)).await), "['lo']\n0\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_grant_there_is_no_network_and_no_proxy() {
    let (gate, came) = server();
    let code = "import os, socket as s\n\
        print([name for name in os.environ if name.lower().endswith('s_proxy')])\n\
        print([line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line])\n\
        listening = [line.split()[3] for line in open('/proc/net/tcp').readlines()[1:]]\n\
        print(listening)\n\
        for family in [s.AF_INET, s.AF_INET6]:\n\
        \u{20} for kind in [s.SOCK_STREAM, s.SOCK_DGRAM]:\n\
        \u{20}   try: s.socket(family, kind); print('DONE')\n\
        \u{20}   except OSError as error: print(error.errno)";
    let mut spec = python(code, &gate);
    spec.network = None;
    let exit = run(spec).await;
    assert_eq!(stdout(&exit), format!("[]\n['lo']\n[]\n{}", "1\n".repeat(4)), "{}", stderr(&exit));
    let tried = evidence(&exit);
    assert!(tried.iter().any(|tried| tried.starts_with("seccomp_denied:socket(family=2")), "{tried:?}");
    assert_eq!((came.load(Ordering::SeqCst), gate.asked.lock().len()), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_keeps_its_grant_to_its_end_and_shares_it_with_none() {
    let code = "import sys, urllib.request, urllib.error\n\
        for line in sys.stdin:\n\
        \u{20} try: print(urllib.request.urlopen(line.strip(), timeout=10).status, flush=True)\n\
        \u{20} except urllib.error.HTTPError as error: print(error.code, flush=True)";
    let (gate, came) = server();
    let (other, other_came) = server();
    let mut session = sandbox().open(python(code, &gate), StreamRates::default()).await.unwrap();
    let mut beside = sandbox().open(python(code, &other), StreamRates::default()).await.unwrap();
    for _ in 0..3 {
        assert_eq!(ask(&mut session, "http://allowed.test/").await, "200");
    }
    assert_eq!(ask(&mut beside, "http://other.test/").await, "403");
    assert_eq!((came.load(Ordering::SeqCst), other_came.load(Ordering::SeqCst)), (3, 0));
    assert_eq!((gate.asked.lock().len(), other.asked.lock().len()), (3, 1));
    assert!(session.close().await.unwrap().success());
    assert_eq!(evidence(&beside.close().await.unwrap()), ["network_denied:connect(other.test:80)"]);
    assert_eq!(Arc::strong_count(&gate), 1, "nothing of a run that has ended holds the gate");
}

#[tokio::test]
async fn what_fails_before_or_after_the_grant_is_told_as_ever() {
    let (gate, _) = server();
    let mut spec = python("", &gate);
    spec.argv = vec!["no-such-program".into()];
    let error = sandbox().spawn(spec.clone(), None).await.unwrap_err();
    assert!(matches!(&error, SandboxError::SetupFailed { stage, .. } if stage == "exec"), "{error:?}");
    spec.read_only_paths = vec!["/nowhere".into()];
    let error = sandbox().spawn(spec.clone(), None).await.unwrap_err();
    assert!(matches!(&error, SandboxError::SetupFailed { detail, .. } if detail.contains("/nowhere")), "{error:?}");
    let broken = BubblewrapOptions { bwrap: Some("/bin/false".into()), ..BubblewrapOptions::default() };
    spec.read_only_paths.clear();
    let error = Bubblewrap::new(&broken).spawn(spec, None).await.unwrap_err();
    assert!(matches!(&error, SandboxError::SetupFailed { stage, .. } if stage == "namespaces"), "{error:?}");
    assert_eq!(Arc::strong_count(&gate), 1);
}
