//! `cargo xtask bench chain`: the whole way of a call to a tool that does nothing, by `Invoke` (`chain`) and by `Call` (`call`), beside a raw gRPC echo and beside the
//! bare commits of such a call on the same store.
//!
//! Client and server are processes of their own in all cases, with one connection to each process that is called.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::Serialize;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::{Cluster, Layout, Options, Problem, Processes, tools};

use super::load::{self, Measured};
use super::stores::{StoreName, Stores};
use super::{bare, echo};

/// Calls in flight at a time.
const CONCURRENCY: [usize; 3] = [1, 64, 256];
/// The tool that is called.
const TOOL: &str = "native.noop";
/// The arguments of every call, echoed and invoked alike.
const INPUT: &[u8] = br#"{"text":"what an agent would say, more or less, in one short sentence"}"#;

/// How the bench runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The store under the cluster.
    #[arg(long, value_enum, default_value_t = StoreName::Embedded)]
    store: StoreName,
    /// One: all roles in one process. More: so many schedulers and executors, a surface and a permission service, each a
    /// process; callers take the schedulers in turn.
    #[arg(long, default_value_t = 1)]
    schedulers: usize,
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
    store: &'static str,
    schedulers: usize,
    concurrency: usize,
    calls_per_s: f64,
    p50_us: u64,
    p99_us: u64,
    /// Of the echo at the same concurrency.
    ratio_to_echo: f64,
    /// Of the bare commits at the same concurrency.
    ratio_to_bare: Option<f64>,
}

pub(crate) async fn run(args: &Args) -> Result<(), Problem> {
    let time = Duration::from_secs(args.seconds.max(1));
    let mut rows: Vec<Row> = Vec::new();

    let server = echo::Server::start().await?;
    for concurrency in CONCURRENCY {
        let caller = server.caller();
        let measured = load::run(concurrency, time, move || caller.clone().call(INPUT)).await?;
        rows.push(row("echo", args, concurrency, &measured, &rows));
    }
    drop(server);

    let stores = Stores::start(args.store).await?;
    let store = stores.open("bare").await?;
    for concurrency in CONCURRENCY {
        let measured = bare::run(&store, concurrency, time).await?;
        rows.push(row("bare", args, concurrency, &measured, &rows));
    }
    drop(store);

    let bed = Bed::start(args, &stores).await?;
    for concurrency in CONCURRENCY {
        let callers = bed.callers.clone();
        let measured = load::run(concurrency, time, move || callers.clone().invoke()).await?;
        rows.push(row("chain", args, concurrency, &measured, &rows));
    }
    for concurrency in CONCURRENCY {
        let callers = bed.callers.clone();
        let measured = load::run(concurrency, time, move || callers.clone().call()).await?;
        rows.push(row("call", args, concurrency, &measured, &rows));
    }
    show(&rows, bed.receiver.received());
    super::write(&args.out, &rows)
}

/// The cluster, traced and durable, with the tool in a surface.
struct Bed {
    callers: Callers,
    receiver: OtlpReceiver,
    _cluster: Shape,
}

/// One process, or many.
enum Shape {
    One(Cluster),
    Many(Processes),
}

impl Bed {
    async fn start(args: &Args, stores: &Stores) -> Result<Self, Problem> {
        let folder = super::folder("cluster")?;
        let receiver = OtlpReceiver::counting().await?;
        // As many slots as calls in flight: the default suits sandboxed processes, not a tool that does nothing.
        let slots = CONCURRENCY.into_iter().max().unwrap_or(1).div_ceil(args.schedulers.max(1)).to_string();
        let environment = [
            ("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT".to_owned(), receiver.endpoint().to_owned()),
            ("TOOLPLANE__EXECUTOR__SLOTS".to_owned(), slots),
        ];
        let config = "[log]\nfilter = \"warn\"\n[[permission.rules]]\nbehavior = \"allow\"\ntool = \"native.noop\"\n";
        let shape = if args.schedulers <= 1 {
            let environment = environment.into_iter().chain(stores.environment()).collect();
            let options = Options { folder: Some(folder), environment, ..Options::new(config) };
            Shape::One(Cluster::start(options).await?)
        } else {
            let mut layout = Layout::new(args.schedulers, args.schedulers, config).on(stores.layout()).within(folder);
            layout.environment.extend(environment);
            Shape::Many(Processes::start(layout).await?)
        };
        let clients = shape.clients()?;
        let request = v1::RegisterToolsRequest { tools: tools::examples()?, validate_only: false };
        clients[0].surfaces().register_tools(request).await?;
        let request = v1::CreateSurfaceRequest { load: vec![TOOL.to_owned()], ..Default::default() };
        let surface = clients[0].surfaces().create_surface(request).await?.into_inner().surface.unwrap_or_default();
        let callers = Callers { clients: clients.into(), surface_id: surface.surface_id, turn: Arc::default() };
        Ok(Self { callers, receiver, _cluster: shape })
    }
}

