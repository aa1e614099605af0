//! Finding out what the sandbox gives on this machine, by being a tool inside it.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::FlockOperation;

use crate::backend::SandboxBackend as _;
use crate::bubblewrap::{Bubblewrap, host_namespaces};
use crate::error::SandboxError;
use crate::exit::Exit;
use crate::launcher::Facts;
use crate::posture::{Layer, Posture};
use crate::spec::{Profile, SCRATCH, SandboxSpec, WORKSPACE};
use crate::wire::{INNER_LAUNCHER, PART_LINGER, PART_SELF_TEST};

/// Namespaces every sandbox has of its own.
pub(crate) const NAMESPACES: &[&str] = &["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"];

const MIB: u64 = 1024 * 1024;
/// Bounds of the self-test, small enough to run into quickly.
const FILES: u64 = 64;
const PROCESSES: u64 = 24;
const MEMORY: u64 = 64 * MIB;
/// How far beyond its bounds the self-test tries to go.
const EXCESS: u64 = 4;

/// Runs the self-tests and judges what they found.
pub(crate) async fn probe(sandbox: &Bubblewrap) -> Posture {
    let backend = sandbox.describe();
    if let Some(reason) = sandbox.missing() {
        return Posture::unavailable(backend, reason);
    }
    match look_around(sandbox).await {
        Ok(layers) => Posture::of_layers(backend, layers),
        Err(error) => Posture::unavailable(backend, error.to_string()),
    }
}

async fn look_around(sandbox: &Bubblewrap) -> Result<Vec<Layer>, SandboxError> {
    let place = Place::make().map_err(|error| SandboxError::setup("probe", &error))?;
    let exit = self_test(sandbox, &place).await?;
    let facts: Facts = serde_json::from_slice(&exit.stdout.kept()).map_err(|error| SandboxError::SetupFailed {
        stage: "probe".into(),
        errno: None,
        detail: format!("the self-test ended with {:?} and said nothing readable: {error}", exit.ending),
    })?;
    let mut layers = judge(&facts, sandbox);
    layers.push(evidence(&exit));
    layers.push(tree_killed(sandbox, &place).await?);
    Ok(layers)
}

async fn self_test(sandbox: &Bubblewrap, place: &Place) -> Result<Exit, SandboxError> {
    let canary = place.canary.to_string_lossy();
    let numbers = [FILES * EXCESS, PROCESSES * EXCESS, MEMORY * EXCESS].map(|number| number.to_string());
    let mut argv = vec![INNER_LAUNCHER, PART_SELF_TEST, &canary];
    argv.extend(numbers.iter().map(String::as_str));
    let mut spec = SandboxSpec::new(argv).with_profile(Profile::WorkspaceWrite, &place.workspace);
    spec.limits.open_files = FILES;
    spec.limits.pids = PROCESSES;
    spec.limits.memory_bytes = MEMORY;
    sandbox.spawn(spec, None).await?.wait().await
}

fn layer(name: &str, held: bool, detail: impl Into<String>) -> Layer {
    Layer { name: name.into(), held, required: true, detail: detail.into() }
}

