//! What one sandboxed run is given.

pub use crate::inside::{CREDENTIALS, SCRATCH, WORKSPACE};

use crate::excerpt::excerpt;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use crate::environment;
use crate::error::SandboxError;
use crate::limits::RunLimits;
use crate::network::Gate;
use crate::private::PrivateFiles;
use crate::quota::Quota;

/// Most bytes of one argument, and of all arguments together.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;
const MAX_ARGUMENTS_BYTES: usize = 1024 * 1024;
const MAX_ARGUMENTS: usize = 4096;
/// Most bytes given on standard input.
pub const MAX_STDIN_BYTES: usize = 16 * 1024 * 1024;

/// A named set of permissions a tool can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// No workspace, scratch only. Also for everything that declares nothing.
    ComputeOnly,
    /// The workspace, read-only.
    WorkspaceReadOnly,
    /// The workspace, writable but for its protected paths.
    WorkspaceWrite,
    /// Like [`Profile::WorkspaceWrite`]; the name shell tools declare.
    WorkspaceShellSandbox,
    /// A server that talks over its standard input and output for as long as its session lasts: a home of its own in scratch space,
    /// and a workspace only where [`SandboxSpec::workspace`] is set besides.
    McpStdioServer,
}

impl Profile {
    /// Every profile.
    pub const ALL: &'static [Self] = &[
        Self::ComputeOnly,
        Self::WorkspaceReadOnly,
        Self::WorkspaceWrite,
        Self::WorkspaceShellSandbox,
        Self::McpStdioServer,
    ];

    /// The name tools declare.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ComputeOnly => "compute_only",
            Self::WorkspaceReadOnly => "workspace_read_only",
            Self::WorkspaceWrite => "workspace_write",
            Self::WorkspaceShellSandbox => "workspace_shell_sandbox",
            Self::McpStdioServer => "mcp_stdio_server",
        }
    }

    /// What the profile allows in the workspace; `None` when it has none.
    pub const fn access(self) -> Option<WorkspaceAccess> {
        match self {
            Self::ComputeOnly | Self::McpStdioServer => None,
            Self::WorkspaceReadOnly => Some(WorkspaceAccess::ReadOnly),
            Self::WorkspaceWrite | Self::WorkspaceShellSandbox => Some(WorkspaceAccess::ReadWrite),
        }
    }
}

impl FromStr for Profile {
    type Err = SandboxError;
    fn from_str(text: &str) -> Result<Self, SandboxError> {
        Self::ALL.iter().copied().find(|profile| profile.as_str() == text).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|profile| profile.as_str()).collect();
            SandboxError::invalid(
                "sandbox_profile",
                format!("`{}` is not a sandbox profile; known are {}", excerpt(text), known.join(", ")),
            )
        })
    }
}

/// What a tool may do in its workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceAccess {
    /// Read.
    ReadOnly,
    /// Read and write, but for protected paths (see [`crate::protected`]).
    ReadWrite,
}

/// A host directory that appears as [`WORKSPACE`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceMount {
    /// The directory on the host; absolute, existing. Symbolic links in it are followed: the operator chose it.
    pub host: PathBuf,
    /// What the tool may do there.
    pub access: WorkspaceAccess,
    /// How much it may hold when the tool may write.
    pub quota: Quota,
}

/// Paths of the workspace that are kept from one run, relative to it, without `.`, `..` and links. Nothing under another name leads
/// to them but a hard link, which is a path of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Masks {
    /// Cannot be opened, whatever is there.
    pub hidden: Vec<MaskedPath>,
    /// Can be read only.
    pub read_only: Vec<MaskedPath>,
}

/// A file or directory of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MaskedPath {
    /// Relative to the workspace; not empty.
    pub path: String,
    /// A directory with everything beneath it, or else a file.
    pub directory: bool,
}

impl Masks {
    /// Most paths of one run.
    pub const MAX: usize = 512;

    /// Whether nothing is kept from the run.
    pub fn is_empty(&self) -> bool {
        self.hidden.is_empty() && self.read_only.is_empty()
    }

