//! Hash maps of the names callers give.
//!
//! The writer thread looks up every name of every commit, and each commit waits for it: the hasher is a fast one, seeded
//! anew by each process, so that nobody outside it can choose names that fall together.

use foldhash::fast::RandomState;

pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
pub(crate) type HashSet<K> = std::collections::HashSet<K, RandomState>;
