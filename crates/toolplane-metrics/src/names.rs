//! Names that become values of labels: so many of each kind, and `other` for the rest.
//!
//! The first names a process meets are the ones it tells apart. They stay for its life, because what was counted under a name has to
//! go on under it; so they are kept as statics, of which there are at most [`Names::most`] short ones.

use std::collections::HashSet;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::fast::FixedState;
use parking_lot::RwLock;

/// What stands for names beyond the bound.
pub const OTHER: &str = "other";
/// What stands for a name that names nothing: a model may make up any number of them.
pub const UNKNOWN: &str = "unknown";
/// Longer names are not told apart.
const MOST_BYTES: usize = 128;
/// Names a kind has where nobody says otherwise.
const MOST: usize = 100;

/// Tools, by the names they are called by.
pub static TOOLS: Names = Names::new(200);
/// Pools of workers.
pub static POOLS: Names = Names::new(MOST);
/// Providers of tools.
pub static PROVIDERS: Names = Names::new(MOST);
/// Methods of gRPC that a process answers: all there are fit.
pub static METHODS: Names = Names::new(400);
/// Words whose vocabulary belongs to another part of the system, or is open: codes, reasons, sources, classes.
pub static WORDS: Names = Names::new(400);

/// The names of one kind.
#[derive(Debug)]
pub struct Names {
    most: AtomicUsize,
    known: LazyLock<RwLock<HashSet<&'static str, FixedState>>>,
}

impl Names {
    /// At most so many.
    pub const fn new(most: usize) -> Self {
        Self { most: AtomicUsize::new(most), known: LazyLock::new(RwLock::default) }
    }

    /// How many are told apart.
    pub fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    /// Tells at most so many apart from now on. Names that were let in stay.
    pub fn set_most(&self, most: usize) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// The name as a value of a label: itself, or [`OTHER`].
    pub fn name(&self, name: &str) -> &'static str {
        if let Some(known) = self.known.read().get(name) {
            return known;
        }
        self.let_in(name)
    }

    #[cold]
    fn let_in(&self, name: &str) -> &'static str {
        if name.is_empty() || name.len() > MOST_BYTES || name.chars().any(char::is_control) {
            return OTHER;
        }
        let mut known = self.known.write();
        if let Some(known) = known.get(name) {
            return known;
        }
        if known.len() >= self.most() {
            return OTHER;
        }
        // Never given back, and bounded: see the head of this file.
        let kept: &'static str = Box::leak(name.into());
        known.insert(kept);
        kept
    }
}
