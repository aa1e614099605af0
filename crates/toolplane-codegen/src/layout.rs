//! Where things lie in the repository.

use std::path::{Path, PathBuf};

/// The package all protos belong to.
pub const PACKAGE: &str = "toolplane.v1";

/// The folder that holds the protos.
pub fn proto_root() -> PathBuf {
    workspace().join("proto")
}

/// The checked-in Rust code.
pub fn code_file() -> PathBuf {
    output().join(format!("{PACKAGE}.rs"))
}

/// The checked-in descriptor set.
pub fn descriptor_file() -> PathBuf {
    output().join("descriptor.bin")
}

fn output() -> PathBuf {
    workspace().join("crates/toolplane-proto/src/gen")
}

fn workspace() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}
