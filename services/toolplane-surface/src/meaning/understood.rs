//! What a model made of the tools of one tenant.

use std::collections::HashMap;

use parking_lot::RwLock;
use toolplane_meaning::{Quantised, Vectors};
use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;

/// The vectors of a tenant's tools, each with the text it was made of.
#[derive(Debug, Default)]
pub(super) struct Understood(RwLock<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// None before the first one, which says how many numbers they have.
    vectors: Option<Vectors<ToolId>>,
    /// The text that was read of each; none, of those that nobody is to find any more.
    texts: HashMap<ToolId, Option<Digest>>,
}

impl Understood {
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
        kept.take_out(&id);
        kept.texts.insert(id, None);
    }

    /// Keeps what was made of a text: nothing, where it says nothing to the model.
    pub(super) fn keep(&self, id: ToolId, text: Digest, vector: Option<&Quantised>) {
        let mut kept = self.0.write();
        if !vector.is_some_and(|vector| kept.insert(id.clone(), vector)) {
            kept.take_out(&id);
        }
        kept.texts.insert(id, Some(text));
    }

    /// Keeps only those tools.
    pub(super) fn retain(&self, stays: impl Fn(&ToolId) -> bool) {
        let mut kept = self.0.write();
        let gone: Vec<ToolId> = kept.texts.keys().filter(|id| !stays(id)).cloned().collect();
        for id in gone {
            kept.take_out(&id);
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
        let kept = self.0.read();
        let near = kept.vectors.as_ref().map(|vectors| vectors.nearest(question, most, least, fits));
        near.unwrap_or_default().into_iter().map(|near| near.key).collect()
    }
}

impl Kept {
    fn insert(&mut self, id: ToolId, vector: &Quantised) -> bool {
        self.vectors.get_or_insert_with(|| Vectors::new(vector.dimension())).insert(id, vector)
    }

    fn take_out(&mut self, id: &ToolId) {
        if let Some(vectors) = &mut self.vectors {
            vectors.remove(id);
        }
    }
}