    /// Whether `path` is hidden, or lies beneath what is.
    pub(crate) fn hides(&self, path: &str) -> bool {
        self.hidden.iter().any(|mask| {
            path.strip_prefix(mask.path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Every directory above a masked path, those above others first.
    pub fn above(&self) -> Vec<&str> {
        let paths = self.hidden.iter().chain(&self.read_only).map(|mask| mask.path.as_str());
        let mut above: Vec<&str> =
            paths.flat_map(|path| path.match_indices('/').map(move |(end, _)| &path[..end])).collect();
        above.sort_unstable();
        above.dedup();
        above
    }

    fn check(&self) -> Result<(), SandboxError> {
        if self.hidden.len() + self.read_only.len() > Self::MAX || self.above().len() > Self::MAX {
            return Err(SandboxError::invalid("masks", format!("has more than {} paths", Self::MAX)));
        }
        let plain = |mask: &MaskedPath| {
            mask.path.split('/').all(|name| !matches!(name, "" | "." | "..")) && !mask.path.contains('\0')
        };
        if !self.hidden.iter().chain(&self.read_only).all(plain) {
            return Err(SandboxError::invalid("masks", "has a path that is not one beneath the workspace"));
        }
        Ok(())
    }
}

/// Everything one run is given. What is not here does not exist for the tool.
#[derive(Clone, Debug)]
pub struct SandboxSpec {
    /// Program and arguments. A program without a slash is looked up in [`environment::DEFAULT_PATH`].
    pub argv: Vec<String>,
    /// What the tool reads on standard input; end of file at once when absent.
    pub stdin: Option<Vec<u8>>,
    /// The workspace, if the tool has one.
    pub workspace: Option<WorkspaceMount>,
    /// Paths of the workspace that are kept from the tool.
    pub masks: Masks,
    /// Further host directories the tool may read, at the same path inside. For tools installed outside `/usr`.
    pub read_only_paths: Vec<PathBuf>,
    /// Working directory inside; the workspace when there is one, else the scratch directory, when absent.
    pub cwd: Option<String>,
    /// Environment variables beside the fixed ones (see [`environment`]).
    pub env: BTreeMap<String, String>,
    /// Names the operator declared although they can change what programs run (`PATH`, `LD_LIBRARY_PATH`, ...).
    pub declared_env: BTreeSet<String>,
    /// Files in [`CREDENTIALS`] that nobody but the run has.
    pub private_files: PrivateFiles,
    /// Who connects the run to hosts, for each connection; without one it has no network.
    pub network: Option<Arc<dyn Gate>>,
    /// Bounds of the run.
    pub limits: RunLimits,
    /// Directory on the host for outputs that do not fit into memory; without one, their middle is left out.
    pub outputs: Option<PathBuf>,
}

impl SandboxSpec {
    /// A run of `argv` with nothing but scratch space and the default limits.
    pub fn new(argv: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            stdin: None,
            workspace: None,
            masks: Masks::default(),
            read_only_paths: Vec::new(),
            cwd: None,
            env: BTreeMap::new(),
            declared_env: BTreeSet::new(),
            private_files: PrivateFiles::default(),
            network: None,
            limits: RunLimits::default(),
            outputs: None,
        }
    }

    /// A server `argv` to be opened as a session: [`Profile::McpStdioServer`] with the limits of one.
    pub fn server(argv: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { limits: RunLimits::session(), ..Self::new(argv) }
    }

    /// The same run with `profile` applied to the directory `workspace`; a profile without a workspace ignores it.
    #[must_use]
    pub fn with_profile(mut self, profile: Profile, workspace: impl Into<PathBuf>) -> Self {
        self.workspace =
            profile.access().map(|access| WorkspaceMount { host: workspace.into(), access, quota: Quota::default() });
        self
    }

    /// Working directory inside the sandbox.
    pub fn working_directory(&self) -> &str {
        match &self.cwd {
            Some(cwd) => cwd,
            None if self.workspace.is_some() => WORKSPACE,
            None => SCRATCH,
        }
    }

    /// Checks everything that can be checked without starting anything.
    ///
    /// Fails with [`SandboxError::Invalid`], naming the field and the rule.
    pub fn check(&self) -> Result<(), SandboxError> {
        check_arguments(&self.argv)?;
        if self.stdin.as_ref().is_some_and(|stdin| stdin.len() > MAX_STDIN_BYTES) {
            return Err(SandboxError::invalid("stdin", format!("is larger than {MAX_STDIN_BYTES} bytes")));
        }
        let cwd = self.working_directory();
        if !cwd.starts_with('/') || cwd.contains('\0') || cwd.len() > 4096 {
            return Err(SandboxError::invalid("cwd", "must be an absolute path without NUL, up to 4096 bytes"));
        }
        for path in &self.read_only_paths {
            check_read_only(path)?;
        }
        if let Some(workspace) = &self.workspace
            && !workspace.host.is_absolute()
        {
            return Err(SandboxError::invalid("workspace", "must be an absolute path"));
        }
        self.masks.check()?;
        self.private_files.check()?;
        environment::check(&self.env, &self.declared_env)
    }
}

fn check_arguments(argv: &[String]) -> Result<(), SandboxError> {
    let refuse = |text: String| Err(SandboxError::invalid("argv", text));
    if argv.first().is_none_or(String::is_empty) {
        return refuse("must name a program".into());
    }
    if argv.len() > MAX_ARGUMENTS {
        return refuse(format!("has more than {MAX_ARGUMENTS} arguments"));
    }
    if argv.iter().any(|argument| argument.contains('\0')) {
        return refuse("must not contain NUL".into());
    }
    if argv.iter().any(|argument| argument.len() > MAX_ARGUMENT_BYTES) {
        return refuse(format!("has an argument larger than {MAX_ARGUMENT_BYTES} bytes"));
    }
    if argv.iter().map(String::len).sum::<usize>() > MAX_ARGUMENTS_BYTES {
        return refuse(format!("is larger than {MAX_ARGUMENTS_BYTES} bytes"));
    }
    Ok(())
}

/// Directories of the sandbox itself; binding over or around them would undo a layer.
const OWN_PLACES: &[&str] = &["/proc", "/dev", "/sys", "/etc", "/tmp", "/run", "/workspace", "/.toolplane", "/usr"];

fn check_read_only(path: &std::path::Path) -> Result<(), SandboxError> {
    let refuse = |rule: &str| {
        Err(SandboxError::invalid("read_only_paths", format!("`{}` {rule}", excerpt(&path.to_string_lossy()))))
    };
    let plain = path.components().skip(1).all(|part| matches!(part, std::path::Component::Normal(_)));
    if !path.is_absolute() || !plain {
        return refuse("must be an absolute path without `.` and `..`");
    }
    if path.parent().is_none() || OWN_PLACES.iter().any(|place| path.starts_with(place)) {
        return refuse("is a directory the sandbox lays out itself");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
