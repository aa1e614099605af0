//! One set of rules with everything else decisions are made from. Never changed in place.

use std::collections::HashMap;
use std::sync::Arc;

use toolplane_policy::{OrgPolicy, Policy, PolicySettings, RuleSet};
use toolplane_records::SmolStr;
use toolplane_records::mode::Mode;
use toolplane_records::payload::Digest;
use toolplane_records::rule::PermissionRule;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::Behavior;
use toolplane_runtime::config::PermissionConfig;

use super::fault::{Fault, Faults};
use super::files::RulesFile;
use super::source::{Configured, Source};
use super::stored::Snapshot;

/// What the places of stored rules begin with.
const STORED: &str = "stored rule ";

/// The organisation's own policies, when there are any.
pub type OrgPolicies = Option<Arc<dyn OrgPolicy>>;

/// What is set beside rules.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the policy itself looks at.
    pub policy: PolicySettings,
    /// The mode of calls that name none.
    pub default_mode: Mode,
    /// Whether a caller may approve its own calls.
    pub allow_self_approval: bool,
    /// The name of a mode that does not exist.
    unknown_mode: Option<(String, String)>,
}

/// The rules in force, and everything else decisions are made from.
#[derive(Debug)]
pub struct Active {
    policy: Policy,
    records: Vec<PermissionRule>,
    /// When rules that have an end go out of force.
    ends: HashMap<String, Timestamp>,
    settings: Settings,
    digest: String,
    stored_revision: u64,
}

impl Settings {
    pub(super) fn of(section: &PermissionConfig) -> Self {
        let policy = PolicySettings {
            allow_bypass: section.allow_bypass,
            confidence_floor: section.review.confidence_below,
            uncertain_verdicts: section.review.verdicts.iter().map(|verdict| verdict.to_lowercase()).collect(),
            untrusted_namespaces: section.untrusted_namespaces.clone(),
            workspace: section.workspace.clone(),
            working_dirs: Vec::new(),
            trust_repositories: section.trust_repositories,
        };
        let mut settings = Self {
            policy,
            default_mode: Mode::Default,
            allow_self_approval: section.allow_self_approval,
            unknown_mode: None,
        };
        settings.set_mode("permission.default_mode", &section.default_mode);
        settings
    }

    /// Takes over what a rules file sets beside rules. What the configuration says of the mode counts more.
    pub(super) fn take(&mut self, place: &str, file: &RulesFile) {
        if let Some(mode) = file.default_mode.as_deref().filter(|_| self.default_mode == Mode::Default) {
            self.set_mode(&format!("{place}: permissions.defaultMode"), mode);
        }
        self.policy.allow_bypass &= !file.forbids_bypass;
        self.policy.working_dirs.extend(file.working_dirs.iter().cloned());
    }

    fn set_mode(&mut self, place: &str, name: &str) {
        match Mode::parse(name) {
            Some(mode) => self.default_mode = mode,
            None => self.unknown_mode = Some((place.to_owned(), name.to_owned())),
        }
    }

    pub(super) fn faults(&self) -> Vec<Fault> {
        let unknown = self.unknown_mode.iter();
        let mut faults: Vec<Fault> = unknown
            .map(|(place, name)| Fault::new(place, format!("`{name}` is none of {}", Mode::WORDS.join(", "))))
            .collect();
        if self.default_mode == Mode::Bypass && !self.policy.allow_bypass {
            faults.push(Fault::new("permission.default_mode", "`bypass` needs `permission.allow_bypass = true`"));
        }
        for directory in self.policy.working_dirs.iter().filter(|directory| !directory.starts_with('/')) {
            let rule = format!("`{directory}` does not start with `/`");
            faults.push(Fault::new("permissions.additionalDirectories", rule));
        }
        faults
    }
}

impl Active {
    /// Builds the set of configured and stored rules. Every fault is named by the place of its rule.
    pub(super) fn build(configured: &Configured, stored: &Snapshot) -> Result<Self, Faults> {
        let mut places: Vec<String> = configured.rules.iter().map(|(place, _)| place.clone()).collect();
        places.extend(stored.rules.iter().map(|rule| format!("{STORED}{}", rule.rule_id)));
        let configured_rules = configured.rules.iter().map(|(_, rule)| rule);
        let records: Vec<PermissionRule> = configured_rules.chain(&stored.rules).cloned().collect();
        let rules = RuleSet::build(&records).map_err(|faults| {
            let placed = faults.into_iter().map(|fault| Fault::new(placed(&places, &fault.field), fault.description));
            Faults(placed.collect())
        })?;
        let records = rules.rules().iter().map(|rule| rule.record().clone()).collect();
        let ending = rules.rules().iter().filter_map(|rule| Some((rule.id().to_owned(), rule.record().expires_at?)));
        let ends = ending.collect();
        let policy = Policy {
            rules: Arc::new(rules),
            settings: Arc::new(configured.settings.policy.clone()),
            org: configured.organisation.clone(),
        };
        Ok(Self {
            records,
            ends,
            digest: digest(&policy, configured.settings.default_mode),
            policy,
            settings: configured.settings.clone(),
            stored_revision: stored.revision,
        })
    }

