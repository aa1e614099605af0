//! The section of the scheduler role.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toolplane_cleaning::{Class, CleaningPolicy, Treatment};
use toolplane_records::vocabulary::{RecordClass, RiskLevel};

use super::error::ConfigError;

/// The scheduler role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SchedulerConfig {
    /// How long a worker holds a call without a heartbeat.
    pub lease_ms: u64,
    /// How long a worker may take to accept an offer.
    pub offer_ms: u64,
    /// How often a worker sends a heartbeat.
    pub heartbeat_ms: u64,
    /// Longest input accepted.
    pub max_input_bytes: u64,
    /// Longest result kept within the record; longer ones become a preview and a reference.
    pub max_inline_result_bytes: u64,
    /// Time a call has when it names none.
    pub default_timeout_ms: u64,
    /// Longest time a call may ask for.
    pub max_timeout_ms: u64,
    /// How often the scheduler looks for due timers when no event wakes it.
    pub tick_ms: u64,
    /// Most calls of one tenant that wait to be run; above it, new calls are refused.
    pub max_queued_per_tenant: u64,
    /// Most streams of one tenant that follow calls at each scheduler process; above it, more are refused.
    pub max_watchers_per_tenant: usize,
    /// Most streams that follow calls at each scheduler process.
    pub max_watchers: usize,
    /// Most calls of one tenant that run at a time; 0 is no bound.
    pub max_running_per_tenant: u64,
    /// Calls of one tenant accepted per second by each scheduler process; 0 is no bound.
    pub rate_per_tenant: u32,
    /// Calls of one tenant accepted at once after a quiet time; a second's worth when 0.
    pub rate_burst: u32,
    /// How long an ended call is kept, with its inputs, log and result.
    pub retention_seconds: u64,
    /// The same for single tenants, by name.
    pub tenant_retention_seconds: BTreeMap<String, u64>,
    /// How long what calls leave is kept, by its class and by what their tools say of their data. The first entry that fits a call and
    /// names the class applies.
    pub retention: Vec<RetentionRuleConfig>,
    /// Write ended calls to the object store before they are removed.
    pub archive: bool,
    /// How long an idempotency key is remembered after its call ended. Must be at least `retention_seconds` to have an
    /// effect of its own.
    pub idempotency_window_seconds: u64,
    /// How long a commit may be on its way: what ended in the last milliseconds is in no export.
    pub export_settle_ms: u64,
    /// Bounds of single tools. The first entry that fits a tool applies.
    pub tools: Vec<ToolLimit>,
    /// Share of a tenant among waiting tenants; 1 when it is not named.
    pub weights: BTreeMap<String, u32>,
    /// What is done about credentials, data of persons, unseen characters, instructions and markup in what tools give.
    pub cleaning: CleaningPolicy,
    /// Tools and tenants whose outputs are cleaned differently. The first entry that fits a call applies.
    pub cleaning_rules: Vec<CleaningRuleConfig>,
    /// What is kept of outputs as they were before they were cleaned.
    pub originals: OriginalsConfig,
    /// What sessions are tainted with, and for how long.
    pub taints: TaintsConfig,
}

/// How long what some calls leave is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RetentionRuleConfig {
    /// Of this tenant; of all when empty.
    pub tenant: String,
    /// Of tools of one of these risks (`risk_level` of their permission profile); of all when empty.
    pub risk: Vec<RiskLevel>,
    /// Of tools whose data is one of these (`data_sensitivity`), e.g. `personal`; of all when empty.
    pub sensitivity: Vec<String>,
    /// Of tools that ask for one of these (`retention_hint`), e.g. `session`; of all when empty.
    pub hint: Vec<String>,
    /// For how many seconds after the end of the call, by class: `calls` for the call as a whole, `inputs`, `outputs`, `events`,
    /// `decisions`, `evidence`, `questions`. What is not named goes with the call.
    pub keep_seconds: BTreeMap<RecordClass, u64>,
}

impl RetentionRuleConfig {
    fn check(&self, key: &str) -> Result<(), ConfigError> {
        if !self.tenant.is_empty() {
            let key = format!("{key}.tenant");
            toolplane_records::ids::check_id(&self.tenant)
                .map_err(|rule| ConfigError::value(&key, rule.to_string()))?;
        }
        if self.keep_seconds.is_empty() {
            let words: Vec<_> = RecordClass::ALL.iter().map(|class| class.as_str()).collect();
            let key = format!("{key}.keep_seconds");
            return Err(ConfigError::value(&key, format!("must name a class: {}", words.join(", "))));
        }
        for (class, seconds) in &self.keep_seconds {
            let key = format!("{key}.keep_seconds.{class}");
            if !(1..=MAX_KEPT_SECONDS).contains(seconds) {
                return Err(ConfigError::value(&key, format!("`{seconds}` is not between 1 and {MAX_KEPT_SECONDS}")));
            }
            if self.keep_seconds.get(&RecordClass::Calls).is_some_and(|calls| seconds > calls) {
                return Err(ConfigError::value(&key, "is longer than `calls`, and everything goes with its call"));
            }
        }
        Ok(())
    }
}

