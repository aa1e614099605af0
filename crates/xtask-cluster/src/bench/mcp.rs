//! `cargo xtask bench mcp`: calls of a small tool of an MCP server, by its client alone (`direct`), through Toolplane
//! (`toolplane`), and through proxies people use, each with a server of its own: over standard streams (`fastmcp`) and over HTTP
//! (`contextforge`; cases that end in `_http`).

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use toolplane_testkit::Problem;

use super::load;

mod client;
pub(super) mod cluster;
mod row;
pub(super) mod web;

use client::Client;
use cluster::Bed;
use row::{Baseline, Row};
use web::{Poster, Program};

/// Calls in flight at a time.
const CONCURRENCY: [usize; 3] = [1, 16, 64];
/// The arguments of every call.
const INPUT: &str = r#"{"text":"what an agent would say, more or less, in one short sentence"}"#;
/// The tool of the server.
const TOOL: &str = "echo";
/// The server, in plain Python.
const SERVER: &str = include_str!("mcp/server.py");
/// The proxy.
const FASTMCP: &str = include_str!("mcp/fastmcp_proxy.py");

/// How the bench runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long each case runs.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// A Python that has the package `fastmcp` (2 or later): its proxy is measured too.
    #[arg(long, env = "TOOLPLANE_BENCH_FASTMCP")]
    fastmcp: Option<PathBuf>,
    /// A Python that has the package `mcp-contextforge-gateway`: calls by way of it are measured too.
    #[arg(long, env = "TOOLPLANE_BENCH_CONTEXTFORGE")]
    contextforge: Option<PathBuf>,
    /// Where the figures go.
    #[arg(long, default_value = "target/bench/mcp.json")]
    out: PathBuf,
}

pub(crate) async fn run(args: &Args) -> Result<(), Problem> {
    let mut rows = Vec::new();
    let server = ["/usr/bin/python3".to_owned(), "-c".to_owned(), SERVER.to_owned()];
    measure_client(args, "direct", &server, &mut rows).await?;
    if let Some(python) = &args.fastmcp {
        let proxy = [python.display().to_string(), "-c".to_owned(), FASTMCP.to_owned(), SERVER.to_owned()];
        measure_client(args, "fastmcp", &proxy, &mut rows).await?;
    }
    let bed = Bed::start(&json!({ "transport": "stdio", "argv": server }), None).await?;
    let caller = bed.caller();
    measure(args, "toolplane", Baseline::STREAMS, &mut rows, move || caller.clone().make()).await?;
    drop(bed);
    over_http(args, &mut rows).await?;
    row::show(&rows);
    super::write(&args.out, &rows)
}

/// Calls by the client alone, of the program `argv`.
async fn measure_client(args: &Args, case: &'static str, argv: &[String], rows: &mut Vec<Row>) -> Result<(), Problem> {
    let client = Client::start(argv).await?;
    let caller = client.caller();
    measure(args, case, Baseline::STREAMS, rows, move || caller.clone().make()).await
}

/// The same of a server over HTTP.
async fn over_http(args: &Args, rows: &mut Vec<Row>) -> Result<(), Problem> {
    let server = Program::server()?;
    let direct = Poster::direct(&server);
    measure(args, "direct_http", Baseline::HTTP, rows, move || direct.clone().make()).await?;
    if let Some(python) = &args.contextforge {
        let gateway = Program::contextforge(python, &server)?;
        let poster = Poster::of_gateway(&gateway)?;
        measure(args, "contextforge", Baseline::HTTP, rows, move || poster.clone().make()).await?;
    }
    let bed = Bed::start(&json!({ "transport": "http", "url": server.url() }), Some(server.port())).await?;
    let caller = bed.caller();
    measure(args, "toolplane_http", Baseline::HTTP, rows, move || caller.clone().make()).await
}

/// A case, with each number of calls in flight.
async fn measure<F: Future<Output = Result<(), Problem>> + Send + 'static>(
    args: &Args,
    case: &'static str,
    baseline: Baseline,
    rows: &mut Vec<Row>,
    call: impl Fn() -> F + Clone + Send + 'static,
) -> Result<(), Problem> {
    for concurrency in CONCURRENCY {
        let measured = load::run(concurrency, args.time(), call.clone()).await?;
        rows.push(Row::of(case, concurrency, &measured, baseline, rows));
    }
    Ok(())
}

impl Args {
    fn time(&self) -> Duration {
        Duration::from_secs(self.seconds.max(1))
    }
}
