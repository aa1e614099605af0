//! What a tool tries to leave behind, and whom it tries to reach on the way.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use toolplane_sandbox::{Exit, ProcessEnd, Profile, SandboxBackend as _};

use crate::support::{run, run_in, sandbox, shell, stderr, stdout};

fn evidence(exit: &Exit) -> Vec<String> {
    exit.violations.iter().map(|violation| violation.evidence()).collect()
}

/// Everything beneath `dir` that lends rights or is no plain file, directory or link.
fn dangerous(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let meta = entry.path().symlink_metadata().unwrap();
        let kind = meta.file_type();
        let special = kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device();
        let capable = rustix::fs::lgetxattr(entry.path(), "security.capability", &mut [0_u8; 64]).is_ok();
        if special || capable || (kind.is_file() && meta.mode() & 0o6000 != 0) {
            found.push(entry.path().display().to_string());
        }
        if kind.is_dir() {
            found.extend(dangerous(&entry.path()));
        }
    }
    found
}

/// Runs a command that tries to leave something; what it is told, and that nothing is left, are the point.
async fn leaves_nothing(command: &str, recorded: Option<&str>) {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::copy("/bin/true", workspace.path().join("program")).unwrap();
    let exit = run_in(workspace.path(), Profile::WorkspaceWrite, command).await;
    assert_eq!(dangerous(workspace.path()), Vec::<String>::new(), "{command}: {}", stderr(&exit));
    if let Some(recorded) = recorded {
        assert!(
            evidence(&exit).iter().any(|line| line == recorded),
            "{command}: {:?} {}",
            evidence(&exit),
            stderr(&exit)
        );
    }
}

fn python(code: &str) -> String {
    format!("/usr/bin/python3 -c '{code}'")
}

#[tokio::test]
async fn no_file_lends_the_rights_of_its_owner() {
    leaves_nothing("chmod 6755 program", Some("seccomp_denied:fchmodat(mode=6755)")).await;
    leaves_nothing("chmod u+s program; chmod g+s program", None).await;
    leaves_nothing("install -m 4755 /bin/true installed", None).await;
    leaves_nothing("cp -p /usr/bin/passwd mine; cp --preserve=mode /usr/bin/su mine2", None).await;
    leaves_nothing(
        "/usr/bin/python3 - <<'E'\nimport tarfile, io\nt=tarfile.open(\"x.tar\",\"w\")\ni=tarfile.TarInfo(\"in\")\n\
         i.mode=0o6755\nt.addfile(i, io.BytesIO())\nt.close()\nE\ntar xpf x.tar",
        None,
    )
    .await;
    leaves_nothing(&python("import os; os.chmod(\"program\", 0o4755)"), Some("seccomp_denied:chmod(mode=4755)")).await;
    leaves_nothing(
        &python("import os; os.fchmod(os.open(\"program\", 0), 0o2755)"),
        Some("seccomp_denied:fchmod(mode=2755)"),
    )
    .await;
    leaves_nothing(
        &python("import os; os.open(\"made\", os.O_CREAT|os.O_WRONLY, 0o4755)"),
        Some("seccomp_denied:openat(mode=4755)"),
    )
    .await;
    leaves_nothing(
        &python(
            "import os; f=os.open(\".\", os.O_TMPFILE|os.O_WRONLY, 0o4755); os.link(f\"/proc/self/fd/{f}\", \"linked\")",
        ),
        Some("seccomp_denied:openat(mode=4755)"),
    )
    .await;
}

#[tokio::test]
#[cfg(target_arch = "x86_64")]
async fn nor_by_a_raw_call() {
    let raw = |call: &str| python(&format!("import ctypes; ctypes.CDLL(None).syscall({call})"));
    leaves_nothing(&raw("452,-100,b\"program\",0o6755,0"), Some("seccomp_denied:fchmodat2(mode=6755)")).await;
    leaves_nothing(&raw("85,b\"made\",0o4755"), Some("seccomp_denied:creat(mode=4755)")).await;
    // open_how { O_CREAT | O_WRONLY, 0o4755, 0 }: its mode is where no filter can look.
    let how = "437,-100,b\"made\",(ctypes.c_uint64*3)(0o101,0o4755,0),24";
    leaves_nothing(&raw(how), None).await;
    leaves_nothing(&raw("133,b\"node\",0o104755,0"), Some("seccomp_denied:mknod(mode=104755)")).await;
    // A capability set by hand; so are access lists.
    let capability = "188,b\"program\",b\"security.capability\",bytes.fromhex(\"0100000200200000\"+\"00\"*12),20,0";
    leaves_nothing(&raw(capability), Some("seccomp_denied:setxattr")).await;
    leaves_nothing(&raw("463,-100,b\"program\",0,b\"security.capability\",0,16"), Some("seccomp_denied:setxattrat"))
        .await;
}

#[tokio::test]
async fn no_device_pipe_or_socket_stays() {
    leaves_nothing("mknod device c 1 3; mknod disk b 8 0", Some("seccomp_denied:mknodat(mode=20666)")).await;
    leaves_nothing("mknod whiteout c 0 0", Some("seccomp_denied:mknodat(mode=20666)")).await;
    let workspace = tempfile::tempdir().unwrap();
    let code = python("import socket; socket.socket(socket.AF_UNIX).bind(\"deep/socket\")");
    let command = format!("mkdir deep && mkfifo deep/fifo && (echo piped > deep/fifo & cat deep/fifo) && {code}");
    let exit = run_in(workspace.path(), Profile::WorkspaceWrite, &command).await;
    assert_eq!((exit.ending, stdout(&exit).as_str()), (ProcessEnd::Code(0), "piped\n"), "{}", stderr(&exit));
    let mut mended = exit.mended;
    mended.sort();
    assert_eq!(mended, ["removed the FIFO `deep/fifo`", "removed the socket `deep/socket`"]);
    assert_eq!(dangerous(workspace.path()), Vec::<String>::new());
}

