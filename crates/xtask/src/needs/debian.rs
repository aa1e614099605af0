//! Packages of Debian, unpacked into a folder of ours: nothing is installed, and the release may be another one than the
//! machine's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{self, TaskError};

/// Longest time for one step that needs the network, in seconds.
const PATIENCE: &str = "180";

/// Packages of one release.
pub(super) struct Packages {
    /// Name of the release, e.g. `trixie`.
    pub(super) release: &'static str,
    /// Every package that is needed: what these depend on is not looked for.
    pub(super) names: &'static [&'static str],
    /// Patterns of `tar` for files that are not unpacked.
    pub(super) without: &'static [&'static str],
}

impl Packages {
    /// Whether the folder has exactly these, as [`Packages::keep`] says.
    pub(super) fn are_in(&self, folder: &Path) -> bool {
        fs::read_to_string(folder.join("packages")).is_ok_and(|kept| kept == self.list())
    }

    /// Says that all is in the folder and works. Written last, so that what was broken off is begun anew.
    pub(super) fn keep(&self, folder: &Path) -> Result<(), TaskError> {
        let file = folder.join("packages");
        fs::write(&file, self.list()).map_err(TaskError::file(&file))
    }

    /// Unpacks them into an empty folder.
    pub(super) fn unpack(&self, folder: &Path) -> Result<(), TaskError> {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(TaskError::file(folder))?;
        }
        let apt = Apt::new(&folder.join("apt"), self.release)?;
        for file in apt.download(self.names)? {
            self.extract(&file, folder)?;
        }
        fs::remove_dir_all(&apt.folder).map_err(TaskError::file(&apt.folder))
    }

    fn extract(&self, file: &Path, folder: &Path) -> Result<(), TaskError> {
        let mut reader = Command::new("dpkg-deb");
        reader.arg("--fsys-tarfile").arg(file).stdout(Stdio::piped());
        let mut writer = Command::new("tar");
        writer.args(["--extract", "--directory"]).arg(folder);
        writer.args(self.without.iter().map(|pattern| format!("--exclude={pattern}")));
        let program = command::shown(&reader);
        let mut child = reader.spawn().map_err(|source| TaskError::Start { program: program.clone(), source })?;
        if let Some(archive) = child.stdout.take() {
            writer.stdin(archive);
        }
        // The reader is waited for in any case; when the writer failed, it ends because nobody reads.
        let written = command::run(writer);
        let status = child.wait().map_err(|source| TaskError::Start { program: program.clone(), source })?;
        written?;
        if status.success() { Ok(()) } else { Err(TaskError::Failed { program, status }) }
    }

    fn list(&self) -> String {
        format!("{}\n{}\n", self.release, self.names.join("\n"))
    }
}

/// An `apt` with lists and a cache of its own, which knows one release.
struct Apt {
    folder: PathBuf,
}

impl Apt {
    fn new(folder: &Path, release: &str) -> Result<Self, TaskError> {
        for part in ["lists/partial", "cache/archives/partial", "sources", "preferences", "files"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).map_err(TaskError::file(&part))?;
        }
        let sources = folder.join("sources.list");
        let line = format!("deb {} {release} main\n", mirror()?);
        fs::write(&sources, line).map_err(TaskError::file(&sources))?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Downloads packages and gives their files.
    fn download(&self, names: &[&str]) -> Result<Vec<PathBuf>, TaskError> {
        command::run(self.get(&["update"]))?;
        let files = self.folder.join("files");
        let mut download = self.get(&["download"]);
        download.args(names).current_dir(&files);
        command::run(download)?;
        let entries = fs::read_dir(&files).map_err(TaskError::file(&files))?;
        entries.map(|entry| entry.map(|entry| entry.path()).map_err(TaskError::file(&files))).collect()
    }

    /// `apt-get`, which gives up after a while; the machine's own lists, cache and installed packages are none of its business.
    fn get(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command.args([PATIENCE, "apt-get", "-qq", "-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=20"]);
        for (option, part) in [
            ("Dir::Etc::sourcelist", "sources.list"),
            ("Dir::Etc::sourceparts", "sources"),
            ("Dir::Etc::preferencesparts", "preferences"),
            ("Dir::State::lists", "lists"),
            ("Dir::Cache", "cache"),
        ] {
            command.arg("-o").arg(format!("{option}={}", self.folder.join(part).display()));
        }
        // Its own user could not write below `target`, and half an update would look like packages that do not exist.
        command.args(["-o", "APT::Sandbox::User=root", "-o", "APT::Update::Error-Mode=any"]);
        command.args(["-o", "Dir::State::status=/dev/null"]).args(arguments);
        command
    }
}

/// Where this machine gets Debian's packages from.
fn mirror() -> Result<String, TaskError> {
    let mut targets = Command::new("apt-get");
    targets.args(["indextargets", "--format", "$(RELEASE) $(REPO_URI)", "Created-By: Packages"]);
    let listed = command::capture(targets)?;
    let system = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let found = mirror_of(&system, &String::from_utf8_lossy(&listed)).map(str::to_owned);
    found.ok_or_else(|| TaskError::Answer("this is no Debian with a mirror of its packages".to_owned()))
}

/// The mirror of the system's own release, of what `apt-get indextargets` lists as `release address`. Other lines are of other
/// archives: updates, security, packages of third parties.
fn mirror_of<'a>(system: &str, listed: &'a str) -> Option<&'a str> {
    let value = |key: &str| system.lines().find_map(|line| line.strip_prefix(key)).map(|word| word.trim_matches('"'));
    let release = value("VERSION_CODENAME=").filter(|_| value("ID=") == Some("debian"))?;
    listed.lines().filter_map(|line| line.split_once(' ')).find(|(of, _)| *of == release).map(|(_, address)| address)
}

#[cfg(test)]
mod tests;
