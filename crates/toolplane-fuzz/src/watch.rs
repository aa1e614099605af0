//! A reader that does not come back is found by a thread beside it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::regressions;

/// How long a reader may take for one input, on a busy machine and without optimisation.
const PATIENCE: Duration = Duration::from_secs(20);

/// The input a reader is at work on, and since when.
type AtWork = Arc<Mutex<Option<(Instant, Vec<u8>)>>>;

/// Looks after one target until it is dropped.
#[derive(Debug)]
pub(crate) struct HangWatch {
    at_work: AtWork,
    /// The thread ends when this is gone.
    _over: Sender<()>,
}

impl HangWatch {
    pub(crate) fn start(folder: PathBuf) -> Self {
        let at_work = AtWork::default();
        let (over, ended) = channel::<()>();
        let seen = Arc::clone(&at_work);
        std::thread::spawn(move || {
            while ended.recv_timeout(PATIENCE / 10) == Err(RecvTimeoutError::Timeout) {
                let stuck = seen
                    .lock()
                    .as_ref()
                    .filter(|(since, _)| since.elapsed() > PATIENCE)
                    .map(|(_, input)| input.clone());
                let Some(input) = stuck else { continue };
                let kept = regressions::keep(&folder, &input);
                eprintln!("the reader did not come back within {} s; the input is kept: {kept:?}", PATIENCE.as_secs());
                // Nothing else ends a thread that hangs.
                std::process::exit(101);
            }
        });
        Self { at_work, _over: over }
    }

    pub(crate) fn begins(&self, input: &[u8]) {
        *self.at_work.lock() = Some((Instant::now(), input.to_vec()));
    }

    pub(crate) fn ended(&self) {
        *self.at_work.lock() = None;
    }
}
