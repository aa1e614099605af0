//! Cases that are servers of the Model Context Protocol, and what their tools say.

use std::time::Duration;

use serde_json::{Value, json};
use toolplane_execution::Outcome;
use toolplane_records::mcp::{McpServer, McpStdioServer};
use toolplane_records::result::ContentBlock;

use super::{Case, Verdict, compare};
use crate::mcp::bed::{Bed, call_of};
use crate::mcp::http::Listening;
use crate::mcp::sessions::{gone, runs};
use crate::server::Server;
use crate::support::{context, text};

const SERVER: &str = include_str!("server.py");
/// Longer than any hostile server that answers takes.
const LONG: Duration = Duration::from_secs(60);
/// What one server may cost this process beside its call, in KiB.
const MORE_MEMORY: u64 = 128 * 1024;

/// What a call of a server that behaves so came to, and how many reports of progress it had.
async fn meet(bed: &Bed, arguments: &[&str], timeout: Duration) -> (Outcome, usize) {
    let argv = [&["/usr/bin/python3", "-c", SERVER][..], arguments].concat();
    let server = McpStdioServer { argv: argv.into_iter().map(str::to_owned).collect(), ..McpStdioServer::default() };
    let mut call = call_of(McpServer::Stdio(server), "x", json!({}));
    call.limits.timeout = Some(timeout);
    let (context, seen) = context();
    let outcome = bed.toolbox.execute(&call, &context).await;
    let reports = seen.0.lock().map_or(0, |seen| seen.len());
    (outcome, reports)
}

async fn met(arguments: &[&str], timeout: Duration) -> Outcome {
    meet(&Bed::new().await, arguments, timeout).await.0
}

pub(super) async fn judge(case: &Case) -> Verdict {
    let verdict = match case.id.as_str() {
        "mcp-002" => huge(case).await,
        "mcp-003" => silent(case).await,
        "mcp-004" => wrong_ids().await,
        "mcp-005" => flood().await,
        "mcp-009" => reverse(case).await,
        "mcp-011" => crashes(case).await,
        "mcp-013" => sessions(case).await,
        "mcp-014" => links().await,
        "mcp-015" => escape().await,
        "inj-003" => markdown().await,
        "inj-006" => policy().await,
        _ => return Verdict::NotApplicable("what a model is shown of a file or a search is marked by who asks it"),
    };
    verdict.into()
}

fn holds(what: &str, is: bool, outcome: &Outcome) -> Result<(), String> {
    if is { Ok(()) } else { Err(format!("{what}: {outcome:?}")) }
}

fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
}

async fn huge(case: &Case) -> Result<(), String> {
    let before = memory();
    let outcome = met(&["huge"], LONG).await;
    let more = memory().saturating_sub(before);
    holds(&format!("{more} KiB more"), more < MORE_MEMORY, &outcome)?;
    compare(case, &outcome)
}

async fn silent(case: &Case) -> Result<(), String> {
    for behavior in ["silent-start", "silent", "late"] {
        let bed = Bed::new().await;
        let (outcome, _) = meet(&bed, &[behavior], Duration::from_secs(1)).await;
        compare(case, &outcome).map_err(|why| format!("{behavior}: {why}"))?;
        if behavior == "late" {
            // What comes for the first call is nobody's: the second one has its own answer.
            let (outcome, _) = meet(&bed, &[behavior], LONG).await;
            holds("its own answer", outcome.is_success() && text(&outcome) == "late", &outcome)?;
        }
    }
    Ok(())
}

/// Nothing it says is taken for the answer; the call ends with its time, or with the server.
async fn wrong_ids() -> Result<(), String> {
    let outcome = met(&["wrong-ids"], Duration::from_secs(2)).await;
    let code = outcome.error.as_ref().map(|error| error.error_code.as_str());
    holds("no answer", matches!(code, Some("exec.timeout" | "mcp.no_answer")), &outcome)
}

