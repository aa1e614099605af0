//! Rules files: our own (TOML or JSON), and the settings files of coding agents.

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use toolplane_records::rule::PermissionRule;
use toolplane_records::vocabulary::{Behavior, RuleSource};

use super::fault::{Fault, Faults};
use super::text::{RuleText, bare};

/// Largest rules file read.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// What a rules file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct RulesFile {
    /// Its rules, each with its place in the file.
    pub(crate) rules: Vec<(String, PermissionRule)>,
    /// The mode it sets for calls that name none.
    pub(crate) default_mode: Option<String>,
    /// It forbids the mode `bypass`.
    pub(crate) forbids_bypass: bool,
    /// Directories that count as inside of the workspace.
    pub(crate) working_dirs: Vec<String>,
}

/// A file of ours.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnFile<T> {
    rules: Vec<T>,
}

/// The part of a coding agent's settings that is about permissions. What else such a file sets is not for us.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AgentPermissions {
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
    #[serde(rename = "defaultMode")]
    default_mode: Option<String>,
    #[serde(rename = "disableBypassPermissionsMode")]
    disable_bypass: Option<String>,
    #[serde(rename = "additionalDirectories")]
    additional_directories: Vec<String>,
}

/// Reads a rules file. Every fault is named with its place; a file with one fault gives no rule.
pub(crate) fn read(file: &Path) -> Result<RulesFile, Faults> {
    let name = file.display().to_string();
    let unreadable = |error: std::io::Error| Fault::new(&name, format!("cannot be read: {error}"));
    let size = std::fs::metadata(file).map_err(unreadable)?.len();
    if size > MAX_FILE_BYTES {
        return Err(Fault::new(&name, format!("has {size} bytes; at most {MAX_FILE_BYTES} are read")).into());
    }
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    match file.extension().is_some_and(|extension| extension == "toml") {
        true => of_toml(&name, &text),
        false => of_json(file, &name, &text),
    }
}

fn of_toml(name: &str, text: &str) -> Result<RulesFile, Faults> {
    let broken = |error: toml::de::Error| Fault::new(name, one_line(error.message()));
    let table: toml::Table = text.parse().map_err(broken)?;
    let file: OwnFile<toml::Value> = OwnFile::deserialize(table).map_err(broken)?;
    let read = |rule: toml::Value| RuleText::deserialize(rule).map_err(|error| one_line(error.message()));
    own(name, file.rules, read)
}

fn of_json(file: &Path, name: &str, text: &str) -> Result<RulesFile, Faults> {
    let broken = |error: serde_json::Error| Fault::new(name, error);
    let whole: Map<String, Value> = serde_json::from_str(text).map_err(broken)?;
    match (whole.contains_key("rules"), whole.get("permissions")) {
        (false, Some(permissions)) => of_agent(file, name, permissions),
        (true, None) => {
            let file: OwnFile<Value> = serde_json::from_str(text).map_err(broken)?;
            own(name, file.rules, |rule| RuleText::deserialize(rule).map_err(|error| error.to_string()))
        }
        _ => Err(Fault::new(name, "must have either `rules` or `permissions`").into()),
    }
}

fn own<T>(name: &str, rules: Vec<T>, read: impl Fn(T) -> Result<RuleText, String>) -> Result<RulesFile, Faults> {
    let (mut found, mut faults) = (RulesFile::default(), Vec::new());
    let origin = format!("file:{name}");
    for (index, rule) in rules.into_iter().enumerate() {
        let place = format!("{name}: rules[{index}]");
        match read(rule) {
            Ok(rule) => found.rules.push((place, rule.into_record(&origin, format!("{}/{index}", stem(name))))),
            Err(rule) => faults.push(Fault::new(place, rule)),
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(Faults(faults)) }
}

fn of_agent(file: &Path, name: &str, permissions: &Value) -> Result<RulesFile, Faults> {
    let place = format!("{name}: permissions");
    let said = AgentPermissions::deserialize(permissions).map_err(|error| Fault::new(&place, error))?;
    let (origin, source) = (format!("file:{name}"), source_of(file));
    let lists =
        [("allow", Behavior::Allow, said.allow), ("ask", Behavior::Ask, said.ask), ("deny", Behavior::Deny, said.deny)];
    let mut found = RulesFile::default();
    for (list, behavior, matchers) in lists {
        for (index, matcher) in matchers.iter().enumerate() {
            let rule = bare(format!("{}/{list}/{index}", stem(name)), behavior, matcher, source, &origin);
            found.rules.push((format!("{place}.{list}[{index}]"), rule));
        }
    }
    found.default_mode = said.default_mode;
    found.forbids_bypass = said.disable_bypass.as_deref() == Some("disable");
    found.working_dirs = said.additional_directories;
    Ok(found)
}

/// Where the rules of a coding agent's settings come from, told by the file's name as such agents name them.
fn source_of(file: &Path) -> RuleSource {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name.starts_with("managed-settings") {
        RuleSource::PolicySettings
    } else if name.ends_with(".local.json") {
        RuleSource::LocalSettings
    } else {
        RuleSource::ProjectSettings
    }
}

/// A name for the rules of a file that have none: its last part, in the letters of identifiers, and a mark of its place, so
/// that two files of one name are told apart.
fn stem(name: &str) -> String {
    let last = Path::new(name).file_name().and_then(|last| last.to_str()).unwrap_or("rules");
    let plain: String =
        last.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let mark = toolplane_records::payload::Digest::of(name.as_bytes()).hex();
    format!("{}@{}", &plain[..plain.len().min(64)], &mark[..6])
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
