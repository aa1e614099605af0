//! Calls of MCP servers that are programs, while the servers and the workers that run them are killed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

use super::Outcome;
use super::chance::Chance;
use super::outcome::wrong;
use crate::bed::{Bed, Plan, SERVERS, StoreKind, server_tool};
use crate::check::{Check, Verdict};
use crate::history::Record;
use crate::load::{Load, Mix};
use crate::{dump, history, trouble::Trouble};

/// The program that every server is.
const SERVER: &str = include_str!("server.py");
/// Where it writes what it does, in the workspace.
const LEDGER: &str = "servers.jsonl";
/// Calls at a time.
const AT_ONCE: usize = 24;
/// Every so many-th kill is one of a worker.
const WORKER_EVERY: u64 = 5;
/// How long a call is followed; the judge looks at all of them.
const FOLLOW: Duration = Duration::from_secs(30);

/// A line of the ledger.
#[derive(Deserialize)]
struct Line {
    key: String,
    step: String,
}

/// How far the callers are.
#[derive(Debug, Default)]
struct Progress {
    ended: AtomicU64,
    /// No further calls.
    is_over: AtomicBool,
}

/// Starts and ends of one call.
#[derive(Debug, Default, Clone, Copy)]
struct Runs {
    starts: u64,
    ends: u64,
}

/// Calls tools of five servers, half of which must not run twice, while servers and workers are killed.
pub async fn servers(store: StoreKind, calls: u64, kills: u64, seed: u64) -> Result<Outcome, Trouble> {
    let mark = format!("storm-{}", uuid::Uuid::new_v4().simple());
    let plan = Plan { executors: 2, executor_pool: "mcp_stdio", servers: Some(mark.clone()), ..Plan::on(store, 1) };
    // A real executor tries its sandbox before it is back, and its calls may wait for a server to begin.
    let plan = plan.set("TOOLPLANE__SCHEDULER__LEASE_MS", "4000").set("TOOLPLANE__EXECUTOR__SLOTS", "8");
    let mut bed = Bed::start(plan).await?;
    let workspace = bed.workspace();
    let program = workspace.join("server.py");
    std::fs::write(&program, SERVER).map_err(Trouble::file(&program))?;

    let load = Load::new(&bed, "servers", Mix::PLAIN, 0)?;
    let (begun, progress) = (Instant::now(), Arc::new(Progress::default()));
    let (asking, told) = (Arc::clone(&load), Arc::clone(&progress));
    let callers = tokio::spawn(async move {
        let all = stream::iter(0..).take_while(|_| std::future::ready(!told.is_over.load(Ordering::Relaxed)));
        let all = all.map(|call| {
            let (load, progress) = (Arc::clone(&asking), Arc::clone(&told));
            async move {
                one(&load, call).await;
                progress.ended.fetch_add(1, Ordering::Relaxed);
            }
        });
        all.buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    });
    let killed = kill(&mut bed, &mark, (calls, kills), &progress, seed).await;
    progress.is_over.store(true, Ordering::Relaxed);
    callers.await.map_err(|error| Trouble::Said(error.to_string()))?;
    let ((made, most), asked) = (killed?, progress.ended.load(Ordering::Relaxed));
    let took = begun.elapsed();
    let ledger = read(&workspace.join(LEDGER))?;
    let mut verdict = dump::finish(&mut bed).await?;
    judge(&mut verdict, &bed, &ledger);
    if !gone(&mark).await {
        wrong(&mut verdict, Check::C11, "a server runs although its workers have ended");
    }
    println!("{most} KiB: the most memory a worker had");
    Ok(Outcome { verdict, kills: made, asked, took, history: bed.recorder().history() })
}

