//! `files.list_dir`: the entries of one directory.

use rustix::fs::FileType;
use serde::{Deserialize, Serialize};
use toolplane_records::error::ToolError;

use super::dir::{Dir, DirEntry};
use super::place::{open_dir, refused, relative};
use super::site::{FileTool, Site};
use crate::failure::invalid_input;
use crate::outcome::Outcome;

const DEFAULT_ENTRIES: usize = 1000;
const MAX_ENTRIES: usize = 10_000;
/// Most entries looked at; beyond that the listing says that it is not complete.
const MAX_SEEN: usize = 100_000;

/// What the tool takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListInput {
    /// The directory, relative to the workspace; the workspace itself when absent.
    #[serde(default)]
    path: String,
    /// Most entries; 1000 when absent.
    limit: Option<usize>,
}

#[derive(Debug, Serialize)]
struct ListedFile {
    /// Bytes that are no UTF-8 are replaced by U+FFFD.
    name: String,
    /// `file`, `directory`, `symlink` or `other`.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct ListReport {
    path: String,
    entries: Vec<ListedFile>,
    /// Entries there are, as far as they were looked at.
    total: usize,
    /// Entries were left out.
    truncated: bool,
}

#[derive(Debug)]
pub(crate) struct List;

impl FileTool for List {
    type Input = ListInput;

    fn run(site: &Site, input: ListInput) -> Result<Outcome, ToolError> {
        let limit = input.limit.unwrap_or(DEFAULT_ENTRIES);
        if limit == 0 || limit > MAX_ENTRIES {
            return Err(invalid_input("limit", format!("must be from 1 to {MAX_ENTRIES}")));
        }
        let path = relative(&input.path)?;
        let dir = open_dir(&site.dir, &path, &input.path)?;
        let mut names = Vec::new();
        let mut complete = true;
        for entry in dir.entries().map_err(|error| refused(&input.path, &error))? {
            if names.len() >= MAX_SEEN || site.stop.wanted() {
                complete = false;
                break;
            }
            names.push(entry);
        }
        names.sort_by(|left, right| left.name.cmp(&right.name));
        let total = names.len();
        let entries: Vec<_> = names.into_iter().take(limit).map(|entry| describe(&dir, &entry)).collect();
        let text = entries.iter().map(line).collect();
        let truncated = !complete || entries.len() < total;
        Ok(Outcome::text(text).structured(&ListReport { path: input.path, entries, total, truncated }))
    }
}

fn describe(dir: &Dir, entry: &DirEntry) -> ListedFile {
    let size_bytes = match entry.kind {
        FileType::RegularFile => dir.stat(&entry.name).ok().and_then(|stat| u64::try_from(stat.st_size).ok()),
        _ => None,
    };
    ListedFile { name: entry.name.to_string_lossy().into_owned(), kind: name_of(entry.kind), size_bytes }
}

fn name_of(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "directory",
        FileType::RegularFile => "file",
        FileType::Symlink => "symlink",
        _ => "other",
    }
}

fn line(entry: &ListedFile) -> String {
    match (entry.kind, entry.size_bytes) {
        ("directory", _) => format!("{}/\n", entry.name),
        (_, Some(size)) => format!("{} ({size} bytes)\n", entry.name),
        (kind, None) => format!("{} ({kind})\n", entry.name),
    }
}
