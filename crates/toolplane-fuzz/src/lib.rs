//! Fuzzing on a stable compiler: readers of foreign bytes are given mutated examples and made-up bytes, and must neither panic
//! nor hang.
//!
//! A test calls [`fuzz!`] in a module `fuzz`, which is how `cargo xtask fuzz` finds it. What made a reader fail is made
//! as small as it can be and written to `regressions/TARGET/` of its package; files there are tried first in every
//! later run.
//!
//! | variable | what it does |
//! | --- | --- |
//! | `TOOLPLANE_FUZZ_CASES` | inputs of each target; 256 when absent |
//! | `TOOLPLANE_FUZZ_SECONDS` | goes on for so long instead |

mod mutate;
mod regressions;
mod run;
#[cfg(test)]
mod tests;
mod watch;

pub use mutate::inputs;
pub use run::FuzzTarget;

/// Tries a reader with inputs made from a corpus. The reader is a closure of `&[u8]`; it panics where something is wrong.
///
/// ```no_run
/// toolplane_fuzz::fuzz!("numbers", ["1", "-2.5e3"], |bytes: &[u8]| {
///     let _ = std::str::from_utf8(bytes).map(str::parse::<f64>);
/// });
/// ```
#[macro_export]
macro_rules! fuzz {
    ($name:expr, $corpus:expr, $read:expr $(,)?) => {
        $crate::FuzzTarget::new(env!("CARGO_MANIFEST_DIR"), $name).run(&$corpus, $read)
    };
}
