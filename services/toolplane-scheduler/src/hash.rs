//! Hash maps of the names that callers give.
//!
//! A call is looked up in a dozen of them on its way: the hasher is a fast one, seeded anew by each process, so that nobody outside it can
//! choose names that fall together.

use foldhash::fast::RandomState;

pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
pub(crate) type HashSet<K> = std::collections::HashSet<K, RandomState>;
pub(crate) type DashMap<K, V> = dashmap::DashMap<K, V, RandomState>;
pub(crate) type DashSet<K> = dashmap::DashSet<K, RandomState>;
