use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use toolplane_sandbox::{ProcessEnd, Profile, SandboxBackend as _, SandboxError};

use crate::support::{run, run_in, sandbox, shell, stderr, stdout};

/// Runs a command that tries something and expects the evidence of its denial.
async fn denied(command: &str, evidence: &str) {
    let exit = run(shell(command)).await;
    let recorded: Vec<_> = exit.violations.iter().map(|violation| violation.evidence()).collect();
    assert!(recorded.iter().any(|line| line == evidence), "{command}: {recorded:?} {}", stderr(&exit));
}

fn python(code: &str) -> String {
    format!("/usr/bin/python3 -c '{code}'")
}

#[tokio::test]
async fn attempts_to_leave_are_denied_and_recorded() {
    denied("unshare -Ur id", "seccomp_denied:unshare").await;
    denied("mount -t tmpfs x /tmp", "seccomp_denied:mount").await;
    denied(&python("import socket; socket.socket(2,1)"), "seccomp_denied:socket(family=2)").await;
    denied(&python("import socket; socket.socket(40,1)"), "seccomp_denied:socket(family=40)").await;
    let ioctl = python("import ctypes; ctypes.CDLL(None).syscall(16,0,ctypes.c_ulong(0x100005412),b\"x\")");
    denied(&ioctl, "seccomp_denied:ioctl(request=TIOCSTI)").await;
    let keyctl = python("import ctypes; ctypes.CDLL(None).syscall(250,0,-3,0)");
    denied(&keyctl, "seccomp_denied:keyctl").await;
}

#[tokio::test]
async fn a_foreign_call_ends_the_caller_and_a_forged_signal_is_no_violation() {
    let exit = run(shell("kill -SYS $$")).await;
    assert_eq!(exit.ending, ProcessEnd::Signal(libc::SIGSYS));
    assert!(exit.violations.is_empty(), "{:?}", exit.violations);
    if cfg!(target_arch = "x86_64") {
        // mov eax, 359; mov ebx, 2; mov ecx, 1; int 0x80; ret
        let code = "import ctypes, mmap; m=mmap.mmap(-1,4096,prot=7); \
            m.write(bytes.fromhex(\"b867010000bb02000000b901000000cd80c3\")); \
            ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))(); print(\"SURVIVED\")";
        let exit = run(shell(&format!("exec {}", python(code)))).await;
        assert_eq!(exit.ending, ProcessEnd::Signal(libc::SIGSYS), "{} {}", stdout(&exit), stderr(&exit));
        assert_eq!(exit.violations[0].syscall, "foreign_architecture");
    }
}

#[tokio::test]
async fn a_caught_denial_does_not_fail_the_tool() {
    let code = "import socket\ntry: socket.socket(2,1)\nexcept OSError: pass\nprint(\"ok\")";
    let exit = run(shell(&python(code))).await;
    assert!(exit.success());
    assert_eq!(exit.violations.len(), 1);
    assert!(!exit.violations[0].probe);
}

#[tokio::test]
async fn nothing_of_the_host_can_be_seen_or_reached() {
    let address = SocketAddr::from_abstract_name("toolplane-test-canary").unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    let exit = run(shell(
        "cat /etc/shadow /etc/passwd /proc/1/environ /proc/1/root/etc/passwd; ls /root /home /var /run /sys; ls /proc/1/fd",
    ))
    .await;
    assert_eq!(stdout(&exit), "", "{}", stderr(&exit));
    let exit = run(shell(&python(
        "import socket; s=socket.socket(socket.AF_UNIX); s.connect(\"\\0toolplane-test-canary\"); print(\"CONNECTED\")",
    )))
    .await;
    assert_eq!(stdout(&exit), "");
    let exit =
        run(shell("echo $$; ps -A 2>/dev/null | wc -l; ls /proc | grep -c '^[0-9]'; ls -l /proc/self/fd | wc -l"))
            .await;
    let numbers: Vec<u32> = stdout(&exit).split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert!(numbers.iter().all(|number| *number < 12), "{numbers:?}");
}

#[tokio::test]
async fn protected_paths_stay_as_they_are() {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(workspace.path().join(".git/hooks")).unwrap();
    for file in [".git/config", ".mcp.json", ".envrc"] {
        std::fs::write(workspace.path().join(file), "before").unwrap();
    }
    let exit = run_in(
        workspace.path(),
        Profile::WorkspaceWrite,
        "echo x > .git/hooks/pre-commit; echo x >> .git/config; echo x > .mcp.json; rm -f .envrc; mv .git .git2; \
         mv .envrc y; ln -sf /etc/passwd .mcp.json; echo fine > .git/index && cat .git/config",
    )
    .await;
    assert_eq!((exit.ending, stdout(&exit).as_str()), (ProcessEnd::Code(0), "before"), "{}", stderr(&exit));
    for file in [".git/config", ".mcp.json", ".envrc"] {
        assert_eq!(std::fs::read_to_string(workspace.path().join(file)).unwrap(), "before", "{file}");
    }
    assert_eq!(std::fs::read_dir(workspace.path().join(".git/hooks")).unwrap().count(), 0);
    assert!(exit.new_protected_paths.is_empty(), "{:?}", exit.new_protected_paths);

    let exit =
        run_in(workspace.path(), Profile::WorkspaceWrite, "mkdir -p sub/.git/hooks && echo x > sub/.git/hooks/a").await;
    assert_eq!(exit.new_protected_paths, ["sub/.git/hooks"]);
}

#[tokio::test]
async fn a_workspace_that_cannot_be_protected_is_refused() {
    let workspace = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc", workspace.path().join(".git")).unwrap();
    let spec = shell("true").with_profile(Profile::WorkspaceWrite, workspace.path());
    let error = sandbox().spawn(spec, None).await.unwrap_err();
    assert!(matches!(error, SandboxError::Invalid { field: "workspace", .. }), "{error:?}");
    let spec = shell("true").with_profile(Profile::WorkspaceWrite, "/nowhere/at/all");
    assert!(matches!(sandbox().spawn(spec, None).await.unwrap_err(), SandboxError::Invalid { field: "workspace", .. }));
}
