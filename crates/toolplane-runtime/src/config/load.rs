//! Reading the file, with the line and key of anything wrong in it.

use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Config, ConfigError, environment};

impl Config {
    /// Reads the file (none: all defaults), applies the environment, and checks the result.
    ///
    /// Of `environment` only variables starting with [`ENV_PREFIX`](super::ENV_PREFIX) are looked at; one that names no
    /// key is refused.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, ConfigError> {
        let (mut config, table) = match file {
            Some(file) => {
                let text = std::fs::read_to_string(file)
                    .map_err(|source| ConfigError::Unreadable { file: file.to_owned(), reason: source.to_string() })?;
                let config = parse(file, &text)?;
                (config, text.parse().map_err(|error| located(file, &text, &error))?)
            }
            None => (Self::default(), toml::Table::new()),
        };
        let overrides = environment::overrides(environment)?;
        if !overrides.is_empty() {
            config = environment::apply(&table, &overrides)?;
        }
        config.file = file.map(Path::to_owned);
        config.check()?;
        Ok(config)
    }

    /// Reads configuration text; `file` is only named in errors. The cross-field rules are not checked.
    pub fn from_toml(file: &Path, text: &str) -> Result<Self, ConfigError> {
        parse(file, text)
    }
}

fn parse(file: &Path, text: &str) -> Result<Config, ConfigError> {
    toml::from_str(text).map_err(|error| located(file, text, &error))
}

fn located(file: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let span = error.span().unwrap_or(0..0);
    let line = text.as_bytes()[..span.start.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
    let key = DeTable::parse(text).map(|table| key_at(table.get_ref(), &span)).unwrap_or_default();
    ConfigError::File { file: file.to_owned(), line, key, rule: one_line(error.message()) }
}

/// The dotted path of the innermost key whose name or value covers the span.
fn key_at(table: &DeTable<'_>, span: &Range<usize>) -> String {
    for (key, value) in table {
        let name = key.get_ref();
        if covers(&key.span(), span) {
            return name.to_string();
        }
        let inner = within(value, span);
        if covers(&value.span(), span) || !inner.is_empty() {
            return format!("{name}{inner}");
        }
    }
    String::new()
}

/// The rest of the path, starting with `.` or `[`; empty when the value itself is meant or the span lies elsewhere.
fn within(value: &Spanned<DeValue<'_>>, span: &Range<usize>) -> String {
    match value.get_ref() {
        DeValue::Table(table) => match key_at(table, span) {
            path if path.is_empty() => path,
            path => format!(".{path}"),
        },
        DeValue::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| {
                let inner = within(item, span);
                (covers(&item.span(), span) || !inner.is_empty()).then(|| format!("[{index}]{inner}"))
            })
            .unwrap_or_default(),
        _ => String::new(),
    }
}

fn covers(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end && outer.start < outer.end
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
