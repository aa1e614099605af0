//! `cargo xtask gen`: every generated file that is checked in. Each has a test that finds it stale.

use crate::command::{self, TaskError};

/// Writes them all; files that are already right are left alone.
pub(crate) fn run() -> Result<(), TaskError> {
    command::run(command::cargo(&["run", "--quiet", "--package", "toolplane-codegen"]))?;
    let print = ["run", "--quiet", "--package", "xtask", "--example", "config_schema"];
    write("schemas/config.schema.json", &command::capture(command::cargo(&print))?)?;
    let print = ["run", "--quiet", "--package", "xtask", "--example", "errors_page"];
    write("docs/errors.md", &command::capture(command::cargo(&print))?)?;
    let print = ["run", "--quiet", "--package", "xtask", "--example", "vocabulary"];
    write("schemas/vocabulary.json", &command::capture(command::cargo(&print))?)?;
    let print = ["run", "--quiet", "--package", "xtask", "--example", "metrics_page"];
    write("docs/metrics.md", &command::capture(command::cargo(&print))?)?;
    let print = ["run", "--quiet", "--package", "xtask", "--example", "openapi"];
    write("schemas/openapi.json", &command::capture(command::cargo(&print))?)
}

fn write(name: &str, bytes: &[u8]) -> Result<(), TaskError> {
    let path = command::root().join(name);
    if std::fs::read(&path).is_ok_and(|old| old == bytes) {
        println!("unchanged  {}", path.display());
        return Ok(());
    }
    std::fs::write(&path, bytes).map_err(|source| TaskError::File { path: path.clone(), source })?;
    println!("written    {}", path.display());
    Ok(())
}
