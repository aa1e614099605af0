//! `cargo xtask tidy`: rules of the project that no compiler checks. Runs as a test too.

use std::path::Path;

use crate::command::{self, TaskError};

mod codes;
mod dependencies;
mod figures;
mod files;
mod folders;
mod manifests;
mod modules;
mod sleeps;
mod sources;
#[cfg(test)]
mod tests;

use sources::sources;

/// What is asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also print what the structure of the code can be judged by; nothing of it fails.
    #[arg(long)]
    figures: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    if args.figures {
        figures::print(command::root())?;
    }
    check(command::root())?;
    println!("tidy");
    Ok(())
}

/// Fails with every broken rule.
pub(crate) fn check(root: &Path) -> Result<(), TaskError> {
    let broken = broken_rules(root)?;
    if broken.is_empty() { Ok(()) } else { Err(TaskError::Untidy(broken)) }
}

/// Every broken rule, one line each.
fn broken_rules(root: &Path) -> Result<Vec<String>, TaskError> {
    let mut broken = files::top_level(root)?;
    let sources = sources(root)?;
    broken.extend(files::sizes(root, &sources)?);
    broken.extend(files::names(root, &sources)?);
    broken.extend(files::unsafe_code(root, &sources)?);
    broken.extend(sleeps::check(root, &sources)?);
    broken.extend(codes::typed_elsewhere(root, &sources)?);
    broken.extend(manifests::check(root)?);
    broken.extend(dependencies::check()?);
    broken.extend(folders::check(&modules::read(root, &sources)?));
    broken.sort();
    Ok(broken)
}
