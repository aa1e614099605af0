//! Many sessions: beside each other, and one after the other.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use toolplane_sandbox::{Profile, SandboxSpec, Session};

use crate::sessions::{ask, open};
use crate::support::shell;

/// Leaves something in every place it can, and then tells on each line what it sees.
const NOSY: &str = "echo mine > $HOME/$1; echo mine > /dev/shm/$1; \
    /usr/bin/python3 -c \"import socket, time; s=socket.socket(socket.AF_UNIX); s.bind('\\0all'); s.listen(); print('up', flush=True); time.sleep(1000)\" & \
    while read line; do echo $(ls -A $HOME /dev/shm) $(grep -c all /proc/net/unix) $(ls -d /proc/[0-9]* | wc -l); done";

#[tokio::test]
async fn twenty_at_once_see_nothing_of_each_other() {
    let opened = (0..20).map(|number| {
        let mut spec = shell(NOSY);
        spec.argv.extend(["bash".to_owned(), format!("file-{number}")]);
        tokio::spawn(open(spec.with_profile(Profile::ComputeOnly, "/")))
    });
    let mut sessions = Vec::new();
    for session in opened.collect::<Vec<_>>() {
        let mut session: Session = session.await.unwrap();
        // Its socket has the name all others use as well.
        let mut up = [0; 3];
        session.output.read_exact(&mut up).await.unwrap();
        assert_eq!(&up, b"up\n");
        sessions.push(session);
    }
    let mut processes = BTreeSet::new();
    for (number, session) in sessions.iter_mut().enumerate() {
        let seen = ask(session, "look").await;
        let (files, rest) = seen.rsplit_once(&format!("file-{number}")).unwrap();
        assert_eq!(files.replace(&format!("file-{number}"), ""), "/dev/shm:  /tmp: ", "{seen}");
        let figures: Vec<u64> = rest.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
        assert_eq!(figures[0], 1, "one socket: {seen}");
        processes.insert(figures[1]);
    }
    assert!(processes.iter().all(|number| *number < 10), "{processes:?}");
    let ended = sessions.into_iter().map(|session| tokio::spawn(session.close()));
    for exit in ended.collect::<Vec<_>>() {
        assert!(exit.await.unwrap().unwrap().violations.is_empty());
    }
}

/// Open descriptors and resident bytes of this process.
fn held() -> (usize, u64) {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let kib =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    (descriptors, kib.unwrap() * 1024)
}

#[tokio::test]
async fn two_hundred_sessions_leave_the_worker_as_it_was() {
    let round = async |count: usize| {
        for _ in 0..count / 4 {
            let four = (0..4).map(|number| {
                tokio::spawn(async move {
                    let mut session = open(SandboxSpec::new(["cat"])).await;
                    assert_eq!(ask(&mut session, "hello").await, "hello");
                    // Every second one is left to its end.
                    if number % 2 == 0 {
                        assert!(session.close().await.unwrap().success());
                    }
                })
            });
            for session in four.collect::<Vec<_>>() {
                session.await.unwrap();
            }
        }
    };
    round(20).await;
    let settled = async || {
        let (descriptors, _) = held();
        (descriptors < 40).then_some(held())
    };
    let before = toolplane_wait::eventually("the first are gone", Duration::from_secs(20), settled).await;
    round(200).await;
    let after = toolplane_wait::eventually("descriptors are given back", Duration::from_secs(20), async || {
        let after = held();
        (after.0 <= before.0).then_some(after)
    })
    .await;
    assert!(after.1 < before.1 + (4 << 20), "{} bytes before, {} after", before.1, after.1);
}
