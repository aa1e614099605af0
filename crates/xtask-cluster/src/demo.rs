//! `cargo xtask demo`: the main job on real input, as a timeline.

use std::path::{Path, PathBuf};
use std::time::Duration;

use toolplane_proto::v1;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_testkit::clients::Clients;
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::trace::AgentTrace;
use toolplane_testkit::{Cluster, Options, Problem, binary, tools};

mod call;
mod payload;
mod timeline;
mod workspace;

use timeline::Timeline;

/// Where the demo keeps everything, so that it can be looked at afterwards.
const FOLDER: &str = ".toolplane-demo";

/// How the demo runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where it keeps everything; a folder below the repository when absent.
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// Rules of the demo: reading is allowed, commands are asked about, an address is denied. A tool that is denied as a whole would not be shown.
const CONFIG: &str = r#"
[executor.http]
allow = ["127.0.0.1:80"]

[[permission.rules]]
id = "reading_is_fine"
behavior = "allow"
tool = "*"
facts = ["read_only", "!open_world"]
reason = "tools that only read below the workspace are harmless"

[[permission.rules]]
id = "commands_need_a_person"
behavior = "ask"
tool = "local.shell.exec"
reason = "a person checks commands first"

[[permission.rules]]
id = "nothing_leaves"
behavior = "deny"
tool = "http.fetch(domain:127.0.0.1)"
reason = "this workspace has no business outside"
"#;

/// Reports on every source file, slowly enough to be watched, then prints every error line of the log.
const COMMAND: &str = "for part in crates services; do
  find src/$part -name '*.rs' -exec wc -l {} + | sort -n | tail -60
  sleep 0.4
done
for part in T0[0-5] T0[6-9] T1[0-3] T1[4-7] T1[89] T2; do
  echo \"== errors of $part\"
  grep -n \"$part.*level=error\" logs/app.log
  sleep 0.3
done";

