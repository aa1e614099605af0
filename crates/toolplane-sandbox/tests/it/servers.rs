//! Servers that talk over standard input and output, as they are installed: beside the system, in places of their own.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use toolplane_sandbox::workspace::Quota;
use toolplane_sandbox::{
    LimitKind, Profile, SandboxBackend as _, SandboxSpec, Session, StreamRates, WorkspaceAccess, WorkspaceMount,
};

use crate::sessions::ask;
use crate::support::sandbox;

/// Answers each line with what the line, a Python expression, is worth. A module of its own lies beside it.
const SERVER: &str = "import os, sys, helper
for line in sys.stdin:
    try: answer = eval(line)
    except OSError as error: answer = os.strerror(error.errno)
    print(answer, flush=True)
";

/// A program in a directory that only the worker can enter, as under a home directory.
struct Installed(tempfile::TempDir);

impl Installed {
    fn new() -> Self {
        let place = tempfile::Builder::new().prefix("toolplane-servers-").tempdir_in("/var/tmp").unwrap();
        let bin = place.path().join("installed");
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(bin.join("server"), SERVER).unwrap();
        std::fs::write(bin.join("helper.py"), "def double(number): return 2 * number\n").unwrap();
        std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        Self(place)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("installed")
    }

    fn spec(&self) -> SandboxSpec {
        let program = self.path().join("server");
        let mut spec = SandboxSpec::server(["/usr/bin/python3", program.to_str().unwrap()]);
        spec.read_only_paths = vec![self.path()];
        spec
    }
}

async fn open(spec: SandboxSpec) -> Session {
    sandbox().open(spec, StreamRates::default()).await.expect("the sandbox stands")
}

fn with(mut spec: SandboxSpec, workspace: &Path, access: WorkspaceAccess) -> SandboxSpec {
    spec.workspace = Some(WorkspaceMount { host: workspace.into(), access, quota: Quota::default() });
    spec
}

#[tokio::test]
async fn a_server_has_a_home_and_nothing_else() {
    assert_eq!("mcp_stdio_server".parse::<Profile>().unwrap(), Profile::McpStdioServer);
    let installed = Installed::new();
    let mut spec = installed.spec().with_profile(Profile::McpStdioServer, "/");
    spec.limits.scratch_bytes = 1 << 20;
    let mut session = open(spec.clone()).await;
    assert_eq!(ask(&mut session, "helper.double(21)").await, "42");
    assert_eq!(
        ask(&mut session, "os.environ['HOME'], os.getcwd(), os.listdir('/workspace')").await,
        "No such file or directory"
    );
    assert_eq!(ask(&mut session, "open(os.path.expanduser('~/kept'), 'w').write('mine')").await, "4");
    assert_eq!(ask(&mut session, "os.listdir(os.environ['HOME'])").await, "['kept']");
    assert_eq!(
        ask(&mut session, "open(os.path.expanduser('~/large'), 'w').write('x' * 2_000_000)").await,
        "No space left on device"
    );
    assert_eq!(
        ask(&mut session, "__import__('socket').create_connection(('127.0.0.1', 1))").await,
        "Operation not permitted"
    );
    assert_eq!(
        ask(&mut session, &format!("open('{}/new', 'w')", installed.path().display())).await,
        "Read-only file system"
    );
    let exit = session.close().await.unwrap();
    assert!(exit.success() && exit.limits_hit.iter().any(|hit| hit.limit == LimitKind::Scratch), "{exit:?}");
    assert_eq!(
        exit.violations.iter().map(|tried| tried.evidence()).collect::<Vec<_>>(),
        ["seccomp_denied:socket(family=2)"]
    );

    let mut again = open(spec).await;
    assert_eq!(ask(&mut again, "os.listdir(os.environ['HOME'])").await, "[]", "what one session kept is gone");
}

#[tokio::test]
async fn a_workspace_is_given_to_a_server_by_name() {
    let (installed, workspace) = (Installed::new(), tempfile::tempdir().unwrap());
    std::fs::write(workspace.path().join("in.txt"), "hello").unwrap();
    let mut session = open(with(installed.spec(), workspace.path(), WorkspaceAccess::ReadOnly)).await;
    assert_eq!(ask(&mut session, "open('/workspace/in.txt').read()").await, "hello");
    assert_eq!(ask(&mut session, "open('/workspace/out.txt', 'w')").await, "Read-only file system");
    assert!(session.close().await.unwrap().workspace_usage.is_none());

    let mut session = open(with(installed.spec(), workspace.path(), WorkspaceAccess::ReadWrite)).await;
    assert_eq!(ask(&mut session, "open('out.txt', 'w').write('done')").await, "4");
    assert_eq!(ask(&mut session, "os.mkfifo('pipe')").await, "None");
    let exit = session.close().await.unwrap();
    assert_eq!(exit.mended, ["removed the FIFO `pipe`"]);
    assert_eq!(std::fs::read_to_string(workspace.path().join("out.txt")).unwrap(), "done");
}
