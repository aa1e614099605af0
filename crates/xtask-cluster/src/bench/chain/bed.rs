//! The cluster that the bench calls, and who calls it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::{Cluster, Layout, Options, Problem, Processes, tools};

use super::collector::Collector;
use super::{Args, CONCURRENCY, INPUT};
use crate::bench::meters::Meters;
use crate::bench::stores::Stores;

/// The tool that is called.
const TOOL: &str = "native.noop";

/// The cluster, traced and durable, with the tool in a surface.
pub(super) struct Bed {
    callers: Callers,
    collector: Collector,
    /// The processes of the cluster.
    processes: Vec<u32>,
    redis: Vec<u32>,
    _cluster: Shape,
}

/// One process, or many.
enum Shape {
    One(Cluster),
    Many(Processes),
}

impl Bed {
    /// Starts the cluster on these stores, with the tool in a surface.
    pub(super) async fn start(args: &Args, stores: &Stores) -> Result<Self, Problem> {
        let folder = crate::bench::folder("cluster")?;
        let collector = Collector::start().await?;
        // As many slots as calls in flight: the default suits sandboxed processes, not a tool that does nothing.
        let slots = CONCURRENCY.into_iter().max().unwrap_or(1).div_ceil(args.schedulers.max(1)).to_string();
        let mut environment = vec![("TOOLPLANE__EXECUTOR__SLOTS".to_owned(), slots)];
        if args.traced > 0.0 {
            environment.push(("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT".to_owned(), collector.endpoint().to_owned()));
            environment.push(("TOOLPLANE__TELEMETRY__SAMPLE_RATIO".to_owned(), args.traced.to_string()));
        }
        let config = "[log]\nfilter = \"warn\"\n[[permission.rules]]\nbehavior = \"allow\"\ntool = \"native.noop\"\n";
        let mut shape = if args.schedulers <= 1 {
            let environment = environment.into_iter().chain(stores.environment()).collect();
            let options = Options { folder: Some(folder), environment, ..Options::new(config) };
            Shape::One(Cluster::start(options).await?)
        } else {
            let mut layout = Layout::new(args.schedulers, args.schedulers, config).on(stores.layout()).within(folder);
            layout.environment.extend(environment);
            layout.environment.extend(stores.shards());
            Shape::Many(Processes::start(layout).await?)
        };
        let clients = shape.clients()?;
        let request = v1::RegisterToolsRequest { tools: tools::examples()?, validate_only: false };
        clients[0].surfaces().register_tools(request).await?;
        let request = v1::CreateSurfaceRequest { load: vec![TOOL.to_owned()], ..Default::default() };
        let surface = clients[0].surfaces().create_surface(request).await?.into_inner().surface.unwrap_or_default();
        let callers = Callers { clients: clients.into(), surface_id: surface.surface_id, turn: Arc::default() };
        Ok(Self { callers, collector, processes: shape.processes()?, redis: stores.redis(), _cluster: shape })
    }

    /// Who calls the cluster.
    pub(super) fn callers(&self) -> Callers {
        self.callers.clone()
    }

    /// What looks at all processes a call goes through.
    pub(super) fn meters(&self) -> Meters {
        Meters::of(self.processes.clone()).above(self.redis.clone())
    }

    /// How many spans the cluster has told.
    pub(super) fn spans(&self) -> u64 {
        self.collector.received()
    }
}

impl Shape {
    fn processes(&mut self) -> Result<Vec<u32>, Problem> {
        match self {
            Self::One(cluster) => Ok(vec![cluster.running()?.id()]),
            Self::Many(processes) => processes.names().iter().map(|name| Ok(processes.running(name)?.id())).collect(),
        }
    }

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

/// How a call is made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// Every event, and the result.
    Invoke,
    /// One answer.
    Call,
}

impl Way {
    /// The name of its rows.
    pub(super) fn case(self) -> &'static str {
        match self {
            Self::Invoke => "chain",
            Self::Call => "call",
        }
    }
}

/// Calls the tool, by way of each scheduler in turn.
#[derive(Clone)]
pub(super) struct Callers {
    clients: Arc<[Clients]>,
    surface_id: String,
    turn: Arc<AtomicUsize>,
}

impl Callers {
    /// One call to its very end; its result must be without an error.
    pub(super) async fn make(self, way: Way) -> Result<(), Problem> {
        let clients = &self.clients[self.turn.fetch_add(1, Ordering::Relaxed) % self.clients.len()];
        let spec = Some(v1::InvocationSpec {
            surface_id: self.surface_id,
            tool_name: TOOL.to_owned(),
            model_input: Some(payload(INPUT)),
            ..Default::default()
        });
        let result = match way {
            Way::Call => {
                clients
                    .invocations()
                    .call(v1::CallRequest { spec, wait_ms: 0, ..Default::default() })
                    .await?
                    .into_inner()
                    .result
            }
            Way::Invoke => {
                let mut stream =
                    clients.invocations().invoke(v1::InvokeRequest { spec, ..Default::default() }).await?.into_inner();
                let mut result = None;
                // To the very end: a stream dropped before its trailers is reset, and HTTP/2 allows only so many resets.
                while let Some(message) = stream.message().await? {
                    result = message.result.or(result);
                }
                result
            }
        };
        match result {
            Some(result) if result.is_error => {
                Err(Problem::Missing(format!("a result without an error; this one is: {}", result.summary)))
            }
            Some(_) => Ok(()),
            None => Err(Problem::Missing("a result at the end of the call".to_owned())),
        }
    }
}
