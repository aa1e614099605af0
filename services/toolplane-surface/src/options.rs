//! Settings of the role.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolplane_catalog::Budget;
use toolplane_meaning::Weights;
use toolplane_providers::health::Policy;
use toolplane_runtime::Config;
use toolplane_runtime::client::Peer;

use crate::meaning::MeaningSource;
use crate::rerank::Reranker;

/// Settings of the surface role.
#[derive(Clone, Debug)]
pub struct SurfaceOptions {
    /// A surface of more tools than this defers those not asked for by name, unless its request says otherwise.
    pub defer_threshold: u32,
    /// What a surface may have loaded at once, unless its request says otherwise.
    pub budget: Budget,
    /// Tool files registered at start; see [`crate::declarations`].
    pub declarations: Vec<PathBuf>,
    /// How long a change waits for the schedulers to take it in.
    pub sync_patience: Duration,
    /// Largest gRPC message taken or sent.
    pub max_message_bytes: usize,
    /// How providers are asked what they have.
    pub providers: ProviderOptions,
    /// Words that mean the same; those without a tenant are everybody's.
    pub synonyms: Vec<Synonyms>,
    /// Whether the starter set of synonyms is looked at too.
    pub starter_synonyms: bool,
    /// What searches learn from use.
    pub learning: LearningOptions,
    /// Surfaces that nobody used for so long are deleted; none where absent.
    pub unused_after: Option<Duration>,
    /// What questions mean is looked at too; words alone are, without it.
    pub meaning: Option<MeaningOptions>,
    /// A service that puts what was found into a better order.
    pub reranker: Option<Reranker>,
    /// Who says which tools are denied to everybody; nothing is hidden without.
    pub denials: Option<DenialOptions>,
}

/// How it is known which tools are denied to everybody.
#[derive(Clone, Debug)]
pub struct DenialOptions {
    /// The permission service.
    pub permission: Peer,
    /// How long what is shown waits, after a start, for its first word. Then nothing is hidden until there is one.
    pub patience: Duration,
}

/// What searches learn from use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearningOptions {
    /// Whether they do at all.
    pub enabled: bool,
    /// After so many days, what was learned counts half.
    pub half_life_days: u32,
    /// How often what is new is written into the store, and looked for there.
    pub every: Duration,
}

/// How the meaning of questions is looked at.
#[derive(Clone, Debug)]
pub struct MeaningOptions {
    /// Who knows what texts mean.
    pub source: Arc<dyn MeaningSource>,
    /// What the order by words and that by meaning count.
    pub weights: Weights,
    /// Tools that are less near a question than this, from 0 to 1, are not found by its meaning.
    pub least_similarity: f32,
    /// How long a question waits for the model.
    pub patience: Duration,
}

/// Words that mean the same when tools are searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synonyms {
    /// Whose words they are.
    pub tenant: Option<String>,
    /// The words.
    pub words: Vec<String>,
}

impl SurfaceOptions {
    /// The settings in a configuration; a model is read, and a reranker connected to, where the role [starts](crate::start).
    pub fn from_config(config: &Config) -> Self {
        Self {
            defer_threshold: config.surface.defer_threshold,
            budget: Budget {
                max_tools: u64::from(config.surface.budget.max_tools),
                max_schema_tokens: config.surface.budget.max_schema_tokens,
                max_schema_bytes: config.surface.budget.max_schema_bytes,
            },
            declarations: config.surface.declarations.clone(),
            sync_patience: Duration::from_millis(500),
            max_message_bytes: config.server.max_message_bytes,
            providers: ProviderOptions::default(),
            synonyms: config
                .surface
                .synonyms
                .iter()
                .map(|one| Synonyms { tenant: one.tenant.clone(), words: one.words.clone() })
                .collect(),
            starter_synonyms: config.surface.search.starter_synonyms,
            learning: LearningOptions {
                enabled: config.surface.search.learning.enabled,
                half_life_days: config.surface.search.learning.half_life_days,
                every: Duration::from_secs(5),
            },
            unused_after: match config.surface.unused_surface_days {
                0 => None,
                days => Some(Duration::from_secs(u64::from(days) * 24 * 60 * 60)),
            },
            meaning: None,
            reranker: None,
            denials: None,
        }
    }
}

/// How providers are asked what they have.
#[derive(Clone, Debug)]
pub struct ProviderOptions {
    /// The scheduler, for what only workers can ask; without one such providers cannot be asked.
    pub scheduler: Option<Peer>,
    /// The scheduler knows who speaks to it, so that calls can be made as the platform's own.
    pub speaks_for_tenants: bool,
    /// Most providers that are asked at a time.
    pub at_once: usize,
    /// Most providers of one tenant that are asked at a time.
    pub of_one_tenant: usize,
    /// How long one may take to answer.
    pub patience: Duration,
    /// When they are asked again, and when calls of their tools are not let through.
    pub policy: Policy,
}

impl Default for ProviderOptions {
    /// No scheduler; 8 at a time, 3 of one tenant, a minute for each.
    fn default() -> Self {
        Self {
            scheduler: None,
            speaks_for_tenants: false,
            at_once: 8,
            of_one_tenant: 3,
            patience: Duration::from_secs(60),
            policy: Policy::default(),
        }
    }
}
