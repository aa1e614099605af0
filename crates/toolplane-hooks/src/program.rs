//! Hooks that are programs: one sandboxed run for every question.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OnceCell, Semaphore};
use toolplane_records::vocabulary::HookEvent;
use toolplane_runtime::config::{HookConfig, Workspaces};
use toolplane_sandbox::bubblewrap::BubblewrapOptions;
use toolplane_sandbox::environment::DEFAULT_PATH;
use toolplane_sandbox::spec::{SCRATCH, WORKSPACE};
use toolplane_sandbox::{
    Bubblewrap, Exit, Posture, ProcessEnd, Profile, RunLimits, SandboxBackend as _, SandboxError, SandboxSpec,
};

use crate::bounds::MAX_ANSWER_BYTES;
use crate::failure::HookFailure;
use crate::hook_meta::HookMeta;
use crate::input::HookInput;
use crate::output::{self, HookOutput};
use crate::told;

const MIB: u64 = 1024 * 1024;
/// Programs of this process that run at once; others wait, and their time goes on.
const AT_ONCE: usize = 64;

/// Where programs are run, for all hooks of this process.
#[derive(Debug)]
pub(crate) struct Sandbox {
    backend: Bubblewrap,
    posture: Posture,
    room: Semaphore,
}

impl Sandbox {
    /// The sandbox of this process, probed once. Takes about a second the first time.
    pub(crate) async fn of_process() -> Arc<Self> {
        static SANDBOX: OnceCell<Arc<Sandbox>> = OnceCell::const_new();
        let probe = async {
            let backend = Bubblewrap::new(&BubblewrapOptions::default());
            let posture = backend.probe().await;
            Arc::new(Self { backend, posture, room: Semaphore::new(AT_ONCE) })
        };
        SANDBOX.get_or_init(|| probe).await.clone()
    }

    /// Why nothing can be run here, if nothing can.
    pub(crate) fn missing(&self) -> Option<String> {
        let reason = || self.posture.missing_reason.clone().unwrap_or_else(|| "unknown reason".to_owned());
        (!self.posture.available).then(reason)
    }
}

/// One hook that is a program.
#[derive(Debug)]
pub(crate) struct Program {
    spec: SandboxSpec,
    workspaces: Workspaces,
    timeout: Duration,
}

/// A program that cannot be a hook: the key of the hook's configuration that is wrong, and the rule it breaks.
#[derive(Debug)]
pub(crate) struct ProgramError {
    pub(crate) key: &'static str,
    pub(crate) rule: String,
}

impl ProgramError {
    fn command(rule: String) -> Self {
        Self { key: "command", rule }
    }

    fn read_only_paths(rule: String) -> Self {
        Self { key: "read_only_paths", rule }
    }
}

impl Program {
    /// The program of `hook`, which may read the workspace of the tenant whose call it is asked about. Checks all that can be
    /// checked without running it.
    pub(crate) fn of(hook: &HookConfig, workspaces: Workspaces) -> Result<Self, ProgramError> {
        let argv = hook.command.clone().unwrap_or_default();
        check_places(&argv, &hook.read_only_paths)?;
        let mut spec = SandboxSpec::new(argv);
        // Not in the workspace: an interpreter looks for its modules where it starts, and tools write there.
        spec.cwd = Some(SCRATCH.to_owned());
        spec.read_only_paths = hook.read_only_paths.clone();
        spec.declared_env = hook.env.iter().cloned().collect::<BTreeSet<_>>();
        spec.env = environment(&hook.env);
        spec.limits = limits(hook);
        spec.check().map_err(|error| match error {
            SandboxError::Invalid { field: "read_only_paths", rule } => ProgramError::read_only_paths(rule),
            SandboxError::Invalid { field: "env", rule } => ProgramError { key: "env", rule },
            other => ProgramError::command(other.to_string()),
        })?;
        check_program(&spec.argv, &hook.read_only_paths)?;
        Ok(Self { spec, workspaces, timeout: hook.timeout() })
    }

    /// Asks the program.
    pub(crate) async fn ask(
        &self,
        sandbox: &Sandbox,
        event: HookEvent,
        hook: &HookMeta,
        input: &HookInput,
    ) -> Result<HookOutput, HookFailure> {
        let workspace = self.workspaces.existing(input.caller.tenant.as_str());
        let place = if workspace.is_some() { WORKSPACE } else { SCRATCH };
        let mut spec = SandboxSpec { stdin: Some(told::told(event, hook, input, place)), ..self.spec.clone() };
        if let Some(workspace) = workspace {
            spec = spec.with_profile(Profile::WorkspaceReadOnly, workspace);
        }
        let run = async {
            let _room = sandbox.room.acquire().await;
            sandbox.backend.spawn(spec, None).await?.wait().await
        };
        // Dropped when the time is up, which kills everything the program started.
        let exit = tokio::time::timeout(self.timeout, run).await.map_err(|_| self.late())?;
        let exit = exit.map_err(|error| HookFailure::NotRun { reason: error.code().to_owned() })?;
        self.read(event, &exit)
    }

