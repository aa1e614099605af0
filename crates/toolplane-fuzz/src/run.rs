//! Running one target.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::test_runner::{Config, TestError, TestRunner};

use crate::watch::HangWatch;
use crate::{mutate, regressions};

/// Inputs of a target in an ordinary test run.
const CASES: u32 = 256;

/// One reader and where its failures are kept.
#[derive(Debug)]
pub struct FuzzTarget {
    name: String,
    folder: PathBuf,
    cases: u32,
    time: Duration,
}

impl FuzzTarget {
    /// The target of this name in the package at `package`.
    pub fn new(package: &str, name: &str) -> Self {
        let folder = Path::new(package).join("regressions").join(name.replace(' ', "-"));
        let number = |variable: &str| std::env::var(variable).ok().and_then(|text| text.parse().ok());
        let time = Duration::from_secs(number("TOOLPLANE_FUZZ_SECONDS").unwrap_or(0));
        let cases = number("TOOLPLANE_FUZZ_CASES").and_then(|cases| u32::try_from(cases).ok()).unwrap_or(CASES);
        Self { name: name.to_owned(), folder, cases, time }
    }

    /// Tries the reader with every kept input, and with inputs made from the corpus.
    ///
    /// # Panics
    ///
    /// When the reader does; the smallest input that was found is kept.
    #[expect(clippy::panic, reason = "this is how a test fails")]
    pub fn run<E: AsRef<[u8]>>(&self, corpus: &[E], read: impl Fn(&[u8])) {
        let watch = HangWatch::start(self.folder.clone());
        let read = |input: &[u8]| {
            watch.begins(input);
            read(input);
            watch.ended();
        };
        for (file, input) in regressions::read(&self.folder) {
            println!("again: {}", file.display());
            read(&input);
        }
        let corpus: Vec<Vec<u8>> = corpus.iter().map(|example| example.as_ref().to_vec()).collect();
        corpus.iter().for_each(|example| read(example));
        let inputs = mutate::inputs(corpus);
        let began = Instant::now();
        loop {
            let config = Config { cases: self.cases, failure_persistence: None, ..Config::default() };
            let tried = TestRunner::new(config).run(&inputs, |input| {
                read(&input);
                Ok(())
            });
            if let Err(TestError::Fail(reason, input)) = tried {
                let input = shortest(input, read);
                let kept = regressions::keep(&self.folder, &input);
                let shown = String::from_utf8_lossy(&input);
                panic!("`{}`: {reason}\n  input, {} bytes, kept as {kept:?}: {shown:?}", self.name, input.len());
            }
            if began.elapsed() >= self.time {
                return;
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { name: "test".to_owned(), folder, cases: 4_000, time: Duration::ZERO }
    }
}

/// What is left of an input when no piece of it can be left out, for which the reader still panics. The changes of an example are
/// taken back by then, but bytes made out of nothing are many, and few of them matter.
fn shortest(mut input: Vec<u8>, read: impl Fn(&[u8])) -> Vec<u8> {
    let mut piece = input.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at + piece <= input.len() {
            let without = [&input[..at], &input[at + piece..]].concat();
            if catch_unwind(AssertUnwindSafe(|| read(&without))).is_err() {
                input = without;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    input
}
