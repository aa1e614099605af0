//! Finding bubblewrap and the launcher.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::options::BubblewrapOptions;

const LAUNCHER: &str = "toolplane-sandbox-launcher";
const LAUNCHER_VARIABLE: &str = "TOOLPLANE_SANDBOX_LAUNCHER";

/// The programs a run needs.
#[derive(Clone, Debug)]
pub(super) struct SandboxPrograms {
    pub(super) bwrap: PathBuf,
    pub(super) launcher: PathBuf,
}

/// A program that is missing, and what to do about it.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(crate) enum MissingProgram {
    #[error("bubblewrap is not installed; install the package `bubblewrap` (0.8 or newer)")]
    Bubblewrap,
    #[error("`{LAUNCHER}` is missing; put it beside this program or name it in {LAUNCHER_VARIABLE}")]
    Launcher,
}

/// Both programs.
pub(super) fn programs(options: &BubblewrapOptions) -> Result<SandboxPrograms, MissingProgram> {
    let bwrap = match &options.bwrap {
        Some(path) => existing(path.clone()),
        None => search_path().find_map(|dir| existing(dir.join("bwrap"))),
    };
    let bwrap = bwrap.ok_or(MissingProgram::Bubblewrap)?;
    let launcher = match options.launcher.clone().or_else(|| std::env::var_os(LAUNCHER_VARIABLE).map(Into::into)) {
        Some(path) => existing(path),
        None => beside_this_program(),
    };
    let launcher = launcher.ok_or(MissingProgram::Launcher)?;
    Ok(SandboxPrograms { bwrap, launcher })
}

fn search_path() -> impl Iterator<Item = PathBuf> {
    let usual = ["/usr/bin", "/bin", "/usr/local/bin"].into_iter().map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    usual.chain(std::env::split_paths(&path).filter(|dir| dir.is_absolute()).collect::<Vec<_>>())
}

fn beside_this_program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program.ancestors().skip(1).take(2).find_map(|dir| existing(dir.join(LAUNCHER)))
}

/// The real path of a regular file.
fn existing(path: PathBuf) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}

/// What `bwrap --version` says.
pub(super) fn version(bwrap: &Path) -> Option<String> {
    let output = Command::new(bwrap).arg("--version").env_clear().stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
