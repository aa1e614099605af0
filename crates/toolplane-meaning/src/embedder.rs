//! What makes vectors of texts.

use std::fmt;

/// Which model made a vector. Vectors of different models say nothing about each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelId(String);

impl ModelId {
    /// A model by its name and what tells its revisions apart.
    pub fn new(name: &str, revision: &str) -> Self {
        Self(format!("{name}@{revision}"))
    }

    /// Name and revision.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Makes vectors of texts. It computes, and may take long: not for a thread others wait for.
pub trait Embedder: fmt::Debug + Send + Sync {
    /// Which model it is.
    fn model(&self) -> &ModelId;

    /// How many numbers each vector has.
    fn dimension(&self) -> usize;

    /// A vector of length 1 for each text, in their order; zeros for a text that says nothing to the model.
    ///
    /// # Errors
    ///
    /// When the model cannot do it; texts that are too long are no error, their beginning counts.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Texts have no vectors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the embedding model {0}")]
pub struct EmbedError(pub String);
