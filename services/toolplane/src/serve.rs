//! `toolplane serve`: all roles in one process, or one of them. Both are the same code.
//!
//! Roles never call each other directly: each reaches the others over gRPC, through everything that is around this process's
//! own listener where no other address is configured.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use toolplane_proto::FILE_DESCRIPTOR_SET;
use toolplane_runtime::Config;
use toolplane_runtime::process::{self, Plan, Process, Role, RoleError};
use toolplane_runtime::server::Services;

/// How the process is started.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Only this role; all of them in one process when absent.
    #[arg(long, value_enum)]
    role: Option<RoleName>,
    /// Configuration file (TOML); without one, every key has its default.
    #[arg(long, env = "TOOLPLANE_CONFIG")]
    config: Option<PathBuf>,
    /// Check the configuration, say what is wrong with it, and end.
    #[arg(long)]
    check_config: bool,
}

/// The roles of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RoleName {
    /// Declarations, surfaces, search.
    Surface,
    /// Rules and approvals.
    Permission,
    /// Calls, queue, results.
    Scheduler,
    /// Runs tools.
    Executor,
}

impl RoleName {
    /// In the order in which they are started: whoever is asked comes before whoever asks.
    const ALL: [Self; 4] = [Self::Surface, Self::Permission, Self::Scheduler, Self::Executor];
}

/// Runs the process until it is asked to stop. Exit code 2 means that the configuration is refused, 1 any other failure.
pub fn main(args: &ServeArgs) -> ExitCode {
    let plan = match args.role {
        None => Plan { role: "", listens: true, check: check_all },
        Some(RoleName::Surface) => Plan { role: "surface", listens: true, check: toolplane_surface::check },
        Some(RoleName::Permission) => Plan { role: "permission", listens: true, check: check_permission },
        Some(RoleName::Scheduler) => Plan { role: "scheduler", listens: true, check: check_scheduler },
        Some(RoleName::Executor) => Plan { role: "executor", listens: false, check: check_executor },
    };
    let config = match process::configuration(args.config.as_deref(), plan) {
        Ok(config) => config,
        Err(code) => return code,
    };
    if args.check_config {
        println!("the configuration is good");
        return ExitCode::SUCCESS;
    }
    let roles = args.role.map_or_else(|| RoleName::ALL.to_vec(), |role| vec![role]);
    let build = |process: Arc<Process>, services| async move { compose(&roles, &process, services).await };
    process::exit_code(process::block_on(process::run(config, plan, FILE_DESCRIPTOR_SET, build)))
}

fn check_all(config: &Config) -> Result<(), RoleError> {
    toolplane_surface::check(config)?;
    check_permission(config)?;
    check_scheduler(config)?;
    check_executor(config)
}

fn check_permission(config: &Config) -> Result<(), RoleError> {
    toolplane_permission::check(config)
}

fn check_scheduler(config: &Config) -> Result<(), RoleError> {
    toolplane_scheduler::check(config)
}

fn check_executor(config: &Config) -> Result<(), RoleError> {
    Ok(toolplane_executor::Options::from_config(config).map(drop)?)
}

/// Starts the roles one after the other and puts their services behind one listener.
async fn compose(roles: &[RoleName], process: &Arc<Process>, services: Services) -> Result<Role, RoleError> {
    let mut whole = Role { services: Some(services), close: Vec::new() };
    if roles.contains(&RoleName::Executor) {
        // Hooks of the other roles may read the workspace, as it is when they are opened.
        toolplane_executor::make_workspace(&process.config)?;
    }
    for role in roles {
        let services = whole.services.take().ok_or("no listener to put a role behind")?;
        let started = match role {
            RoleName::Surface => toolplane_surface::role(process, services).await?,
            RoleName::Permission => toolplane_permission::role(process, services).await?,
            RoleName::Scheduler => toolplane_scheduler::role(process, services).await?,
            RoleName::Executor => Role { services: Some(services), ..toolplane_executor::role(process).await? },
        };
        whole.services = started.services;
        whole.close.extend(started.close);
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn deploy(name: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name)
    }

    fn checked(text: &str) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolplane.toml");
        std::fs::write(&file, text).unwrap();
        let config = Config::load(Some(&file), []).map_err(|error| error.to_string())?;
        check_permission(&config).map_err(|error| error.to_string())
    }

    /// What the example configurations say is good in all of its parts, not only in its keys.
    #[test]
    fn example_configurations_are_good() {
        for name in ["toolplane.toml", "cluster/toolplane.toml"] {
            let config = Config::load(Some(&deploy(name)), []).unwrap();
            check_permission(&config).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    #[test]
    fn example_rules_and_policies_go_together() {
        let listed = |folder: &str| {
            let entries = std::fs::read_dir(deploy(folder)).unwrap();
            let files: Vec<String> = entries.map(|entry| entry.unwrap().path().display().to_string()).collect();
            assert!(!files.is_empty(), "{folder}");
            format!("{files:?}")
        };
        let (rules, policies) = (listed("examples/rules"), listed("examples/policies"));
        checked(&format!("[permission]\nrules_files = {rules}\ncedar_policies = {policies}\n")).unwrap();
        let error = checked("[permission]\ncedar_policies = [\"/no/such.cedar\"]\n").unwrap_err();
        assert!(error.contains("/no/such.cedar"), "{error}");
    }
}
