//! From a specification to a running tool.

use std::collections::BTreeMap;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::pipe::PipeFlags;
use rustix::process::{Gid, Uid};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use super::arguments::{self, Sources};
use super::find::SandboxPrograms;
use crate::cgroup::{ControlGroups, RunGroup};
use crate::environment;
use crate::error::SandboxError;
use crate::inside::CREDENTIALS;
use crate::limits::RunLimits;
use crate::namespaces::NAMESPACES;
use crate::network::{self, Gate, Proxy};
use crate::private;
use crate::protected::ProtectedSnapshot;
use crate::running::{HostResources, Started, reports::Reports};
use crate::slot::Slot;
use crate::spec::{SandboxSpec, WorkspaceAccess, WorkspaceMount};
use crate::wire::{
    self, ExpectedMount, InnerPlan, LauncherReport, OuterPlan, PART_OUTER, STAGED_LAUNCHER, STAGED_WORKSPACE, StdinPlan,
};
use crate::workspace::Visit;

/// How long the layers may take to be set up. Usually a few milliseconds.
const SETUP_BOUND: Duration = Duration::from_secs(20);

/// Starts a run that reads what its specification says, and waits until the tool's program runs.
pub(super) async fn start(
    programs: &SandboxPrograms,
    groups: &ControlGroups,
    spec: SandboxSpec,
) -> Result<Started, SandboxError> {
    stand(programs, groups, spec, None).await
}

/// Starts a run that reads from the returned pipe, and waits until the tool's program runs.
pub(super) async fn open(
    programs: &SandboxPrograms,
    groups: &ControlGroups,
    spec: SandboxSpec,
) -> Result<(Started, pipe::Sender), SandboxError> {
    if spec.stdin.is_some() {
        return Err(SandboxError::invalid("stdin", "must be absent: a session reads from a stream"));
    }
    let failed = |error: std::io::Error| SandboxError::setup("streams", &error);
    let (theirs, ours) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
    rustix::io::ioctl_fionbio(&ours, true).map_err(|error| failed(error.into()))?;
    let ours = pipe::Sender::from_owned_fd(ours).map_err(failed)?;
    Ok((stand(programs, groups, spec, Some(theirs)).await?, ours))
}

/// `input` is the end of a pipe the tool reads from instead of what the specification says.
async fn stand(
    programs: &SandboxPrograms,
    groups: &ControlGroups,
    spec: SandboxSpec,
    input: Option<OwnedFd>,
) -> Result<Started, SandboxError> {
    spec.check()?;
    let host = Host::prepare(groups, &spec).await?;
    if let (Some(pipe), Some(slot)) = (&input, &host.slot) {
        // The tool may open `/dev/stdin` by name.
        let (user, group) = (Uid::from_raw(slot.id()), Gid::from_raw(slot.id()));
        rustix::fs::fchown(pipe, Some(user), Some(group))
            .map_err(|error| SandboxError::setup("streams", &error.into()))?;
    }
    let plans = plans(programs, groups, &spec, &host, input.is_some())?;
    let (ours, theirs) =
        std::os::unix::net::UnixStream::pair().map_err(|error| SandboxError::setup("control", &error))?;
    ours.set_nonblocking(true).map_err(|error| SandboxError::setup("control", &error))?;
    let mut control = UnixStream::from_std(ours).map_err(|error| SandboxError::setup("control", &error))?;
    // Nothing that makes the standard library fork: no user, no hook, no working directory.
    let child = Command::new(&programs.launcher)
        .arg(PART_OUTER)
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| SandboxError::setup("launcher", &error))?;
    let mut reports = Reports::default();
    let standing = stand_up(&mut control, &mut reports, &plans, input, spec.network.clone());
    let proxy = match tokio::time::timeout(SETUP_BOUND, standing).await {
        Ok(Ok(proxy)) => proxy,
        Ok(Err(error)) => return Err(explain(error, control, child).await),
        Err(_) => {
            return Err(SandboxError::SetupFailed {
                stage: "start".into(),
                errno: Some(libc::ETIMEDOUT),
                detail: format!("the sandbox did not stand within {} s", SETUP_BOUND.as_secs()),
            });
        }
    };
    let Host { slot, group, visit, .. } = host;
    let held = HostResources { group, _slot: slot, writable: visit, proxy };
    Ok(Started { child, control, reports, held })
}

/// What a run needs on the host beside the programs.
struct Host {
    slot: Option<Slot>,
    group: RunGroup,
    workspace: Option<PathBuf>,
    /// Present when the workspace is writable.
    visit: Option<Visit>,
}

