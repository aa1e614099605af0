//! Where the programs under test are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::problem::Problem;

/// Names a `toolplane` program that is already built; otherwise it is built on first use.
pub const VARIABLE: &str = "TOOLPLANE_BIN";

/// The packages whose programs a cluster needs.
pub const PACKAGES: [&str; 2] = ["toolplane", "toolplane-sandbox"];

/// The root of the repository.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

/// The folder builds go to.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The `toolplane` program, built from the sources of today in the profile of the caller.
pub fn toolplane() -> Result<PathBuf, Problem> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| match std::env::var_os(VARIABLE) {
        Some(path) => Ok(PathBuf::from(path)),
        None => build(),
    });
    built.clone().map_err(|said| Problem::Program { what: "building `toolplane`".to_owned(), said })
}

fn build() -> Result<PathBuf, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).args(["build", "--quiet", "--bins"]);
    PACKAGES.iter().for_each(|package| {
        cargo.args(["--package", package]);
    });
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    if profile == "release" {
        cargo.arg("--release");
    }
    let output = cargo.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(target().join(profile).join("toolplane")),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
