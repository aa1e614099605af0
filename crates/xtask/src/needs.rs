//! What the machine must have, installed where that is possible: the sandbox program, Redis, and environments of other
//! languages.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command::{self, TaskError};

/// What the Python agent and its stub generator need.
const PYTHON: [&str; 4] =
    ["grpcio~=1.74", "grpcio-tools~=1.74", "grpcio-reflection~=1.74", "grpcio-health-checking~=1.74"];
/// What the Node agent and the proto checks need.
const NODE: [&str; 3] = ["@grpc/grpc-js@^1.13", "@grpc/proto-loader@^0.8", "@bufbuild/buf@^1.55"];

/// Makes sure of `bwrap`. Without it the cluster still runs, but its worker says that it has no sandbox and gets no shell or
/// process calls.
pub(crate) fn bubblewrap() {
    if command::works("bwrap", &["--version"]) {
        return;
    }
    println!("`bwrap` is missing; installing the package `bubblewrap` ...");
    let installed = apt(&["update", "-qq"]) && apt(&["install", "-y", "-qq", "bubblewrap"]);
    if !installed || !command::works("bwrap", &["--version"]) {
        println!("could not install it: install `bubblewrap` with the system's package manager.");
        println!("without it no shell and no process tool runs; each such call ends as a capability gap.");
    }
}

/// Makes sure of `redis-server`, for clusters and tests on the shared store. The service that the package may start is left
/// alone: everything of ours has a port and a folder of its own.
pub(crate) fn redis() -> Result<(), TaskError> {
    if command::works("redis-server", &["--version"]) {
        return Ok(());
    }
    println!("`redis-server` is missing; installing the package `redis-server` ...");
    let installed = apt(&["update", "-qq"]) && apt(&["install", "-y", "-qq", "redis-server"]);
    if installed && command::works("redis-server", &["--version"]) {
        return Ok(());
    }
    let advice = "cannot install `redis-server`: install it (7.0 or newer) with the system's package manager";
    Err(TaskError::Answer(advice.to_owned()))
}

/// Makes sure of `perf`, which looks at a running program from outside.
pub(crate) fn perf() -> Result<(), TaskError> {
    if command::works("perf", &["--version"]) {
        return Ok(());
    }
    // Called so by Debian; by Ubuntu, one for each kernel.
    println!("`perf` is missing; installing the package `linux-perf` or `linux-tools-generic` ...");
    let install = |package| apt(&["install", "-y", "-qq", package]) && command::works("perf", &["--version"]);
    if apt(&["update", "-qq"]) && (install("linux-perf") || install("linux-tools-generic")) {
        return Ok(());
    }
    let advice = "cannot install `perf`, without which there is no profile: install `linux-perf` (Debian) or `linux-tools` for the \
                  running kernel (Ubuntu)";
    Err(TaskError::Answer(advice.to_owned()))
}

fn apt(args: &[&str]) -> bool {
    Command::new("apt-get")
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status()
        .is_ok_and(|done| done.success())
}

/// A virtual environment at `target/venv` with gRPC for Python.
pub(crate) fn python() -> Result<(), TaskError> {
    let folder = command::target().join("venv");
    let python = folder.join("bin/python");
    let modules = "import grpc, grpc_tools.protoc, grpc_reflection.v1alpha, grpc_health.v1";
    if command::works(&python, &["-c", modules]) {
        return Ok(());
    }
    println!("installing gRPC for Python into {} ...", folder.display());
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&folder);
    command::run(venv)?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PYTHON);
    command::run(pip)
}

/// Node packages below `target/node`.
pub(crate) fn node() -> Result<(), TaskError> {
    let folder = command::target().join("node");
    let wanted = ["@grpc/grpc-js/package.json", "@grpc/proto-loader/package.json", ".bin/buf"];
    let modules = folder.join("node_modules");
    if wanted.iter().all(|file| modules.join(file).exists()) {
        return Ok(());
    }
    println!("installing gRPC for Node into {} ...", folder.display());
    fs::create_dir_all(&folder).map_err(TaskError::file(&folder))?;
    own_package(&folder)?;
    let mut npm = Command::new("npm");
    npm.current_dir(&folder).args(["install", "--no-audit", "--no-fund", "--loglevel=error"]).args(NODE);
    command::run(npm)
}

/// Without a manifest of its own npm would look for one in the folders above.
fn own_package(folder: &Path) -> Result<(), TaskError> {
    let manifest = folder.join("package.json");
    fs::write(&manifest, "{\"private\": true}\n").map_err(TaskError::file(&manifest))
}
