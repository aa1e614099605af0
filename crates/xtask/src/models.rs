//! `cargo xtask models`: the tests of a build that reads embedding models, with small weights they make themselves. A command of its
//! own: what models need takes minutes to compile, and nobody without a model builds it.

use crate::command::{self, TaskError};

const PACKAGES: [&str; 6] = ["-p", "toolplane-meaning", "-p", "toolplane-surface", "-p", "toolplane-catalog"];
const FEATURES: [&str; 2] =
    ["--features", "toolplane-meaning/model,toolplane-surface/embedding-model,toolplane-catalog/model"];

/// Checks the code that is built with models only, and runs its tests.
pub(crate) fn run() -> Result<(), TaskError> {
    let mut clippy = command::cargo(&["clippy", "--all-targets"]);
    clippy.args(PACKAGES).args(FEATURES).args(["--", "--deny", "warnings"]);
    command::run(clippy)?;
    let mut tests = command::cargo(&["test"]);
    // By their names: the others are the same as without models. One after the other: one of them counts the threads of its process.
    tests.args(PACKAGES).args(FEATURES).args(["--", "--test-threads", "1", "meaning", "model"]);
    command::run(tests)
}