/// How outputs of some tools are cleaned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CleaningRuleConfig {
    /// Of this tenant; of all when empty.
    pub tenant: String,
    /// Of tools of this full name, or pattern with `*` and `?`, e.g. `crm.*`; of all when empty.
    pub tool: String,
    /// What differs, by class: e.g. `{ personal = "mask" }`.
    pub set: BTreeMap<Class, Treatment>,
    /// The same by the names of single rules: e.g. `{ email = "keep" }`.
    pub rules: BTreeMap<String, Treatment>,
}

/// Which originals of cleaned outputs are kept, sealed, and for whom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct OriginalsConfig {
    /// Files of the keys they are sealed with, which only their owner may read: lines of at least 32 characters. The first key seals, each of
    /// them opens. Without a key nothing is kept.
    pub key_files: Vec<PathBuf>,
    /// Whose are kept; nobody's when empty. The first entry that fits a call applies.
    pub keep: Vec<OriginalRuleConfig>,
}

/// Whose originals are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct OriginalRuleConfig {
    /// Of this tenant; of all when empty.
    pub tenant: String,
    /// Of tools of this full name, or pattern with `*` and `?`; of all when empty.
    pub tool: String,
    /// Only where one of these classes or rules had something taken out, e.g. `["personal", "card"]`; whatever it was when empty.
    pub found: Vec<String>,
    /// Who may read them: `role:<agent|approver|operator|auditor>`, or a caller as records name it.
    pub readers: Vec<String>,
    /// For how many hours they are kept, and no longer than their calls.
    pub keep_hours: u32,
}

impl Default for OriginalRuleConfig {
    fn default() -> Self {
        let none = String::new;
        Self { tenant: none(), tool: none(), found: Vec::new(), readers: Vec::new(), keep_hours: 72 }
    }
}

impl OriginalsConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.key_files.is_empty() && !self.keep.is_empty() {
            let rule = "must name a file with a key: without one nothing of `scheduler.originals.keep` is kept";
            return Err(ConfigError::value("scheduler.originals.key_files", rule));
        }
        for (index, rule) in self.keep.iter().enumerate() {
            rule.check().map_err(|(field, wrong)| {
                ConfigError::value(&format!("scheduler.originals.keep[{index}].{field}"), wrong)
            })?;
        }
        Ok(())
    }
}

impl OriginalRuleConfig {
    fn check(&self) -> Result<(), (&'static str, String)> {
        let known = |name: &&String| {
            let is_class = Class::ALL.iter().any(|class| class.as_str() == name.as_str());
            !is_class && toolplane_cleaning::class_of(name).is_none()
        };
        if let Some(unknown) = self.found.iter().find(known) {
            return Err(("found", format!("there is no class or rule of cleaning `{unknown}`")));
        }
        if self.readers.is_empty() {
            return Err(("readers", "must say who may read them, e.g. `[\"role:auditor\"]`".to_owned()));
        }
        let outside = ["agent", "approver", "operator", "auditor"];
        let is_none = |reader: &&String| match reader.strip_prefix("role:") {
            Some(role) => !outside.contains(&role),
            None => reader.trim().is_empty(),
        };
        if let Some(wrong) = self.readers.iter().find(is_none) {
            return Err(("readers", format!("`{wrong}` is no caller and no role: `role:` and {}", outside.join(", "))));
        }
        match self.keep_hours {
            1..=MAX_ORIGINAL_HOURS => Ok(()),
            hours => Err(("keep_hours", format!("`{hours}` is not between 1 and {MAX_ORIGINAL_HOURS}"))),
        }
    }
}

/// How long sessions are tainted by what they were given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TaintsConfig {
    /// For how many days after its last tainted output a session's calls carry what taints it.
    pub keep_days: u32,
    /// Whether an operator may clear what taints a session before that.
    pub may_be_cleared: bool,
}

impl Default for TaintsConfig {
    fn default() -> Self {
        Self { keep_days: 30, may_be_cleared: true }
    }
}

