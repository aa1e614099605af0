//! What a model made of the tools of one tenant.

use std::collections::HashMap;

use parking_lot::RwLock;
use toolplane_meaning::{Quantised, Vectors};
use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;

/// The vectors of a tenant's tools, each with the text it was made of.
#[derive(Debug)]
pub(super) struct Understood(RwLock<Kept>);

#[derive(Debug)]
struct Kept {
    vectors: Vectors<ToolId>,
    /// The text that was read of each; none, of those that nobody is to find any more.
    texts: HashMap<ToolId, Option<Digest>>,
}

impl Understood {
    pub(super) fn new(dimension: usize) -> Self {
        Self(RwLock::new(Kept { vectors: Vectors::new(dimension), texts: HashMap::new() }))
    }

    /// How many tools were read, or need not be.
    pub(super) fn len(&self) -> usize {
        self.0.read().texts.len()
    }

    /// Whether this is the text of the tool that was read; without one, whether it is known that nobody is to find it.
    pub(super) fn knows(&self, id: &ToolId, text: Option<&Digest>) -> bool {
        self.0.read().texts.get(id).is_some_and(|read| read.as_ref() == text)
    }

    /// Nobody is to find this one any more.
    pub(super) fn drop_out(&self, id: ToolId) {
        let mut kept = self.0.write();
        kept.vectors.remove(&id);
        kept.texts.insert(id, None);
    }

    /// Keeps what was made of a text: nothing, where it says nothing to the model.
    pub(super) fn keep(&self, id: ToolId, text: Digest, vector: Option<&Quantised>) {
        let mut kept = self.0.write();
        if !vector.is_some_and(|vector| kept.vectors.insert(id.clone(), vector)) {
            kept.vectors.remove(&id);
        }
        kept.texts.insert(id, Some(text));
    }

    /// Keeps only those tools.
    pub(super) fn retain(&self, stays: impl Fn(&ToolId) -> bool) {
        let mut kept = self.0.write();
        let gone: Vec<ToolId> = kept.texts.keys().filter(|id| !stays(id)).cloned().collect();
        for id in gone {
            kept.vectors.remove(&id);
            kept.texts.remove(&id);
        }
    }

    pub(super) fn nearest(
        &self,
        question: &Quantised,
        most: usize,
        least: f32,
        fits: &mut dyn FnMut(&ToolId) -> bool,
    ) -> Vec<ToolId> {
        let near = self.0.read().vectors.nearest(question, most, least, fits);
        near.into_iter().map(|near| near.key).collect()
    }
}