fn judge(facts: &Facts, sandbox: &Bubblewrap) -> Vec<Layer> {
    let host = host_namespaces();
    let shared: Vec<_> = NAMESPACES
        .iter()
        .filter(|name| facts.namespaces.get(**name).is_none_or(|inode| host.get(**name) == Some(inode)))
        .copied()
        .collect();
    let status = |key: &str| facts.status.get(key).map_or("absent", String::as_str);
    let caps = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];
    let written = |dir: &str| facts.writes.get(dir).is_some_and(|attempt| attempt.worked);
    let writable: Vec<_> =
        ["/", "/usr", "/etc", "/dev", "/proc/sys"].into_iter().filter(|dir| written(dir)).collect();
    let unexpected: Vec<_> = facts
        .environment
        .iter()
        .filter(|name| !crate::environment::complete(&Default::default()).contains_key(*name))
        .cloned()
        .collect();
    let more_than_streams: Vec<_> =
        facts.descriptors.iter().filter(|fd| !["0", "1", "2"].contains(&fd.split(' ').next().unwrap_or(""))).collect();
    let mut layers = vec![
        layer("namespaces", shared.is_empty(), if shared.is_empty() { "user, mnt, pid, net, ipc, uts, cgroup".into() } else { format!("shared with the worker: {}", shared.join(", ")) }),
        layer(
            "no_network",
            !facts.internet_socket.worked && facts.interfaces == ["lo"],
            format!("interfaces {}; internet socket: {}", facts.interfaces.join(", "), facts.internet_socket.outcome),
        ),
        layer("read_only_system", writable.is_empty(), if writable.is_empty() { "no place outside workspace and scratch can be written".into() } else { format!("writable: {}", writable.join(", ")) }),
        layer("workspace", written(WORKSPACE) && written(SCRATCH), "workspace and scratch can be written"),
        layer("host_files_hidden", !facts.canary.worked, format!("a file of the worker: {}", facts.canary.outcome)),
        layer("no_capabilities", caps.iter().all(|key| status(key) == "0000000000000000"), format!("effective {}, bounding {}", status("CapEff"), status("CapBnd"))),
        layer("no_new_privileges", status("NoNewPrivs") == "1", format!("NoNewPrivs {}", status("NoNewPrivs"))),
        layer("seccomp", status("Seccomp") == "2" && !facts.new_namespace.worked, format!("mode {}; a new user namespace: {}", status("Seccomp"), facts.new_namespace.outcome)),
        layer("plain_user", !status("Uid").split_whitespace().any(|uid| uid == "0"), format!("uid {}", status("Uid"))),
        layer("environment_empty", unexpected.is_empty() && (!facts.init_environment.worked || facts.init_environment.outcome == "0 bytes"), format!("unexpected: {}; of process 1: {}", unexpected.join(", "), facts.init_environment.outcome)),
        layer("no_descriptors", more_than_streams.is_empty(), format!("{:?}", facts.descriptors)),
        layer("no_terminal", !facts.terminal.worked, facts.terminal.outcome.clone()),
        layer("open_files_bound", facts.files_opened < FILES, format!("{} of {FILES}", facts.files_opened)),
        layer("pids_bound", facts.processes_started < PROCESSES && facts.processes_started > 0, format!("{} of {PROCESSES} started; {}", facts.processes_started, sandbox.control_groups().describe())),
        layer("memory_bound", facts.memory_filled <= MEMORY, format!("{} MiB of {} MiB filled by one process; {}", facts.memory_filled / MIB, MEMORY / MIB, sandbox.control_groups().describe())),
    ];
    let whole = sandbox.control_groups().bounds_memory();
    let detail = if whole { "by control group".into() } else { format!("per process only: {}", sandbox.control_groups().describe()) };
    layers.push(Layer { name: "memory_bound_of_tree".into(), held: whole, required: false, detail });
    layers
}

/// The self-test tried a denied call: it must be on record.
fn evidence(exit: &Exit) -> Layer {
    let recorded: Vec<_> = exit.violations.iter().map(|violation| violation.evidence()).collect();
    layer("violations_recorded", recorded.iter().any(|line| line == "seccomp_denied:unshare"), recorded.join(", "))
}

/// Two processes that ignore every request to end hold a lock; after the run it must be free.
async fn tree_killed(sandbox: &Bubblewrap, place: &Place) -> Result<Layer, SandboxError> {
    let mut spec = SandboxSpec::new([INNER_LAUNCHER, PART_LINGER, "/workspace/lock"])
        .with_profile(Profile::WorkspaceWrite, &place.workspace);
    spec.limits.wall = Duration::from_millis(300);
    spec.limits.grace = Duration::from_millis(100);
    let exit = sandbox.spawn(spec, None).await?.wait().await?;
    let lock = fs::File::open(place.workspace.join("lock")).map_err(|error| SandboxError::setup("probe", &error))?;
    let free = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
    let held = exit.timed_out && free;
    Ok(layer("tree_killed", held, format!("ended by {:?} after {} ms", exit.ending, exit.wall.as_millis())))
}

/// A directory for one probe: a workspace, and beside it a file no tool may see. Removed when dropped.
struct Place {
    root: PathBuf,
    workspace: PathBuf,
    canary: PathBuf,
}

impl Place {
    fn make() -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("toolplane-probe-{}-{number}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&root)?;
        let place = Self { workspace: root.join("workspace"), canary: root.join("canary"), root };
        fs::create_dir(&place.workspace)?;
        fs::write(place.workspace.join("lock"), "")?;
        fs::write(&place.canary, "canary")?;
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(Path::new(&self.root));
    }
}
