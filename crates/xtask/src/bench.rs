//! `cargo xtask bench`: measurements, always with optimisations.

use std::process::Command;

use crate::command::{self, TaskError};
use crate::needs;
use crate::programs::{self, Build};

/// What is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The bench.
    #[command(subcommand)]
    bench: Bench,
}

/// The benches there are.
#[derive(Debug, clap::Subcommand)]
enum Bench {
    /// The whole way of a call to a tool that does nothing, beside a raw gRPC echo and the bare commits of such a call.
    Chain {
        /// The store under the cluster.
        #[arg(long, value_enum, default_value_t = Store::Embedded)]
        store: Store,
        /// One: all roles in one process. More: so many schedulers and executors, and every role a process of its own.
        #[arg(long, default_value_t = 1)]
        schedulers: u32,
        /// Shards of the store, each on a Redis server of its own.
        #[arg(long, default_value_t = 1)]
        shards: u32,
        /// How long each case runs.
        #[arg(long, default_value_t = 5)]
        seconds: u64,
        /// How often each case runs; the figures are the medians.
        #[arg(long, default_value_t = 1)]
        runs: u64,
        /// The part of the calls that are traced: from 0, no exporter at all, to 1.
        #[arg(long, default_value_t = 1.0)]
        traced: f64,
        /// Instead of the figures: what the CPU time of a call goes to, by layers of the programs, with 64 calls in flight. Needs
        /// `perf`.
        #[arg(long)]
        profile: bool,
    },
    /// Permission decisions with 10, 1,000 and 10,000 rules, inside a process and over gRPC, beside a raw gRPC echo.
    Decide {
        /// How long each case runs.
        #[arg(long, default_value_t = 2)]
        seconds: u64,
    },
    /// Calls of a small tool of an MCP server over standard streams, beside the same server called directly and through a proxy.
    Mcp {
        /// How long each case runs.
        #[arg(long, default_value_t = 5)]
        seconds: u64,
        /// A Python that has the package `fastmcp`: its proxy is measured too.
        #[arg(long)]
        fastmcp: Option<std::path::PathBuf>,
        /// A Python that has the package `mcp-contextforge-gateway`: the gateway is measured too.
        #[arg(long)]
        contextforge: Option<std::path::PathBuf>,
    },
    /// The same calls through every way into a cluster: gRPC, JSON, MCP; and of an MCP server, through our front door and through proxies.
    Doors {
        /// How long each case runs.
        #[arg(long, default_value_t = 5)]
        seconds: u64,
        /// A Python that has the package `fastmcp`: its proxy is measured too.
        #[arg(long)]
        fastmcp: Option<std::path::PathBuf>,
        /// A Python that has the package `mcp-contextforge-gateway`: the gateway is measured too.
        #[arg(long)]
        contextforge: Option<std::path::PathBuf>,
    },
    /// How fast outputs are kept, proved, read and cleaned, beside a plain copy of the same bytes.
    Results {
        /// MiB of each output.
        #[arg(long, default_value_t = 1024)]
        mebibytes: u64,
    },
    /// How well tools are found in public sets of questions, as they are and with a slip in each, beside plain BM25 with stemming.
    Ranking {
        /// The sets: a folder each, with `tools.jsonl` and `queries.jsonl`.
        #[arg(long, default_value = "../shared/data/toolsearch")]
        data: std::path::PathBuf,
        /// A folder with an embedding model (`config.json`, `tokenizer.json`, `model.safetensors`): search with it, and it alone, is
        /// measured too.
        #[arg(long)]
        model: Option<std::path::PathBuf>,
    },
    /// How long searches take (beside plain BM25 and tantivy), registering, surfaces, loading and a new start, and how much memory, by the number of tools.
    Search {
        /// Numbers of tools. May be given several times.
        #[arg(long, default_values_t = [3_000, 30_000, 300_000])]
        tools: Vec<u64>,
    },
    /// What a cluster costs as it grows, beside the bounds: calls that wait, watchers of one call, idle agents, tools of a surface.
    Growth {
        /// The store under the cluster.
        #[arg(long, value_enum, default_value_t = Store::Embedded)]
        store: Store,
        /// Calls that wait.
        #[arg(long, default_value_t = 1_000_000)]
        calls: u64,
        /// Watchers of one call.
        #[arg(long, default_value_t = 10_000)]
        watchers: u64,
        /// Agents that are connected and idle.
        #[arg(long, default_value_t = 10_000)]
        agents: u64,
        /// Tools of a surface.
        #[arg(long, default_value_t = 30_000)]
        tools: u64,
        /// Only this part: `calls`, `watchers`, `agents` or `tools`. May be given several times.
        #[arg(long)]
        only: Vec<String>,
    },
}

