//! `toolplane completions` and `toolplane man`: what shells and readers of manuals need, from the commands themselves.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::Output;

/// For whom.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Where to.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// A folder for the pages of all commands, e.g. `~/.local/share/man/man1`; made when there is none.
    folder: Option<PathBuf>,
}

/// Prints the completions.
pub(crate) fn completions(
    args: &CompletionsArgs,
    command: &mut Command,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "toolplane", &mut script);
    out.raw(&script)?;
    Ok(CommandOutcome::Done)
}

/// Prints the page of the program, or writes one for every command.
pub(crate) fn man(args: &ManArgs, command: Command, out: &mut Output) -> Result<CommandOutcome, Failure> {
    match &args.folder {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            out.raw(&page)?;
        }
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder, &error))?;
            clap_mangen::generate_to(command, folder).map_err(|error| Failure::file(folder, &error))?;
            out.note(&format!("written to {}", folder.display()))?;
        }
    }
    Ok(CommandOutcome::Done)
}