    /// How long it may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    fn late(&self) -> HookFailure {
        HookFailure::Timeout { after: self.timeout }
    }

    fn read(&self, event: HookEvent, exit: &Exit) -> Result<HookOutput, HookFailure> {
        if exit.timed_out {
            return Err(self.late());
        }
        if exit.output_limit_hit || exit.stdout.truncated {
            return Err(HookFailure::TooLarge { bound: MAX_ANSWER_BYTES });
        }
        match exit.ending {
            ProcessEnd::Code(0) => output::read(event, &exit.stdout.kept()),
            ProcessEnd::Code(2) => Ok(output::refused(event, &exit.stderr.kept())),
            ProcessEnd::Code(code) => Err(HookFailure::ExitCode { code }),
            ProcessEnd::Signal(signal) => Err(HookFailure::Signal { signal }),
        }
    }
}

fn limits(hook: &HookConfig) -> RunLimits {
    let answer = MAX_ANSWER_BYTES as u64;
    RunLimits {
        wall: hook.timeout(),
        grace: Duration::from_millis(50),
        cpu_seconds: hook.timeout().as_secs() + 1,
        memory_bytes: hook.memory_bytes,
        pids: hook.pids.into(),
        file_bytes: 16 * MIB,
        scratch_bytes: 64 * MIB,
        // Half of what is kept is the beginning: an answer within its bound is kept in whole.
        output_kept_bytes: answer * 2,
        output_max_bytes: answer,
        ..RunLimits::default()
    }
}

/// Variables of this process that were allowed and are there. What is not text is not there.
fn environment(allowed: &[String]) -> BTreeMap<String, String> {
    allowed.iter().filter_map(|name| Some((name.clone(), std::env::var(name).ok()?))).collect()
}

/// Directories every sandbox has.
const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

/// Programs that run the script that is their first argument; version numbers are left out.
const INTERPRETERS: &[&str] =
    &["bash", "bun", "dash", "deno", "lua", "node", "perl", "php", "pypy", "python", "ruby", "Rscript", "sh", "zsh"];

/// What is run must be there and a program; a script that is named must be there, where it could be seen.
fn check_program(argv: &[String], shared: &[PathBuf]) -> Result<(), ProgramError> {
    let runs =
        |path: &Path| path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    let Some((program, arguments)) = argv.split_first() else { return Ok(()) };
    if program.contains('/') {
        if !Path::new(program).is_file() {
            return Err(ProgramError::command(format!("`{program}` does not exist")));
        }
        if !runs(Path::new(program)) {
            return Err(ProgramError::command(format!("`{program}` is not executable")));
        }
    } else if !DEFAULT_PATH.split(':').any(|dir| runs(&Path::new(dir).join(program))) {
        return Err(ProgramError::command(format!("`{program}` is no program in {DEFAULT_PATH}")));
    }
    let script =
        is_interpreter(program).then(|| arguments.iter().find(|argument| !argument.starts_with('-'))).flatten();
    let script = script.map(Path::new).filter(|path| path.is_absolute() && !path.starts_with(WORKSPACE));
    let is_shared = |path: &&Path| shared.iter().any(|dir| path.starts_with(dir));
    let named = arguments.iter().map(Path::new).filter(is_shared).chain(script);
    let missing = named.into_iter().find(|path| !path.exists());
    missing.map_or(Ok(()), |path| Err(ProgramError::command(format!("`{}` does not exist", path.display()))))
}

/// Whether a program runs the script that is its first argument.
fn is_interpreter(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name)
}

/// What a hook runs must be there for it, and be nothing that tools could have written.
fn check_places(argv: &[String], shared: &[PathBuf]) -> Result<(), ProgramError> {
    let is_system = |path: &Path| SYSTEM.iter().any(|dir| path.starts_with(dir));
    for (index, argument) in argv.iter().enumerate() {
        let path = Path::new(argument);
        if index == 0 && argument.contains('/') && !path.is_absolute() {
            let rule = format!("`{argument}` must be the name of a program or an absolute path");
            return Err(ProgramError::command(rule));
        }
        if !path.is_absolute() || is_system(path) || shared.iter().any(|dir| path.starts_with(dir)) {
            continue;
        }
        if index == 0 || path.exists() {
            let rule = format!("`{argument}` cannot be seen in the sandbox: name it or its directory here");
            return Err(ProgramError::read_only_paths(rule));
        }
    }
    match shared.iter().find(|path| !path.exists()) {
        Some(path) => Err(ProgramError::read_only_paths(format!("`{}` does not exist", path.display()))),
        None => Ok(()),
    }
}