impl Host {
    async fn prepare(groups: &ControlGroups, spec: &SandboxSpec) -> Result<Self, SandboxError> {
        static RUN: AtomicU64 = AtomicU64::new(0);
        let name = format!("run-{}", RUN.fetch_add(1, Ordering::Relaxed));
        let group = groups.create(&name, &spec.limits).map_err(|error| SandboxError::setup("control_group", &error))?;
        let slot = if rustix::process::geteuid().is_root() {
            let slot = Slot::claim().ok_or_else(|| SandboxError::SetupFailed {
                stage: "user".into(),
                errno: None,
                detail: "every sandbox user of this worker is in use".into(),
            })?;
            Some(slot)
        } else {
            None
        };
        let Some(mount) = spec.workspace.clone() else {
            return Ok(Self { slot, group, workspace: None, visit: None });
        };
        let looked = tokio::task::spawn_blocking(move || look(&mount)).await;
        let (workspace, visit) =
            looked.map_err(|_| SandboxError::Unavailable("the worker is shutting down".into()))??;
        Ok(Self { slot, group, workspace: Some(workspace), visit })
    }
}

/// The real directory of a workspace, and the stay there of a tool that may write. Blocks.
fn look(mount: &WorkspaceMount) -> Result<(PathBuf, Option<Visit>), SandboxError> {
    let host = mount
        .host
        .canonicalize()
        .map_err(|error| SandboxError::invalid("workspace", format!("cannot be read: {error}")))?;
    if !host.is_dir() {
        return Err(SandboxError::invalid("workspace", "is not a directory"));
    }
    let visit = match mount.access {
        WorkspaceAccess::ReadWrite => Some(Visit::begin(&host, mount.quota)?),
        WorkspaceAccess::ReadOnly => None,
    };
    Ok((host, visit))
}

/// Everything the launcher is told, in the order it reads it.
fn plans(
    programs: &SandboxPrograms,
    groups: &ControlGroups,
    spec: &SandboxSpec,
    host: &Host,
    piped: bool,
) -> Result<Vec<u8>, SandboxError> {
    let failed = |error: std::io::Error| SandboxError::setup("plan", &error);
    let staged = host.slot.is_some();
    let sources = Sources {
        launcher: if staged { Path::new(STAGED_LAUNCHER) } else { &programs.launcher },
        workspace: host.workspace.as_deref().map(|path| if staged { Path::new(STAGED_WORKSPACE) } else { path }),
        read_only: match staged {
            true => (0..spec.read_only_paths.len()).map(wire::staged_read_only).collect(),
            false => spec.read_only_paths.clone(),
        },
    };
    let nothing = ProtectedSnapshot::default();
    let snapshot = host.visit.as_ref().map_or(&nothing, Visit::protected);
    let outer = OuterPlan {
        control_groups: host.group.joins(),
        slot: host.slot.as_ref().map(Slot::id),
        launcher: programs.launcher.clone(),
        workspace: host.workspace.clone(),
        read_only: spec.read_only_paths.clone(),
        private_files: spec.private_files.clone(),
        bwrap: programs.bwrap.clone(),
        arguments: arguments::build(spec, &sources, snapshot)?,
    };
    let inner = InnerPlan {
        argv: spec.argv.clone(),
        env: variables(spec),
        cwd: spec.working_directory().to_owned(),
        stdin: match &spec.stdin {
            _ if piped => StdinPlan::Pipe,
            Some(stdin) => StdinPlan::Bytes(stdin.len() as u64),
            None => StdinPlan::Nothing,
        },
        network: spec.network.is_some(),
        rlimits: rlimits(&spec.limits, groups),
        host_namespaces: host_namespaces(),
        workspace_writable: host.workspace.is_some().then_some(host.visit.is_some()),
        protected: snapshot
            .read_only()
            .filter(|path| !spec.masks.hides(&path.path))
            .map(|path| ExpectedMount { path: arguments::inside(&path.path), dev: path.dev, ino: path.ino })
            .collect(),
        hidden: spec.masks.hidden.iter().map(|mask| arguments::inside(&mask.path)).collect(),
        private_files: spec.private_files.placed().map(|(place, _)| place).collect(),
    };
    let mut plans = wire::encode(&outer).map_err(failed)?;
    plans.extend(wire::encode(&inner).map_err(failed)?);
    plans.extend_from_slice(spec.stdin.as_deref().unwrap_or_default());
    Ok(plans)
}

/// Everything the program finds in its environment.
fn variables(spec: &SandboxSpec) -> BTreeMap<String, String> {
    let mut variables = environment::complete(&spec.env);
    for (name, value) in network::VARIABLES.iter().filter(|_| spec.network.is_some()) {
        variables.entry((*name).to_owned()).or_insert_with(|| (*value).to_owned());
    }
    if !spec.private_files.is_empty() {
        variables.insert(private::VARIABLE.to_owned(), CREDENTIALS.to_owned());
    }
    variables
}

