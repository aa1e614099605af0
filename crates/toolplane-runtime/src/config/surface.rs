//! The section of the surface role.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ConfigError;

/// What is learned may count for so long.
const MAX_HALF_LIFE_DAYS: u32 = 3_650;
/// Largest weight of an order, in percent.
const MAX_WEIGHT: u32 = 1_000;
/// A question waits for a model at most so long.
const MAX_PATIENCE_MS: u32 = 60_000;
/// Most threads of a model. With more, it takes longer to share out the work than to do it.
const MAX_THREADS: u32 = 64;

/// The surface role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct SurfaceConfig {
    /// A surface of more tools than this defers those not asked for by name.
    pub defer_threshold: u32,
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
    /// Checks the ranges of this section; the first broken one is reported.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let SearchConfig { learning, meaning, .. } = &self.search;
        let ranges = [
            ("learning.half_life_days", Some(learning.half_life_days), 1, MAX_HALF_LIFE_DAYS),
            ("meaning.words_weight", Some(meaning.words_weight), 0, MAX_WEIGHT),
            ("meaning.meaning_weight", Some(meaning.meaning_weight), 0, MAX_WEIGHT),
            ("meaning.least_similarity", Some(meaning.least_similarity), 0, 100),
            ("meaning.patience_ms", Some(meaning.patience_ms), 1, MAX_PATIENCE_MS),
            ("meaning.threads", meaning.threads, 1, MAX_THREADS),
        ];
        for (key, value, least, most) in ranges {
            if let Some(value) = value.filter(|value| !(least..=most).contains(value)) {
                let rule = format!("`{value}` is not between {least} and {most}");
                return Err(ConfigError::value(&format!("surface.search.{key}"), rule));
            }
        }
        Ok(())
    }
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
    /// What questions mean, beside their words; off without a model.
    pub meaning: MeaningConfig,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self { starter_synonyms: true, learning: LearningConfig::default(), meaning: MeaningConfig::default() }
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

/// A model that knows what texts mean. Needs a build with the feature `embedding-model`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MeaningConfig {
    /// Folder with `config.json`, `tokenizer.json` and `model.safetensors` of a sentence encoder of the BERT family. Nothing is
    /// downloaded.
    pub model: Option<PathBuf>,
    /// What the order by words counts, in percent; at most 1,000.
    pub words_weight: u32,
    /// What the order by meaning counts, in percent; at most 1,000.
    pub meaning_weight: u32,
    /// Tools that are less near a question than this, in percent, are not found by its meaning. Models differ in what is near.
    pub least_similarity: u32,
    /// How long a question waits for the model, in milliseconds, from 1 to 60,000; it is answered by words alone then.
    pub patience_ms: u32,
    /// Threads the model computes with, from 1 to 64: a quarter of the processors, and at least one, when it is not set.
    pub threads: Option<u32>,
}

impl MeaningConfig {
    /// Threads the model computes with.
    pub fn threads(&self) -> u32 {
        self.threads.unwrap_or_else(|| {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            u32::try_from(processors / 4).unwrap_or(MAX_THREADS).clamp(1, MAX_THREADS)
        })
    }
}

impl Default for MeaningConfig {
    fn default() -> Self {
        Self {
            model: None,
            words_weight: 100,
            meaning_weight: 100,
            least_similarity: 20,
            patience_ms: 1_000,
            threads: None,
        }
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
            declarations: Vec::new(),
            unused_surface_days: 90,
            synonyms: Vec::new(),
            search: SearchConfig::default(),
        }
    }
}
