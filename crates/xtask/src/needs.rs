//! What the machine must have, installed where that is possible: the sandbox program, Redis, and environments of other
//! languages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{self, TaskError};

mod debian;

use debian::Packages;

/// What the Python agent and the Python package need: to generate their stubs (with exactly this generator), to be tested, and to be
/// built. And a validator of OpenAPI documents.
const PYTHON: [&str; 13] = [
    "grpcio~=1.74",
    "grpcio-tools==1.74.0",
    "grpcio-reflection~=1.74",
    "grpcio-health-checking~=1.74",
    "protobuf>=6.31.1,<7",
    "pytest>=8,<10",
    "mypy>=1.15,<3",
    "types-protobuf",
    "pydantic>=2.5,<3",
    "opentelemetry-sdk>=1.20,<2",
    "build",
    "hatchling>=1.24",
    "openapi-spec-validator~=0.9",
];
/// What proves that they are there.
const PYTHON_MODULES: &str = "import grpc, grpc_reflection.v1alpha, grpc_health.v1, pytest, mypy, pydantic, opentelemetry.sdk, build, \
                              hatchling, openapi_spec_validator, importlib.metadata as m; assert m.version('grpcio-tools') == '1.74.0'";
/// What the Node agent and the proto checks need.
const NODE: [&str; 3] = ["@grpc/grpc-js@^1.13", "@grpc/proto-loader@^0.8", "@bufbuild/buf@^1.55"];

/// What the agent in Go is made with. Of Debian's releases this is the oldest whose gRPC fits its generators.
const GO: Packages = Packages {
    release: "trixie",
    names: &[
        "golang-1.24-go",
        "golang-1.24-src",
        "golang-github-golang-protobuf-1-5-dev",
        "golang-golang-x-net-dev",
        "golang-golang-x-sys-dev",
        "golang-golang-x-text-dev",
        "golang-google-genproto-dev",
        "golang-google-grpc-dev",
        "golang-google-protobuf-dev",
        "protoc-gen-go",
        "protoc-gen-go-grpc",
    ],
    // Tests, the sources of the toolchain itself, tools that no build needs, and the stubs of every service of Google.
    without: &[
        "./usr/share/doc",
        "./usr/share/go-*/api",
        "./usr/share/go-*/test",
        "./usr/share/go-*/src/cmd",
        "./usr/lib/go-*/pkg/tool/*/[d-km-z]*",
        "./usr/share/gocode/src/google.golang.org/genproto/googleapis/[a-qs-z]*",
        "*_test.go",
        "testdata",
    ],
};
/// What the agent in Java is made with, beside a JDK. Programs of this release also run on newer ones.
const JAVA: Packages = Packages {
    release: "bookworm",
    names: &[
        "libgeronimo-annotation-1.3-spec-java",
        "libgoogle-common-protos-java",
        "libgoogle-gson-java",
        "libgrpc-java",
        "libguava-java",
        "libjctools-java",
        "libnetty-java",
        "libopencensus-java",
        "libperfmark-java",
        "libprotobuf-dev",
        "libprotobuf-java",
        "libprotobuf32",
        "libprotoc32",
        "protobuf-compiler",
        "protobuf-compiler-grpc-java-plugin",
    ],
    without: &["./usr/share/doc", "./usr/share/man", "./usr/share/maven-repo", "*.a", "*.h"],
};

/// What reads metrics, and the program that checks its rules.
const PROMETHEUS: Packages = Packages {
    release: "bookworm",
    names: &["prometheus"],
    without: &["./etc", "./lib", "./usr/bin/tsdb", "./usr/share", "./var"],
};

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

/// The interpreter of the virtual environment that [`python`] makes, as a path that is good in every folder.
pub(crate) fn venv_python() -> PathBuf {
    let python = command::target().join("venv/bin/python");
    // Not canonical: the link itself is what makes it the environment's.
    std::path::absolute(&python).unwrap_or(python)
}

