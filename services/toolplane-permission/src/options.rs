//! Settings of the role.

#[cfg(test)]
mod tests;

use std::time::Duration;

use toolplane_runtime::{Config, ConfigError};

use crate::approvals::Limits;
use crate::rules::{Active, Faults, RuleText, Source};

/// Settings of the permission role.
#[derive(Clone, Debug)]
pub struct PermissionOptions {
    /// Where the configured rules are read from, now and again later.
    pub source: Source,
    /// Bounds of approvals and stored rules.
    pub limits: Limits,
    /// How long a question waits for an answer, milliseconds; a call's own deadline may end it earlier.
    pub approval_ttl_ms: u64,
    /// How often overdue questions are looked for.
    pub sweep_every: Duration,
    /// How often rules files and stored rules are looked at.
    pub look_every: Duration,
    /// How long a watcher waits at most before it looks by itself.
    pub poll_every: Duration,
    /// Largest gRPC message taken or sent.
    pub max_message_bytes: usize,
}

impl PermissionOptions {
    /// The settings in a configuration. Everything it names is read and checked: a wrong rule is refused by its place,
    /// e.g. `permission.rules[3].tool`, with the line where it is in the file.
    ///
    /// Without any rule or policy configured every call is asked about.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        let source = Source::of(config);
        Active::of_source(&source).map_err(|faults| refused(config, &faults))?;
        let section = &config.permission;
        Ok(Self {
            source,
            limits: Limits {
                max_pending: section.max_pending_per_tenant,
                max_rules: section.max_rules_per_tenant,
                holds_ms: section.approval_holds_ms,
            },
            approval_ttl_ms: section.approval_ttl_ms,
            sweep_every: Duration::from_secs(1),
            look_every: Duration::from_secs(1),
            poll_every: Duration::from_secs(2),
            max_message_bytes: config.server.max_message_bytes,
        })
    }
}

fn refused(config: &Config, faults: &Faults) -> ConfigError {
    let (place, rule, more) = match faults.0.as_slice() {
        [] => ("permission.rules", "is refused", String::new()),
        [first] => (first.place.as_str(), first.rule.as_str(), String::new()),
        [first, rest @ ..] => (first.place.as_str(), first.rule.as_str(), format!(" (and {} more faults)", rest.len())),
    };
    // Read once more from the text, because only that knows at which key of its rule a mistake is.
    match config.check_rules::<RuleText>() {
        Err(ConfigError::File { file, line, key, rule }) => ConfigError::File { file, line, key, rule: rule + &more },
        _ if place.starts_with("permission.rules[") => config.wrong_rule(place, format!("{rule}{more}")),
        _ => ConfigError::Value { key: place.to_owned(), rule: format!("{rule}{more}") },
    }
}
