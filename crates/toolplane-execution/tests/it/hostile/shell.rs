//! Cases that are commands.

use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolplane_execution::{Call, Outcome, SystemLookup, Toolbox, ToolboxOptions};
use toolplane_records::profile::{ExecutionBinding, ProcessBinding};
use toolplane_records::result::ContentBlock;
use toolplane_sandbox::RunLimits;
use toolplane_sandbox::bubblewrap::{self, Bubblewrap};

use super::{Case, Verdict, compare};
use crate::support::{call, context, execute, sandbox, shell_call, structured, text, toolbox_with};

/// What a case finds on the host, kept until it is over.
struct Host {
    workspace: tempfile::TempDir,
    _sockets: Vec<UnixListener>,
    untouched: Vec<(PathBuf, Vec<u8>)>,
}

impl Host {
    fn prepare(case: &Case) -> Self {
        let workspace = tempfile::tempdir().unwrap();
        let mut sockets = Vec::new();
        let mut untouched = Vec::new();
        match case.id.as_str() {
            "esc-011" => {
                let address = SocketAddr::from_abstract_name("toold-canary").unwrap();
                sockets.push(UnixListener::bind_addr(&address).unwrap());
            }
            "esc-012" => {
                let path = Path::new("/tmp/toold-canary.sock");
                let _ = fs::remove_file(path);
                sockets.push(UnixListener::bind(path).unwrap());
                fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
            }
            "esc-028" => {
                fs::create_dir_all(workspace.path().join(".git/hooks")).unwrap();
                for name in [".git/config", ".gitmodules", ".mcp.json", ".envrc"] {
                    fs::write(workspace.path().join(name), "").unwrap();
                    untouched.push(workspace.path().join(name));
                }
            }
            "esc-017" => untouched.push("/proc/sys/kernel/core_pattern".into()),
            "esc-026" => {
                let test = std::env::current_exe().unwrap();
                untouched.push(test.parent().unwrap().parent().unwrap().join("toolplane-sandbox-launcher"));
                untouched.push("/usr/bin/bwrap".into());
            }
            _ => {}
        }
        let read = |path: PathBuf| (path.clone(), fs::read(path).unwrap());
        Self { workspace, _sockets: sockets, untouched: untouched.into_iter().map(read).collect() }
    }

    fn check_untouched(&self) -> Result<(), String> {
        for (path, before) in &self.untouched {
            if fs::read(path).unwrap() != *before {
                return Err(format!("{} changed", path.display()));
            }
        }
        for place in ["/usr/bin/toold_pwn", "/etc/toold_pwn", "/home/toold_pwn", "/root/toold_pwn"] {
            if Path::new(place).exists() {
                return Err(format!("{place} exists on the host"));
            }
        }
        if fs::read_dir(self.workspace.path().join(".git/hooks")).is_ok_and(|hooks| hooks.count() > 0)
            && !self.untouched.is_empty()
        {
            return Err("a hook was made".into());
        }
        Ok(())
    }
}

fn options(case: &Case, workspace: &Path) -> ToolboxOptions {
    let mut options = ToolboxOptions::new(workspace);
    let limit = |name: &str| case.input["limits"][name].as_u64();
    let mut limits = RunLimits::default();
    if let Some(pids) = limit("pids") {
        limits.pids = pids;
    }
    if let Some(ms) = limit("grace_ms") {
        limits.grace = Duration::from_millis(ms);
    }
    if let Some(bytes) = limit("scratch_bytes") {
        limits.scratch_bytes = bytes;
    }
    options.limits = limits;
    options
}

