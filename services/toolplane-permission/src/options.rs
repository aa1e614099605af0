//! Settings of the role.

use std::path::PathBuf;
use std::time::Duration;

use toolplane_policy::{PolicyConfig, RuleConfig, RuleSet};
use toolplane_records::error::FieldViolation;
use toolplane_records::vocabulary::{Behavior, RuleSource};
use toolplane_runtime::{Config, ConfigError};

/// Settings of the permission role.
#[derive(Clone, Debug)]
pub struct Options {
    /// Directory of this role's store.
    pub store_dir: PathBuf,
    /// The rules in force.
    pub rules: RuleSet,
    /// How long a question waits for an answer, milliseconds; a call's own deadline may end it earlier.
    pub approval_ttl_ms: u64,
    /// How often overdue questions are looked for.
    pub sweep_every: Duration,
    /// How long a watcher waits at most before it looks by itself.
    pub poll_every: Duration,
    /// Largest gRPC message taken or sent.
    pub max_message_bytes: usize,
}

impl Options {
    /// The settings in a configuration. A wrong rule is refused by its place, e.g. `permission.rules[3].tool`.
    ///
    /// Without any rule configured the built-in one applies: what is known to only read, and not to reach the open world, is
    /// allowed; everything else is asked about.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        let rules: Vec<RuleConfig> = config.permission.parse_rules()?;
        let rules = if rules.is_empty() { vec![built_in()] } else { rules };
        let rules = RuleSet::from_config(&PolicyConfig { rules }).map_err(|faults| refused(&faults))?;
        Ok(Self {
            store_dir: config.server.data_dir.join("permission"),
            rules,
            approval_ttl_ms: config.permission.approval_ttl_ms,
            sweep_every: Duration::from_secs(1),
            poll_every: Duration::from_secs(2),
            max_message_bytes: config.server.max_message_bytes,
        })
    }
}

fn built_in() -> RuleConfig {
    RuleConfig {
        id: Some("built_in/read_only".to_owned()),
        behavior: Behavior::Allow,
        tool: "*".to_owned(),
        facts: vec!["read_only".to_owned(), "!open_world".to_owned()],
        source: RuleSource::PolicySettings,
        reason: "reading without reaching the open world needs no question".to_owned(),
    }
}

fn refused(faults: &[FieldViolation]) -> ConfigError {
    let (key, rule) = match faults {
        [] => ("permission.rules".to_owned(), "is refused".to_owned()),
        [first] => (format!("permission.{}", first.field), first.description.clone()),
        [first, rest @ ..] => {
            let rule = format!("{} (and {} more rules are broken)", first.description, rest.len());
            (format!("permission.{}", first.field), rule)
        }
    };
    ConfigError::Value { key, rule }
}

#[cfg(test)]
mod tests {
    use super::{Config, Options};

    fn rules(text: &str) -> Result<Options, String> {
        let config = Config::from_toml("test.toml".as_ref(), text).unwrap();
        Options::from_config(&config).map_err(|error| error.to_string())
    }

    #[test]
    fn without_rules_the_built_in_one_applies_and_any_rule_replaces_it() {
        assert_eq!(rules("").unwrap().rules.rules()[0].id, "built_in/read_only");
        let own = rules("[[permission.rules]]\nbehavior = \"deny\"\ntool = \"*\"\n").unwrap();
        assert_eq!(own.rules.rules().len(), 1);
        assert_eq!(own.rules.rules()[0].behavior.as_str(), "deny");
    }

    #[test]
    fn wrong_rules_are_refused_by_their_place() {
        let unknown_key = rules("[[permission.rules]]\nbehavior = \"deny\"\ntool = \"*\"\ntols = \"x\"\n").unwrap_err();
        assert!(unknown_key.contains("permission.rules[0]"), "{unknown_key}");
        let bad_fact =
            rules("[[permission.rules]]\nbehavior = \"deny\"\ntool = \"*\"\nfacts = [\"nice\"]\n").unwrap_err();
        assert!(bad_fact.contains("permission.rules[0].facts[0]"), "{bad_fact}");
    }
}
