//! Who says what texts mean: a model that computes here, or an endpoint that is asked.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;
use toolplane_meaning::{Embedder, ModelId, Quantised};

/// Questions a model that computes here is asked at a time; more wait for their turn, and go without it when that takes too long.
const QUESTIONS_AT_ONCE: usize = 4;
/// Tools a model that computes here reads before the next tenant has its turn.
const TOOLS_AT_ONCE: usize = 16;

/// What texts are read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Somebody waits.
    Question,
    /// In the background.
    Tools,
}

/// Texts were not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// Nothing is read now.
    #[error("{reason}")]
    Away {
        /// Why. Holds nothing of what was sent or answered.
        reason: String,
        /// When it wants to be asked again, where it says so.
        after: Option<Duration>,
    },
    /// These texts are not read: at least one of them is at fault, or nothing can be read at all.
    #[error("{reason}")]
    Refused {
        /// Why, as above.
        reason: String,
    },
}

/// Makes vectors of texts.
pub trait MeaningSource: fmt::Debug + Send + Sync {
    /// Which model it is. What another one made says nothing to it.
    fn model(&self) -> &ModelId;

    /// How many numbers a vector has, where that is known before the first one.
    fn dimension(&self) -> Option<usize>;

    /// Most texts that are read at a time.
    fn batch(&self) -> usize;

    /// A vector of each text, in their order; none for one that says nothing to the model.
    ///
    /// # Errors
    ///
    /// All or none of them are read.
    fn read(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Option<Quantised>>, Unread>>;
}

/// A model that computes in this process.
#[derive(Debug)]
pub struct Computed {
    embedder: Arc<dyn Embedder>,
    turns: Arc<Semaphore>,
}

impl Computed {
    /// This model.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, turns: Arc::new(Semaphore::new(QUESTIONS_AT_ONCE)) }
    }

    async fn vectors(&self, texts: Vec<String>, purpose: Purpose) -> Result<Vec<Option<Quantised>>, Unread> {
        let away = |reason: String| Unread::Away { reason, after: None };
        let turn = match purpose {
            Purpose::Question => {
                let turn = Arc::clone(&self.turns).acquire_owned().await;
                Some(turn.map_err(|error| away(error.to_string()))?)
            }
            Purpose::Tools => None,
        };
        let embedder = Arc::clone(&self.embedder);
        let work = move || {
            // Given back when the work has ended, also when nobody waits for it any more.
            let _turn = turn;
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            embedder.embed(&texts)
        };
        let made = tokio::task::spawn_blocking(work).await.map_err(|error| away(error.to_string()))?;
        let made = made.map_err(|error| match purpose {
            // There is nobody else's text beside it that could be told apart.
            Purpose::Question => away(error.to_string()),
            Purpose::Tools => Unread::Refused { reason: error.to_string() },
        })?;
        Ok(made.iter().map(|vector| Quantised::of(vector)).collect())
    }
}

impl MeaningSource for Computed {
    fn model(&self) -> &ModelId {
        self.embedder.model()
    }

    fn dimension(&self) -> Option<usize> {
        Some(self.embedder.dimension())
    }

    fn batch(&self) -> usize {
        TOOLS_AT_ONCE
    }

    fn read(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Option<Quantised>>, Unread>> {
        Box::pin(self.vectors(texts, purpose))
    }
}