/// Bounds of some tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ToolLimit {
    /// Name of the tool, or a pattern with `*` and `?`, e.g. `files.*`.
    pub tool: String,
    /// Most calls of one such tool that run at a time; 0 is no bound.
    pub max_running: u64,
    /// Calls of one such tool accepted per second by each scheduler process; 0 is no bound.
    pub rate_per_s: u32,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self {
            lease_ms: 15_000,
            offer_ms: 5_000,
            heartbeat_ms: 3_000,
            max_input_bytes: 1024 * 1024,
            max_inline_result_bytes: 64 * 1024,
            default_timeout_ms: 30_000,
            max_timeout_ms: 600_000,
            tick_ms: 1_000,
            max_queued_per_tenant: 10_000,
            max_watchers_per_tenant: 2_000,
            max_watchers: 10_000,
            max_running_per_tenant: 0,
            rate_per_tenant: 0,
            rate_burst: 0,
            retention_seconds: DAY_SECONDS,
            tenant_retention_seconds: BTreeMap::new(),
            retention: Vec::new(),
            archive: false,
            idempotency_window_seconds: DAY_SECONDS,
            export_settle_ms: 5_000,
            tools: Vec::new(),
            weights: BTreeMap::new(),
            cleaning: CleaningPolicy::default(),
            cleaning_rules: Vec::new(),
            originals: OriginalsConfig::default(),
            taints: TaintsConfig::default(),
        }
    }
}

const DAY_SECONDS: u64 = 24 * 60 * 60;
/// Longest time anything is kept: ten years.
const MAX_KEPT_SECONDS: u64 = 3_650 * DAY_SECONDS;
/// Longest time a session is tainted: ten years.
const MAX_TAINT_DAYS: u32 = 3_650;
/// Longest time an original is kept: ten years.
const MAX_ORIGINAL_HOURS: u32 = 87_600;
/// The largest share of one tenant.
const MAX_WEIGHT: u32 = 1_000;

impl SchedulerConfig {
    /// Checks the ranges of this section.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let kept = [
            ("scheduler.retention_seconds", self.retention_seconds),
            ("scheduler.idempotency_window_seconds", self.idempotency_window_seconds),
        ];
        for (key, value) in kept {
            if !(1..=MAX_KEPT_SECONDS).contains(&value) {
                return Err(ConfigError::value(key, format!("`{value}` is not between 1 and {MAX_KEPT_SECONDS}")));
            }
        }
        for (index, limit) in self.tools.iter().enumerate() {
            if limit.tool.is_empty() {
                let key = format!("scheduler.tools[{index}].tool");
                return Err(ConfigError::value(&key, "must name a tool, or be a pattern such as `files.*`"));
            }
        }
        if !(1..=MAX_TAINT_DAYS).contains(&self.taints.keep_days) {
            let message = format!("`{}` is not between 1 and {MAX_TAINT_DAYS}", self.taints.keep_days);
            return Err(ConfigError::value("scheduler.taints.keep_days", message));
        }
        self.cleaning.check().map_err(|error| ConfigError::value("scheduler.cleaning", error.to_string()))?;
        for (index, rule) in self.cleaning_rules.iter().enumerate() {
            let key = format!("scheduler.cleaning_rules[{index}]");
            let wrong = |error: String| ConfigError::value(&key, error);
            self.cleaning.with(&rule.set, &rule.rules).check().map_err(|error| wrong(error.to_string()))?;
            if rule.tenant.is_empty() && rule.tool.is_empty() {
                return Err(wrong(
                    "must name a tenant, a tool or both; what holds for all is said in `scheduler.cleaning`".to_owned(),
                ));
            }
        }
        self.originals.check()?;
        for (index, rule) in self.retention.iter().enumerate() {
            rule.check(&format!("scheduler.retention[{index}]"))?;
        }
        for (tenant, seconds) in &self.tenant_retention_seconds {
            let key = format!("scheduler.tenant_retention_seconds.{tenant}");
            toolplane_records::ids::check_id(tenant).map_err(|rule| ConfigError::value(&key, rule.to_string()))?;
            if !(1..=MAX_KEPT_SECONDS).contains(seconds) {
                return Err(ConfigError::value(&key, format!("`{seconds}` is not between 1 and {MAX_KEPT_SECONDS}")));
            }
        }
        for (tenant, weight) in &self.weights {
            let key = format!("scheduler.weights.{tenant}");
            toolplane_records::ids::check_id(tenant).map_err(|rule| ConfigError::value(&key, rule.to_string()))?;
            if !(1..=MAX_WEIGHT).contains(weight) {
                return Err(ConfigError::value(&key, format!("`{weight}` is not between 1 and {MAX_WEIGHT}")));
            }
        }
        Ok(())
    }
}
