//! Running a call's process in the sandbox and mapping its end to an outcome.

mod mapping;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::vocabulary::ResultStatus;
use toolplane_sandbox::{
    Masks, Posture, Profile, Progress, RunLimits, Running, SandboxBackend, SandboxError, SandboxSpec, Usage,
    WorkspaceAccess,
};

use crate::artifacts::{ArtifactBounds, Expected};
use crate::budget::{self, Budget};
use crate::call::{Call, Context};
use crate::credentials::CredentialSource;
use crate::denied;
use crate::failure;
use crate::live::LiveOutput;
use crate::masked;
use crate::outcome::Outcome;
use crate::progress::{Counts, Meter, final_status};

pub(crate) use mapping::{Rules, report};

/// The sandbox of a worker, with what runs in it by default.
#[derive(Debug)]
pub(crate) struct Sandboxed {
    pub(crate) backend: Arc<dyn SandboxBackend>,
    pub(crate) posture: Posture,
    pub(crate) workspace: PathBuf,
    pub(crate) limits: RunLimits,
    pub(crate) ceiling: RunLimits,
    pub(crate) read_only_paths: Vec<PathBuf>,
    pub(crate) outputs: Option<PathBuf>,
    pub(crate) artifacts: ArtifactBounds,
    pub(crate) budget: Arc<Budget>,
    pub(crate) credentials: Arc<CredentialSource>,
}

impl Sandboxed {
    /// What a call is given: its profile applied to its workspace, its limits, and the variables every tool gets.
    pub(crate) fn spec(&self, call: &Call, argv: Vec<String>, default: Profile) -> Result<SandboxSpec, ToolError> {
        let profile = match &call.place.sandbox_profile {
            None => default,
            Some(name) => name.parse().map_err(|error: SandboxError| failure::invalid_binding(error.to_string()))?,
        };
        let workspace = call.place.workspace.as_ref().unwrap_or(&self.workspace);
        let mut spec = SandboxSpec::new(argv).with_profile(profile, workspace);
        if let Some(mount) = spec.workspace.as_mut().filter(|mount| mount.access == WorkspaceAccess::ReadWrite) {
            mount.quota = self.budget.quota(workspace)?;
        }
        spec.read_only_paths = self.read_only_paths.clone();
        spec.limits = self.limits(call);
        spec.outputs = self.outputs.clone();
        spec.declared_env = BTreeSet::new();
        for (name, value) in [
            ("TOOLPLANE_INVOCATION_ID", call.invocation_id.as_str().to_owned()),
            ("TOOLPLANE_IDEMPOTENCY_KEY", call.attempt.idempotency_key.clone()),
            ("TOOLPLANE_FENCE", call.attempt.fence.to_string()),
            ("TOOLPLANE_LOCK_FENCE", call.attempt.lock_fence.to_string()),
            ("TOOLPLANE_ATTEMPT", call.attempt.number.to_string()),
        ] {
            spec.env.insert(name.to_owned(), value);
        }
        Ok(spec)
    }

    fn limits(&self, call: &Call) -> RunLimits {
        let mut limits = self.limits.clone();
        if let Some(timeout) = call.limits.timeout {
            limits.wall = timeout;
        }
        if let Some(bytes) = call.limits.max_output_bytes {
            limits.output_max_bytes = bytes.max(1);
        }
        limits = limits.within(&self.ceiling);
        // A tool that may run for long may also compute for long.
        limits.cpu_seconds = limits.cpu_seconds.max(limits.wall.as_secs()).min(self.ceiling.cpu_seconds);
        limits
    }

    /// Runs `spec` to its end, without what rules keep from `call`.
    pub(crate) async fn run(
        &self,
        mut spec: SandboxSpec,
        call: &Call,
        context: &Context,
        rules: &Rules<'_>,
    ) -> Outcome {
        if !self.posture.available {
            return Outcome::failure(unavailable(self.posture.missing_reason.as_deref().unwrap_or("unknown reason")));
        }
        if let Some(workspace) = &spec.workspace {
            match masks(call, &workspace.host).await {
                Ok(masks) => spec.masks = masks,
                Err(error) => return Outcome::failure(error),
            }
        }
        let expected = match Expected::of(call, &spec, self.artifacts).await {
            Ok(expected) => expected,
            Err(error) => return Outcome::failure(error),
        };
        let limits = spec.limits.clone();
        let workspace = spec.workspace.as_ref().map(|mount| mount.host.clone());
        let meter = Meter::start(&context.progress);
        let (live, tap) = call.partial_results.then(|| LiveOutput::start(&context.progress)).unzip();
        let spawned = tokio::select! {
            biased;
            spawned = self.backend.spawn(spec, tap) => spawned,
            () = context.cancel.cancelled() => {
                return Outcome::failure(failure::nothing_done(failure::canceled()));
            }
        };
        match spawned {
            Ok(running) => {
                let (outcome, usage) = watch(running, (meter, live), context, &limits, rules, &self.credentials).await;
                // Of a run that was stopped nothing is taken: its files may be half written.
                let ended =
                    usage.is_some() && !matches!(outcome.status, ResultStatus::TimedOut | ResultStatus::Canceled);
                if let Some((workspace, usage)) = workspace.zip(usage) {
                    self.budget.note(&workspace, usage, Duration::ZERO);
                }
                match expected.filter(|_| ended) {
                    Some(expected) => expected.taken(outcome, &self.credentials, &context.cancel).await,
                    None => outcome,
                }
            }
            Err(error) => Outcome::failure(no_exit(&error)),
        }
    }
}

