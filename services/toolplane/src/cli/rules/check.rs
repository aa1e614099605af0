//! `toolplane rules check`: files of rules, with their own examples, without a cluster.

use std::path::PathBuf;

use super::files::{self, FileCheck};
use crate::cli::failure::Failure;
use crate::cli::outcome::CommandOutcome;
use crate::cli::output::Output;

/// Checks every file; each fault is named by its place. Returns an error when there is any.
pub(super) fn run(paths: &[PathBuf], out: &mut Output) -> Result<CommandOutcome, Failure> {
    let mut wrong = 0;
    for path in paths {
        match files::check(path)? {
            FileCheck::Good(summary) => out.line(format!("{}: {summary}", path.display()))?,
            FileCheck::Faulty(faults) => {
                wrong += 1;
                faults.iter().try_for_each(|fault| out.line(format!("{}: {fault}", path.display())))?;
            }
        }
    }
    match wrong {
        0 => Ok(CommandOutcome::Done),
        1 => Err(Failure::Local("a file of rules is refused".to_owned())),
        count => Err(Failure::Local(format!("{count} files of rules are refused"))),
    }
}
