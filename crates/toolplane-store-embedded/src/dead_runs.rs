//! Beginnings of indexes of which nothing is left.

use parking_lot::Mutex;
use std::collections::HashMap;

/// Per index, the last entry of a run from the index's beginning that is overridden from above.
///
/// Overrides only become more while two layers lie over each other, so a run found once need not be walked again. It
/// keeps scans of a long queue fast while its head is taken off between two checkpoints.
#[derive(Debug, Default)]
pub(crate) struct DeadRuns(Mutex<HashMap<String, (u64, String)>>);

impl DeadRuns {
    pub(crate) fn get(&self, index: &str) -> Option<(u64, String)> {
        self.0.lock().get(index).cloned()
    }

    pub(crate) fn extend(&self, index: &str, last: (u64, String)) {
        let mut runs = self.0.lock();
        match runs.get_mut(index) {
            Some(known) if *known >= last => {}
            Some(known) => *known = last,
            None => {
                runs.insert(index.to_owned(), last);
            }
        }
    }
}
