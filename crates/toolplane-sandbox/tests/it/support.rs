use std::path::Path;
use std::sync::OnceLock;

use toolplane_sandbox::bubblewrap::BubblewrapOptions;
use toolplane_sandbox::{Bubblewrap, Exit, Profile, SandboxBackend as _, SandboxSpec};

/// One backend for all tests of this process, as in a worker.
pub(crate) fn sandbox() -> &'static Bubblewrap {
    static SANDBOX: OnceLock<Bubblewrap> = OnceLock::new();
    SANDBOX.get_or_init(|| Bubblewrap::new(&BubblewrapOptions::default()))
}

pub(crate) fn shell(command: &str) -> SandboxSpec {
    SandboxSpec::new(["bash", "-c", command])
}

pub(crate) async fn run(spec: SandboxSpec) -> Exit {
    sandbox().spawn(spec, None).await.expect("the sandbox stands").wait().await.expect("the sandbox is not lost")
}

pub(crate) async fn run_in(workspace: &Path, profile: Profile, command: &str) -> Exit {
    run(shell(command).with_profile(profile, workspace)).await
}

pub(crate) fn stdout(exit: &Exit) -> String {
    String::from_utf8(exit.stdout.kept()).unwrap()
}

pub(crate) fn stderr(exit: &Exit) -> String {
    String::from_utf8(exit.stderr.kept()).unwrap()
}
