//! Starting a cluster, and what died of one.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use toolplane_testkit::ClusterRole;
use toolplane_testkit::layout::{Layout, Member, Store};
use toolplane_testkit::{Problem, binary, ports};

use super::running::Running;
use super::state::{Seat, State, What};
use super::{folder, status};
use crate::redis::{self, Redis};

/// How long a process may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);

/// What is started.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Schedulers; more than one need the store `redis`.
    #[arg(long, default_value_t = 2)]
    schedulers: usize,
    /// Executors.
    #[arg(long, default_value_t = 2)]
    executors: usize,
    /// Surface processes; more than one need the store `redis`, which then holds their state too.
    #[arg(long, default_value_t = 1)]
    surfaces: usize,
    /// Permission processes; the same.
    #[arg(long, default_value_t = 1)]
    permissions: usize,
    /// Where schedulers keep calls.
    #[arg(long, value_enum, default_value_t = StoreName::Redis)]
    store: StoreName,
    /// Shards of the store `redis`, each on a server of its own.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    shards: u16,
}

/// The stores there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum StoreName {
    /// A Redis server of the cluster's own.
    Redis,
    /// Inside the one scheduler.
    Embedded,
}

pub(super) async fn run(args: &Args) -> Result<(), Problem> {
    let begin = Instant::now();
    let (mut state, known) = match State::read()? {
        Some(state) => (state, true),
        None => (plan(args)?, false),
    };
    let started = start_missing(&mut state, |_| true).await?;
    let how = match (known, started) {
        (true, 0) => "the cluster is up".to_owned(),
        (true, some) => format!("the cluster was up; {some} of its processes did not run and were started again"),
        (false, _) => format!("the cluster is up after {:.1} s", begin.elapsed().as_secs_f64()),
    };
    super::say(&format!("{how}\n{}{}", status::table(&state).await, hint(&state)));
    Ok(())
}

/// A new cluster in an empty folder.
fn plan(args: &Args) -> Result<State, Problem> {
    if args.shards > 1 && args.store == StoreName::Embedded {
        return Err(Problem::Missing("`--store redis`, which several shards need".to_owned()));
    }
    let folder = folder();
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|source| Problem::File { path: folder.clone(), source })?;
    }
    let example = binary::root().join("deploy/cluster/toolplane.toml");
    let config = std::fs::read_to_string(&example).map_err(|source| Problem::File { path: example, source })?;
    let mut layout =
        Layout::new(args.schedulers, args.executors, config).with_services(args.surfaces, args.permissions);
    let mut seats = Vec::new();
    if args.store == StoreName::Redis {
        let servers = servers(&folder, args.shards)?;
        layout = layout.on(Store::RedisAt(servers[0].url()));
        layout.environment.extend(redis::shards(&servers));
        seats.extend(servers.into_iter().map(|redis| Seat { what: What::Redis(redis), running: None }));
    }
    let members = layout.members(&folder)?.into_iter();
    seats.extend(members.map(|member| Seat { what: What::Member(member), running: None }));
    Ok(State { seats })
}

/// A server with an empty folder for each shard, of which there is at least one.
fn servers(folder: &Path, shards: u16) -> Result<Vec<Redis>, Problem> {
    let names = (1..=shards).map(|shard| if shard == 1 { "redis".to_owned() } else { format!("redis-{shard}") });
    names
        .map(|name| {
            let redis = Redis { port: ports::free(), folder: folder.join(name) };
            let made = std::fs::create_dir_all(&redis.folder);
            made.map_err(|source| Problem::File { path: redis.folder.clone(), source })?;
            Ok(redis)
        })
        .collect()
}

/// Starts those of the wanted that do not run, waits until all of them are ready, and says how many it were.
pub(super) async fn start_missing(state: &mut State, wanted: impl Fn(&Seat) -> bool) -> Result<usize, Problem> {
    let is_missing = |at: &usize| !state.seats[*at].lives() && wanted(&state.seats[*at]);
    let missing: Vec<usize> = (0..state.seats.len()).filter(is_missing).collect();
    for at in &missing {
        let seat = &mut state.seats[*at];
        seat.running = Some(start(seat)?);
        // Written down at once: a process that is not known would never be ended.
        state.write()?;
        if let What::Redis(redis) = &state.seats[*at].what {
            until(&state.seats[*at], async || redis.answers()).await?;
        }
    }
    for at in &missing {
        if let What::Member(member) = &state.seats[*at].what {
            until(&state.seats[*at], async || status::is_ready(member, state).await).await?;
        }
    }
    Ok(missing.len())
}

fn start(seat: &Seat) -> Result<Running, Problem> {
    let (mut command, log) = match &seat.what {
        What::Redis(redis) => (redis.command(), redis.log_file()),
        What::Member(member) => (member.command()?, member.log_file()),
    };
    detached(&mut command, &log).map_err(|error| Problem::Program {
        what: format!("starting {} ({})", seat.name(), command.get_program().to_string_lossy()),
        said: error.to_string(),
    })
}

/// Starts a command on nothing but its log.
fn detached(command: &mut Command, log: &Path) -> std::io::Result<Running> {
    let file: File = OpenOptions::new().create(true).append(true).open(log)?;
    Running::start(command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file))
}

/// Waits until `ready`, as long as the process lives.
async fn until(seat: &Seat, ready: impl AsyncFn() -> bool) -> Result<(), Problem> {
    let log = match &seat.what {
        What::Redis(redis) => redis.log_file(),
        What::Member(member) => member.log_file(),
    };
    let begin = Instant::now();
    while !ready().await {
        if !seat.lives() {
            let what = format!("{} ended at once", seat.name());
            return Err(Problem::Program { what, said: format!("see `{}`", log.display()) });
        }
        if begin.elapsed() > PATIENCE {
            return Err(Problem::TooLate {
                what: format!("readiness of {}", seat.name()),
                millis: PATIENCE.as_millis(),
                said: format!("; see `{}`", log.display()),
            });
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

/// How to call it.
fn hint(state: &State) -> String {
    let endpoint = |role: ClusterRole| {
        let members = state.seats.iter().filter_map(|seat| match &seat.what {
            What::Member(member) if member.role == role => Some(member),
            _ => None,
        });
        members.filter_map(Member::endpoint).next().unwrap_or_default()
    };
    let (surface, permission) = (endpoint(ClusterRole::Surface), endpoint(ClusterRole::Permission));
    let (folder, scheduler) = (folder(), endpoint(ClusterRole::Scheduler));
    format!(
        "\nevery process has its folder with state and log below {}\n  export SURFACE={surface}\n  export \
         PERMISSION={permission}\n  export SCHEDULER={scheduler}\n  toolplane --endpoint $SURFACE tools register \
         deploy/examples/tools/*.json\n  toolplane --endpoint $SCHEDULER workers\n",
        folder.display()
    )
}
