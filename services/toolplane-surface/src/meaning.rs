//! What questions mean: the vectors of every tool, and of questions.
//!
//! A model in this process or an endpoint makes them (`source.rs`). Tools are read in the background, after they are registered
//! (`reader.rs`), and what came out is kept beside their declarations. A question waits as long as it is told, and is answered by words
//! alone where nobody says what it means.

mod each;
mod endpoint;
mod open;
mod questions;
mod reader;
mod source;
#[cfg(test)]
mod tests;
mod understood;

use std::sync::{Arc, OnceLock};

use dashmap::DashMap;
use toolplane_catalog::search::{Nearest, meant};
use toolplane_meaning::{Quantised, Weights};
use toolplane_records::ids::{TenantId, ToolId};

use crate::breaker::Breaker;
use crate::options::MeaningOptions;
pub(crate) use open::{check, open};
use questions::Questions;
pub use source::{Computed, MeaningSource, Purpose, Unread};
use understood::Understood;

/// Who knows what texts mean, and what that made of the tools. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Meaning(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: MeaningOptions,
    tenants: DashMap<TenantId, Arc<Understood>>,
    questions: Questions,
    breaker: Breaker,
    /// How many numbers each vector has.
    dimension: OnceLock<usize>,
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
    question: Arc<Quantised>,
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
        let dimension = options.source.dimension().map_or_else(OnceLock::new, OnceLock::from);
        let (questions, breaker) = (Questions::default(), Breaker::default());
        Self(Arc::new(Inner { options, tenants: DashMap::new(), questions, breaker, dimension }))
    }

    fn of_tenant(&self, tenant: &TenantId) -> Arc<Understood> {
        Arc::clone(&self.0.tenants.entry(tenant.clone()).or_default())
    }

    /// Finds out what a question means.
    pub(crate) async fn ask(&self, tenant: &TenantId, query: &str) -> Asked {
        let Some(text) = meant(query) else { return Asked::Not };
        let question = (tenant.clone(), text);
        let vector = match self.0.questions.get(&question) {
            Some(known) => known,
            None => match self.vector(&question.1).await {
                Some(vector) => {
                    let vector = Arc::new(vector);
                    self.0.questions.keep(question, Arc::clone(&vector));
                    vector
                }
                None => return Asked::Away,
            },
        };
        let (tools, weights) = (self.of_tenant(tenant), self.0.options.weights);
        Asked::Understood(Near { question: vector, tools, weights, least: self.0.options.least_similarity })
    }

    /// The vector of a question, unless it is late, or asking has been in vain again and again.
    async fn vector(&self, text: &str) -> Option<Quantised> {
        let Inner { options, breaker, .. } = &*self.0;
        if !breaker.lets() {
            return None;
        }
        let read = options.source.read(vec![text.to_owned()], Purpose::Question);
        let (reason, after) = match tokio::time::timeout(options.patience, read).await {
            Ok(Ok(vectors)) => match self.of_question(vectors) {
                Ok(vector) => {
                    if breaker.answered() {
                        tracing::info!("questions are understood again");
                    }
                    return Some(vector);
                }
                Err(reason) => (reason, None),
            },
            Ok(Err(Unread::Away { reason, after })) => (reason, after),
            // A question that is refused says nothing about the next one.
            Ok(Err(Unread::Refused { reason })) => {
                tracing::debug!(error = reason, "the text of a question is refused; words alone answer it");
                return None;
            }
            Err(_) => ("it took too long".to_owned(), None),
        };
        if breaker.failed(after) {
            tracing::warn!(error = reason, "what questions mean is not known now; tools are found by words alone");
        }
        None
    }

    fn of_question(&self, vectors: Vec<Option<Quantised>>) -> Result<Quantised, String> {
        let vector = vectors.into_iter().next().flatten().ok_or("it gave no vector")?;
        self.check_dimension(&vector).map(|()| vector)
    }

    /// Whether a vector has as many numbers as all others. The first one says how many these are.
    fn check_dimension(&self, vector: &Quantised) -> Result<(), String> {
        let (given, known) = (vector.dimension(), *self.0.dimension.get_or_init(|| vector.dimension()));
        if given == known {
            return Ok(());
        }
        Err(format!(
            "`{}` gives vectors of {given} numbers now, and those that are kept have {known}: with another `endpoint_model` or \
             `dimensions`, all tools are read again",
            self.0.options.source.model()
        ))
    }
}