#[tokio::test]
async fn a_killed_run_leaves_nothing_either() {
    let workspace = tempfile::tempdir().unwrap();
    let spec = shell("mkfifo pipe; echo ready; sleep 1000").with_profile(Profile::WorkspaceWrite, workspace.path());
    let running = sandbox().spawn(spec, None).await.unwrap();
    running.progress().wait_for(|progress| progress.stdout_lines == 1).await.unwrap();
    // As if the tool had found a way past the filter.
    let program = workspace.path().join("program");
    std::fs::write(&program, "x").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o6755)).unwrap();
    running.killer().kill();
    running.wait().await.unwrap_err();
    assert_eq!(dangerous(workspace.path()), Vec::<String>::new());
    assert_eq!(program.metadata().unwrap().mode() & 0o7777, 0o755);
}

#[tokio::test]
async fn a_socket_of_the_host_cannot_be_reached() {
    let workspace = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(workspace.path().join("host.sock")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let _datagram = std::os::unix::net::UnixDatagram::bind(workspace.path().join("host.dgram")).unwrap();
    std::fs::set_permissions(workspace.path().join("host.sock"), std::fs::Permissions::from_mode(0o777)).unwrap();
    let connect = |path: &str| {
        python(&format!("import socket; s=socket.socket(socket.AF_UNIX); s.connect(\"{path}\"); print(\"CONNECTED\")"))
    };
    for path in ["host.sock", "/workspace/host.sock", "/proc/self/cwd/host.sock", "/tmp/link"] {
        for profile in [Profile::WorkspaceWrite, Profile::WorkspaceReadOnly] {
            let command = format!("ln -s /workspace/host.sock /tmp/link; {}", connect(path));
            let exit = run_in(workspace.path(), profile, &command).await;
            assert_eq!(stdout(&exit), "", "{path}");
            assert!(
                stderr(&exit).contains("Permission denied") || stderr(&exit).contains("Too many levels"),
                "{}",
                stderr(&exit)
            );
        }
    }
    let exit = run_in(workspace.path(), Profile::WorkspaceWrite, &connect("host.sock")).await;
    assert_eq!(evidence(&exit), ["seccomp_denied:connect(unix)"]);
    // A datagram goes without a connection, also over one half of a pair.
    let datagram = "import socket as s\nfor m in (lambda: s.socket(s.AF_UNIX, s.SOCK_DGRAM), lambda: s.socketpair(s.AF_UNIX, s.SOCK_DGRAM)[0]):\n\
         \u{20} try: m().sendto(b\"x\", \"host.dgram\"); print(\"SENT\")\n\u{20} except OSError as e: print(e.errno)";
    let exit = run_in(workspace.path(), Profile::WorkspaceWrite, &format!("/usr/bin/python3 -c '{datagram}'")).await;
    assert_eq!(stdout(&exit), "1\n1\n", "{}", stderr(&exit));
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "nobody came");
    assert!(workspace.path().join("host.sock").exists(), "what was there before stays");
}

#[tokio::test]
async fn sockets_within_the_sandbox_work() {
    let code = "import multiprocessing.managers as m, socket as s, threading as t\n\
        class M(m.BaseManager): pass\n\
        M.register(\"d\", dict)\n\
        x=M(address=\"/tmp/manager\"); x.start(); d=x.d(); d.update(a=1); print(d.get(\"a\")); x.shutdown()\n\
        l=s.socket(s.AF_UNIX); l.bind(\"\\0name\"); l.listen()\n\
        def go():\n\u{20} c=s.socket(s.AF_UNIX); c.connect(\"\\0name\"); c.send(b\"abstract\"); c.close()\n\
        t.Thread(target=go).start(); print(l.accept()[0].recv(9))\n\
        a,b=s.socketpair(); a.send(b\"pair\"); print(b.recv(9))\n\
        try: s.socket(s.AF_UNIX).connect(\"/tmp/nobody\")\n\
        except FileNotFoundError: print(\"not there\")";
    let mut spec = shell(&format!("/usr/bin/python3 -c '{code}'"));
    spec.limits.wall = Duration::from_secs(60);
    let exit = run(spec).await;
    assert_eq!(stdout(&exit), "1\nb'abstract'\nb'pair'\nnot there\n", "{}", stderr(&exit));
    assert!(exit.violations.is_empty(), "{:?}", exit.violations);
}

#[tokio::test]
async fn files_of_others_are_not_changed_through_a_second_name() {
    let root = tempfile::tempdir().unwrap();
    std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let workspace = root.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    for file in ["workspace/own", "workspace/.envrc", "others"] {
        std::fs::write(root.path().join(file), "before").unwrap();
    }
    std::fs::hard_link(root.path().join("others"), workspace.join("shared")).unwrap();
    std::fs::hard_link(workspace.join(".envrc"), workspace.join("other-name")).unwrap();
    std::fs::hard_link(workspace.join("own"), workspace.join("own-too")).unwrap();
    let command =
        "for f in shared other-name own-too; do echo after > $f; chmod 600 $f; done; ln shared again; cat shared";
    let exit = run_in(&workspace, Profile::WorkspaceWrite, command).await;
    assert_eq!(stdout(&exit), "before", "{}", stderr(&exit));
    let read = |file: &str| std::fs::read_to_string(root.path().join(file)).unwrap();
    assert_eq!((read("others").as_str(), read("workspace/.envrc").as_str()), ("before", "before"));
    assert_eq!(read("workspace/own"), "after\n", "names within the workspace are its own business");
    assert!(!workspace.join("again").exists());
}
