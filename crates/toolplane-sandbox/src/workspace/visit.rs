//! One run's stay in a writable workspace, from the look before it to the look after it.

use std::io;
use std::path::{Path, PathBuf};

use super::room::Stay;
use super::survey::Survey;
use super::watch::WorkspaceWatch;
use super::{Quota, Usage, mend};
use crate::error::SandboxError;
use crate::protected::ProtectedSnapshot;

/// A stay that has begun.
#[derive(Debug)]
pub(crate) struct Visit {
    workspace: PathBuf,
    quota: Quota,
    before: Survey,
    stay: Stay,
}

/// What a run left.
#[derive(Debug, Default)]
pub(crate) struct Departure {
    /// Protected paths that are new or changed their identity.
    pub(crate) new_protected_paths: Vec<String>,
    /// What was taken back, for people.
    pub(crate) mended: Vec<String>,
    /// What the workspace holds now; nothing when it cannot be read.
    pub(crate) usage: Option<Usage>,
}

impl Visit {
    /// Looks through `workspace` and takes back what an earlier run left. Blocks.
    ///
    /// Fails with [`SandboxError::Full`] when there is no room left, and with [`SandboxError::Invalid`] when not all of it can
    /// be looked at or what must be protected in it cannot be.
    pub(crate) fn begin(workspace: &Path, quota: Quota) -> Result<Self, SandboxError> {
        let failed = |error: io::Error| SandboxError::invalid("workspace", format!("cannot be read: {error}"));
        let before = Survey::take(workspace).map_err(failed)?;
        let reserve = free_bytes(workspace).is_some_and(|free| free < quota.reserve_bytes);
        if before.usage.bytes >= quota.most.bytes || before.usage.files >= quota.most.files || reserve {
            return Err(SandboxError::Full { rule: full(&before.usage, &quota, reserve) });
        }
        if let Some(unseen) = &before.unseen {
            return Err(SandboxError::invalid("workspace", format!("cannot be looked through: {unseen}")));
        }
        if let Some(reason) = before.protected.unprotectable() {
            return Err(SandboxError::invalid("workspace", reason));
        }
        for line in mend::lending(workspace, &before) {
            tracing::warn!(workspace = %workspace.display(), "before a run: {line}");
        }
        let stay = Stay::enter(workspace, before.special.iter().map(|(item, _)| item.id)).map_err(failed)?;
        Ok(Self { workspace: workspace.to_owned(), quota, before, stay })
    }

    /// What is protected.
    pub(crate) fn protected(&self) -> &ProtectedSnapshot {
        &self.before.protected
    }

    /// Measures the workspace for as long as the returned value lives.
    pub(crate) fn watch(&self) -> WorkspaceWatch {
        WorkspaceWatch::start(self.workspace.clone(), self.before.usage, self.quota)
    }

    /// Looks through the workspace again and takes back what must not stay. Blocks.
    pub(crate) fn end(self) -> Departure {
        let after = match Survey::take(&self.workspace) {
            Ok(after) => after,
            Err(error) => {
                let mended = vec![format!("the workspace could not be looked through: {error}")];
                return Departure { mended, ..Departure::default() };
            }
        };
        let mut mended = mend::lending(&self.workspace, &after);
        if let Some(before) = self.stay.leave() {
            mended.extend(mend::special(&self.workspace, &after, &before));
        }
        mended
            .extend(after.unseen.iter().map(|unseen| format!("not all of the workspace could be looked at: {unseen}")));
        for line in &mended {
            tracing::warn!(workspace = %self.workspace.display(), "after a run: {line}");
        }
        Departure {
            new_protected_paths: after.protected.new_since(&self.before.protected),
            mended,
            usage: Some(after.usage),
        }
    }
}

/// Bytes an ordinary user could still write on the disk of `directory`; nothing when that cannot be found out.
pub fn free_bytes(directory: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(directory).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

fn full(usage: &Usage, quota: &Quota, reserve: bool) -> String {
    if reserve {
        return format!("less than {} bytes are free on its disk", quota.reserve_bytes);
    }
    let Quota { most, .. } = quota;
    format!(
        "it holds {} bytes of at most {} in {} files of at most {}",
        usage.bytes, most.bytes, usage.files, most.files
    )
}
