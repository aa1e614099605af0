//! What is refused before any hook is asked.

use std::path::Path;

use toolplane_hooks::Hooks;
use toolplane_records::vocabulary::HookEvent;
use toolplane_runtime::Config;

use crate::support::config;

/// What is said of a configuration that is refused, by the general check or by the hooks' own.
fn refusal(text: &str) -> String {
    let mut config = Config::from_toml(Path::new("x.toml"), text).unwrap();
    config.server.data_dir = "/nonexistent".into();
    let checked = config.check().map_err(|error| error.to_string());
    checked.and_then(|()| Hooks::check(&config).map_err(|error| error.to_string())).expect_err("is accepted")
}

#[track_caller]
fn check(more: &str, expected: &str) {
    let text = format!("[[hooks]]\nid = \"a\"\nevents = [\"pre_tool_use\"]\n{more}\n");
    let said = refusal(&text);
    assert!(said.starts_with(expected), "{said}\n  should start with\n{expected}");
}

#[test]
fn every_wrong_key_is_named() {
    check("", "`hooks[0].command`: is missing");
    check("command = [\"x\"]\ngrpc = \"http://127.0.0.1:1\"", "`hooks[0].grpc`: stands beside");
    check("command = []", "`hooks[0].command`: must name a program");
    check("command = [\"x\"]\ntimeout_ms = 60001", "`hooks[0].timeout_ms`: ");
    check("command = [\"x\"]\nmemory_bytes = 1", "`hooks[0].memory_bytes`: ");
    check("command = [\"x\"]\npids = 1", "`hooks[0].pids`: ");
    check("command = [\"x\"]\nmatcher = \"Agent(x)\"", "`hooks[0].matcher`: `Agent(x)` `Agent` takes no pattern");
    check(
        "command = [\"x\"]\nmatcher = \"Read|Bsh\"",
        "`hooks[0].matcher`: `Bsh` names no tool by `Bsh`: was `Bash` meant?",
    );
    check("command = [\"./x\"]", "`hooks[0].command`: `./x` must be");
    check("command = [\"/opt/none/x\"]", "`hooks[0].read_only_paths`: `/opt/none/x` cannot be seen");
    check("command = [\"sh\", \"/etc/hostname\"]", "`hooks[0].read_only_paths`: `/etc/hostname` cannot");
    check("command = [\"x\"]\nread_only_paths = [\"/opt/none\"]", "`hooks[0].read_only_paths`: `/opt/none` does not");
    check("command = [\"x\"]\nread_only_paths = [\"/etc\"]", "`hooks[0].read_only_paths`: ");
    check("command = [\"x\"]\nenv = [\"1X\"]\n[[hooks]]\nid = \"a\"", "`hooks[1].events`");
    check("command = [\"x\"]\n[[hooks]]\nid=\"a\"\nevents=[\"pre_tool_use\"]\ncommand=[\"x\"]", "`hooks[1].id`: ");
    check(
        "command = [\"x\"]\n[[hooks]]\nid = \"toolplane:result\"",
        "`hooks[1].id`: `toolplane:result` begins with `toolplane:`, which is for the cluster itself",
    );
    check("command = [\"python3\", \"-u\", \"/no/such/hook.py\"]", "`hooks[0].command`: `/no/such/hook.py` does not");
    check("command = [\"no-such-program\"]", "`hooks[0].command`: `no-such-program` is no program in /usr");
    check("command = [\"/usr/bin/no-such-program\"]", "`hooks[0].command`: `/usr/bin/no-such-program` does not exist");
    // The sandbox has a `/tmp` of its own, and the repository may be there.
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let script = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
    let place = script.path().display();
    check(
        &format!("command = [\"{place}\"]\nread_only_paths = [\"{place}\"]"),
        &format!("`hooks[0].command`: `{place}` is not executable"),
    );
    let (folder, missing) = (folder.path().display(), folder.path().join("no.py"));
    let missing = missing.display();
    check(
        &format!("command = [\"sh\", \"{missing}\"]\nread_only_paths = [\"{folder}\"]"),
        &format!("`hooks[0].command`: `{missing}` does not exist"),
    );
    check("grpc = \"http://192.0.2.7:80\"", "`hooks[0].grpc`: `http://192.0.2.7:80` would carry");
    check("grpc = \"https://hooks.example:443\"", "`hooks[0].ca_file`: is needed");
    check("grpc = \"ftp://127.0.0.1\"", "`hooks[0].grpc`: ");
    check("grpc = \"http://127.0.0.1:1\"\nenv = [\"A\"]", "`hooks[0].env`: ");
    check("grpc = \"http://127.0.0.1:1\"\ntoken_file = \"/nonexistent/token\"", "hook `a`: ");
}

#[test]
fn events_are_a_closed_list() {
    let text = "[[hooks]]\nid = \"a\"\nevents = [\"PreToolUse\"]\ncommand = [\"x\"]\n";
    assert!(Config::from_toml(Path::new("x.toml"), text).is_err());
    let text = "[[hooks]]\nid = \"a\"\nevents = []\ncommand = [\"x\"]\n";
    assert!(refusal(text).starts_with("`hooks[0].events`"));
    let twice = "[[hooks]]\nid = \"a\"\nevents = [\"pre_tool_use\", \"pre_tool_use\"]\ncommand = [\"x\"]\n";
    assert!(refusal(twice).contains("twice"));
}

/// A process opens hooks of its own points only, and needs no sandbox for services.
#[tokio::test]
async fn a_process_opens_what_it_is_in_charge_of() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[[hooks]]\nid=\"p\"\nevents=[\"post_tool_use\",\"pre_tool_use\"]\ncommand=[\"true\"]\n\
                [[hooks]]\nid=\"s\"\nevents=[\"permission_request\"]\ngrpc=\"http://127.0.0.1:1\"\nmatcher=\"Bash\"\n";
    let config = config(dir.path(), text);
    let bash = crate::support::call("{}").tool;
    let hooks = Hooks::open(&config, &[HookEvent::PermissionRequest, HookEvent::PermissionDecision]).await.unwrap();
    let asked: Vec<_> = HookEvent::ALL.iter().filter(|event| hooks.applies(**event, &bash)).collect();
    assert_eq!(asked, [&HookEvent::PermissionRequest]);
    let hooks = Hooks::open(&config, &[HookEvent::PostToolUse]).await.unwrap();
    assert!(hooks.applies(HookEvent::PostToolUse, &bash) && !hooks.applies(HookEvent::PreToolUse, &bash));
    assert_eq!(hooks.patience(HookEvent::PostToolUse, &bash).as_millis(), 5_000);
    assert!(!Hooks::none().applies(HookEvent::PreToolUse, &bash));
}