/// Limits of each process. Bounds of the whole tree are in the control groups where there are any.
fn rlimits(limits: &RunLimits, groups: &ControlGroups) -> Vec<(u32, u64, u64)> {
    let both = |resource: u32, value: u64| (resource, value, value);
    // Behind a control group this is only the second wall, a little further out, so that the first one gives evidence.
    let processes = if groups.bounds_pids() { limits.pids + 64 } else { limits.pids + 1 };
    let mut list = vec![
        both(libc::RLIMIT_CORE, 0),
        both(libc::RLIMIT_NOFILE, limits.open_files),
        both(libc::RLIMIT_FSIZE, limits.file_bytes),
        (libc::RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1),
        both(libc::RLIMIT_NPROC, processes),
        both(libc::RLIMIT_STACK, 8 * 1024 * 1024),
        both(libc::RLIMIT_MEMLOCK, 64 * 1024),
        both(libc::RLIMIT_MSGQUEUE, 64 * 1024),
        both(libc::RLIMIT_SIGPENDING, 1024),
    ];
    if !groups.bounds_memory() {
        list.push(both(libc::RLIMIT_DATA, limits.memory_bytes));
    }
    list
}

/// Inodes of this process's namespaces.
pub(crate) fn host_namespaces() -> BTreeMap<String, u64> {
    use std::os::unix::fs::MetadataExt as _;
    let inode = |name: &&str| Some(std::fs::metadata(format!("/proc/self/ns/{name}")).ok()?.ino());
    NAMESPACES.iter().filter_map(|name| Some(((*name).to_owned(), inode(name)?))).collect()
}

async fn stand_up(
    control: &mut UnixStream,
    reports: &mut Reports,
    plans: &[u8],
    input: Option<OwnedFd>,
    gate: Option<Arc<dyn Gate>>,
) -> Result<Option<Proxy>, SandboxError> {
    // A failed launcher closes the channel while we write; what it reported first is the reason, not the closed pipe.
    let mut written = control.write_all(plans).await;
    if let (Ok(()), Some(pipe)) = (&written, input) {
        written = hand_over(control, &pipe).await;
    }
    let proxy = match gate {
        Some(gate) => {
            match reports.descriptor(control).await.map_err(|error| SandboxError::setup("network", &error))? {
                Some(listener) => {
                    Some(Proxy::start(listener, gate).map_err(|error| SandboxError::setup("network", &error))?)
                }
                // Something failed before; what, is told next.
                None => None,
            }
        }
        None => None,
    };
    let mut stage = "namespaces";
    loop {
        match reports.next(control).await {
            Ok(Some(LauncherReport::Failed { stage, errno, detail })) => {
                return Err(SandboxError::SetupFailed { stage, errno, detail });
            }
            Ok(Some(LauncherReport::Inside)) => stage = "start",
            Ok(Some(LauncherReport::Started)) => return Ok(proxy),
            Ok(Some(LauncherReport::Exited { .. } | LauncherReport::Uses(_))) => {
                let detail = "the launcher reported an end before a start".into();
                return Err(SandboxError::SetupFailed { stage: stage.into(), errno: None, detail });
            }
            Ok(None) => {
                let errno = written.as_ref().err().and_then(std::io::Error::raw_os_error);
                return Err(SandboxError::SetupFailed { stage: stage.into(), errno, detail: String::new() });
            }
            Err(error) => return Err(SandboxError::setup(stage, &error)),
        }
    }
}

/// Sends a descriptor, with one byte to carry it.
async fn hand_over(control: &UnixStream, fd: &OwnedFd) -> std::io::Result<()> {
    control
        .async_io(Interest::WRITABLE, || {
            let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut message = SendAncillaryBuffer::new(&mut room);
            let fds = [fd.as_fd()];
            if !message.push(SendAncillaryMessage::ScmRights(&fds)) {
                return Err(std::io::ErrorKind::OutOfMemory.into());
            }
            rustix::net::sendmsg(control, &[IoSlice::new(&[0])], &mut message, SendFlags::NOSIGNAL)?;
            Ok(())
        })
        .await
}

/// Adds what bubblewrap said to a failure that has no words of its own, once everything has ended.
async fn explain(error: SandboxError, control: UnixStream, mut child: Child) -> SandboxError {
    drop(control);
    let SandboxError::SetupFailed { stage, errno, detail } = error else { return error };
    if !detail.is_empty() {
        return SandboxError::SetupFailed { stage, errno, detail };
    }
    let mut said = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let mut bounded = stderr.take(2048);
        let _ = tokio::time::timeout(Duration::from_secs(2), bounded.read_to_end(&mut said)).await;
    }
    let said = crate::excerpt::excerpt(String::from_utf8_lossy(&said).trim());
    let detail = if said.is_empty() { "the launcher ended without an answer".into() } else { said };
    SandboxError::SetupFailed { stage, errno, detail }
}