/// A virtual environment at `target/venv` with gRPC for Python, and what the Python package is tested and built with.
pub(crate) fn python() -> Result<(), TaskError> {
    let folder = command::target().join("venv");
    let python = venv_python();
    if command::works(&python, &["-c", PYTHON_MODULES]) {
        return Ok(());
    }
    println!("installing packages for Python into {} ...", folder.display());
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

/// What the package for TypeScript is built and tested with, in the versions of its lock file.
pub(crate) fn typescript() -> Result<(), TaskError> {
    let folder = command::root().join("sdk/typescript");
    // npm writes this file when it has put everything in place.
    let (wanted, installed) = (folder.join("package-lock.json"), folder.join("node_modules/.package-lock.json"));
    let changed = |file: &Path| fs::metadata(file).and_then(|about| about.modified());
    let wanted_since = changed(&wanted).map_err(TaskError::file(&wanted))?;
    let npm = |args: &[&str]| {
        let mut npm = Command::new("npm");
        npm.current_dir(&folder).args(args).arg("--loglevel=error");
        command::run(npm)
    };
    if !changed(&installed).is_ok_and(|since| since >= wanted_since) {
        println!("installing what the package for TypeScript needs into {} ...", folder.join("node_modules").display());
        npm(&["ci", "--no-audit", "--no-fund"])?;
    }
    // Workers of tests use it as it is compiled.
    npm(&["run", "build", "--silent"])
}

/// What speaks S3 in tests.
const MOTO: &str = "moto[server,s3]~=5.2";
/// What speaks Azure Blob Storage in tests; later ones need Node 22.
const AZURITE: &str = "azurite@3.35.0";

/// Programs that speak the protocols of clouds.
pub(crate) struct CloudServers {
    /// S3.
    pub(crate) moto: PathBuf,
    /// Azure Blob Storage.
    pub(crate) azurite: PathBuf,
}

/// A virtual environment at `target/venv-clouds` and Node packages below `target/node-clouds`, with servers of object stores.
pub(crate) fn clouds() -> Result<CloudServers, TaskError> {
    let (venv, folder) = (command::target().join("venv-clouds"), command::target().join("node-clouds"));
    let servers =
        CloudServers { moto: venv.join("bin/moto_server"), azurite: folder.join("node_modules/.bin/azurite-blob") };
    if !command::works(&servers.moto, &["--help"]) {
        println!("installing a server of S3 into {} ...", venv.display());
        let mut python = Command::new("python3");
        python.args(["-m", "venv"]).arg(&venv);
        command::run(python)?;
        let mut pip = Command::new(venv.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", MOTO]);
        command::run(pip)?;
    }
    if !servers.azurite.exists() {
        println!("installing a server of Azure Blob Storage into {} ...", folder.display());
        fs::create_dir_all(&folder).map_err(TaskError::file(&folder))?;
        own_package(&folder)?;
        let mut npm = Command::new("npm");
        npm.current_dir(&folder).args(["install", "--no-audit", "--no-fund", "--loglevel=error", AZURITE]);
        command::run(npm)?;
    }
    Ok(servers)
}

/// What clients of MCP need: the SDK in both generations of the protocol, and a client that has several servers.
const MCP_PYTHON: [&str; 2] = ["mcp~=2.3", "fastmcp~=4.1"];
/// What clients of MCP need in Node; the suite and the inspector want Node 22.
const MCP_NODE: [&str; 5] = [
    "node@22",
    "@modelcontextprotocol/sdk@^1.32",
    "@modelcontextprotocol/inspector@2.12.0",
    "conformance-old@npm:@modelcontextprotocol/conformance@0.1.16",
    "conformance-new@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
];

/// A virtual environment at `target/venv-mcp` and Node packages below `target/node-mcp`, for clients of MCP.
pub(crate) fn mcp() -> Result<(), TaskError> {
    let folder = command::target().join("venv-mcp");
    let python = folder.join("bin/python");
    if !command::works(&python, &["-c", "import mcp, mcp_types, fastmcp"]) {
        println!("installing the MCP SDK for Python into {} ...", folder.display());
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv"]).arg(&folder);
        command::run(venv)?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(MCP_PYTHON);
        command::run(pip)?;
    }
    let folder = command::target().join("node-mcp");
    let modules = folder.join("node_modules");
    let wanted =
        ["node", "@modelcontextprotocol/sdk", "@modelcontextprotocol/inspector", "conformance-old", "conformance-new"];
    if wanted.iter().all(|package| modules.join(package).join("package.json").exists()) {
        return Ok(());
    }
    println!("installing clients of MCP for Node into {} ...", folder.display());
    fs::create_dir_all(&folder).map_err(TaskError::file(&folder))?;
    own_package(&folder)?;
    // `node` fetches its program in a script; the scripts of the others are not needed.
    let install = |packages: &[&str], more: &[&str]| {
        let mut npm = Command::new("npm");
        npm.current_dir(&folder)
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
            .args(more)
            .args(packages);
        command::run(npm)
    };
    install(&MCP_NODE[..1], &[])?;
    install(&MCP_NODE[1..], &["--ignore-scripts"])
}

/// Without a manifest of its own npm would look for one in the folders above.
fn own_package(folder: &Path) -> Result<(), TaskError> {
    let manifest = folder.join("package.json");
    fs::write(&manifest, "{\"private\": true}\n").map_err(TaskError::file(&manifest))
}

/// Prometheus with its `promtool` below `target/prometheus`, where the machine has none. Without it the tests that need it fail, and
/// all others run.
pub(crate) fn prometheus() {
    if ["prometheus", "promtool"].iter().all(|program| command::works(program, &["--version"])) {
        return;
    }
    let folder = command::target().join("prometheus");
    if PROMETHEUS.are_in(&folder) && folder.join("usr/bin/prometheus").exists() {
        return;
    }
    println!("unpacking Prometheus into {} ...", folder.display());
    if let Err(error) = PROMETHEUS.unpack(&folder).and_then(|()| PROMETHEUS.keep(&folder)) {
        println!("could not prepare Prometheus: {error}");
        println!("tests of metrics and alert rules will fail; put `prometheus` and `promtool` into the path.");
    }
}

/// A store of traces that can be asked what it got.
const PHOENIX: &str = "arize-phoenix~=20.26";

/// A virtual environment at `target/venv-phoenix` with a store of traces (850 MB).
pub(crate) fn phoenix() -> Result<(), TaskError> {
    let folder = command::target().join("venv-phoenix");
    let python = folder.join("bin/python");
    if command::works(&python, &["-c", "import phoenix"]) {
        return Ok(());
    }
    println!("installing a store of traces into {} ...", folder.display());
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&folder);
    command::run(venv)?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PHOENIX]);
    command::run(pip)
}