/// One call of one of the servers, from its acceptance to its end.
async fn one(load: &Load, call: u64) {
    let again = call.is_multiple_of(2);
    let key = format!("servers-{call}");
    let plan = history::Plan { key: key.clone(), idempotent: again, ..Default::default() };
    let input = format!(r#"{{"mark":"{key}","ms":{}}}"#, call % 8);
    let spec = load.spec(&key, &server_tool(call / 2 % SERVERS, again), input);
    if let Some(invocation) = load.ask_for(call, plan, &spec).await {
        load.watch(call, &invocation, Instant::now() + FOLLOW).await;
    }
}

/// Kills, spread over the calls, until there were enough of both; answers with how many kills there were, and the most memory a worker
/// had, in KiB.
async fn kill(
    bed: &mut Bed,
    mark: &str,
    (calls, kills): (u64, u64),
    progress: &Progress,
    seed: u64,
) -> Result<(u64, u64), Trouble> {
    let (mut chance, mut made, mut most) = (Chance::new(seed), 0, 0);
    let until = Instant::now() + Duration::from_secs(20 * 60);
    loop {
        let ended = progress.ended.load(Ordering::Relaxed);
        if (made >= kills && ended >= calls) || Instant::now() > until {
            return Ok((made, most.max(memory(bed))));
        }
        if made < kills && ended >= made * calls / kills.max(1) {
            let is_of_worker = made % WORKER_EVERY == WORKER_EVERY - 1;
            made += u64::from(match is_of_worker {
                true => {
                    most = most.max(memory(bed));
                    let victim = chance.pick(&bed.executor_names()).cloned().unwrap_or_default();
                    bed.kill_and_restart(&victim).await?;
                    true
                }
                false => kill_server(&mut chance, mark),
            });
        }
        toolplane_wait::pause(Duration::from_millis(20), "kills are spread over the calls").await;
    }
}

/// Kills one of the servers that run; false when none does.
fn kill_server(chance: &mut Chance, mark: &str) -> bool {
    let victim = chance.pick(&running(mark)).copied();
    victim.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
}

/// The servers that run on this machine, as their first argument tells them from what set up their sandboxes.
fn running(mark: &str) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let is_server = |folder: &Path| {
        let said = std::fs::read(folder.join("cmdline")).unwrap_or_default();
        said.starts_with(b"/usr/bin/python3\0") && said.windows(mark.len()).any(|text| text == mark.as_bytes())
    };
    let folders = entries.flatten().map(|entry| entry.path()).filter(|folder| is_server(folder));
    folders.filter_map(|folder| Pid::from_raw(folder.file_name()?.to_str()?.parse().ok()?)).collect()
}

/// Whether no server runs any more, soon.
async fn gone(mark: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        if running(mark).is_empty() {
            return true;
        }
        toolplane_wait::look_again().await;
    }
    false
}

/// The most memory that a worker has in use, in KiB.
fn memory(bed: &mut Bed) -> u64 {
    let of = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches(" kB").parse::<u64>().ok()
    };
    let names = bed.executor_names();
    names.iter().filter_map(|name| of(bed.pid(name)?)).max().unwrap_or_default()
}

/// What the servers did, by the keys of calls.
fn read(ledger: &Path) -> Result<BTreeMap<String, Runs>, Trouble> {
    let text = std::fs::read_to_string(ledger).map_err(Trouble::file(ledger))?;
    let mut runs: BTreeMap<String, Runs> = BTreeMap::new();
    for line in text.lines() {
        let line: Line = serde_json::from_str(line).map_err(|error| Trouble::Said(error.to_string()))?;
        let runs = runs.entry(line.key).or_default();
        match line.step.as_str() {
            "start" => runs.starts += 1,
            _ => runs.ends += 1,
        }
    }
    Ok(runs)
}

/// Compares what the cluster says of each call with what the servers did.
fn judge(verdict: &mut Verdict, bed: &Bed, ledger: &BTreeMap<String, Runs>) {
    let history = bed.recorder().history();
    for record in history.records() {
        let Record::Call(call) = record else { continue };
        let key = &call.name.key;
        let Some(number) = key.strip_prefix("servers-").and_then(|number| number.parse::<u64>().ok()) else { continue };
        let Runs { starts, ends } = ledger.get(key).copied().unwrap_or_default();
        let (succeeded, may_repeat) = (call.course.status == "succeeded", number.is_multiple_of(2));
        let code = call.error_code();
        let mut say = |what: &str| {
            wrong(
                verdict,
                Check::C4,
                format!("{key}: {what}: {} {code}, {starts} starts, {ends} ends", call.course.status),
            );
        };
        if !may_repeat && starts > 1 {
            say("it must not start twice");
        }
        if succeeded && ends == 0 {
            say("it succeeded and was not done");
        }
        if code.starts_with("mcp.not_started") && starts > 0 && !may_repeat {
            say("it was done, and is said not to be");
        }
    }
}
