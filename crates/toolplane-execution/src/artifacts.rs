//! Files that a program leaves in its workspace as artifacts, as its tool says that it will.
//!
//! What fits the patterns of the tool is looked at before the run and after it: only what is new or was changed in between was left by the
//! run. It is copied out of the workspace before the run counts as ended, because the workspace goes on to change; what is kept, hashed and
//! told is the copy. Nothing is followed and nothing is waited for: links, pipes and files with a second name are left out, and said.

mod copy;
mod look;
pub(crate) mod media_type;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolplane_matching::glob::PathGlob;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_sandbox::{OutputFile, SandboxSpec, WorkspaceAccess};

use crate::call::Call;
use crate::credentials::CredentialSource;
use crate::failure::{excerpt, nothing_done, worker_failed};
use crate::outcome::Outcome;
use look::{Found, Look};

/// Most files of which it is told why they are left out; the others are counted.
const MAX_TOLD: usize = 5;

/// How much of what one run leaves is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArtifactBounds {
    /// Bytes of all files together.
    pub bytes: u64,
    /// Files.
    pub files: usize,
}

impl Default for ArtifactBounds {
    fn default() -> Self {
        Self { bytes: 256 * 1024 * 1024, files: 64 }
    }
}

/// A file that a run has left, out of its reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Its path in the workspace; it is named by it.
    pub path: String,
    /// What it is, by its first bytes and the end of its name.
    pub media_type: String,
    /// The copy. It goes with the last who holds it.
    pub file: Arc<OutputFile>,
}

/// What a run is expected to leave, and what was there before it.
pub(crate) struct Expected {
    looked: Look,
    before: look::Entries,
    /// Where copies go.
    outputs: PathBuf,
    bounds: ArtifactBounds,
}

impl Expected {
    /// Looks before the run. Nothing where its tool expects nothing, or where it has no workspace to leave anything in.
    ///
    /// Fails with the error of a call that has done nothing when the workspace cannot be looked through.
    pub(crate) async fn of(call: &Call, spec: &SandboxSpec, bounds: ArtifactBounds) -> Result<Option<Self>, ToolError> {
        let writable = spec.workspace.as_ref().filter(|mount| mount.access == WorkspaceAccess::ReadWrite);
        let (Some(mount), Some(outputs), false) = (writable, &spec.outputs, call.expected_files.is_empty()) else {
            return Ok(None);
        };
        // What cannot be read fits nothing, and is then missed at the end.
        let globs = call.expected_files.iter().filter_map(|pattern| PathGlob::parse(pattern).ok()).collect();
        let hidden = spec.masks.hidden.iter().map(|masked| masked.path.clone()).collect();
        let looked = Look { workspace: mount.host.clone(), globs: Arc::new(globs), hidden: Arc::new(hidden) };
        let before = look(&looked).await.map_err(nothing_done)?;
        Ok(Some(Self { looked, before, outputs: outputs.clone(), bounds }))
    }

    /// Takes what the run has left along with its outcome. Of a run that was stopped nothing is taken: its files may be half written.
    pub(crate) async fn taken(
        self,
        outcome: Outcome,
        credentials: &CredentialSource,
        cancel: &CancellationToken,
    ) -> Outcome {
        let after = match look(&self.looked).await {
            Ok(after) => after,
            Err(error) => return with_loss(outcome, &[error.message]),
        };
        let (mut artifacts, mut left_out, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (path, found) in after {
            if self.before.get(&path).is_some_and(|before| before.stamp == found.stamp) {
                continue;
            }
            let kept = match self.refused(&found, artifacts.len(), bytes) {
                _ if cancel.is_cancelled() => Err("the call was to stop".to_owned()),
                Some(why) => Err(why),
                None => self.copied(&path, self.bounds.bytes - bytes, credentials).await,
            };
            match kept {
                Ok(artifact) => {
                    bytes += artifact.file.size_bytes();
                    artifacts.push(artifact);
                }
                Err(why) => left_out.push(format!("`{}` ({why})", excerpt(&path))),
            }
        }
        let outcome = Outcome { artifacts, ..outcome };
        if left_out.is_empty() { outcome } else { with_loss(outcome, &left_out) }
    }

    /// Why it is not even opened.
    fn refused(&self, found: &Found, files: usize, bytes: u64) -> Option<String> {
        let ArtifactBounds { bytes: most, files: most_files } = self.bounds;
        if !found.is_file {
            Some("it is a link, or no plain file".to_owned())
        } else if !found.is_named {
            Some("its name is no UTF-8".to_owned())
        } else if found.names > 1 {
            Some("it has a second name".to_owned())
        } else if files >= most_files {
            Some(format!("more than {most_files} files"))
        } else {
            (found.stamp.size > most - bytes).then(|| format!("more than {most} bytes together"))
        }
    }

    async fn copied(&self, path: &str, most: u64, credentials: &CredentialSource) -> Result<Artifact, String> {
        let file = copy::opened(&self.looked.workspace, path).await.map_err(|error| error.to_string())?;
        let (file, beginning) = copy::copied(file, most, &self.outputs, &credentials.mask())
            .await
            .map_err(|error| format!("it cannot be copied: {error}"))?;
        let media_type = media_type::of(path, &beginning).to_owned();
        Ok(Artifact { path: path.to_owned(), media_type, file: Arc::new(file) })
    }
}

async fn look(looked: &Look) -> Result<look::Entries, ToolError> {
    let looked = looked.clone();
    let place: &Path = &looked.workspace.clone();
    match tokio::task::spawn_blocking(move || looked.entries()).await {
        Ok(Ok(entries)) => Ok(entries),
        Ok(Err(error)) => {
            let place = place.display();
            let message = format!("the workspace `{place}` cannot be looked through for what the tool leaves: {error}");
            Err(ToolError::of(codes::WORKSPACE_UNAVAILABLE, message))
        }
        Err(_) => Err(worker_failed()),
    }
}

/// A success that lost something of what it left is a partial one: its effect is done.
fn with_loss(outcome: Outcome, left_out: &[String]) -> Outcome {
    if !outcome.is_success() {
        return outcome;
    }
    let told = left_out.iter().take(MAX_TOLD).cloned().collect::<Vec<_>>().join(", ");
    let more = left_out.len().saturating_sub(MAX_TOLD);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let mut error =
        ToolError::of(codes::RESULT_NOT_KEPT, format!("the tool ended, and not all it left is kept: {told}{more}"));
    error.side_effects = Some("completed".to_owned());
    outcome.failed(error)
}
