//! `toolplane store`: what the roles of this machine keep on disk, looked at and copied while they do not run.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use toolplane_runtime::Config;
use toolplane_runtime::config::StoreBackend;

use super::output::Output;
use super::{Ending, Failure};

mod backup;
mod check;
mod files;
mod restore;

/// What can be done with the stores. Exit codes: 0 done, 1 something is damaged, 2 it could not be done.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Hold everything stored to its checksum: records, indexes, events, logs, payloads. Changes nothing.
    Check(ConfigArgs),
    /// Copy everything stored into a new directory, proved while it is copied. The cluster must not run meanwhile.
    Backup {
        /// The directory to make.
        directory: PathBuf,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Bring a backup back to where nothing is stored.
    Restore {
        /// The directory of the backup.
        directory: PathBuf,
        #[command(flatten)]
        config: ConfigArgs,
    },
}

/// Where the stores are.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Configuration file (TOML) of the cluster; without one, every key has its default.
    #[arg(long, env = "TOOLPLANE_CONFIG")]
    config: Option<PathBuf>,
}

impl ConfigArgs {
    fn load(&self) -> Result<Config, Failure> {
        let environment = std::env::vars_os();
        Config::load(self.config.as_deref(), environment).map_err(|error| Failure::Usage(error.to_string()))
    }
}

/// Runs the command.
pub(crate) async fn run(command: &StoreCommand, out: &mut Output) -> Result<Ending, Failure> {
    match command {
        StoreCommand::Check(args) => check::run(&args.load()?, out).await,
        StoreCommand::Backup { directory, config } => backup::run(&config.load()?, directory, out),
        StoreCommand::Restore { directory, config } => restore::run(&config.load()?, directory, out).await,
    }
}

/// The roles that keep something, each in a directory of its own.
const ROLES: [&str; 3] = ["surface", "permission", "scheduler"];

/// The directories that are embedded stores in this configuration.
fn directories(config: &Config) -> Vec<(&'static str, PathBuf)> {
    // The surface role has a directory whatever the others have.
    let embedded = |role: &&str| *role == "surface" || config.store.backend == StoreBackend::Embedded;
    ROLES.into_iter().filter(embedded).map(|role| (role, config.server.data_dir.join(role))).collect()
}

/// Those of them that are there.
fn present(config: &Config) -> Vec<(&'static str, PathBuf)> {
    directories(config).into_iter().filter(|(_, path)| path.exists()).collect()
}

fn local(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::Local(format!("`{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests;
