//! What questions mean: the vectors of every tool, and asking the model about a question.
//!
//! Tools are read by the model in the background, after they are registered (`reader.rs`), and what it made of them is kept beside
//! their declarations. A question waits for the model as long as it is told, and is answered by words alone where the model does not answer.

mod open;
mod reader;
#[cfg(test)]
mod tests;
mod understood;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dashmap::DashMap;
use tokio::sync::Semaphore;
use toolplane_catalog::search::{Nearest, meant};
use toolplane_meaning::{Quantised, Weights};
use toolplane_records::ids::{TenantId, ToolId};

use crate::options::MeaningOptions;
pub(crate) use open::{check, open};
use understood::Understood;

/// Questions the model is asked at a time; more wait for their turn, and go without it when that takes too long.
const AT_ONCE: usize = 4;

/// A model, and what it made of the tools. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Meaning(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: MeaningOptions,
    tenants: DashMap<TenantId, Arc<Understood>>,
    turns: Arc<Semaphore>,
    /// The last question went without the model: told once, and not with every question.
    away: AtomicBool,
}

/// What is known of the meaning of a question.
#[derive(Debug)]
pub(crate) enum Asked {
    /// There is no model, or nothing to understand.
    Not,
    /// The model did not answer.
    Away,
    /// Its vector.
    Understood(Near),
}

/// The tools of a tenant, from where a question stands.
#[derive(Debug)]
pub(crate) struct Near {
    question: Quantised,
    tools: Arc<Understood>,
    weights: Weights,
    least: f32,
}

impl Nearest for Near {
    fn nearest(&self, most: usize, fits: &mut dyn FnMut(&ToolId) -> bool) -> Vec<ToolId> {
        self.tools.nearest(&self.question, most, self.least, fits)
    }

    fn weights(&self) -> Weights {
        self.weights
    }
}

impl Asked {
    /// Who knows which tools are near.
    pub(crate) fn nearest(&self) -> Option<&dyn Nearest> {
        match self {
            Self::Understood(near) => Some(near),
            Self::Not | Self::Away => None,
        }
    }

    /// What an answer says of it, where the tenant has so many tools.
    pub(crate) fn word(&self, tools: usize) -> &'static str {
        match self {
            Self::Not => "",
            Self::Away => "away",
            Self::Understood(near) if near.tools.len() < tools => "partial",
            Self::Understood(_) => "complete",
        }
    }
}

impl Meaning {
    pub(crate) fn new(options: MeaningOptions) -> Self {
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        Self(Arc::new(Inner { options, tenants: DashMap::new(), turns, away: AtomicBool::new(false) }))
    }

    fn of_tenant(&self, tenant: &TenantId) -> Arc<Understood> {
        let fresh = || Arc::new(Understood::new(self.0.options.embedder.dimension()));
        Arc::clone(&self.0.tenants.entry(tenant.clone()).or_insert_with(fresh))
    }

    /// Asks the model what a question means.
    pub(crate) async fn ask(&self, tenant: &TenantId, query: &str) -> Asked {
        let Some(text) = meant(query) else { return Asked::Not };
        let options = &self.0.options;
        let (vector, was_away) = match tokio::time::timeout(options.patience, self.vector(text)).await {
            Ok(Ok(vector)) => (vector, self.0.away.swap(false, Ordering::Relaxed)),
            failed => {
                if !self.0.away.swap(true, Ordering::Relaxed) {
                    let told =
                        failed.map_or_else(|_| "it took too long".to_owned(), |error| error.err().unwrap_or_default());
                    tracing::warn!(error = told, "the embedding model does not answer; tools are found by words alone");
                }
                return Asked::Away;
            }
        };
        if was_away {
            tracing::info!("the embedding model answers again");
        }
        let (tools, weights, least) = (self.of_tenant(tenant), options.weights, options.least_similarity);
        Asked::Understood(Near { question: vector, tools, weights, least })
    }

    async fn vector(&self, text: String) -> Result<Quantised, String> {
        let turn = Arc::clone(&self.0.turns).acquire_owned().await.map_err(|error| error.to_string())?;
        let embedder = Arc::clone(&self.0.options.embedder);
        let work = move || {
            // Given back when the work has ended, also when nobody waits for it any more.
            let _turn = turn;
            embedder.embed(&[&text])
        };
        let vectors = tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?;
        let vectors = vectors.map_err(|error| error.to_string())?;
        vectors.first().and_then(|vector| Quantised::of(vector)).ok_or_else(|| "it gave no vector".to_owned())
    }
}
