//! Reading the file, with the line and key of anything wrong in it.

use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Config, ConfigError, ENV_PREFIX, LogFormat, environment};

/// The variable of `log.format`, after its beginning.
const LOG_FORMAT: &str = "LOG__FORMAT";

impl Config {
    /// Reads the file (none: all defaults), applies the environment, and checks the result.
    ///
    /// Of `environment` only variables starting with [`ENV_PREFIX`] are looked at; one that names no
    /// key is refused.
    ///
    /// # Errors
    ///
    /// - [`ConfigError::Unreadable`] when the file cannot be read.
    /// - [`ConfigError::File`] when it is not TOML, or a key or value in it is wrong; it names the line.
    /// - [`ConfigError::Environment`] when a variable names no key, or its value is wrong.
    /// - [`ConfigError::Value`] when a value is out of range or does not go with another one.
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

    /// How the log was to look by a configuration that is refused, as far as it can be read; text where it cannot.
    pub(crate) fn log_format(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> LogFormat {
        let by_environment = environment
            .into_iter()
            .find(|(name, _)| name.to_str().and_then(|name| name.strip_prefix(ENV_PREFIX)) == Some(LOG_FORMAT))
            .and_then(|(_, value)| value.into_string().ok());
        let by_file = || {
            let table: toml::Table = std::fs::read_to_string(file?).ok()?.parse().ok()?;
            Some(table.get("log")?.get("format")?.as_str()?.to_owned())
        };
        let said = by_environment.or_else(by_file).map(toml::Value::String);
        said.and_then(|said| LogFormat::deserialize(said).ok()).unwrap_or_default()
    }

    /// Reads configuration text; `file` is only named in errors. The rules between keys are not checked. Fails with
    /// [`ConfigError::File`] when the text is not TOML, or a key or value in it is wrong.
    pub fn from_toml(file: &Path, text: &str) -> Result<Self, ConfigError> {
        parse(file, text)
    }

    /// Reads the rules of the file as `T`, the type of the permission role. Does nothing when the rules do not come
    /// from the file. Fails with [`ConfigError::File`], which names the line, when a rule is not a `T`; only the first
    /// such rule is told.
    pub fn check_rules<T: DeserializeOwned>(&self) -> Result<(), ConfigError> {
        let Some((file, text)) = self.text_of_rules() else { return Ok(()) };
        let read: Result<OnlyRules<T>, _> = toml::from_str(&text);
        read.map(|read| drop(read.permission.rules)).map_err(|error| located(file, &text, &error))
    }

    /// The error for a rule that is wrong at `key` (`permission.rules[3].tool`, counted from 0), with its line where the file has it.
    pub fn wrong_rule(&self, key: &str, rule: String) -> ConfigError {
        let place = self.text_of_rules().and_then(|(file, text)| {
            let start = DeTable::parse(&text).ok().and_then(|table| start_of(table.get_ref(), key))?;
            Some((file.to_owned(), line_of(&text, start)))
        });
        match place {
            Some((file, line)) => ConfigError::File { file, line, key: key.to_owned(), rule },
            None => ConfigError::Value { key: key.to_owned(), rule },
        }
    }

    /// The file, when the rules are those that are in it: the environment may have put others in their place.
    fn text_of_rules(&self) -> Option<(&Path, String)> {
        let file = self.file.as_deref()?;
        let text = std::fs::read_to_string(file).ok()?;
        let table: toml::Table = text.parse().ok()?;
        let rules = table.get("permission")?.get("rules")?.as_array()?;
        rules.iter().map(toml::Value::as_table).eq(self.permission.rules.iter().map(Some)).then_some((file, text))
    }
}

/// A file, as far as it is about rules.
#[derive(Deserialize)]
struct OnlyRules<T> {
    permission: RulesOf<T>,
}

#[derive(Deserialize)]
struct RulesOf<T> {
    rules: Vec<T>,
}

fn parse(file: &Path, text: &str) -> Result<Config, ConfigError> {
    toml::from_str(text).map_err(|error| located(file, text, &error))
}

fn located(file: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let span = error.span().unwrap_or(0..0);
    let line = line_of(text, span.start);
    let key = DeTable::parse(text).map(|table| key_at(table.get_ref(), &span)).unwrap_or_default();
    ConfigError::File { file: file.to_owned(), line, key, rule: one_line(error.message()) }
}

fn line_of(text: &str, start: usize) -> usize {
    text.as_bytes()[..start.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Where the key at this path begins, or as much of the path as there is.
fn start_of(table: &DeTable<'_>, path: &str) -> Option<usize> {
    table.iter().find_map(|(key, value)| {
        let rest = path.strip_prefix(key.get_ref().as_ref())?;
        let whole = rest.is_empty() || rest.starts_with(['.', '[']);
        whole.then(|| start_within(value, rest).unwrap_or(key.span().start))
    })
}

fn start_within(value: &Spanned<DeValue<'_>>, rest: &str) -> Option<usize> {
    match value.get_ref() {
        DeValue::Table(table) => start_of(table, rest.strip_prefix('.')?),
        DeValue::Array(items) => {
            let (index, rest) = rest.strip_prefix('[')?.split_once(']')?;
            let item = items.get(index.parse::<usize>().ok()?)?;
            Some(start_within(item, rest).unwrap_or(item.span().start))
        }
        _ => None,
    }
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
