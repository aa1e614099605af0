//! Settings of the role.

use std::path::PathBuf;

use toolplane_cleaning::CleaningPolicy;
use toolplane_records::ids::TenantId;
use toolplane_records::json::JsonLimits;
use toolplane_results::payload::{PayloadOptions, SpoolOptions};
use toolplane_runtime::Config;
use toolplane_runtime::config::{
    CleaningRuleConfig, OriginalRuleConfig, RetentionRuleConfig, SchedulerConfig, StoreBackend,
};

use crate::cleaning::CleaningRule;
use crate::intake::{SpecLimits, ToolLimits};
use crate::keeping::KeepRule;
use crate::limits::{ConfiguredBounds, ToolBound};
use crate::originals::OriginalRule;
use crate::parts::PartsOptions;
use crate::rpc::WorkerTerms;
use crate::storage::Shards;
use crate::taints::TaintOptions;

/// Longest overall time limit a caller may set: 30 days, the longest an approval may wait.
const MAX_DEADLINE_MS: u64 = 30 * 24 * 60 * 60 * 1000;
/// How long a ready call waits for a worker of its pool to connect.
const PLACEMENT_GRACE_MS: i64 = 60_000;

/// Settings of the scheduler role.
#[derive(Clone, Debug)]
pub struct SchedulerOptions {
    /// Those of the parts.
    pub(crate) parts: PartsOptions,
    /// Bounds of what a tool may declare.
    pub(crate) tools: ToolLimits,
    /// Bounds of what a request may hold.
    pub(crate) requests: SpecLimits,
    /// What workers are told.
    pub(crate) terms: WorkerTerms,
    /// The directory large results are kept in, unless there is a bucket.
    pub(crate) objects: PathBuf,
    /// The bucket they are kept in.
    pub(crate) bucket: Option<String>,
    /// Where they wait while the bucket is away.
    pub(crate) spool: Option<SpoolOptions>,
    /// How old an output must be that no call names, to be removed; not at all when absent.
    pub(crate) orphan_grace_ms: Option<i64>,
    /// What ended in the last milliseconds is in no export.
    pub(crate) export_settle_ms: i64,
    /// How large they may be, and for how long they are kept.
    pub(crate) payloads: PayloadOptions,
    /// What is taken out of what tools give.
    pub(crate) cleaning: CleaningPolicy,
    /// What of some tools is treated differently.
    pub(crate) cleaning_rules: Vec<CleaningRule>,
    /// Files of the keys that originals are sealed with.
    pub(crate) original_keys: Vec<PathBuf>,
    /// Which originals are kept.
    pub(crate) original_rules: Vec<OriginalRule>,
    /// Whether traces hold what calls say.
    pub(crate) capture_content: bool,
    /// Most calls followed at once, and most of one tenant.
    pub(crate) watchers: (usize, usize),
    /// Largest gRPC message taken or sent.
    pub(crate) max_message_bytes: usize,
}

impl SchedulerOptions {
    /// The settings in a configuration.
    pub fn from_config(config: &Config) -> Self {
        let settings = &config.scheduler;
        let max_bytes = usize::try_from(settings.max_input_bytes).unwrap_or(usize::MAX);
        Self {
            parts: parts(config),
            tools: ToolLimits {
                default_timeout_ms: settings.default_timeout_ms,
                max_timeout_ms: settings.max_timeout_ms,
                max_inline_bytes: settings.max_inline_result_bytes,
            },
            requests: SpecLimits {
                json: JsonLimits { max_bytes, ..JsonLimits::default() },
                max_deadline_ms: MAX_DEADLINE_MS,
                shards: shards(config),
            },
            terms: WorkerTerms {
                heartbeat_ms: u32::try_from(settings.heartbeat_ms).unwrap_or(u32::MAX),
                lease_ms: u32::try_from(settings.lease_ms).unwrap_or(u32::MAX),
                max_inline_bytes: settings.max_inline_result_bytes,
            },
            objects: config.objects_dir(),
            bucket: config.objects_bucket().map(str::to_owned),
            spool: (config.objects_bucket().is_some() && config.objects.spool_bytes > 0)
                .then(|| SpoolOptions { directory: config.spool_dir(), max_bytes: config.objects.spool_bytes }),
            orphan_grace_ms: Some(signed(config.objects.orphan_grace_seconds.saturating_mul(1000)))
                .filter(|grace| *grace > 0),
            export_settle_ms: signed(settings.export_settle_ms),
            payloads: PayloadOptions {
                max_bytes: config.objects.max_bytes,
                retention_days: config.objects.retention_days,
            },
            cleaning: settings.cleaning.clone(),
            cleaning_rules: cleaning_rules(settings),
            original_keys: settings.originals.key_files.clone(),
            original_rules: original_rules(settings),
            capture_content: config.telemetry.capture_content,
            watchers: (settings.max_watchers, settings.max_watchers_per_tenant),
            max_message_bytes: config.server.max_message_bytes,
        }
    }
}

