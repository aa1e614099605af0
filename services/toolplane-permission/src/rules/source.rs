//! What is configured: the section of the configuration, and the files it names, read as one.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use toolplane_records::rule::PermissionRule;
use toolplane_runtime::Config;
use toolplane_runtime::config::PermissionConfig;

use super::active::{OrgPolicies, Settings};
use super::fault::{Fault, Faults};
use super::text::RuleText;
use super::{files, organisation, stored};

/// Where the configuration is read from, now and again later.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The section as it was when the process started.
    pub section: PermissionConfig,
    /// The file it came from; without one only the files it names are read again.
    pub file: Option<PathBuf>,
}

/// Everything that is configured, read and checked one by one.
#[derive(Clone, Debug)]
pub(super) struct Configured {
    /// Rules with their places.
    pub(super) rules: Vec<(String, PermissionRule)>,
    pub(super) settings: Settings,
    pub(super) organisation: OrgPolicies,
}

/// What tells that a file has changed. A missing file is a state too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fingerprint(Vec<(PathBuf, Option<FileState>)>);

/// Which file it is, how long, and when it was written last.
type FileState = (u64, u64, Option<SystemTime>);

impl Source {
    /// The permission role's part of `config`.
    pub fn of(config: &Config) -> Self {
        Self { section: config.permission.clone(), file: config.file.clone() }
    }

    /// Reads the configuration and every file it names, and says in which state it found the files. They are looked at before
    /// they are read: a file that changes in between looks changed later.
    pub(super) fn read(&self) -> (Fingerprint, Result<Configured, Faults>) {
        let own = Fingerprint::of(&self.file);
        match self.section_now() {
            Ok(section) => {
                let named = section.rules_files.iter().chain(&section.cedar_policies).chain(&section.cedar_schema);
                (own.and(named), configured(&section))
            }
            Err(fault) => (own, Err(fault.into())),
        }
    }

    /// The section as it is on disk now, with the environment's overrides.
    fn section_now(&self) -> Result<PermissionConfig, Fault> {
        let Some(file) = &self.file else { return Ok(self.section.clone()) };
        let config = Config::load(Some(file), std::env::vars_os());
        config.map(|config| config.permission).map_err(|error| Fault::new(file.display().to_string(), error))
    }
}

impl Fingerprint {
    fn of<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        Self(files.into_iter().map(|file| (file.clone(), state_of(file))).collect())
    }

    fn and<'a>(mut self, files: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        self.0.extend(Self::of(files).0);
        self
    }

    /// Whether a file is in another state now.
    pub(super) fn has_changed(&self) -> bool {
        self.0.iter().any(|(file, state)| state_of(file) != *state)
    }
}

fn state_of(file: &Path) -> Option<FileState> {
    let found = std::fs::metadata(file).ok()?;
    Some((found.ino(), found.len(), found.modified().ok()))
}

fn configured(section: &PermissionConfig) -> Result<Configured, Faults> {
    let (mut rules, mut faults) = (Vec::new(), Vec::new());
    for (index, table) in section.rules.iter().enumerate() {
        let place = format!("permission.rules[{index}]");
        match <RuleText as serde::Deserialize>::deserialize(toml::Value::Table(table.clone())) {
            Ok(rule) => rules.push((place, rule.into_record("config", format!("config/{index}")))),
            Err(error) => faults.push(Fault::new(place, error.message())),
        }
    }
    let mut settings = Settings::of(section);
    for (index, file) in section.rules_files.iter().enumerate() {
        match files::read(file) {
            Ok(found) => {
                settings.take(&format!("permission.rules_files[{index}]"), &found);
                rules.extend(found.rules);
            }
            Err(found) => faults.extend(found.0.into_iter().map(|fault| of_file(index, fault))),
        }
    }
    faults.extend(settings.faults());
    for (place, rule) in rules.iter().filter(|(_, rule)| rule.rule_id.starts_with(stored::PREFIX)) {
        let rule = format!("`{}` begins like the name of a stored rule (`{}`)", rule.rule_id, stored::PREFIX);
        faults.push(Fault::new(format!("{place}.id"), rule));
    }
    for (place, rule) in &rules {
        let slip = toolplane_policy::rule::slip(rule);
        faults.extend(slip.map(|slip| Fault::new(format!("{place}.{}", slip.field), slip.description)));
    }
    let organisation = match organisation::read(section, &settings.policy) {
        Ok(found) => found,
        Err(found) => {
            faults.extend(found.0);
            OrgPolicies::default()
        }
    };
    if !faults.is_empty() {
        return Err(Faults(faults));
    }
    Ok(Configured { rules, settings, organisation })
}

/// A fault of a file, with the key that names the file.
fn of_file(index: usize, fault: Fault) -> Fault {
    Fault { place: format!("permission.rules_files[{index}]: {}", fault.place), ..fault }
}
