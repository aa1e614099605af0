//! What a run and a session cost on this machine: times until the program runs, and memory beside the program's own.

use std::io;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use toolplane_sandbox::bubblewrap::BubblewrapOptions;
use toolplane_sandbox::{Bubblewrap, RunLimits, SandboxBackend as _, SandboxError, SandboxSpec, StreamRates};

const TIMES: usize = 100;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = Bubblewrap::new(&BubblewrapOptions::default());
    let [mut spawned, mut opened, mut answered] = [const { Vec::new() }; 3];
    for _ in 0..TIMES {
        let begin = Instant::now();
        let running = sandbox.spawn(SandboxSpec::new(["true"]), None).await?;
        spawned.push(begin.elapsed());
        running.wait().await?;
        let begin = Instant::now();
        let mut session = sandbox.open(talking(), StreamRates::default()).await?;
        opened.push(begin.elapsed());
        session.input.write_all(b"x").await?;
        session.output.read_u8().await?;
        answered.push(begin.elapsed());
        session.close().await?;
    }
    for (what, times) in [("spawn", spawned), ("open", opened), ("open and a first answer", answered)] {
        println!("{what}: {}", told(times));
    }
    memory(&sandbox).await?;
    Ok(())
}

fn talking() -> SandboxSpec {
    SandboxSpec { limits: RunLimits::session(), ..SandboxSpec::new(["cat"]) }
}

fn told(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
    format!("median {:?}, 90 % {:?}", at(50), at(90))
}

/// Of 20 sessions of `cat` at once: what the worker grows by, and what bubblewrap and process 1 hold.
async fn memory(sandbox: &Bubblewrap) -> Result<(), Box<dyn std::error::Error>> {
    let (before, mut sessions) = (own_bytes("self", "VmRSS:")?, Vec::new());
    for _ in 0..20 {
        sessions.push(sandbox.open(talking(), StreamRates::default()).await?);
    }
    let worker = own_bytes("self", "VmRSS:")?.saturating_sub(before) / 20;
    let uses =
        sessions.first().ok_or_else(|| SandboxError::Unavailable("none".into()))?.running.observer().uses().await;
    let (mut helpers, mut shown) = (0, 0);
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let command = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        if matches!(command.trim(), "bwrap" | "launcher") {
            helpers += own_bytes(&name, "Pss:")?;
            shown += 1;
        }
    }
    println!(
        "worker: {worker} bytes a session; bubblewrap and process 1: {} bytes a session ({shown} processes)",
        helpers / 20
    );
    println!("the program itself (cat): {uses:?}");
    Ok(())
}

/// A figure of `/proc/PID/status`, or of what its pages are worth when shared ones are counted by their parts.
fn own_bytes(process: &str, key: &str) -> io::Result<u64> {
    let file = if key == "Pss:" { "smaps_rollup" } else { "status" };
    let text = std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
    let kib = text.lines().find_map(|line| line.strip_prefix(key)?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(kib.unwrap_or_default() * 1024)
}
