//! Finding out what the sandbox gives on this machine, by being a tool inside it.

mod bounds;
mod judge;

use crate::namespaces::NAMESPACES;
use bounds::{FILES, MEMORY, PROCESSES};

use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::FlockOperation;

use crate::backend::SandboxBackend as _;
use crate::bubblewrap::Bubblewrap;
use crate::error::SandboxError;
use crate::exit::Exit;
use crate::launcher::Facts;
use crate::posture::{Layer, Posture};
use crate::spec::{Profile, SandboxSpec};
use crate::wire::{INNER_LAUNCHER, PART_LINGER, PART_SELF_TEST};
use judge::layer;

/// How far beyond its bounds the self-test tries to go.
const EXCESS: u64 = 4;

/// Runs the self-tests and judges what they found.
pub(crate) async fn probe(sandbox: &Bubblewrap) -> Posture {
    let backend = sandbox.describe();
    if let Some(reason) = sandbox.missing() {
        return Posture::unavailable(backend, reason.to_string());
    }
    match look_around(sandbox).await {
        Ok(layers) => Posture::of_layers(backend, layers),
        Err(error) => Posture::unavailable(backend, error.to_string()),
    }
}

async fn look_around(sandbox: &Bubblewrap) -> Result<Vec<Layer>, SandboxError> {
    let place = ProbeDirectory::make().map_err(|error| SandboxError::setup("probe", &error))?;
    let exit = self_test(sandbox, &place).await?;
    let facts: Facts = serde_json::from_slice(&exit.stdout.kept()).map_err(|error| SandboxError::SetupFailed {
        stage: "probe".into(),
        errno: None,
        detail: format!("the self-test ended with {:?} and said nothing readable: {error}", exit.ending),
    })?;
    let mut layers = judge::layers(&facts, sandbox);
    layers.push(evidence(&exit));
    layers.push(tree_killed(sandbox, &place).await?);
    Ok(layers)
}

async fn self_test(sandbox: &Bubblewrap, place: &ProbeDirectory) -> Result<Exit, SandboxError> {
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

/// The self-test tried a denied call: it must be on record.
fn evidence(exit: &Exit) -> Layer {
    let recorded: Vec<_> = exit.violations.iter().map(|violation| violation.evidence()).collect();
    layer("violations_recorded", recorded.iter().any(|line| line == "seccomp_denied:unshare"), recorded.join(", "))
}

/// Two processes that ignore every request to end hold a lock; after the run it must be free.
async fn tree_killed(sandbox: &Bubblewrap, place: &ProbeDirectory) -> Result<Layer, SandboxError> {
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
struct ProbeDirectory {
    root: PathBuf,
    workspace: PathBuf,
    canary: PathBuf,
    /// In the workspace, listening on the host: no tool may reach it.
    _socket: UnixListener,
}

impl ProbeDirectory {
    fn make() -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("toolplane-probe-{}-{number}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&root)?;
        let (workspace, canary) = (root.join("workspace"), root.join("canary"));
        fs::create_dir(&workspace)?;
        fs::write(workspace.join("lock"), "")?;
        fs::write(&canary, "canary")?;
        // By a short way: a path of a socket has at most 107 bytes.
        let directory = fs::File::open(&workspace)?;
        let socket = UnixListener::bind(format!("/proc/self/fd/{}/socket", directory.as_raw_fd()))?;
        Ok(Self { root, workspace, canary, _socket: socket })
    }
}

impl Drop for ProbeDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(Path::new(&self.root));
    }
}