/// Go with gRPC below `target/go`. Where it cannot be had, the test of the client in Go fails and all others run.
pub(crate) fn go() {
    told("Go", || {
        let folder = command::target().join("go");
        // One `protoc` is enough: that of Python.
        let python = command::target().join("venv/bin/python");
        unpacked("Go", &GO, &folder, |build| build.env("GO_FOLDER", &folder).env("PYTHON", python))
    });
}

/// Java with gRPC below `target/java`; the JDK is the machine's. Where one of them cannot be had, the test of the client in
/// Java fails and all others run.
pub(crate) fn java() {
    if !command::works("javac", &["-version"]) {
        println!("`javac` is missing; installing the package `default-jdk-headless` ...");
        if !(apt(&["update", "-qq"]) && apt(&["install", "-y", "-qq", "default-jdk-headless"])) {
            println!("could not install it: install a JDK (17 or newer) with the system's package manager.");
        }
    }
    told("Java", || {
        let folder = command::target().join("java");
        unpacked("Java", &JAVA, &folder, |build| build.env("JAVA_FOLDER", &folder))
    });
}

/// Says why something is missing.
fn told(what: &str, install: impl FnOnce() -> Result<(), TaskError>) {
    if let Err(error) = install() {
        println!("could not prepare gRPC for {what}: {error}");
        println!("the test of the client in {what} will fail; that of every other language runs.");
    }
}

/// Unpacks packages and compiles the client once, which proves them and fills the caches that are kept beside them.
fn unpacked(
    language: &str,
    packages: &Packages,
    folder: &Path,
    environment: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<(), TaskError> {
    if packages.are_in(folder) {
        return Ok(());
    }
    println!("unpacking gRPC for {language} into {} ...", folder.display());
    packages.unpack(folder)?;
    let mut build = Command::new("sh");
    let script = format!("tests/polyglot/{}/run.sh", language.to_lowercase());
    build.current_dir(command::root()).args([script.as_str(), "proto"]);
    environment(&mut build);
    command::run(build)?;
    packages.keep(folder)
}