    /// The set of what is configured alone, without any store.
    pub(crate) fn of_source(source: &Source) -> Result<Self, Faults> {
        Self::build(&source.read().1?, &Snapshot::default())
    }

    /// The same, where stored allows that cannot be used (any more) are left out: without them the set is only stricter. A
    /// deny or an ask is never left out.
    pub(super) fn build_leniently(configured: &Configured, stored: &Snapshot) -> Result<Self, Faults> {
        let faults = match Self::build(configured, stored) {
            Ok(active) => return Ok(active),
            Err(faults) => faults,
        };
        let broken = |rule: &PermissionRule| faults.0.iter().any(|fault| is_about(fault, &rule.rule_id));
        let (left_out, kept): (Vec<_>, Vec<_>) =
            stored.rules.iter().cloned().partition(|rule| rule.behavior == Behavior::Allow && broken(rule));
        if left_out.is_empty() {
            return Err(faults);
        }
        let active = Self::build(configured, &Snapshot { rules: kept, revision: stored.revision })?;
        for rule in left_out {
            tracing::error!(rule_id = rule.rule_id, "a stored allow cannot be used and is left out");
        }
        Ok(active)
    }

    /// The rules, the ones that are hardest to change first.
    pub fn rules(&self) -> &[PermissionRule] {
        &self.records
    }

    /// Everything that decides.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What is set beside rules.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// When the first of these rules goes out of force.
    pub fn expiry_of(&self, rule_ids: &[SmolStr]) -> Option<Timestamp> {
        if self.ends.is_empty() {
            return None;
        }
        rule_ids.iter().filter_map(|rule_id| self.ends.get(rule_id.as_str())).min().copied()
    }

    /// What the rule of that name says.
    pub fn behavior_of(&self, rule_id: &str) -> Option<Behavior> {
        self.policy.rules.get(rule_id).map(|rule| rule.behavior())
    }

    /// Digest over the rules of every origin, the organisation's policies and the settings decisions depend on: equal
    /// digests mean equal decisions for equal facts.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether a caller may approve its own calls.
    pub fn allow_self_approval(&self) -> bool {
        self.settings.allow_self_approval
    }

    /// The revision of the stored rules in it.
    pub(super) fn stored_revision(&self) -> u64 {
        self.stored_revision
    }
}

fn digest(policy: &Policy, default_mode: Mode) -> String {
    Digest::of(format!("toolplane policy 1\n{}\nmode {default_mode}\n", policy.digest()).as_bytes()).to_string()
}

/// What is wrong with the name a rule uses that is about to be stored.
pub(super) fn slip_of_stored(rule: &PermissionRule) -> Option<Fault> {
    let slip = toolplane_policy::rule::slip(rule)?;
    Some(Fault::new(format!("{STORED}{}.{}", rule.rule_id, slip.field), slip.description))
}

/// Whether a fault is about that stored rule.
pub(super) fn is_about(fault: &Fault, rule_id: &str) -> bool {
    field_of(fault, rule_id).is_some()
}

/// The field of that stored rule a fault is about.
pub(super) fn field_of<'a>(fault: &'a Fault, rule_id: &str) -> Option<&'a str> {
    let rest = fault.place.strip_prefix(STORED)?.strip_prefix(rule_id)?;
    (rest.is_empty() || rest.starts_with('.')).then_some(rest)
}

/// The place of a fault whose field begins with the index of its rule: `rules[3].tool` is a field of the fourth.
fn placed(places: &[String], field: &str) -> String {
    let inner = field.strip_prefix("rules[").and_then(|rest| rest.split_once(']'));
    let found = inner.and_then(|(index, rest)| Some((places.get(index.parse::<usize>().ok()?)?, rest)));
    found.map_or_else(|| field.to_owned(), |(place, rest)| format!("{place}{rest}"))
}