/// The stores there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Store {
    /// The durable store inside the process.
    Embedded,
    /// A Redis server of the bench's own, which syncs every write.
    Redis,
}

impl Store {
    fn as_str(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Redis => "redis",
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    let profiled = matches!(args.bench, Bench::Chain { profile: true, .. });
    if profiled {
        needs::perf()?;
    }
    // Needs no cluster, and no build of one.
    if let Bench::Results { mebibytes } = &args.bench {
        let example = ["run", "--release", "--package", "toolplane-results", "--example", "figures", "--"];
        let mut bench = command::cargo(&example);
        bench.arg(mebibytes.to_string()).arg(command::target());
        return command::run(bench);
    }
    if let Some(search) = search(&args.bench) {
        return command::run(search);
    }
    let programs = programs::build(Build::Bench)?;
    let mut bench = Command::new(programs.join("xtask-cluster"));
    bench.current_dir(command::root()).env("TOOLPLANE_BIN", programs.join("toolplane"));
    let (store, figures) = match &args.bench {
        Bench::Results { .. } | Bench::Ranking { .. } | Bench::Search { .. } => return Ok(()),
        Bench::Decide { seconds } => {
            bench.args(["bench-decide", "--seconds", &seconds.to_string(), "--out"]);
            bench.arg(command::target().join("bench").join("decide.json"));
            return command::run(bench);
        }
        Bench::Mcp { seconds, fastmcp, contextforge } | Bench::Doors { seconds, fastmcp, contextforge } => {
            needs::bubblewrap();
            let name = if matches!(args.bench, Bench::Mcp { .. }) { "mcp" } else { "doors" };
            bench.args([&format!("bench-{name}"), "--seconds", &seconds.to_string()]);
            for (option, python) in [("--fastmcp", fastmcp), ("--contextforge", contextforge)] {
                if let Some(python) = python {
                    // It runs elsewhere.
                    bench.arg(option).arg(std::path::absolute(python).unwrap_or_else(|_| python.clone()));
                }
            }
            bench.arg("--out").arg(command::target().join("bench").join(format!("{name}.json")));
            return command::run(bench);
        }
        Bench::Chain { store, schedulers, shards, seconds, runs, traced, profile } => {
            bench.args(["bench-chain", "--schedulers", &schedulers.to_string(), "--seconds", &seconds.to_string()]);
            bench.args(["--shards", &shards.to_string()]);
            bench
                .args(["--runs", &runs.to_string(), "--traced", &traced.to_string()])
                .args(profile.then_some("--profile"));
            let kind = if *profile { "profile" } else { "chain" };
            let name = store.as_str();
            let many = if *schedulers > 1 { format!("-{schedulers}") } else { String::new() };
            let spread = if *shards > 1 { format!("-shards-{shards}") } else { String::new() };
            let traced = if *traced < 1.0 { format!("-traced-{traced}") } else { String::new() };
            (*store, format!("{kind}-{name}{many}{spread}{traced}.json"))
        }
        Bench::Growth { store, calls, watchers, agents, tools, only } => {
            bench.arg("bench-growth");
            let numbers = [("--calls", calls), ("--watchers", watchers), ("--agents", agents), ("--tools", tools)];
            bench.args(numbers.iter().flat_map(|(name, number)| [(*name).to_owned(), number.to_string()]));
            bench.args(only.iter().flat_map(|part| ["--only", part]));
            let parts = only.iter().map(|part| format!("-{part}")).collect::<String>();
            (*store, format!("growth-{}{parts}.json", store.as_str()))
        }
    };
    if store == Store::Redis {
        needs::redis()?;
    }
    bench.args(["--store", store.as_str(), "--out"]).arg(command::target().join("bench").join(figures));
    command::run(bench)
}

/// The benches of search, which need the catalogue alone.
fn search(bench: &Bench) -> Option<Command> {
    let example = ["run", "--release", "--package", "toolplane-catalog", "--example", "search"];
    let mut search = command::cargo(&example);
    match bench {
        Bench::Search { .. } => _ = search.args(["--features", "tantivy"]),
        Bench::Ranking { model: Some(_), .. } => _ = search.args(["--features", "model"]),
        _ => {}
    }
    search.arg("--");
    let figures = |name: &str| command::target().join("bench").join(name);
    match bench {
        Bench::Ranking { data, model } => {
            search.arg("ranking").arg(command::root().join(data)).arg(figures("ranking.json")).args(model)
        }
        Bench::Search { tools } => {
            search.arg("speed").arg(figures("search.json")).args(tools.iter().map(u64::to_string))
        }
        _ => return None,
    };
    Some(search)
}
