//! What the worker and the launcher say to each other: length-prefixed JSON frames over one socket pair.
//!
//! The worker sends an [`OuterPlan`] (read before bubblewrap starts), an [`InnerPlan`] followed by the standard input of
//! the tool (bytes or a descriptor, read inside the sandbox), and then [`Order`]s. The launcher answers with [`LauncherReport`]s. The exit code of the
//! launcher means nothing: the tool cannot speak on this channel, so it cannot forge a report.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::exit::{ProcessEnd, ResourceUse, UseNow, Violation};
use crate::private::PrivateFiles;

/// Most bytes of one frame.
pub(crate) const MAX_FRAME: usize = 4 * 1024 * 1024;

/// Where the launcher lies inside the sandbox.
pub(crate) const INNER_LAUNCHER: &str = "/.toolplane/launcher";
/// Where the outer stage puts the launcher, the workspace and what else can be read when it runs as root, in a mount namespace of its own.
pub(crate) const STAGED_LAUNCHER: &str = "/tmp/launcher";
/// See [`STAGED_LAUNCHER`].
pub(crate) const STAGED_WORKSPACE: &str = "/tmp/workspace";

/// See [`STAGED_LAUNCHER`]: the path numbered `index` of those that can be read.
pub(crate) fn staged_read_only(index: usize) -> PathBuf {
    format!("/tmp/read-only-{index}").into()
}

/// Where bubblewrap finds the first of the private files; the others follow. Above every descriptor the outer stage has open.
pub(crate) const PRIVATE_FILE_FD: i32 = 100;

/// First argument of the launcher: which part it plays.
pub(crate) const PART_OUTER: &str = "outer";
/// See [`PART_OUTER`].
pub(crate) const PART_INNER: &str = "inner";
/// See [`PART_OUTER`].
pub(crate) const PART_SELF_TEST: &str = "self-test";
/// See [`PART_OUTER`].
pub(crate) const PART_LINGER: &str = "linger";

/// What the outer stage does before it becomes bubblewrap.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OuterPlan {
    /// `cgroup.procs` files to join.
    pub(crate) control_groups: Vec<PathBuf>,
    /// The user to become, when the worker is root.
    pub(crate) slot: Option<u32>,
    /// The launcher on the host, to be staged.
    pub(crate) launcher: PathBuf,
    /// The workspace on the host, to be staged.
    pub(crate) workspace: Option<PathBuf>,
    /// Further paths of the host, to be staged.
    pub(crate) read_only: Vec<PathBuf>,
    /// To be handed to bubblewrap, in their order.
    pub(crate) private_files: PrivateFiles,
    /// The bubblewrap program.
    pub(crate) bwrap: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
}

/// What the inner stage does as process 1 of the sandbox.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct InnerPlan {
    pub(crate) argv: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cwd: String,
    /// What the tool reads.
    pub(crate) stdin: StdinPlan,
    /// Open a listening socket for the worker's proxy, and hand it over before the first report.
    pub(crate) network: bool,
    /// (resource, soft, hard), as numbered by the operating system.
    pub(crate) rlimits: Vec<(u32, u64, u64)>,
    /// Namespaces of the worker, which must not be ours: name to inode.
    pub(crate) host_namespaces: BTreeMap<String, u64>,
    /// Whether the workspace must be writable; absent when there is none.
    pub(crate) workspace_writable: Option<bool>,
    /// Protected paths that must be mounted read-only.
    pub(crate) protected: Vec<ExpectedMount>,
    /// Paths that must not open.
    pub(crate) hidden: Vec<String>,
    /// Where the private files must be, readable by the tool alone.
    pub(crate) private_files: Vec<String>,
}

/// Where the standard input of the tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StdinPlan {
    /// From nowhere: end of file at once.
    Nothing,
    /// As many bytes follow the frame.
    Bytes(u64),
    /// One byte follows the frame, and with it the end of a pipe.
    Pipe,
}

/// A protected path as the worker saw it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ExpectedMount {
    /// Path inside the sandbox.
    pub(crate) path: String,
    pub(crate) dev: u64,
    pub(crate) ino: u64,
}

/// From the worker, while the tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Ask every process to end.
    Terminate,
    /// Kill every process.
    Kill,
    /// Tell what the tree uses now.
    Tell,
}

/// From the launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum LauncherReport {
    /// A layer failed; the tool does not run.
    Failed { stage: String, errno: Option<i32>, detail: String },
    /// The inner stage runs and every layer was checked.
    Inside,
    /// The tool was started.
    Started,
    /// The answer to [`Order::Tell`].
    Uses(UseNow),
    /// The tool ended, and with it everything it had started.
    Exited {
        ending: ProcessEnd,
        resources: ResourceUse,
        /// Scratch file systems that were full at the end.
        scratch_full: Vec<String>,
        violations: Vec<Violation>,
    },
}

/// Writes one frame.
pub(crate) fn write_frame<T: Serialize>(sink: &mut impl Write, value: &T) -> io::Result<()> {
    sink.write_all(&encode(value)?)
}

/// One frame as bytes.
pub(crate) fn encode<T: Serialize>(value: &T) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(value)?;
    if body.len() > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "frame is too large"));
    }
    let mut frame = (body.len() as u32).to_le_bytes().to_vec();
    frame.extend_from_slice(&body);
    Ok(frame)
}

/// Reads one frame and not a byte more, blocking.
pub(crate) fn read_frame<T: DeserializeOwned>(source: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    source.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "frame is too large"));
    }
    let mut body = vec![0; length];
    source.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

/// Takes the first whole frame out of `buffer`, if there is one.
pub(crate) fn take_frame<T: DeserializeOwned>(buffer: &mut Vec<u8>) -> io::Result<Option<T>> {
    let Some(length) = buffer.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if length > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "frame is too large"));
    }
    if buffer.len() < 4 + length {
        return Ok(None);
    }
    let value = serde_json::from_slice(&buffer[4..4 + length])?;
    buffer.drain(..4 + length);
    Ok(Some(value))
}
