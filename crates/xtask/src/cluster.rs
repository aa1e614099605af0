//! `cargo xtask cluster`: a cluster of many processes that outlives the command.

use std::process::Command;

use crate::command::{self, TaskError};
use crate::needs;
use crate::programs::{self, Build};

/// What is done with the cluster.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Action {
    /// Start it, or what does not run of it: by default two schedulers, two executors, surface, permission, and Redis.
    Up {
        /// Build with optimisations; slower to build.
        #[arg(long)]
        release: bool,
        /// Schedulers; more than one need the store `redis`.
        #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=16))]
        schedulers: u32,
        /// Executors.
        #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
        executors: u32,
        /// Surface processes; more than one need the store `redis`.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
        surfaces: u32,
        /// Permission processes; the same.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
        permissions: u32,
        /// Where schedulers keep calls: `redis` or `embedded`.
        #[arg(long, default_value = "redis")]
        store: String,
        /// Shards of the store `redis`, each on a server of its own.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
        shards: u16,
    },
    /// Show every process, its health and what the store promises.
    Status,
    /// SIGKILL one process by name.
    Kill {
        /// Its name, as `status` shows it.
        name: String,
        /// Start it again at once.
        #[arg(long)]
        restart: bool,
    },
    /// Stop every process in order.
    Down,
}

pub(crate) fn run(action: &Action) -> Result<(), TaskError> {
    let release = matches!(action, Action::Up { release: true, .. });
    let programs = programs::build(Build::of(release))?;
    let mut cluster = Command::new(programs.join("xtask-cluster"));
    cluster.current_dir(command::root()).arg("cluster").env("TOOLPLANE_BIN", programs.join("toolplane"));
    match action {
        Action::Up { schedulers, executors, surfaces, permissions, store, shards, .. } => {
            needs::bubblewrap();
            if store == "redis" {
                needs::redis()?;
            }
            cluster.args(["up", "--schedulers", &schedulers.to_string(), "--executors", &executors.to_string()]);
            cluster.args(["--surfaces", &surfaces.to_string(), "--permissions", &permissions.to_string()]);
            cluster.args(["--store", store, "--shards", &shards.to_string()]);
        }
        Action::Status => drop(cluster.arg("status")),
        Action::Kill { name, restart } => {
            cluster.args(["kill", name]);
            cluster.args(restart.then_some("--restart"));
        }
        Action::Down => drop(cluster.arg("down")),
    }
    command::run(cluster)
}