async fn flood() -> Result<(), String> {
    let before = memory();
    let (outcome, reports) = meet(&Bed::new().await, &["flood"], LONG).await;
    let more = memory().saturating_sub(before);
    let bounded = reports < 10_000 && more < MORE_MEMORY;
    let ended = outcome.is_success() || outcome.error.as_ref().is_some_and(|error| error.error_code == "mcp.no_answer");
    holds(&format!("{reports} reports, {more} KiB more"), bounded && ended, &outcome)
}

async fn reverse(case: &Case) -> Result<(), String> {
    let outcome = met(&["reverse"], LONG).await;
    let replies: Vec<Value> = serde_json::from_str(text(&outcome)).map_err(|error| format!("{error}: {outcome:?}"))?;
    let refused = |reply: &Value| reply.get("error").is_some() || reply["result"]["action"] == "cancel";
    holds("each is refused", replies.len() == 3 && replies.iter().all(refused), &outcome)?;
    holds("no path", !text(&outcome).contains("file://") && !text(&outcome).contains("/opt/"), &outcome)?;
    compare(case, &outcome)
}

async fn crashes(case: &Case) -> Result<(), String> {
    for behavior in ["exit", "crash"] {
        let mark = format!("97{}.{behavior}", std::process::id());
        let bed = Bed::new().await;
        for _ in 0..2 {
            compare(case, &meet(&bed, &[behavior, &mark], LONG).await.0).map_err(|why| format!("{behavior}: {why}"))?;
        }
        drop(bed);
        gone("no server is left", &mark).await;
    }
    Ok(())
}

async fn sessions(case: &Case) -> Result<(), String> {
    let server = Listening::start();
    for path in ["/long-session", "/odd-session"] {
        let at = server.at("127.0.0.77", path);
        let outcome = Bed::new().await.run(call_of(McpServer::Http(at), "echo", json!({"text": "x"}))).await;
        compare(case, &outcome).map_err(|why| format!("{path}: {why}"))?;
    }
    Ok(())
}

async fn links() -> Result<(), String> {
    let canary = Server::start("127.0.0.1", String::new()).await;
    let there = format!("http://{}/", canary.address);
    let outcome = met(&["links", &there], LONG).await;
    let named = format!("{outcome:?}");
    holds("links are data", outcome.is_success() && named.contains(&there) && named.contains("/etc/shadow"), &outcome)?;
    holds("nothing is fetched", canary.connections() == 0 && !named.contains("root:"), &outcome)
}

async fn escape() -> Result<(), String> {
    let seconds = format!("96{}.5", std::process::id());
    let bed = Bed::new().await;
    let (outcome, _) = meet(&bed, &["escape", &seconds], LONG).await;
    holds("its home takes files", text(&outcome) == "escaped", &outcome)?;
    drop(bed);
    gone("what it began", &seconds).await;
    let home = std::env::var("HOME").unwrap_or_default();
    holds("not the home of the worker", !std::path::Path::new(&home).join("escaped").exists(), &outcome)?;
    holds("nothing runs", !runs(&seconds), &outcome)
}

async fn markdown() -> Result<(), String> {
    let canary = Server::start("127.0.0.1", String::new()).await;
    let there = format!("http://{}/", canary.address);
    let outcome = met(&["markdown", &there], LONG).await;
    let said = format!("![x]({there}?q=SECRET) <img src={there}>");
    holds("a text as it is, and nothing is fetched", text(&outcome) == said && canary.connections() == 0, &outcome)
}

async fn policy() -> Result<(), String> {
    let outcome = met(&["policy"], LONG).await;
    let is_data = outcome.content.iter().all(|block| matches!(block, ContentBlock::Text { .. }));
    holds("it is data, and changes nothing", outcome.context_modifiers.is_empty() && is_data, &outcome)?;
    holds("structured content", outcome.structured_content.is_some(), &outcome)
}
