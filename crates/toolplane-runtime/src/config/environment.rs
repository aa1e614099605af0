//! Environment overrides: `TOOLPLANE__SERVER__LISTEN=127.0.0.1:0`.

use std::ffi::OsString;

use serde::Deserialize;

use super::load::one_line;
use super::{Config, ConfigError, ENV_PREFIX};

/// One override, its value as read (TOML where it is TOML, text otherwise) and as plain text.
#[derive(Clone, Debug)]
pub(super) struct Override {
    variable: String,
    path: Vec<String>,
    typed: toml::Value,
    text: String,
}

/// The overrides among the variables, by name.
pub(super) fn overrides(
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Vec<Override>, ConfigError> {
    let mut found = Vec::new();
    for (name, value) in environment {
        let Some(variable) = name.to_str().filter(|name| name.starts_with(ENV_PREFIX)) else { continue };
        let refuse = |rule: &str| ConfigError::Environment { variable: variable.to_owned(), rule: rule.to_owned() };
        let text = value.into_string().map_err(|_| refuse("the value is not valid UTF-8"))?;
        let path: Vec<String> = variable[ENV_PREFIX.len()..].split("__").map(str::to_ascii_lowercase).collect();
        if path.len() < 2 || path.iter().any(String::is_empty) {
            return Err(refuse("names no key; write `TOOLPLANE__<SECTION>__<KEY>`"));
        }
        let typed = typed(&text);
        found.push(Override { variable: variable.to_owned(), path, typed, text });
    }
    found.sort_by(|a, b| a.variable.cmp(&b.variable));
    Ok(found)
}

/// The configuration of `base` with all overrides in place. `base` alone must be a valid configuration, so whatever is
/// wrong now was brought in by an override, and is reported under its name.
pub(super) fn apply(base: &toml::Table, overrides: &[Override]) -> Result<Config, ConfigError> {
    let mut chosen: Vec<Override> = overrides.to_vec();
    let mut outcome = read(base, &chosen)?;
    for index in 0..chosen.len() {
        if let Overridden::Fits(config) = outcome {
            return Ok(*config);
        }
        // Text that happens to be TOML (`12`, `true`) may be meant for a key that wants a string.
        let typed = std::mem::replace(&mut chosen[index].typed, toml::Value::String(overrides[index].text.clone()));
        let retried = read(base, &chosen)?;
        if matches!(retried, Overridden::Fits(_)) || alone_is_fine(base, &chosen[index]) {
            outcome = retried;
        } else {
            chosen[index].typed = typed;
        }
    }
    match outcome {
        Overridden::Fits(config) => Ok(*config),
        Overridden::Refused(error) => Err(blame(base, &chosen, &error)),
    }
}

fn blame(base: &toml::Table, overrides: &[Override], error: &toml::de::Error) -> ConfigError {
    let refused_alone = |one: &&Override| {
        let alone = read(base, std::slice::from_ref(*one));
        matches!(alone, Ok(Overridden::Refused(alone)) if alone.message() == error.message())
    };
    // A key that another override needs beside it is not wrong alone; then removing it is what helps.
    let variable = overrides
        .iter()
        .find(refused_alone)
        .map(|one| one.variable.clone())
        .unwrap_or_else(|| overrides.iter().map(|one| one.variable.as_str()).collect::<Vec<_>>().join("`, `"));
    ConfigError::Environment { variable, rule: one_line(error.message()) }
}

fn alone_is_fine(base: &toml::Table, one: &Override) -> bool {
    matches!(read(base, std::slice::from_ref(one)), Ok(Overridden::Fits(_)))
}

/// What a configuration with overrides in place is.
enum Overridden {
    Fits(Box<Config>),
    /// A value is none its key takes.
    Refused(toml::de::Error),
}

fn read(base: &toml::Table, overrides: &[Override]) -> Result<Overridden, ConfigError> {
    let mut table = base.clone();
    for one in overrides {
        set(&mut table, one)?;
    }
    Ok(match Config::deserialize(toml::Value::Table(table)) {
        Ok(config) => Overridden::Fits(Box::new(config)),
        Err(error) => Overridden::Refused(error),
    })
}

fn set(table: &mut toml::Table, one: &Override) -> Result<(), ConfigError> {
    let Some((last, sections)) = one.path.split_last() else { return Ok(()) };
    let mut place = table;
    for section in sections {
        let entry = place.entry(section.clone()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        place = entry.as_table_mut().ok_or_else(|| ConfigError::Environment {
            variable: one.variable.clone(),
            rule: format!("`{section}` is not a section"),
        })?;
    }
    place.insert(last.clone(), one.typed.clone());
    Ok(())
}

/// The value a TOML file would have after `key = `, or the text itself.
fn typed(text: &str) -> toml::Value {
    let parsed = format!("value = {text}").parse::<toml::Table>().ok();
    let value = parsed.filter(|table| table.len() == 1).and_then(|mut table| table.remove("value"));
    match value {
        // Dates have no key here: they are text.
        None | Some(toml::Value::Datetime(_)) => toml::Value::String(text.to_owned()),
        Some(value) => value,
    }
}
