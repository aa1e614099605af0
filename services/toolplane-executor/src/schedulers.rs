//! Where schedulers are, and which of them this worker talks to.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use parking_lot::Mutex;
use toolplane_runtime::client::Peer;

/// Makes a channel to the scheduler at a URL, on the runtime it is called in. An empty URL is the scheduler of this very
/// process.
pub type Connect = Arc<dyn Fn(&str) -> Result<Peer, ConnectError> + Send + Sync>;

/// Why there is no channel to a scheduler; for the log.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConnectError(pub String);

/// Most schedulers remembered beside the configured ones.
const MOST_LEARNED: usize = 16;

/// All schedulers this worker knows, any of which can do the work of any other. Clones are the same list.
#[derive(Clone)]
pub struct Schedulers {
    connect: Connect,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug)]
struct Known {
    urls: Vec<String>,
    /// This many were configured; those after them were learned from schedulers.
    configured: usize,
    current: usize,
}

impl std::fmt::Debug for Schedulers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schedulers").field("known", &self.known).finish_non_exhaustive()
    }
}

impl Schedulers {
    /// The schedulers at `urls`; the one of this process when there are none. Which is tried first is chosen by chance,
    /// so that many workers spread.
    pub fn new(mut urls: Vec<String>, connect: Connect) -> Self {
        if urls.is_empty() {
            urls.push(String::new());
        }
        let chance = usize::try_from(RandomState::new().hash_one(urls.len()) % urls.len() as u64).unwrap_or_default();
        let known = Known { configured: urls.len(), current: chance, urls };
        Self { connect, known: Arc::new(Mutex::new(known)) }
    }

    /// Where the current one is.
    pub(crate) fn current(&self) -> String {
        let known = self.known.lock();
        known.urls[known.current].clone()
    }

    /// The one that many places after the current one, itself again after all others.
    pub(crate) fn after_current(&self, places: usize) -> String {
        let known = self.known.lock();
        known.urls[(known.current + places) % known.urls.len()].clone()
    }

    /// Goes on to the next, unless `from` has been left already. One that other schedulers named, but that was not
    /// configured, is forgotten when it is left.
    pub(crate) fn leave(&self, from: &str) {
        let mut known = self.known.lock();
        if known.urls[known.current] != from {
            return;
        }
        if known.current >= known.configured {
            let current = known.current;
            known.urls.remove(current);
        } else {
            known.current += 1;
        }
        known.current %= known.urls.len();
    }

    /// Takes note of others and goes to one of them; false when there is no other.
    pub(crate) fn go_to_others(&self, others: &[String]) -> bool {
        let mut known = self.known.lock();
        let from = known.urls[known.current].clone();
        for other in others {
            let room = known.urls.len() < known.configured + MOST_LEARNED;
            if room && !other.is_empty() && !known.urls.contains(other) {
                known.urls.push(other.clone());
            }
        }
        // Those it names are there for sure; the rest may not be.
        let named = others.iter().find_map(|other| known.urls.iter().position(|url| url == other && *url != from));
        let other = named.or_else(|| (known.urls.len() > 1).then(|| (known.current + 1) % known.urls.len()));
        known.current = other.unwrap_or(known.current);
        other.is_some()
    }

    /// How many are known.
    pub(crate) fn count(&self) -> usize {
        self.known.lock().urls.len()
    }

    /// A channel to the one at `url`, on the current runtime.
    pub(crate) fn connect(&self, url: &str) -> Result<Peer, ConnectError> {
        (self.connect)(url)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{ConnectError, Schedulers};

    fn of(urls: &[&str]) -> Schedulers {
        let urls = urls.iter().map(|url| (*url).to_owned()).collect();
        Schedulers::new(urls, Arc::new(|_| Err(ConnectError("none".to_owned()))))
    }

    #[test]
    fn leaving_goes_round_once_per_failure() {
        let schedulers = of(&["a", "b", "c"]);
        let first = schedulers.current();
        schedulers.leave(&first);
        let second = schedulers.current();
        schedulers.leave(&first);
        assert_eq!(schedulers.current(), second, "left already");
        schedulers.leave(&second);
        schedulers.leave(&schedulers.current());
        assert_eq!(schedulers.current(), first);
        assert_eq!(schedulers.after_current(1), second);
    }

    #[test]
    fn any_may_be_first() {
        let firsts: std::collections::HashSet<_> = (0..200).map(|_| of(&["a", "b", "c"]).current()).collect();
        assert_eq!(firsts.len(), 3);
    }

    #[test]
    fn what_was_heard_of_is_used_and_forgotten_when_it_fails() {
        let schedulers = of(&["a"]);
        assert!(!schedulers.go_to_others(&[]) && !schedulers.go_to_others(&["a".to_owned()]));
        assert!(schedulers.go_to_others(&["b".to_owned(), "a".to_owned()]));
        assert_eq!((schedulers.current().as_str(), schedulers.count()), ("b", 2));
        schedulers.leave("b");
        assert_eq!((schedulers.current().as_str(), schedulers.count()), ("a", 1));
        let many: Vec<_> = (0..100).map(|number| number.to_string()).collect();
        assert!(schedulers.go_to_others(&many));
        assert_eq!(schedulers.count(), 17);
    }

    #[test]
    fn without_urls_it_is_the_scheduler_of_this_process() {
        let own = of(&[]);
        own.leave("");
        assert_eq!((own.current().as_str(), own.count()), ("", 1));
    }
}
