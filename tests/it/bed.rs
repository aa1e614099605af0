//! A running cluster with the example tools in a surface, and short ways to use it.

use std::time::Duration;

use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::{Cluster, Options, tools};

use crate::coverage;

/// Rules of most tests: what only reads may run, commands are asked about, the rest is denied by having no approver.
pub(crate) const RULES: &str = r#"
[log]
filter = "info"

[executor.http]
allow = ["127.0.0.1:9"]

[[permission.rules]]
id = "reading"
behavior = "allow"
tool = "*"
facts = ["read_only", "!open_world"]
reason = "reading is fine"

[[permission.rules]]
id = "commands"
behavior = "ask"
tool = "local.shell.exec"
reason = "commands are looked at"

[[permission.rules]]
id = "outside"
behavior = "deny"
tool = "http.fetch"
reason = "nothing leaves"
"#;

/// How long any single call of a test may take on a slow machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Bed {
    pub(crate) cluster: Cluster,
    pub(crate) clients: Clients,
    pub(crate) surface_id: String,
}

impl Bed {
    /// A cluster with [`RULES`] and every example tool loaded.
    pub(crate) async fn start() -> Self {
        Self::with(Options::new(RULES)).await
    }

    /// The same with other options.
    pub(crate) async fn with(options: Options) -> Self {
        let cluster = Cluster::start(options).await.unwrap();
        let clients = cluster.clients().clone();
        register(&clients, tools::examples().unwrap()).await;
        let surface_id = surface(&clients).await;
        Self { cluster, clients, surface_id }
    }

    /// A call with these arguments, given as JSON text.
    pub(crate) fn spec(&self, tool: &str, input: impl AsRef<[u8]>) -> v1::InvocationSpec {
        v1::InvocationSpec {
            surface_id: self.surface_id.clone(),
            tool_name: tool.to_owned(),
            model_input: Some(payload(input.as_ref().to_vec())),
            ..Default::default()
        }
    }

    /// Makes a call and returns its result.
    pub(crate) async fn call(&self, tool: &str, input: impl AsRef<[u8]>) -> v1::ToolResult {
        self.followed(self.spec(tool, input)).await.1
    }

    /// Makes a call and returns its events and its result.
    pub(crate) async fn followed(&self, spec: v1::InvocationSpec) -> (Vec<v1::Event>, v1::ToolResult) {
        let request = v1::InvokeRequest { spec: Some(spec), ..Default::default() };
        let mut stream = self.clients.invocations().invoke(request).await.unwrap().into_inner();
        let mut events = Vec::new();
        while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
            events.extend(message.events);
            if let Some(result) = message.result {
                coverage::ended(&self.clients, &events, &result).await;
                return (events, *result);
            }
        }
        panic!("the stream ended without a result");
    }

    /// Submits a call and returns it as accepted.
    pub(crate) async fn submit(&self, spec: v1::InvocationSpec) -> v1::Invocation {
        let request = v1::SubmitInvocationRequest { spec: Some(spec) };
        *self.clients.invocations().submit_invocation(request).await.unwrap().into_inner().invocation.unwrap()
    }

    /// Every event of an ended call, from the log.
    pub(crate) async fn replay(&self, invocation_id: &str, from_seq: u64) -> (Vec<v1::Event>, v1::ToolResult) {
        let request =
            v1::WatchInvocationRequest { invocation_id: invocation_id.to_owned(), from_seq, ..Default::default() };
        let mut stream = self.clients.invocations().watch_invocation(request).await.unwrap().into_inner();
        let mut events = Vec::new();
        while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
            events.extend(message.events);
            if let Some(result) = message.result {
                coverage::ended(&self.clients, &events, &result).await;
                return (events, *result);
            }
        }
        panic!("the stream ended without a result");
    }

    /// Waits until a call has this status.
    pub(crate) async fn until(&self, invocation_id: &str, status: v1::InvocationStatus) -> v1::Invocation {
        let start = std::time::Instant::now();
        loop {
            let request = v1::GetInvocationRequest { invocation_id: invocation_id.to_owned(), ..Default::default() };
            let answer = self.clients.invocations().get_invocation(request).await.unwrap().into_inner();
            let invocation = answer.invocation.unwrap();
            if invocation.status_code() == status {
                return invocation;
            }
            assert!(start.elapsed() < PATIENCE, "still {} instead of {status:?}", invocation.status);
            toolplane_wait::look_again().await;
        }
    }
}

/// Registers tools.
pub(crate) async fn register(clients: &Clients, tools: Vec<v1::ToolRegistration>) {
    let request = v1::RegisterToolsRequest { tools, validate_only: false };
    clients.surfaces().register_tools(request).await.unwrap();
}

/// A session surface in which every tool is loaded.
pub(crate) async fn surface(clients: &Clients) -> String {
    let request = v1::CreateSurfaceRequest {
        defer_policy: v1::DeferPolicy::None.into(),
        interaction_mode: v1::InteractionMode::Interactive.into(),
        role: "agent".to_owned(),
        ..Default::default()
    };
    clients.surfaces().create_surface(request).await.unwrap().into_inner().surface.unwrap().surface_id
}

/// The kinds of events, in order.
pub(crate) fn kinds(events: &[v1::Event]) -> Vec<&str> {
    events.iter().map(|event| event.event_type.as_str()).collect()
}

/// Sequences are 1, 2, 3, ... without a gap.
#[track_caller]
pub(crate) fn assert_gapless(events: &[v1::Event], from: u64) {
    for (event, expected) in events.iter().zip(from..) {
        assert_eq!(event.sequence, expected, "a gap in {:?}", kinds(events));
    }
}