pub(crate) async fn run(args: &Args) -> Result<(), Problem> {
    let folder = args.folder.clone().unwrap_or_else(|| binary::root().join(FOLDER));
    let mut timeline = Timeline::start();
    let receiver = OtlpReceiver::start().await?;
    let mut cluster = start(&folder, &receiver).await?;
    timeline.did("start", &format!("one process, four roles, embedded store: {}", cluster.endpoint()));
    let made = workspace::fill(&cluster.workspace())?;
    timeline.did("input", &made);

    let clients = cluster.clients().clone();
    let agent = AgentTrace::start();
    let surface_id = prepare(&clients, &mut timeline).await?;
    let mut calls = call::Calls { clients: &clients, surface_id: &surface_id, agent: &agent, timeline: &mut timeline };
    calls.make("text.word_count", r#"{"path": "logs/app.log"}"#).await?;
    calls.make("http.fetch", r#"{"url": "http://127.0.0.1:1/"}"#).await?;
    let input = serde_json::json!({ "command": COMMAND, "description": "source sizes and error lines" }).to_string();
    let result = calls.make("shell.exec", &input).await?;
    payload::fetch_back(&result, &clients, &mut timeline).await?;

    show_trace(&receiver, agent, &mut timeline).await?;
    cluster.stop().await?;
    timeline.did("stop", "drained and ended in order; everything is on disk");
    farewell(&folder, &cluster);
    Ok(())
}

async fn start(folder: &Path, receiver: &OtlpReceiver) -> Result<Cluster, Problem> {
    clear(folder)?;
    let options = Options { folder: Some(folder.to_owned()), ..Options::new(CONFIG) }
        .env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint());
    Cluster::start(options).await
}

/// Removes what an earlier demo left. Only a folder that looks like one of ours is touched.
fn clear(folder: &Path) -> Result<(), Problem> {
    if !folder.exists() {
        return Ok(());
    }
    if !folder.join("toolplane.toml").is_file() {
        return Err(Problem::Missing(format!("`{}` is not a folder of this demo; move it away", folder.display())));
    }
    std::fs::remove_dir_all(folder).map_err(|source| Problem::File { path: PathBuf::from(folder), source })
}

/// Declares the tools, makes a surface, finds what the job needs and loads it.
async fn prepare(clients: &Clients, timeline: &mut Timeline) -> Result<String, Problem> {
    let request = v1::RegisterToolsRequest { tools: tools::examples()?, validate_only: false };
    let registered = clients.surfaces().register_tools(request).await?.into_inner().tools;
    timeline.did("declare", &format!("{} tools, checked and durable", registered.len()));

    let request = v1::CreateSurfaceRequest {
        scope_code: v1::SurfaceScope::Session.into(),
        load: vec!["files.list_dir".to_owned()],
        defer_policy: v1::DeferPolicy::All.into(),
        role: "agent".to_owned(),
        interaction_mode: v1::InteractionMode::Interactive.into(),
        producer: "demo".to_owned(),
        ..Default::default()
    };
    let surface = clients.surfaces().create_surface(request).await?.into_inner().surface.unwrap_or_default();
    let (loaded, deferred) = (surface.loaded_tools.len(), surface.deferred_tools.len());
    timeline.did("surface", &format!("{}: {loaded} loaded, {deferred} deferred", surface.surface_id));

    let mut names = vec!["http.fetch".to_owned()];
    for need in ["count words in a file", "run shell commands"] {
        let request = v1::SearchToolsRequest {
            surface_id: surface.surface_id.clone(),
            query: need.to_owned(),
            ..Default::default()
        };
        let found = clients.surfaces().search_tools(request).await?.into_inner().result.unwrap_or_default();
        let best = found.refs.first().map(|tool| tool.name.clone());
        let best = best.ok_or_else(|| Problem::Missing(format!("a tool for \"{need}\"")))?;
        timeline.did("search", &format!("\"{need}\" -> {best}  (next: {})", found.next_action));
        names.push(best);
    }
    let request = v1::LoadToolsRequest { surface_id: surface.surface_id.clone(), names, ..Default::default() };
    let outcomes = clients.surfaces().load_tools(request).await?.into_inner().outcomes;
    for outcome in &outcomes {
        if let Some(Outcome::Failure(failure)) = &outcome.outcome {
            return Err(Problem::Missing(format!("a loadable `{}`: {}", outcome.name, failure.message)));
        }
    }
    timeline.did("load", &format!("{} schemas loaded, digests pinned", outcomes.len()));
    Ok(surface.surface_id)
}

async fn show_trace(receiver: &OtlpReceiver, agent: AgentTrace, timeline: &mut Timeline) -> Result<(), Problem> {
    let trace_id = agent.trace_id().to_owned();
    let patience = Duration::from_secs(10);
    let complete = |trace: &toolplane_testkit::trace::Trace| trace.named("execute_tool").len() >= 2;
    let trace = match receiver.wait_for(&trace_id, patience, complete).await {
        Ok(trace) => trace,
        // Without a sandbox less was executed; what there is can still be shown.
        Err(_) => receiver.trace(&trace_id),
    };
    let trace = trace.with(agent.span("agent: the demo's own span"));
    timeline.did("trace", &format!("{} spans of trace {trace_id}, from W3C context over gRPC:", trace.spans().len()));
    for line in trace.render().lines() {
        timeline.detail(line);
    }
    Ok(())
}

fn farewell(folder: &Path, cluster: &Cluster) {
    let folder = folder.display();
    println!("\nWhere things lie:");
    println!("  {folder}/data             records, events, approvals, kept results");
    println!("  {folder}/data/workspace   what the tools saw");
    println!("  {}    what the cluster logged", cluster.log_file().display());
    println!("\nWhat to try next, in three terminals:");
    println!("  target/debug/toolplane serve --config deploy/toolplane.toml");
    println!("in the second:");
    println!("  target/debug/toolplane tools register deploy/examples/tools/*.json");
    println!("  target/debug/toolplane invoke files.list_dir --input '{{\"path\": \".\"}}'");
    println!("  target/debug/toolplane invoke shell.exec --input '{{\"command\": \"uname -a; id\"}}'");
    println!("in the third, because no rule allows that command:");
    println!("  target/debug/toolplane approvals ls");
    println!("  target/debug/toolplane approvals approve appr_...");
}
