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
    /// Its path is UTF-8, so it can be told as it is.
    pub(super) is_named: bool,
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
    /// Everything that fits, without following a link.
    pub(super) fn entries(&self) -> io::Result<Entries> {
        let mut walk = Walk { look: self, found: Entries::new(), seen: 0 };
        walk.directory(&Dir::at(&self.workspace)?, ("", true), 0)?;
        Ok(walk.found)
    }
}

struct Walk<'a> {
    look: &'a Look,
    found: Entries,
    seen: usize,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Dir, (place, is_named): (&str, bool), depth: usize) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(io::Error::other(format!("it is deeper than {MAX_DEPTH} directories")));
        }
        for entry in directory.entries()? {
            self.seen += 1;
            if self.seen > MAX_ENTRIES {
                return Err(io::Error::other(format!("it has more than {MAX_ENTRIES} entries")));
            }
            // A name that is no UTF-8 fits as it is shown to people.
            let (name, is_named) = (told(&entry.name), is_named && entry.name.to_str().is_some());
            let path = if place.is_empty() { name } else { format!("{place}/{name}") };
            if self.look.hidden.contains(&path) {
                continue;
            }
            if entry.kind == FileType::Directory {
                // What is gone again, or is a link by now, holds nothing that was left.
                let Ok(inner) = directory.dir(&entry.name) else { continue };
                self.directory(&inner, (&path, is_named), depth + 1)?;
            } else if self.look.globs.iter().any(|glob| glob.is_match(&path))
                && let Ok(stat) = directory.stat(&entry.name)
            {
                self.found.insert(path, Found { is_named, ..found(&stat) });
            }
        }
        Ok(())
    }
}

/// The name; bytes that are no UTF-8 are spelled out, e.g. `\xff`.
fn told(name: &OsStr) -> String {
    match name.to_str() {
        Some(name) => name.to_owned(),
        None => name.as_encoded_bytes().escape_ascii().to_string(),
    }
}

#[expect(clippy::useless_conversion, reason = "the fields of a stat have other types on other machines")]
fn found(stat: &rustix::fs::Stat) -> Found {
    Found {
        is_named: true,
        is_file: FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
        names: stat.st_nlink.into(),
        stamp: Stamp {
            file: (stat.st_dev, stat.st_ino),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            changed: (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        },
    }
}
