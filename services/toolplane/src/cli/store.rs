//! `toolplane store`: what the roles of this machine keep on disk, looked at and copied while they do not run.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use toolplane_backend::Keeper;
use toolplane_backend::forget::{DamageLocation, Verdict};
use toolplane_backend::stored::{self, RecordKey, StoredError};
use toolplane_runtime::Config;

use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::Output;

mod report;

/// What can be done with the stores. Exit codes: 0 done, 1 something is damaged, 2 it could not be done.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Compare everything stored with its checksum: records, indexes, events, logs, payloads; and look for payloads that results
    /// name. Changes nothing.
    Check(ConfigArgs),
    /// Copy everything stored into a new directory, proved while it is copied. The cluster must not run meanwhile.
    Backup {
        /// The directory to make.
        directory: PathBuf,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Remove something damaged that no backup has, as `check` names it; its bytes are kept in a file. Rules are
    /// revoked instead.
    Forget {
        /// The kind of it: the first word after `damaged`.
        kind: String,
        /// Its name.
        name: String,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Restore a backup into a place where nothing is stored.
    Restore {
        /// The directory of the backup.
        directory: PathBuf,
        #[command(flatten)]
        config: ConfigArgs,
    },
}

/// What each role says about damage of its own.
fn judge(keeper: Keeper, place: &DamageLocation) -> Verdict {
    match keeper {
        Keeper::Surface => toolplane_surface::forget(place),
        Keeper::Permission => toolplane_permission::forget(place),
        Keeper::Scheduler => toolplane_scheduler::forget(place),
    }
}

/// Which payloads a record of each role names.
fn payloads_of(keeper: Keeper, key: &RecordKey, bytes: &[u8]) -> Vec<String> {
    match keeper {
        Keeper::Scheduler => toolplane_scheduler::payloads_of(key, bytes),
        Keeper::Surface | Keeper::Permission => Vec::new(),
    }
}

/// Where the stores are.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Configuration file (TOML) of the cluster; without one, every key has its default.
    #[arg(long, env = "TOOLPLANE_CONFIG")]
    config: Option<PathBuf>,
}

impl ConfigArgs {
    pub(super) fn load(&self) -> Result<Config, Failure> {
        let environment = std::env::vars_os();
        Config::load(self.config.as_deref(), environment).map_err(|error| Failure::Usage(error.to_string()))
    }
}

impl From<StoredError> for Failure {
    fn from(error: StoredError) -> Self {
        if error.is_usage() { Self::Usage(error.to_string()) } else { Self::Local(error.to_string()) }
    }
}

/// Runs the command.
pub(crate) async fn run(command: &StoreCommand, out: &mut Output) -> Result<CommandOutcome, Failure> {
    match command {
        StoreCommand::Check(args) => report::checked(&stored::check(&args.load()?, payloads_of).await?, out),
        StoreCommand::Backup { directory, config } => {
            report::backed_up(&stored::backup(&config.load()?, directory, payloads_of)?, directory, out)
        }
        StoreCommand::Forget { kind, name, config } => {
            report::forgotten(&stored::forget(&config.load()?, kind, name, judge).await?, out)
        }
        StoreCommand::Restore { directory, config } => {
            let config = config.load()?;
            report::restored(&stored::restore(&config, directory)?, &config, out)
        }
    }
}
