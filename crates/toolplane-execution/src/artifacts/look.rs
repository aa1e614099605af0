//! One look through a workspace for files that fit patterns.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fs::FileType;
use toolplane_matching::glob::PathGlob;

use crate::files::Dir;

/// Bounds of one look.
const MAX_ENTRIES: usize = 400_000;
const MAX_DEPTH: usize = 64;

/// What fits, by its path in the workspace.
pub(super) type Entries = BTreeMap<String, Found>;

/// Where to look, and what for.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) workspace: PathBuf,
    pub(super) globs: Arc<Vec<PathGlob>>,
    /// What is kept from the run is nothing it can leave.
    pub(super) hidden: Arc<Vec<String>>,
}

/// Something that fits.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) is_file: bool,
    /// Names it has.
    pub(super) names: u64,
    pub(super) stamp: Stamp,
}

/// What is another one after any change of a file. The time is that of the last change of the file itself, which no program can set.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    file: (u64, u64),
    pub(super) size: u64,
    changed: (i64, i64),
}

impl Look {
    /// Everything that fits, without following a link. Names that are no UTF-8 fit nothing.
    pub(super) fn entries(&self) -> io::Result<Entries> {
        let mut walk = Walk { look: self, found: Entries::new(), seen: 0 };
        walk.directory(&Dir::at(&self.workspace)?, "", 0)?;
        Ok(walk.found)
    }
}

struct Walk<'a> {
    look: &'a Look,
    found: Entries,
    seen: usize,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Dir, place: &str, depth: usize) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(io::Error::other(format!("it is deeper than {MAX_DEPTH} directories")));
        }
        for entry in directory.entries()? {
            self.seen += 1;
            if self.seen > MAX_ENTRIES {
                return Err(io::Error::other(format!("it has more than {MAX_ENTRIES} entries")));
            }
            let Some(name) = entry.name.to_str() else { continue };
            let path = if place.is_empty() { name.to_owned() } else { format!("{place}/{name}") };
            if self.look.hidden.contains(&path) {
                continue;
            }
            if entry.kind == FileType::Directory {
                // What is gone again, or is a link by now, holds nothing that was left.
                let Ok(inner) = directory.dir(OsStr::new(name)) else { continue };
                self.directory(&inner, &path, depth + 1)?;
            } else if self.look.globs.iter().any(|glob| glob.is_match(&path))
                && let Ok(stat) = directory.stat(OsStr::new(name))
            {
                self.found.insert(path, found(&stat));
            }
        }
        Ok(())
    }
}

#[expect(clippy::useless_conversion, reason = "the fields of a stat have other types on other machines")]
fn found(stat: &rustix::fs::Stat) -> Found {
    Found {
        is_file: FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
        names: stat.st_nlink.into(),
        stamp: Stamp {
            file: (stat.st_dev, stat.st_ino),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            changed: (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        },
    }
}