/// The call a case stands for.
fn the_call(case: &Case, workspace: &Path) -> Call {
    let mut command = case.text("command").to_owned();
    match (case.id.as_str(), case.text("language")) {
        ("res-023", _) => command = format!("echo {}", "A".repeat(5 << 20)),
        // The threads end sooner, so that the case does not take half a minute; how many there are stays the same.
        ("res-021", _) => command = command.replace("args=(30,)", "args=(1,)"),
        (_, "python") => command = format!("exec /usr/bin/python3 -c '{}'", case.text("code")),
        (_, "c") => {
            fs::write(workspace.join("main.c"), case.text("code")).unwrap();
            command = "gcc -o /tmp/main main.c && exec /tmp/main".into();
        }
        _ => {}
    }
    let mut call = shell_call(&command);
    call.place.sandbox_profile = case.input["sandbox_profile"].as_str().map(str::to_owned);
    if case.text("language") == "c" {
        call.place.sandbox_profile = Some("workspace_read_only".into());
    }
    if let Some(env) = case.input.get("env") {
        call = crate::support::call(call.binding, json!({"command": command, "env": env}));
    }
    if let Some(argv) = case.input["argv"].as_array() {
        let binding =
            ProcessBinding { argv: vec!["printf".into(), "%s".into(), "{text}".into()], ..Default::default() };
        call = crate::support::call(ExecutionBinding::Process(binding), json!({"text": argv[2]}));
    }
    if let Some(ms) = case.input["limits"]["timeout_ms"].as_u64() {
        call.limits.timeout = Some(Duration::from_millis(ms));
    }
    call.limits.max_output_bytes = case.input["limits"]["max_output_bytes"].as_u64();
    call
}

pub(super) async fn judge(case: &Case) -> Verdict {
    let host = Host::prepare(case);
    let toolbox = toolbox_with(options(case, host.workspace.path()), Arc::new(SystemLookup)).await;
    let call = the_call(case, host.workspace.path());
    let begin = Instant::now();
    let outcome = match case.text("action") {
        "" => execute(&toolbox, &call).await,
        action => acted_on(&toolbox, &call, action).await,
    };
    let took = begin.elapsed();
    compare(case, &outcome).and_then(|()| host.check_untouched()).and_then(|()| observe(case, &outcome, took)).into()
}

/// Runs the call and does to it what the case says.
async fn acted_on(toolbox: &Toolbox, call: &Call, action: &str) -> Outcome {
    let (context, seen) = context();
    let act = async {
        while seen.0.lock().unwrap().is_empty() {
            toolplane_wait::look_again().await;
        }
        if action.starts_with("SIGKILL the launcher") {
            // Not before the tool itself runs inside.
            let bound = Instant::now() + Duration::from_secs(20);
            let launcher = loop {
                assert!(Instant::now() < bound, "the tool does not run");
                match process_named("bwrap") {
                    Some(pid) if process_with("987658").is_some() => break pid,
                    _ => toolplane_wait::look_again().await,
                }
            };
            let pid = rustix::process::Pid::from_raw(launcher).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        } else {
            toolplane_wait::pause(Duration::from_millis(200), "the program gets the time to do its worst").await;
            context.cancel.cancel();
        }
    };
    tokio::join!(toolbox.execute(call, &context), act).0
}

/// A child of this process by its name.
fn process_named(name: &str) -> Option<i32> {
    let own = std::process::id().to_string();
    processes().into_iter().find(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)).unwrap_or("").to_owned();
        stat.contains(&format!("({name})")) && parent == own
    })
}

/// Any process of the machine with this word on its command line.
fn process_with(word: &str) -> Option<i32> {
    processes().into_iter().find(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    })
}

fn processes() -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn ensure(holds: bool, what: &str, outcome: &Outcome) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{what}: {:.600}", structured(outcome).to_string())) }
}

