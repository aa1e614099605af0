//! `cargo xtask sdk`: the packages for other languages. Their generated code is written from `proto/`, and what is published of them
//! is built into `target/sdk/`. No compiler of the system is needed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use clap::ValueEnum;

use crate::command::{self, TaskError};
use crate::needs;

/// Which packages, and whether they are only looked at.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this one.
    language: Option<Language>,
    /// Change nothing: prove that the checked-in generated code is what the protos say.
    #[arg(long)]
    check: bool,
}

/// A language with a package in `sdk/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    /// `sdk/python`: a wheel and a source distribution.
    Python,
    /// `sdk/typescript`: an npm tarball.
    Typescript,
}

impl Language {
    fn folder(self) -> PathBuf {
        command::root().join("sdk").join(match self {
            Self::Python => "python",
            Self::Typescript => "typescript",
        })
    }
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    let wanted = |language| args.language.is_none_or(|only| only == language);
    if wanted(Language::Python) {
        python(args.check)?;
    }
    if wanted(Language::Typescript) {
        typescript(args.check)?;
    }
    Ok(())
}

/// Where finished packages go.
fn shelf() -> Result<PathBuf, TaskError> {
    let folder = command::target().join("sdk");
    fs::create_dir_all(&folder).map_err(TaskError::file(&folder))?;
    // Commands run in other folders.
    folder.canonicalize().map_err(TaskError::file(&folder))
}

fn python(check: bool) -> Result<(), TaskError> {
    needs::python()?;
    let folder = Language::Python.folder();
    let python = needs::venv_python();
    let mut generate = Command::new(&python);
    generate.current_dir(&folder).arg("tools/generate.py");
    if check {
        generate.arg("--check");
        return command::run(generate);
    }
    command::run(generate)?;
    let mut build = Command::new(&python);
    build.current_dir(&folder).args(["-m", "build", "--no-isolation", "--outdir"]).arg(shelf()?);
    command::run(build)
}

fn typescript(check: bool) -> Result<(), TaskError> {
    let folder = Language::Typescript.folder();
    let npm = |arguments: &[&str]| {
        let mut npm = Command::new("npm");
        npm.current_dir(&folder).args(arguments);
        npm
    };
    command::run(npm(&["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    if check {
        return unchanged(&folder, || command::run(npm(&["run", "generate"])));
    }
    command::run(npm(&["run", "generate"]))?;
    command::run(npm(&["run", "build"]))?;
    let mut pack = npm(&["pack", "--pack-destination"]);
    pack.arg(shelf()?);
    command::run(pack)
}

/// Runs a generator and fails when it changed a file of `folder` that is under version control, or made one. What it wrote stays.
fn unchanged(folder: &std::path::Path, generate: impl FnOnce() -> Result<(), TaskError>) -> Result<(), TaskError> {
    let state = || {
        let mut status = Command::new("git");
        status.current_dir(folder).args(["status", "--porcelain", "--untracked-files=all", "--", "."]);
        let mut content = Command::new("git");
        content.current_dir(folder).args(["diff", "HEAD", "--", "."]);
        Ok::<_, TaskError>([command::capture(status)?, command::capture(content)?])
    };
    let before = state()?;
    generate()?;
    if state()? == before {
        return Ok(());
    }
    let advice = format!("generated code in {} was not fresh; it is now: commit what changed", folder.display());
    Err(TaskError::Answer(advice))
}
