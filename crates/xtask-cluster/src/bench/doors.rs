//! `cargo xtask bench doors`: the same calls through every way into a cluster, gRPC, JSON and MCP, beside a raw gRPC echo; and of a small MCP
//! server, through our front door and through proxies people use.

use std::path::PathBuf;
use std::time::Duration;

use toolplane_testkit::Problem;

use super::mcp::web::{Poster, Program};
use super::{echo, load};

mod bed;
mod front;
mod row;

use bed::Bed;
use front::Front;
use row::Row;

/// Calls in flight at a time.
const CONCURRENCY: [usize; 3] = [1, 16, 64];
/// The arguments of every call.
const INPUT: &str = r#"{"text":"what an agent would say, more or less, in one short sentence"}"#;
/// fastmcp's proxy over HTTP.
const FASTMCP: &str = include_str!("doors/fastmcp_http.py");

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
    #[arg(long, default_value = "target/bench/doors.json")]
    out: PathBuf,
}

pub(crate) async fn run(args: &Args) -> Result<(), Problem> {
    let mut rows = Vec::new();
    let limit = echo::Server::start().await?;
    let caller = limit.caller();
    measure(args, "echo", &mut rows, move || caller.clone().call(INPUT.as_bytes())).await?;
    drop(limit);

    let server = Program::server()?;
    let bed = Bed::start(&server).await?;
    let caller = bed.caller();
    measure(args, "grpc", &mut rows, move || caller.clone().make("native.echo")).await?;
    let json = Front::json(bed.http());
    measure(args, "json", &mut rows, move || json.clone().call()).await?;
    let session = Front::session(bed.http(), "native__echo").await?;
    measure(args, "mcp", &mut rows, move || session.clone().call()).await?;
    let stateless = Front::stateless(bed.http(), "native__echo");
    measure(args, "mcp_stateless", &mut rows, move || stateless.clone().call()).await?;

    let through = Front::session(bed.http(), "small__echo").await?;
    measure(args, "server", &mut rows, move || through.clone().call()).await?;
    drop(bed);
    if let Some(python) = &args.fastmcp {
        let proxy = Program::of(std::process::Command::new(python).args(["-c", FASTMCP, &server.url()]))?;
        let through = Front::session(&format!("http://127.0.0.1:{}", proxy.port()), "echo").await?;
        measure(args, "server_fastmcp", &mut rows, move || through.clone().call()).await?;
    }
    if let Some(python) = &args.contextforge {
        let gateway = Program::contextforge(python, &server)?;
        let poster = Poster::of_gateway(&gateway)?;
        measure(args, "server_forge", &mut rows, move || poster.clone().make()).await?;
    }
    row::show(&rows);
    super::write(&args.out, &rows)
}

/// A case, with each number of calls in flight.
async fn measure<F: Future<Output = Result<(), Problem>> + Send + 'static>(
    args: &Args,
    case: &'static str,
    rows: &mut Vec<Row>,
    call: impl Fn() -> F + Clone + Send + 'static,
) -> Result<(), Problem> {
    for concurrency in CONCURRENCY {
        let time = Duration::from_secs(args.seconds.max(1));
        let measured = load::run(concurrency, time, call.clone()).await?;
        rows.push(Row::of(case, concurrency, &measured, rows));
    }
    Ok(())
}
