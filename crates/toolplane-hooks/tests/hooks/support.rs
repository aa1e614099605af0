//! Hooks opened from configuration text, and calls to ask them about.

use std::path::{Path, PathBuf};

use toolplane_hooks::{Folded, HookInput, HookOutcome, Hooks, HooksError};
use toolplane_matching::ToolFacts;
use toolplane_records::decision_request::CallerContext;
use toolplane_records::ids::{InvocationId, TenantId, ToolId};
use toolplane_records::mode::Mode;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{HookEvent, ToolKind};
use toolplane_runtime::Config;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Whose calls the hooks are asked about.
const TENANT: &str = "t1";

/// Hooks over workspaces of their own; that of [`TENANT`] holds `note.txt`.
pub(crate) struct Bed {
    pub(crate) hooks: Hooks,
    pub(crate) dir: tempfile::TempDir,
}

pub(crate) fn config(dir: &Path, text: &str) -> Config {
    let mut config = Config::from_toml(Path::new("hooks.toml"), text).unwrap();
    config.server.data_dir = dir.to_owned();
    config.check().unwrap();
    config
}

pub(crate) async fn open(text: &str) -> Result<Bed, HooksError> {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path(), text);
    for (tenant, note) in [("default", "a note of others"), (TENANT, "a note")] {
        std::fs::write(config.workspaces().open(tenant).unwrap().join("note.txt"), note).unwrap();
    }
    Hooks::check(&config)?;
    let hooks = Hooks::open(&config, HookEvent::ALL).await?;
    Ok(Bed { hooks, dir })
}

/// One hook that is `script`, run by `interpreter` with `-c`. Time enough for a busy machine.
pub(crate) fn hook(id: &str, event: HookEvent, interpreter: &str, script: &str, more: &str) -> String {
    format!(
        "[[hooks]]\nid = {id:?}\nevents = [\"{event}\"]\ncommand = [{interpreter:?}, \"-c\", {script:?}]\n\
         timeout_ms = 20000\n{more}\n"
    )
}

pub(crate) fn call(input: &str) -> HookInput {
    let mut tool = ToolFacts::named(ToolId::from_trusted("tool:shell"), "shell.exec", "shell");
    tool.kind = Some(ToolKind::ShellCommand);
    let input = JsonPayload::from_checked(input.to_owned());
    let caller = CallerContext {
        actor_ref: "ann".into(),
        session_ref: "s1".into(),
        mode: Some(Mode::Plan),
        ..CallerContext::of(TenantId::from_trusted(TENANT))
    };
    HookInput::new(InvocationId::from_trusted("inv_1"), caller, tool, input)
}

pub(crate) fn text(text: &str) -> ContentBlock {
    ContentBlock::Text { text: text.to_owned() }
}

pub(crate) fn after(input: &str, output: &str) -> HookInput {
    let outcome = HookOutcome { content: vec![text(output)], duration_ms: 7, ..HookOutcome::default() };
    HookInput { outcome: Some(outcome), ..call(input) }
}

/// What one hook says of one call.
pub(crate) async fn ask(interpreter: &str, script: &str, event: HookEvent, input: &HookInput) -> Folded {
    let bed = open(&hook("h", event, interpreter, script, "")).await.unwrap();
    bed.hooks.run(event, input).await
}

/// The code of the failure of the only hook.
#[track_caller]
pub(crate) fn failure(folded: &Folded) -> &'static str {
    folded.failed.as_ref().unwrap_or_else(|| panic!("nothing failed: {folded:?}")).failure.code()
}
