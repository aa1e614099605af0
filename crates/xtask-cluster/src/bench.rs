//! `cargo xtask bench chain`: the whole way of a call to a tool that does nothing, beside a raw gRPC echo.
//!
//! Client and server are two processes in both cases, with one connection between them, in the same run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::{Cluster, Options, Problem, binary, tools};

mod echo;
mod load;

pub(crate) use echo::serve as serve_echo;

use load::Measured;

/// Calls in flight at a time.
const CONCURRENCY: [usize; 2] = [1, 64];
/// The tool that is called.
const TOOL: &str = "native.noop";
/// The arguments of every call, echoed and invoked alike.
const INPUT: &[u8] = br#"{"text":"what an agent would say, more or less, in one short sentence"}"#;

/// How the bench runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The store under the cluster.
    #[arg(long, default_value = "embedded")]
    store: String,
    /// How long each case runs.
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// Where the figures go.
    #[arg(long, default_value = "target/bench/chain.json")]
    out: PathBuf,
}

/// One row of the figures.
#[derive(Clone, Debug, Serialize)]
struct Row {
    case: &'static str,
    store: String,
    concurrency: usize,
    calls_per_s: f64,
    p50_us: u64,
    p99_us: u64,
    ratio_to_echo: f64,
}

pub(crate) async fn run(args: &Args) -> Result<(), Problem> {
    let time = Duration::from_secs(args.seconds.max(1));
    let mut rows: Vec<Row> = Vec::new();

    let server = echo::Server::start().await?;
    for concurrency in CONCURRENCY {
        let caller = server.caller();
        let measured = load::run(concurrency, time, move || caller.clone().call(INPUT)).await?;
        rows.push(row("echo", "none", concurrency, &measured, 1.0));
    }
    drop(server);

    let bed = Bed::start().await?;
    for concurrency in CONCURRENCY {
        let (clients, surface_id) = (bed.cluster.clients().clone(), bed.surface_id.clone());
        let call = move || invoke(clients.clone(), surface_id.clone());
        let measured = load::run(concurrency, time, call).await?;
        let echo = rows.iter().find(|row| row.concurrency == concurrency).map_or(1.0, |row| row.calls_per_s);
        rows.push(row("chain", &args.store, concurrency, &measured, measured.per_second() / echo));
    }
    show(&rows, bed.receiver.received());
    write(&args.out, &rows)
}

/// The cluster, traced and durable, with the tool in a surface.
struct Bed {
    cluster: Cluster,
    surface_id: String,
    receiver: OtlpReceiver,
}

impl Bed {
    async fn start() -> Result<Self, Problem> {
        // Not the system's folder for temporary files: that may be memory, where syncing costs nothing.
        let folder = binary::target().join("bench/cluster");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|source| Problem::File { path: folder.clone(), source })?;
        }
        let receiver = OtlpReceiver::counting().await?;
        let options = Options { folder: Some(folder), ..Options::new("[log]\nfilter = \"warn\"\n") }
            .env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint())
            // As many slots as calls in flight: the default suits sandboxed processes, not a tool that does nothing.
            .env("TOOLPLANE__EXECUTOR__SLOTS", "64");
        let cluster = Cluster::start(options).await?;
        let clients = cluster.clients();
        let request = v1::RegisterToolsRequest { tools: tools::examples()?, validate_only: false };
        clients.surfaces().register_tools(request).await?;
        let request = v1::CreateSurfaceRequest { load: vec![TOOL.to_owned()], ..Default::default() };
        let surface = clients.surfaces().create_surface(request).await?.into_inner().surface.unwrap_or_default();
        Ok(Self { surface_id: surface.surface_id, receiver, cluster })
    }
}

async fn invoke(clients: Clients, surface_id: String) -> Result<(), Problem> {
    let spec = v1::InvocationSpec {
        surface_id,
        tool_name: TOOL.to_owned(),
        model_input: Some(payload(INPUT)),
        ..Default::default()
    };
    let mut stream = clients.invocations().invoke(v1::InvokeRequest { spec: Some(spec) }).await?.into_inner();
    let mut result = None;
    // To the very end: a stream dropped before its trailers is reset, and HTTP/2 allows only so many resets.
    while let Some(message) = stream.message().await? {
        result = message.result.or(result);
    }
    match result {
        Some(result) if result.is_error => {
            Err(Problem::Missing(format!("a result without an error; this one is: {}", result.summary)))
        }
        Some(_) => Ok(()),
        None => Err(Problem::Missing("a result at the end of the stream".to_owned())),
    }
}

fn row(case: &'static str, store: &str, concurrency: usize, measured: &Measured, ratio: f64) -> Row {
    Row {
        case,
        store: store.to_owned(),
        concurrency,
        calls_per_s: (measured.per_second() * 10.0).round() / 10.0,
        p50_us: measured.percentile(50),
        p99_us: measured.percentile(99),
        ratio_to_echo: (ratio * 10_000.0).round() / 10_000.0,
    }
}

fn show(rows: &[Row], spans: u64) {
    println!("case   store     concurrency   calls/s     p50 ms     p99 ms   share of echo");
    for row in rows {
        println!(
            "{:<6} {:<9} {:>11} {:>9.0} {:>10.2} {:>10.2} {:>15.3}",
            row.case,
            row.store,
            row.concurrency,
            row.calls_per_s,
            row.p50_us as f64 / 1000.0,
            row.p99_us as f64 / 1000.0,
            row.ratio_to_echo,
        );
    }
    println!("tracing was on: {spans} spans received");
}

fn write(out: &Path, rows: &[Row]) -> Result<(), Problem> {
    let file = |source| Problem::File { path: out.to_owned(), source };
    if let Some(folder) = out.parent() {
        std::fs::create_dir_all(folder).map_err(file)?;
    }
    let text = serde_json::to_string_pretty(rows).map_err(|error| Problem::Missing(error.to_string()))?;
    std::fs::write(out, text + "\n").map_err(file)?;
    println!("written to {}", out.display());
    Ok(())
}
