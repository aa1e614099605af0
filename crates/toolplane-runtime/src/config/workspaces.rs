//! Where the tools of each tenant work.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use toolplane_records::ids::path_segment;

use super::Config;
use super::error::ConfigError;

/// The tenant of a cluster without authentication.
const DEFAULT_TENANT: &str = "default";

/// The directories tools work in: one for the tenant `default`, which may be a folder that exists already, and one for
/// each other tenant, below a directory of their own. None of them lies in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspaces {
    own: PathBuf,
    tenants: PathBuf,
}

impl Workspaces {
    /// The directory of `tenant`, whether or not it exists. A tenant is text of others: it becomes one plain name.
    pub fn of(&self, tenant: &str) -> PathBuf {
        if tenant == DEFAULT_TENANT { self.own.clone() } else { self.tenants.join(path_segment(tenant)) }
    }

    /// The directory of `tenant`, absolute and without links; made when it does not exist, readable only for this user.
    ///
    /// Fails with what the operating system says.
    pub fn open(&self, tenant: &str) -> io::Result<PathBuf> {
        let dir = self.of(tenant);
        DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        dir.canonicalize()
    }

    /// The directory of `tenant` if it is on this machine, absolute and without links.
    pub fn existing(&self, tenant: &str) -> Option<PathBuf> {
        self.of(tenant).canonicalize().ok().filter(|dir| dir.is_dir())
    }

    /// Whether `tenant` is the one whose directory the configuration names.
    pub fn is_default(tenant: &str) -> bool {
        tenant == DEFAULT_TENANT
    }

    /// The directories of other tenants that are on this machine.
    pub fn of_tenants(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.tenants).into_iter().flatten().flatten();
        let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        directories.filter_map(|entry| entry.path().canonicalize().ok()).collect()
    }
}

impl Config {
    /// Where the tools of each tenant work.
    pub fn workspaces(&self) -> Workspaces {
        let own = self.workspace_dir();
        let beside = || {
            let mut name = own.file_name().unwrap_or_default().to_owned();
            name.push("-tenants");
            own.with_file_name(name)
        };
        Workspaces { tenants: self.executor.tenant_workspaces.clone().unwrap_or_else(beside), own }
    }

    /// A tool of one tenant must not see the files of another.
    pub(super) fn check_workspaces(&self) -> Result<(), ConfigError> {
        let Workspaces { own, tenants } = self.workspaces();
        let [own, tenants] = [&own, &tenants].map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
        let within = |inner: &Path, outer: &Path| inner.starts_with(outer);
        if within(&own, &tenants) || within(&tenants, &own) {
            let rule = format!("`{}` and `executor.workspace` lie in one another", tenants.display());
            return Err(ConfigError::value("executor.tenant_workspaces", rule));
        }
        Ok(())
    }
}
