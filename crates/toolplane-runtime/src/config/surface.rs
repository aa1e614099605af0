//! The section of the surface role.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toolplane_credentials::CredentialConfig;

use super::{ConfigError, MeaningConfig, PeersConfig, RerankerConfig};

/// What is learned may count for so long.
const MAX_HALF_LIFE_DAYS: u32 = 3_650;
/// Most tools that are loaded within a budget.
const MAX_LOADED: u32 = 1_000;

/// The surface role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SurfaceConfig {
    /// A surface of more tools than this defers those not asked for by name.
    pub defer_threshold: u32,
    /// What a surface may have loaded at once, unless its request says otherwise.
    pub budget: BudgetConfig,
    /// Tool files (JSON or TOML) registered at start.
    pub declarations: Vec<PathBuf>,
    /// Surfaces that nobody used for so many days (called, searched, loaded, read or followed) are deleted; never when 0.
    pub unused_surface_days: u32,
    /// Words that mean the same when tools are searched, beside the words that are built in.
    pub synonyms: Vec<SynonymsConfig>,
    /// How tools are searched.
    pub search: SearchConfig,
}

impl SurfaceConfig {
    /// Checks this section beside the credentials it may name, and what is said of peers; the first broken rule is reported.
    pub(super) fn check(&self, credentials: &[CredentialConfig], peers: &PeersConfig) -> Result<(), ConfigError> {
        if self.budget.max_tools > MAX_LOADED {
            let rule = format!("`{}` is not between 0 and {MAX_LOADED}", self.budget.max_tools);
            return Err(ConfigError::value("surface.budget.max_tools", rule));
        }
        let broken = |key: String, rule| ConfigError::value(&format!("surface.search.{key}"), rule);
        let days = self.search.learning.half_life_days;
        if !(1..=MAX_HALF_LIFE_DAYS).contains(&days) {
            let rule = format!("`{days}` is not between 1 and {MAX_HALF_LIFE_DAYS}");
            return Err(broken("learning.half_life_days".to_owned(), rule));
        }
        let meaning = self.search.meaning.check(credentials);
        meaning.map_err(|(key, rule)| broken(format!("meaning.{key}"), rule))?;
        let reranker = self.search.reranker.check(peers.ca_file.is_some());
        reranker.map_err(|(key, rule)| broken(format!("reranker.{key}"), rule))
    }
}

/// What a surface may have loaded at once; a bound of 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct BudgetConfig {
    /// Tools, at most 1000.
    pub max_tools: u32,
    /// Tokens of what a model is told of them, estimated.
    pub max_schema_tokens: u64,
    /// Bytes of that.
    pub max_schema_bytes: u64,
}

/// How tools are searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// Whether words for what tools do, as `get` and `fetch`, mean the same without anybody saying so.
    pub starter_synonyms: bool,
    /// What searches learn from use.
    pub learning: LearningConfig,
    /// What questions mean, beside their words; off without a model or an endpoint.
    pub meaning: MeaningConfig,
    /// A service that puts what was found into a better order; off without an endpoint.
    pub reranker: RerankerConfig,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            starter_synonyms: true,
            learning: LearningConfig::default(),
            meaning: MeaningConfig::default(),
            reranker: RerankerConfig::default(),
        }
    }
}

/// What searches learn from use: words that led to a tool find it better. Each tenant's use teaches that tenant alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LearningConfig {
    /// Whether they do. Switched off, nothing is kept, and what was kept before is not looked at.
    pub enabled: bool,
    /// After so many days without use, what was learned counts half; 1 to 3,650.
    pub half_life_days: u32,
}

impl Default for LearningConfig {
    fn default() -> Self {
        Self { enabled: true, half_life_days: 30 }
    }
}

/// Words that mean the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SynonymsConfig {
    /// The tenant whose words they are; all tenants when absent.
    pub tenant: Option<String>,
    /// The words, or phrases of up to four words.
    pub words: Vec<String>,
}

impl Default for SurfaceConfig {
    fn default() -> Self {
        Self {
            defer_threshold: 30,
            budget: BudgetConfig::default(),
            declarations: Vec::new(),
            unused_surface_days: 90,
            synonyms: Vec::new(),
            search: SearchConfig::default(),
        }
    }
}
