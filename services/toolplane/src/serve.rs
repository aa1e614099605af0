//! `toolplane serve`: all roles in one process, or one of them. Both are the same code.
//!
//! Roles never call each other directly: each reaches the others over gRPC, through everything that is around this process's
//! own listener where no other address is configured.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use toolplane_proto::FILE_DESCRIPTOR_SET;
use toolplane_records::cluster::ClusterRole;
use toolplane_runtime::process::{self, RoleProgram};

/// How the process is started.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Only this role; all of them in one process when absent.
    #[arg(long, value_parser = PossibleValuesParser::new(ClusterRole::ALL.map(ClusterRole::as_str)).try_map(|role| role.parse::<ClusterRole>()))]
    role: Option<ClusterRole>,
    /// Configuration file (TOML); without one, every key has its default.
    #[arg(long, env = "TOOLPLANE_CONFIG")]
    config: Option<PathBuf>,
    /// Check the configuration, say what is wrong with it, and end.
    #[arg(long)]
    check_config: bool,
}

/// Every role, in the order in which they are started.
const PROGRAMS: [RoleProgram; 5] = [
    toolplane_surface::PROGRAM,
    toolplane_permission::PROGRAM,
    toolplane_scheduler::PROGRAM,
    toolplane_executor::PROGRAM,
    toolplane_gateway::PROGRAM,
];

/// Runs the process until it is asked to stop, with the exit codes of [`process::start`].
pub fn main(args: &ServeArgs) -> ExitCode {
    let programs: Vec<RoleProgram> =
        PROGRAMS.into_iter().filter(|program| args.role.is_none_or(|role| role == program.role)).collect();
    process::start(&programs, FILE_DESCRIPTOR_SET, args.config.as_deref(), args.check_config)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use toolplane_runtime::Config;
    use toolplane_runtime::process::RoleError;

    use super::*;

    fn check_permission(config: &Config) -> Result<(), RoleError> {
        (toolplane_permission::PROGRAM.check)(config)
    }

    #[test]
    fn every_role_is_there_in_the_order_of_starting() {
        assert_eq!(PROGRAMS.map(|program| program.role), ClusterRole::ALL);
    }

    fn deploy(name: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name)
    }

    fn checked(text: &str) -> Result<(), RoleError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolplane.toml");
        std::fs::write(&file, text).unwrap();
        let config = Config::load(Some(&file), [])?;
        check_permission(&config)
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
    fn words_that_cannot_be_synonyms_are_found_before_a_start() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolplane.toml");
        std::fs::write(&file, "[surface]\nsynonyms = [{ words = [\"a\", \"b\"] }, { words = [\"alone\"] }]\n").unwrap();
        let config = Config::load(Some(&file), []).unwrap();
        let error = (toolplane_surface::PROGRAM.check)(&config).unwrap_err().to_string();
        assert!(error.contains("surface.synonyms[1]"), "{error}");
    }

    #[test]
    fn a_check_says_of_tool_files_what_a_start_would() {
        let folder = tempfile::tempdir().unwrap();
        let (file, tools) = (folder.path().join("toolplane.toml"), folder.path().join("tools.json"));
        std::fs::write(&file, format!("[surface]\ndeclarations = [{tools:?}]\n")).unwrap();
        let config = Config::load(Some(&file), []).unwrap();
        let rehearsed = |text: &str| {
            std::fs::write(&tools, text).unwrap();
            (toolplane_surface::PROGRAM.check)(&config).map_err(|error| error.to_string())?;
            (toolplane_surface::PROGRAM.rehearse)(&config).map_err(|error| error.to_string())
        };
        let example = std::fs::read_to_string(deploy("examples/tools/native.echo.json")).unwrap();
        assert_eq!(rehearsed(&example), Ok(Vec::new()));
        let slip = example.replacen("\"description\"", "\"descripton\": \"\", \"description\"", 1);
        let warnings = rehearsed(&slip).unwrap();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("tools.json: `declaration.descripton`: "), "{warnings:?}");
        // What can be read, and is refused all the same: told with the rest, by the check that every start begins with.
        let refused = rehearsed(&format!("[{example}, {example}]")).unwrap_err();
        assert!(refused.contains("tools.json") && refused.contains("is given twice"), "{refused}");
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
        let error = checked("[permission]\ncedar_policies = [\"/no/such.cedar\"]\n").unwrap_err().to_string();
        assert!(error.contains("/no/such.cedar"), "{error}");
    }
}
