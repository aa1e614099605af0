//! Connections that grow old: behind something that spreads connections, calls come to every scheduler.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use toolplane_testkit::Processes;
use toolplane_testkit::clients::Clients;

use super::{Load, Many, shared};

/// Gives each connection to the next of the processes behind it, as a load balancer of connections does.
struct Spreader {
    address: SocketAddr,
    given: Arc<[AtomicUsize; 2]>,
}

impl Spreader {
    async fn start(behind: [u16; 2]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let given: Arc<[AtomicUsize; 2]> = Arc::default();
        let spreader = Self { address: listener.local_addr().unwrap(), given: Arc::clone(&given) };
        tokio::spawn(async move {
            for turn in 0.. {
                let Ok((mut near, _)) = listener.accept().await else { return };
                given[turn % 2].fetch_add(1, Ordering::Relaxed);
                let port = behind[turn % 2];
                tokio::spawn(async move {
                    if let Ok(mut far) = TcpStream::connect(("127.0.0.1", port)).await {
                        // Either side may end it at any time.
                        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                    }
                });
            }
        });
        spreader
    }

    fn given(&self) -> [usize; 2] {
        [self.given[0].load(Ordering::Relaxed), self.given[1].load(Ordering::Relaxed)]
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_connections_move_load_and_fail_no_call() {
    let mut processes = Processes::prepare(shared(2, 1)).await.unwrap();
    // What prepares the test talks to the other processes, and tries nothing a second time.
    for scheduler in ["scheduler-1", "scheduler-2"] {
        processes.set_env(scheduler, "TOOLPLANE__SERVER__MAX_CONNECTION_AGE_MS", Some("400")).unwrap();
        processes.set_env(scheduler, "TOOLPLANE__SERVER__CONNECTION_GRACE_MS", Some("1000")).unwrap();
    }
    processes.launch_all().unwrap();
    processes.ready().await.unwrap();
    let many = Many::with(processes).await;
    let port = |name: &str| many.processes.member(name).unwrap().port.unwrap();
    let spreader = Spreader::start([port("scheduler-1"), port("scheduler-2")]).await;
    let way = Clients::of(&format!("http://{}", spreader.address)).unwrap();
    let load = Load::start(4, vec![way], &many.surface_id);
    // Connections that move, and calls enough to be hurt by it.
    let shown = async {
        while load.done() <= 40 || spreader.given().iter().any(|given| *given < 2) {
            toolplane_wait::look_again().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), shown).await.expect("connections move");
    let made = load.finish().await;
    println!("{} calls over {:?} connections, {} tries more", made.calls, spreader.given(), made.tries - made.calls);
    assert_eq!(made.failed, Vec::<String>::new());
}