/// Observations that are told in words.
fn observe(case: &Case, outcome: &Outcome, took: Duration) -> Result<(), String> {
    let report = structured(outcome);
    let (stdout, stderr) = (text(outcome), report["stderr"].as_str().unwrap_or(""));
    let holds = |holds: bool, what: &str| ensure(holds, what, outcome);
    let minus_ones = || stdout.split_whitespace().filter(|word| *word == "-1").count();
    match case.id.as_str() {
        "esc-001" => holds(stderr.contains("No such file"), "shadow is there"),
        "esc-007" => holds(
            stdout.lines().count() <= 5 && !stdout.contains("socket:") && !stdout.contains("anon_inode"),
            "descriptors",
        ),
        "esc-010" => holds(!stdout.contains("OPEN"), "a socket was opened"),
        "esc-013" => holds(minus_ones() == 2, "a keyring was used"),
        "esc-021" => holds(stdout.starts_with("-1 "), "an x32 call worked"),
        "esc-006" | "esc-017" => holds(report["exit_code"] != 0, "a write worked"),
        "esc-028" => holds(stderr.matches("Read-only file system").count() >= 4, "a protected path was written"),
        "esc-029" => {
            let reported = report["new_protected_paths"].as_array().is_some_and(|paths| !paths.is_empty());
            Err(if reported { "reported and left where it is" } else { "not even reported" }.to_owned())
        }
        "tty-002" => holds(stdout.trim() == "-1 1", "TIOCSTI worked"),
        "tty-003" => {
            let shown = toolplane_records::visible::text(stdout);
            holds(stdout.contains('\u{1b}') && !shown.chars().any(|c| c.is_control() && c != '\n'), "not shown safely")
        }
        "tty-004" => holds(took < Duration::from_secs(10), "it waited for input"),
        "utf8-002" => holds(stdout == "你", "a character was torn"),
        "res-014" => holds(process_with("987654").is_none(), "the daemon lives"),
        "res-013" | "res-003" => holds(took < Duration::from_secs(15), "it took too long to end"),
        "res-026" => holds(process_with("987658").is_none(), "the tool lives"),
        "res-024" => holds(took < Duration::from_secs(10), "it took too long to cancel"),
        "res-009" => {
            let content: usize = outcome.content.iter().map(size).sum();
            holds(content < 1_150_000 && report["truncated"] == true, &format!("{content} bytes were kept"))
        }
        "res-010" => {
            let both = report["stdout_bytes"].as_u64() > Some(0) && report["stderr_bytes"].as_u64() > Some(0);
            holds(both, "one stream starved the other")
        }
        "res-007" => holds(stderr.contains("Too many open files"), "no bound on files"),
        "res-021" => holds(stderr.contains("start new thread"), "no bound on threads"),
        "res-022" => holds(stderr.contains("Argument list too long"), "no E2BIG"),
        _ => Ok(()),
    }
}

fn size(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text { text } | ContentBlock::Log { text, .. } => text.len(),
        _ => 0,
    }
}

/// Cases in which a part of the sandbox is missing or broken.
pub(super) async fn failclosed(case: &Case) -> Verdict {
    match case.id.as_str() {
        "failclosed-034" | "fc-034" | "esc-034" => {
            let (_, posture) = sandbox().await;
            let checked = [
                "namespaces",
                "no_capabilities",
                "no_new_privileges",
                "seccomp",
                "no_descriptors",
                "host_files_hidden",
            ];
            let missing = checked.into_iter().find(|layer| !posture.holds(layer));
            missing.map_or(Ok(()), |layer| Err(format!("{layer} was not checked or does not hold"))).into()
        }
        "esc-033" => launcher_faults(case).await,
        _ => Verdict::NotApplicable("no profile relies on that layer"),
    }
}

async fn launcher_faults(case: &Case) -> Verdict {
    let place = tempfile::tempdir().unwrap();
    let launcher = place.path().join("launcher");
    let (_, posture) = sandbox().await;
    for script in ["#!/bin/sh\nexit 125\n", "#!/bin/sh\nkill -9 $$\n", ""] {
        fs::write(&launcher, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
        let options = bubblewrap::BubblewrapOptions { launcher: Some(launcher.clone()), ..Default::default() };
        let backend = Arc::new(Bubblewrap::new(&options));
        // The fault comes after the probe.
        if script.is_empty() {
            fs::remove_file(&launcher).unwrap();
        } else {
            fs::write(&launcher, script).unwrap();
        }
        let workspace = tempfile::tempdir().unwrap();
        let toolbox = Toolbox::with_sandbox(
            ToolboxOptions::new(workspace.path()),
            backend,
            posture.clone(),
            Arc::new(SystemLookup),
        );
        let outcome =
            execute(&toolbox, &call(ExecutionBinding::Shell { shell: None }, json!({"command": "touch ran"}))).await;
        let stage = outcome.error.as_ref().and_then(|error| error.native_error_ref.clone()).unwrap_or_default();
        let held = compare(case, &outcome)
            .and_then(|()| ensure(stage.starts_with("stage="), "no stage", &outcome))
            .and_then(|()| ensure(structured(&outcome) == Value::Null, "an exit is reported", &outcome))
            .and_then(|()| ensure(!workspace.path().join("ran").exists(), "it ran", &outcome));
        if let Err(reason) = held {
            return Verdict::Failed(format!("{script:?}: {reason}"));
        }
    }
    Verdict::Passed
}