fn cleaning_rules(settings: &SchedulerConfig) -> Vec<CleaningRule> {
    let rules = settings.cleaning_rules.iter();
    let rule = |rule: &CleaningRuleConfig| CleaningRule {
        tenant: rule.tenant.clone(),
        tool: rule.tool.clone(),
        set: rule.set.clone(),
        rules: rule.rules.clone(),
    };
    rules.map(rule).collect()
}

fn original_rules(settings: &SchedulerConfig) -> Vec<OriginalRule> {
    let rules = settings.originals.keep.iter();
    let rule = |rule: &OriginalRuleConfig| OriginalRule {
        tenant: rule.tenant.clone(),
        tool: rule.tool.clone(),
        found: rule.found.clone(),
        readers: rule.readers.clone(),
        keep_ms: i64::from(rule.keep_hours) * 60 * 60 * 1000,
    };
    rules.map(rule).collect()
}

/// The settings of the parts.
fn parts(config: &Config) -> PartsOptions {
    let settings = &config.scheduler;
    let tools = settings.tools.iter().map(|limit| ToolBound {
        tool: limit.tool.clone(),
        max_running: limit.max_running,
        rate_per_s: limit.rate_per_s,
    });
    let weights = settings.weights.iter();
    let listen = config.server.listen;
    let scheme = if config.server.tls.is_some() { "https" } else { "http" };
    PartsOptions {
        lease_ms: signed(settings.lease_ms),
        offer_ms: signed(settings.offer_ms),
        tick_ms: settings.tick_ms,
        placement_grace_ms: PLACEMENT_GRACE_MS,
        bounds: ConfiguredBounds {
            max_waiting: settings.max_queued_per_tenant,
            max_running_per_tenant: settings.max_running_per_tenant,
            rate_per_tenant: settings.rate_per_tenant,
            rate_burst: settings.rate_burst,
            tools: tools.collect(),
        },
        weights: weights.map(|(tenant, weight)| (TenantId::from_trusted(tenant), u64::from(*weight))).collect(),
        retention_ms: signed(settings.retention_seconds.saturating_mul(1000)),
        tenant_retention_ms: settings
            .tenant_retention_seconds
            .iter()
            .map(|(tenant, seconds)| (TenantId::from_trusted(tenant), signed(seconds.saturating_mul(1000))))
            .collect(),
        retention_rules: settings.retention.iter().map(keep_rule).collect(),
        archive: settings.archive,
        key_window_ms: signed(settings.idempotency_window_seconds.saturating_mul(1000)),
        // A port that was made up, or an address that means any, tells nobody where to go.
        shards: shards(config),
        taints: TaintOptions {
            untrusted: config.permission.untrusted_namespaces.clone(),
            keep_days: settings.taints.keep_days,
            may_be_cleared: settings.taints.may_be_cleared,
        },
        endpoint: (listen.port() != 0 && !listen.ip().is_unspecified()).then(|| format!("{scheme}://{listen}")),
    }
}

fn keep_rule(rule: &RetentionRuleConfig) -> KeepRule {
    let words = |words: &[String]| words.iter().map(|word| word.as_str().into()).collect();
    let keep = rule.keep_seconds.iter().map(|(class, seconds)| (*class, signed(seconds.saturating_mul(1000))));
    KeepRule {
        tenant: (!rule.tenant.is_empty()).then(|| TenantId::from_trusted(&rule.tenant)),
        risk: rule.risk.clone(),
        sensitivity: words(&rule.sensitivity),
        hint: words(&rule.hint),
        keep_ms: keep.collect(),
    }
}

/// The shards of the store, as it is opened for this role.
fn shards(config: &Config) -> Shards {
    match config.store.backend {
        StoreBackend::Embedded => Shards::ONE,
        StoreBackend::Redis => Shards::new(config.store.redis.shards),
    }
}

fn signed(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX / 4)
}
