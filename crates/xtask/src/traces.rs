//! `cargo xtask traces`: a call of a cluster as a real store of traces gives it back. A command of its own, because the store is large.

use crate::command::{self, TaskError};
use crate::needs;

/// Installs the store and runs the test that starts it.
pub(crate) fn run() -> Result<(), TaskError> {
    needs::phoenix()?;
    command::run(command::cargo(&["build", "--workspace", "--bins"]))?;
    let mut test = command::cargo(&["test", "--package", "toolplane-tests", "--test", "it", "--", "--ignored"]);
    test.args(["--exact", "trace_store::a_call_is_one_tree_in_a_store_of_traces"]);
    test.env("TOOLPLANE_BIN", command::target().join("debug/toolplane"));
    command::run(test)
}