/// What of the directory `workspace` is kept from `call`, as it is now.
pub(crate) async fn masks(call: &Call, workspace: &Path) -> Result<Masks, ToolError> {
    if call.place.denied.is_empty() {
        return Ok(Masks::default());
    }
    let (denied, workspace) = (call.place.denied.clone(), workspace.to_owned());
    let looked = tokio::task::spawn_blocking(move || denied::masks(&denied, &workspace)).await;
    looked.unwrap_or_else(|_| Err(failure::nothing_done(failure::worker_failed())))
}

/// Waits for the end, tells progress, and passes a cancellation on. Also tells what the workspace holds at the end.
async fn watch(
    running: Running,
    (mut meter, mut live): (Meter, Option<LiveOutput>),
    context: &Context,
    limits: &RunLimits,
    rules: &Rules<'_>,
    credentials: &CredentialSource,
) -> (Outcome, Option<Usage>) {
    let mut progress = running.progress();
    let canceler = running.canceler();
    context.kill.arm(running.killer());
    let mut canceled = false;
    let mut open = true;
    let mut end = std::pin::pin!(running.wait());
    let ended = loop {
        tokio::select! {
            biased;
            ended = &mut end => break ended,
            () = context.cancel.cancelled(), if !canceled => {
                canceled = true;
                canceler.cancel();
            }
            changed = progress.changed(), if open => {
                open = changed.is_ok();
                meter.note(counts(&progress.borrow_and_update()));
                live.iter_mut().for_each(LiveOutput::note);
            }
            () = meter.due() => {
                meter.flush();
                live.iter_mut().for_each(LiveOutput::note);
            }
        }
    };
    let (outcome, usage) = match ended {
        Ok(mut exit) => {
            let mask = credentials.mask();
            masked::captured(&mask, &mut exit.stdout).await;
            masked::captured(&mask, &mut exit.stderr).await;
            (report(&exit, limits, rules), exit.workspace_usage)
        }
        Err(error) => (Outcome::failure(no_exit(&error)), None),
    };
    let last = counts(&progress.borrow());
    meter.finish(last, final_status(&outcome));
    (outcome, usage)
}

fn counts(progress: &Progress) -> Counts {
    Counts {
        bytes_written: Some(progress.stdout_bytes + progress.stderr_bytes),
        line_count: Some(progress.stdout_lines + progress.stderr_lines),
        ..Counts::default()
    }
}

/// Nothing was or will be run here.
pub(crate) fn unavailable(reason: &str) -> ToolError {
    failure::nothing_done(ToolError::of(
        codes::SANDBOX_UNAVAILABLE,
        format!("this worker cannot run sandboxed tools: {reason}"),
    ))
}

/// The error of a run that has no exit.
pub(crate) fn no_exit(error: &SandboxError) -> ToolError {
    let message = error.to_string();
    match error {
        SandboxError::Invalid { field: "workspace", .. } => failure::invalid_binding(message),
        SandboxError::Invalid { field, rule } => failure::invalid_input(field, rule.clone()),
        SandboxError::Full { .. } => budget::full(message),
        SandboxError::Unavailable(reason) => unavailable(reason),
        SandboxError::SetupFailed { stage, errno, .. } => ToolError {
            native_error_ref: Some(match errno {
                Some(errno) => format!("stage={stage},errno={errno}"),
                None => format!("stage={stage}"),
            }),
            ..not_set_up(stage, errno.map(Errno::from_raw_os_error), message)
        },
        SandboxError::Lost { .. } => failure::something_may_be_done(ToolError::of(codes::SANDBOX_LOST, message)),
    }
}

/// Nothing ran. A program that is not there or is none is a fault of the declaration, and one that takes no arguments of
/// this size a fault of the input: neither gets better by itself.
fn not_set_up(stage: &str, errno: Option<Errno>, message: String) -> ToolError {
    match errno.filter(|_| stage == "exec") {
        Some(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::NOEXEC | Errno::ISDIR | Errno::LOOP) => {
            let missing = "it, its interpreter (`#!`) or what a link leads to is not in the sandbox, which has `/usr` and what the tool may read";
            failure::invalid_binding(format!("the program of the tool cannot be run: {missing}: {message}"))
        }
        Some(Errno::TOOBIG) => failure::invalid_input("", "is too large for a command line"),
        _ => failure::nothing_done(ToolError::of(codes::SANDBOX_SETUP_FAILED, message)),
    }
}

/// The timeout a caller asked for, within what the call allows.
pub(crate) fn asked_timeout(asked_ms: Option<u64>, allowed: Duration) -> Duration {
    asked_ms.map_or(allowed, |ms| Duration::from_millis(ms.max(1)).min(allowed))
}
