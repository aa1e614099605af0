//! Paths that rules keep from a call, found in its workspace.
//!
//! What a command line says is not all that it opens: a link, a script, an interpreter lead anywhere. So what a deny about paths
//! covers is looked for before a run, and the sandbox keeps it from whatever runs: by its own name, by the names that links of
//! the workspace lead to, and by further hard links. Tools that open files themselves ask a [`Guard`] about hard links.

mod guard;
mod walk;

use std::collections::HashMap;
use std::path::Path;

use toolplane_matching::Fit;
use toolplane_matching::path::{PathAccess, PathFact};
use toolplane_matching::pattern::PathPattern;
use toolplane_matching::subject::PathSubject;
use toolplane_records::codes;
use toolplane_records::decision::DeniedPaths;
use toolplane_records::error::ToolError;
use toolplane_records::vocabulary::Behavior;
use toolplane_sandbox::Masks;
use toolplane_sandbox::spec::WORKSPACE;

pub(crate) use guard::{Access, Guard};

use crate::failure::{excerpt, nothing_done};

/// Which file it is, whatever its name.
type FileId = (u64, u64);

/// Denied files that have further names, with a denied name of each.
#[derive(Debug, Default)]
struct Linked {
    hidden: HashMap<FileId, String>,
    read_only: HashMap<FileId, String>,
}

/// Patterns of one kind, read.
#[derive(Debug)]
struct Patterns(Vec<PathPattern>);

/// What the patterns say of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Denied {
    /// The path, and everything beneath it.
    Path,
    /// Maybe something beneath it.
    MaybeBeneath,
    No,
}

/// What of the directory `workspace` is kept from a run. Fails, with nothing done, when that cannot be told or cannot be done:
/// a call that might open what is denied does not run.
pub(crate) fn masks(denied: &DeniedPaths, workspace: &Path) -> Result<Masks, ToolError> {
    let (read, write) = patterns(denied)?;
    walk::DeniedWalk::new(&read, &write, workspace)?.masks()
}

/// The denied files of the directory `workspace` that have further names.
fn linked(denied: &DeniedPaths, workspace: &Path) -> Result<Linked, ToolError> {
    let (read, write) = patterns(denied)?;
    walk::DeniedWalk::new(&read, &write, workspace)?.linked()
}

/// What must not be read, and what must not be written.
fn patterns(denied: &DeniedPaths) -> Result<(Patterns, Patterns), ToolError> {
    let (read, write) = (Patterns::read(&denied.read)?, Patterns::read(&denied.write)?);
    if read.of("") == Denied::Path {
        return Err(refused("everything in the workspace is denied"));
    }
    Ok((read, write))
}

impl Patterns {
    fn read(texts: &[String]) -> Result<Self, ToolError> {
        let read = |text: &String| {
            let unread = |rule| refused(&format!("`{}` {rule}", excerpt(text)));
            PathPattern::parse(text).map_err(unread)
        };
        texts.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    fn of(&self, path: &str) -> Denied {
        let subject = PathSubject {
            given: path.to_owned(),
            fact: PathFact::Inside(path.to_owned()),
            absolute: format!("{WORKSPACE}/{path}"),
            access: PathAccess::Read,
            tree: true,
            known: true,
        };
        match self.0.iter().map(|pattern| pattern.fit(Behavior::Deny, &subject)).max() {
            Some(Fit::Yes) => Denied::Path,
            Some(Fit::Unknown) => Denied::MaybeBeneath,
            Some(Fit::No) | None => Denied::No,
        }
    }
}

/// The error of a call whose workspace cannot be given to it without what rules deny.
fn refused(why: &str) -> ToolError {
    nothing_done(ToolError::of(
        codes::PATHS_NOT_HIDDEN,
        format!("rules deny paths that cannot be kept from this tool: {why}"),
    ))
}
