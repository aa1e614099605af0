//! Python, Node, Go and Java with what their gRPC clients need. `cargo xtask test` puts all of it below `target/`, but for the JDK.

use std::path::PathBuf;
use std::process::Command;

use crate::{Problem, binary};

/// What a person does about a missing environment.
const ADVICE: &str = "run `cargo xtask test --prepare`, which installs it below `target/`";

/// A Python interpreter that has grpcio, grpcio-tools, grpcio-reflection and grpcio-health-checking, what the Python package is tested
/// with, and openapi-spec-validator.
pub fn python() -> Result<PathBuf, Problem> {
    let python = binary::target().join("venv/bin/python");
    let modules = "import grpc, grpc_tools.protoc, grpc_reflection.v1alpha, grpc_health.v1, pytest, mypy, pydantic, opentelemetry.sdk, \
                   openapi_spec_validator";
    let found = Command::new(&python).args(["-c", modules]).output();
    match found {
        Ok(output) if output.status.success() => Ok(python),
        Ok(output) => Err(missing("what Python needs", &String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(missing("a Python environment", &error.to_string())),
    }
}

/// The folder whose `node_modules` holds `@grpc/grpc-js`, `@grpc/proto-loader` and `@bufbuild/buf`.
pub fn node() -> Result<PathBuf, Problem> {
    let folder = binary::target().join("node");
    for package in ["@grpc/grpc-js", "@grpc/proto-loader"] {
        let manifest = folder.join("node_modules").join(package).join("package.json");
        if !manifest.is_file() {
            return Err(missing(&format!("the Node package `{package}`"), &manifest.display().to_string()));
        }
    }
    Ok(folder)
}

/// The folder with Go, its gRPC and its generators of stubs, as `tests/polyglot/go/run.sh` wants it.
pub fn go() -> Result<PathBuf, Problem> {
    complete("go", "gRPC for Go")
}

/// The folder with gRPC for Java and its generators of stubs, as `tests/polyglot/java/run.sh` wants it; there is a JDK, too.
pub fn java() -> Result<PathBuf, Problem> {
    match Command::new("javac").arg("-version").output() {
        Ok(output) if output.status.success() => complete("java", "gRPC for Java"),
        Ok(output) => Err(missing("a JDK", &String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(missing("a JDK", &error.to_string())),
    }
}

/// A folder whose preparation has come to its end: this file is written last.
fn complete(name: &str, what: &str) -> Result<PathBuf, Problem> {
    let folder = binary::target().join(name);
    let packages = folder.join("packages");
    if packages.is_file() { Ok(folder) } else { Err(missing(what, &format!("no {}", packages.display()))) }
}

/// The `buf` program.
pub fn buf() -> Result<PathBuf, Problem> {
    let buf = binary::target().join("node/node_modules/.bin/buf");
    if buf.exists() { Ok(buf) } else { Err(missing("`buf`", &buf.display().to_string())) }
}

/// A Python interpreter that has the MCP SDK and fastmcp.
pub fn mcp_python() -> Result<PathBuf, Problem> {
    let python = binary::target().join("venv-mcp/bin/python");
    match Command::new(&python).args(["-c", "import mcp, mcp_types, fastmcp"]).output() {
        Ok(output) if output.status.success() => Ok(python),
        Ok(output) => Err(missing("Python's MCP packages", &String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(missing("a Python environment for MCP", &error.to_string())),
    }
}

/// The folder whose `node_modules` holds Node 22, the MCP SDK, the inspector, and two versions of the official suite
/// (`conformance-old`, `conformance-new`).
pub fn mcp_node() -> Result<PathBuf, Problem> {
    let folder = binary::target().join("node-mcp");
    for package in ["node", "@modelcontextprotocol/sdk", "conformance-old", "conformance-new"] {
        let manifest = folder.join("node_modules").join(package).join("package.json");
        if !manifest.is_file() {
            return Err(missing(&format!("the Node package `{package}`"), &manifest.display().to_string()));
        }
    }
    Ok(folder)
}

fn missing(what: &str, said: &str) -> Problem {
    Problem::Missing(format!("{what} is missing ({}): {ADVICE}", said.trim()))
}
