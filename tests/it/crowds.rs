//! More connections than a process has descriptors for.

use std::io::Read as _;
use std::net::TcpStream;
use std::process::Command;

use toolplane_testkit::process::Process;
use toolplane_testkit::{Cluster, Options, binary};

use crate::bed::PATIENCE;

/// A cluster in a process of 64 descriptors, and a hundred connections that never say anything: a client that sends
/// requests is served, at once and for as long as it lasts.
#[tokio::test]
async fn silent_connections_block_no_process_with_few_descriptors() {
    let config = "[server]\nfirst_request_ms = 3000\n";
    let cluster = Cluster::prepare(Options::new(config)).unwrap();
    let inner = cluster.command().unwrap();
    let mut command = Command::new("sh");
    command.arg("-c").arg("ulimit -n 64 && exec \"$0\" \"$@\"").arg(inner.get_program()).args(inner.get_args());
    command.current_dir(cluster.folder());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut process = Process::start("the cluster", &mut command, &cluster.log_file()).unwrap();
    let address = cluster.endpoint().trim_start_matches("http://").to_owned();
    let start = std::time::Instant::now();
    while !lists_tools(&cluster) {
        process.expect_running().unwrap();
        assert!(start.elapsed() < PATIENCE, "{}", process.log_tail());
        toolplane_wait::look_again().await;
    }

    let mut silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(&address).unwrap()).collect();
    for _ in 0..3 {
        assert!(lists_tools(&cluster), "{}", process.log_tail());
        silent.extend((0..30).map(|_| TcpStream::connect(&address).unwrap()));
    }
    // None of them is kept for longer than it was given.
    for mut stream in silent {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut said = Vec::new();
        match stream.read_to_end(&mut said) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}"),
        }
    }
    assert!(lists_tools(&cluster));
    assert!(process.log().contains("connections were closed"), "{}", process.log_tail());
    process.kill();
}

/// What an operator does, on a connection of its own.
fn lists_tools(cluster: &Cluster) -> bool {
    let mut command = Command::new(binary::toolplane().unwrap());
    command.args(["--endpoint", &cluster.endpoint(), "tools", "ls"]);
    command.output().unwrap().status.success()
}
