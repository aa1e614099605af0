//! `cargo xtask gen`: every generated file that is checked in. Each has a test that finds it stale.

use crate::command::{self, TaskError};

/// Writes them all; files that are already right are left alone.
pub(crate) fn run() -> Result<(), TaskError> {
    command::run(command::cargo(&["run", "--quiet", "--package", "toolplane-codegen"]))?;
    let print = ["run", "--quiet", "--package", "xtask", "--example", "config_schema"];
    write("schemas/config.schema.json", &command::capture(command::cargo(&print))?)?;
    for (name, schema) in record_schemas()? {
        write(&format!("schemas/records/{name}"), schema.as_bytes())?;
    }
    let print = ["run", "--quiet", "--package", "xtask", "--example", "errors_page"];
    write("docs/errors.md", &command::capture(command::cargo(&print))?)?;
    let print = ["run", "--quiet", "--package", "xtask", "--example", "vocabulary"];
    write("schemas/vocabulary.json", &command::capture(command::cargo(&print))?)?;
    let print = ["run", "--quiet", "--package", "xtask", "--example", "metrics_page"];
    write("docs/metrics.md", &command::capture(command::cargo(&print))?)?;
    let print = ["run", "--quiet", "--package", "xtask", "--example", "openapi"];
    write("schemas/openapi.json", &command::capture(command::cargo(&print))?)
}

/// The JSON Schemas of records by file name. They are made by an example of the crate that has the records, with a feature that nothing
/// else builds.
fn record_schemas() -> Result<Vec<(String, String)>, TaskError> {
    let print = ["run", "--quiet", "-p", "toolplane-records", "--features", "schema", "--example", "record_schemas"];
    let printed = command::capture(command::cargo(&print))?;
    let files: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&printed)
        .map_err(|error| TaskError::Answer(format!("the schemas of records are not JSON: {error}")))?;
    let text = |(name, schema): (String, serde_json::Value)| Some((name, schema.as_str()?.to_owned()));
    Ok(files.into_iter().filter_map(text).collect())
}

/// Whether the schemas of records that are checked in are those of the types.
pub(crate) fn check_record_schemas(root: &std::path::Path) -> Result<(), TaskError> {
    let folder = root.join("schemas/records");
    let schemas = record_schemas()?;
    let is_stale = |(name, schema): &(String, String)| {
        std::fs::read(folder.join(name)).map_or(true, |kept| kept != schema.as_bytes())
    };
    let mut wrong: Vec<String> = schemas.iter().filter(|file| is_stale(file)).map(|(name, _)| name.clone()).collect();
    let known = |name: &String| schemas.iter().any(|(file, _)| file == name);
    let there = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    wrong.extend(there.filter_map(|file| file.file_name().into_string().ok()).filter(|name| !known(name)));
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(TaskError::Answer(format!("schemas/records: {} is stale", wrong.join(", ")))),
    }
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
