//! Starts a server of the Model Context Protocol in a session and asks what it has:
//!
//! ```text
//! cargo run -p toolplane-sandbox --example mcp_server -- [--read DIR]... [--workspace DIR [--write]] [--per-process] PROGRAM [ARGUMENT]...
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use toolplane_sandbox::bubblewrap::BubblewrapOptions;
use toolplane_sandbox::workspace::Quota;
use toolplane_sandbox::{
    Bubblewrap, OutputStream, SandboxBackend as _, SandboxSpec, Session, StreamRates, WorkspaceAccess, WorkspaceMount,
};

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (options, spec) = asked()?;
    let begin = Instant::now();
    let session = Bubblewrap::new(&options).open(spec, StreamRates::default()).await?;
    println!("started after {:?}", begin.elapsed());
    let observer = session.running.observer();
    let talked = talk(session, begin).await;
    if let Err(error) = &talked {
        let said = observer.kept(OutputStream::Stderr).kept();
        eprintln!("{error}\n{}", String::from_utf8_lossy(&said));
    }
    talked
}

fn asked() -> Result<(BubblewrapOptions, SandboxSpec), Box<dyn Error>> {
    let mut options = BubblewrapOptions::default();
    let mut spec = SandboxSpec::server([""; 0]);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--read" => spec.read_only_paths.push(words.next().ok_or("--read wants a directory")?.into()),
            "--workspace" => {
                let host = words.next().ok_or("--workspace wants a directory")?.into();
                let (access, quota) = (WorkspaceAccess::ReadOnly, Quota::default());
                spec.workspace = Some(WorkspaceMount { host, access, quota });
            }
            "--write" => {
                spec.workspace.as_mut().ok_or("--write wants a workspace")?.access = WorkspaceAccess::ReadWrite
            }
            "--per-process" => options.without_control_groups = true,
            _ => {
                spec.argv = std::iter::once(word).chain(words).collect();
                break;
            }
        }
    }
    Ok((options, spec))
}

async fn talk(session: Session, begin: Instant) -> Result<(), Box<dyn Error>> {
    let Session { mut input, output, running } = session;
    let mut lines = BufReader::new(output).lines();
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "toolplane", "version": "0" },
    });
    for (id, method, params) in [(1, "initialize", hello), (2, "tools/list", json!({}))] {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        input.write_all(format!("{request}\n").as_bytes()).await?;
        let answer = loop {
            let line = tokio::time::timeout(PATIENCE, lines.next_line()).await??.ok_or("the server has ended")?;
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                break message;
            }
        };
        println!("{method} answered after {:?}", begin.elapsed());
        if id == 1 {
            println!("server: {}", answer["result"]["serverInfo"]);
            input.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").await?;
        } else {
            let tools = answer["result"]["tools"].as_array().ok_or(format!("no tools: {answer}"))?;
            let names: Vec<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
            println!("{} tools: {}", names.len(), names.join(", "));
        }
    }
    println!("uses {:?}", running.observer().uses().await);
    drop(input);
    running.canceler().close();
    let exit = running.wait().await?;
    println!("ended with {:?} after {:?}; limits hit: {:?}", exit.ending, exit.wall, exit.limits_hit);
    let tried: Vec<_> = exit.violations.iter().map(|tried| (tried.evidence(), tried.count, tried.probe)).collect();
    println!("denied (evidence, times, only a probe): {tried:?}");
    Ok(())
}
