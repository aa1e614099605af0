//! Which values are masked: those in use, and earlier ones for a while.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::mask::Mask;
use crate::secret::Secret;

/// How long a value is masked after it was replaced; longer while somebody holds it.
const KEEP: Duration = Duration::from_secs(3600);
/// Most earlier values of one credential.
const MOST_EARLIER: usize = 32;

/// What a value is of its credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// What is injected.
    Value,
    /// What was needed to get it: the secret of a client.
    Beside,
}

/// The values, and the mask of them once it is asked for.
#[derive(Debug, Default)]
pub(super) struct Masking(Mutex<Values>);

#[derive(Debug, Default)]
struct Values {
    used: Vec<Used>,
    mask: Option<Mask>,
}

#[derive(Debug)]
struct Used {
    name: String,
    part: Part,
    secrets: Vec<Secret>,
    replaced: Option<Instant>,
}

impl Masking {
    /// A value is in use from now on; the one before it was replaced. Called before anybody gets the value.
    pub(super) fn put(&self, name: &str, part: Part, secrets: &[&Secret], now: Instant) {
        let values = &mut *self.0.lock();
        let is_same = |used: &Used| {
            used.secrets.len() == secrets.len()
                && used.secrets.iter().zip(secrets).all(|(one, other)| one.is_same(other))
        };
        let own = |used: &&mut Used| used.name == name && used.part == part && used.replaced.is_none();
        if let Some(current) = values.used.iter_mut().find(own) {
            if is_same(current) {
                return;
            }
            current.replaced = Some(now);
        }
        let secrets = secrets.iter().map(|secret| (*secret).clone()).collect();
        values.used.push(Used { name: name.to_owned(), part, secrets, replaced: None });
        values.forget(name, now);
        values.mask = None;
    }

    /// A credential is not configured any more.
    pub(super) fn retire(&self, name: &str, now: Instant) {
        let values = &mut *self.0.lock();
        let own = values.used.iter_mut().filter(|used| used.name == name && used.replaced.is_none());
        own.for_each(|used| used.replaced = Some(now));
    }

    /// The mask of all of them.
    pub(super) fn mask(&self) -> Mask {
        let values = &mut *self.0.lock();
        let used = &values.used;
        let secrets = || used.iter().flat_map(|used| used.secrets.iter().map(|secret| (used.name.as_str(), secret)));
        values.mask.get_or_insert_with(|| Mask::new(secrets())).clone()
    }
}

impl Used {
    /// Whether a call, or a server that was started with it, still has it: it may show it then.
    fn is_held(&self) -> bool {
        self.secrets.iter().any(Secret::is_held_elsewhere)
    }
}

impl Values {
    fn forget(&mut self, name: &str, now: Instant) {
        let is_over = |at| now.saturating_duration_since(at) >= KEEP;
        self.used.retain(|used| used.replaced.is_none_or(|at| !is_over(at) || used.is_held()));
        let is_earlier = |used: &Used| used.name == name && used.replaced.is_some() && !used.is_held();
        let mut too_many = self.used.iter().filter(|used| is_earlier(used)).count().saturating_sub(MOST_EARLIER);
        self.used.retain(|used| {
            let goes = too_many > 0 && is_earlier(used);
            too_many -= usize::from(goes);
            !goes
        });
    }
}
