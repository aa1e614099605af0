//! Lines with the time since the start.

use std::io::{IsTerminal as _, Write as _};
use std::time::Instant;

/// A readable account of what happened, on standard output.
#[derive(Debug)]
pub(crate) struct Timeline {
    start: Instant,
    terminal: bool,
    moving: bool,
}

impl Timeline {
    /// Starts the clock.
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), terminal: std::io::stdout().is_terminal(), moving: false }
    }

    /// A step of the job.
    pub(crate) fn did(&mut self, step: &str, what: &str) {
        self.settle();
        println!("{:>7.2} s  {step:<9} {what}", self.start.elapsed().as_secs_f64());
    }

    /// Something within a step.
    pub(crate) fn detail(&mut self, what: &str) {
        self.settle();
        println!("{:>21}{what}", "");
    }

    /// Something within a step that the next such line replaces, where a terminal can do that.
    pub(crate) fn moving(&mut self, what: &str) {
        if self.terminal {
            print!("\r{:>21}{what}\x1b[K", "");
            // A terminal that cannot be flushed shows the line a little later.
            let _ = std::io::stdout().flush();
            self.moving = true;
        } else {
            println!("{:>21}{what}", "");
        }
    }

    fn settle(&mut self) {
        if std::mem::take(&mut self.moving) {
            println!();
        }
    }
}
