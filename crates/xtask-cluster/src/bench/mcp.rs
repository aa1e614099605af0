//! `cargo xtask bench mcp`: calls of a small tool of an MCP server, by its client alone (`direct`), through Toolplane
//! (`toolplane`), and through a proxy people use (`fastmcp`), each over standard streams to a server of its own.

use std::path::PathBuf;
use std::time::Duration;

use toolplane_testkit::Problem;

use super::load;

mod client;
mod cluster;
mod row;

use client::Client;
use cluster::Bed;
use row::Row;

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
    let bed = Bed::start(&server).await?;
    for concurrency in CONCURRENCY {
        let caller = bed.caller();
        let call = move || caller.clone().make();
        rows.push(Row::of("toolplane", concurrency, &load::run(concurrency, args.time(), call).await?, &rows));
    }
    row::show(&rows);
    super::write(&args.out, &rows)
}

/// Calls by the client alone, of the program `argv`.
async fn measure_client(args: &Args, case: &'static str, argv: &[String], rows: &mut Vec<Row>) -> Result<(), Problem> {
    let client = Client::start(argv).await?;
    for concurrency in CONCURRENCY {
        let caller = client.caller();
        let call = move || caller.clone().make();
        let measured = load::run(concurrency, args.time(), call).await?;
        rows.push(Row::of(case, concurrency, &measured, rows));
    }
    Ok(())
}

impl Args {
    fn time(&self) -> Duration {
        Duration::from_secs(self.seconds.max(1))
    }
}
