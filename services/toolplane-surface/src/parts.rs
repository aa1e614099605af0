//! All parts of the role, made and wired. Reading [`Parts::new`] shows the whole house: each part is made from the few it uses, and
//! none of them knows the part that uses it.

use crate::learning::Learning;
use crate::memory::Memory;
use crate::registry::Registry;
use crate::synonyms::Books;

/// The parts of the role, for those who answer and for its background work. No part holds this. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) registry: Registry,
    pub(crate) books: Books,
    pub(crate) learning: Learning,
}

impl Parts {
    /// Makes the parts around a registry and what is in memory beside it.
    pub(crate) fn new(registry: Registry, memory: &Memory) -> Self {
        Self {
            books: Books::new(registry.clone(), memory.thesauri.clone()),
            learning: memory.learning.clone(),
            registry,
        }
    }
}