impl Shape {
    /// Clients by way of each scheduler; at least one.
    fn clients(&self) -> Result<Vec<Clients>, Problem> {
        match self {
            Self::One(cluster) => Ok(vec![cluster.clients().clone()]),
            Self::Many(processes) => {
                let names = processes.names_of(toolplane_testkit::ClusterRole::Scheduler);
                names.iter().map(|name| processes.clients_by(name).cloned()).collect()
            }
        }
    }
}

/// Calls the tool, by way of each scheduler in turn.
#[derive(Clone)]
struct Callers {
    clients: Arc<[Clients]>,
    surface_id: String,
    turn: Arc<AtomicUsize>,
}

impl Callers {
    /// The clients whose turn it is, and the call they make.
    fn next(&self) -> (&Clients, Option<v1::InvocationSpec>) {
        let clients = &self.clients[self.turn.fetch_add(1, Ordering::Relaxed) % self.clients.len()];
        let spec = v1::InvocationSpec {
            surface_id: self.surface_id.clone(),
            tool_name: TOOL.to_owned(),
            model_input: Some(payload(INPUT)),
            ..Default::default()
        };
        (clients, Some(spec))
    }

    /// By `Call`: one answer.
    async fn call(self) -> Result<(), Problem> {
        let (clients, spec) = self.next();
        let answer = clients.invocations().call(v1::CallRequest { spec, wait_ms: 0 }).await?.into_inner();
        succeeded(answer.result)
    }

    /// By `Invoke`: every event, and the result.
    async fn invoke(self) -> Result<(), Problem> {
        let (clients, spec) = self.next();
        let mut stream = clients.invocations().invoke(v1::InvokeRequest { spec }).await?.into_inner();
        let mut result = None;
        // To the very end: a stream dropped before its trailers is reset, and HTTP/2 allows only so many resets.
        while let Some(message) = stream.message().await? {
            result = message.result.or(result);
        }
        succeeded(result)
    }
}

fn succeeded(result: Option<v1::ToolResult>) -> Result<(), Problem> {
    match result {
        Some(result) if result.is_error => {
            Err(Problem::Missing(format!("a result without an error; this one is: {}", result.summary)))
        }
        Some(_) => Ok(()),
        None => Err(Problem::Missing("a result at the end of the call".to_owned())),
    }
}

fn row(case: &'static str, args: &Args, concurrency: usize, measured: &Measured, earlier: &[Row]) -> Row {
    let rate = measured.per_second();
    let rate_of = |case: &str| {
        let row = earlier.iter().find(|row| row.case == case && row.concurrency == concurrency);
        row.map(|row| row.calls_per_s)
    };
    let rounded = |ratio: f64| (ratio * 10_000.0).round() / 10_000.0;
    Row {
        case,
        store: if case == "echo" { "none" } else { args.store.as_str() },
        schedulers: if matches!(case, "chain" | "call") { args.schedulers } else { 0 },
        concurrency,
        calls_per_s: (rate * 10.0).round() / 10.0,
        p50_us: measured.percentile(50),
        p99_us: measured.percentile(99),
        ratio_to_echo: rounded(rate / rate_of("echo").unwrap_or(rate)),
        ratio_to_bare: rate_of("bare").map(|bare| rounded(rate / bare)),
    }
}

fn show(rows: &[Row], spans: u64) {
    println!("case   store     schedulers  in flight   calls/s     p50 ms     p99 ms   of echo   of bare commits");
    for row in rows {
        println!(
            "{:<6} {:<9} {:>10} {:>10} {:>9.0} {:>10.2} {:>10.2} {:>9.3}   {}",
            row.case,
            row.store,
            if row.schedulers == 0 { "-".to_owned() } else { row.schedulers.to_string() },
            row.concurrency,
            row.calls_per_s,
            row.p50_us as f64 / 1000.0,
            row.p99_us as f64 / 1000.0,
            row.ratio_to_echo,
            row.ratio_to_bare.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}")),
        );
    }
    println!("tracing was on: {spans} spans received");
}
