//! One look through a workspace for what patterns deny.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use toolplane_records::error::ToolError;
use toolplane_sandbox::{MaskedPath, Masks};

use super::{Denied, FileId, Linked, Patterns, refused};

/// Bounds of one look. A larger workspace is not given to a tool while patterns reach everywhere in it.
const MAX_ENTRIES: usize = 400_000;
const MAX_DEPTH: usize = 64;

pub(super) struct DeniedWalk<'a> {
    read: &'a Patterns,
    write: &'a Patterns,
    workspace: PathBuf,
    masks: Masks,
    entries: usize,
    /// Denied files that have further names.
    linked: Linked,
}

impl<'a> DeniedWalk<'a> {
    pub(super) fn new(read: &'a Patterns, write: &'a Patterns, workspace: &Path) -> Result<Self, ToolError> {
        let workspace = workspace.canonicalize().map_err(|error| unreadable("the workspace", &error))?;
        Ok(Self { read, write, workspace, masks: Masks::default(), entries: 0, linked: Linked::default() })
    }

    /// What is denied, and every further name of it.
    pub(super) fn masks(mut self) -> Result<Masks, ToolError> {
        self.look()?;
        if !self.linked.hidden.is_empty() || !self.linked.read_only.is_empty() {
            self.further_names()?;
        }
        self.drop_covered();
        if self.masks.hidden.len() + self.masks.read_only.len() > Masks::MAX || self.masks.above().len() > Masks::MAX {
            return Err(refused(&format!("they are more than {} files and directories", Masks::MAX)));
        }
        Ok(self.masks)
    }

    /// The denied files that have further names.
    pub(super) fn linked(mut self) -> Result<Linked, ToolError> {
        self.look()?;
        Ok(self.linked)
    }

    /// Goes through the workspace as far as patterns reach, and notes what they deny.
    fn look(&mut self) -> Result<(), ToolError> {
        let mut waiting = VecDeque::from([(String::new(), 0)]);
        while let Some((directory, depth)) = waiting.pop_front() {
            for (path, metadata) in self.list(&directory, depth)? {
                if self.enter(&path, &metadata)? {
                    waiting.push_back((path, depth + 1));
                }
            }
        }
        Ok(())
    }

    /// What lies beneath something hidden needs nothing of its own.
    fn drop_covered(&mut self) {
        let hidden: Vec<String> = self.masks.hidden.iter().map(|mask| mask.path.clone()).collect();
        let covered = |path: &str| {
            hidden.iter().any(|above| path.strip_prefix(above.as_str()).is_some_and(|rest| rest.starts_with('/')))
        };
        self.masks.hidden.retain(|mask| !covered(&mask.path));
        self.masks.read_only.retain(|mask| !covered(&mask.path) && !hidden.contains(&mask.path));
    }

    /// Notes the entry if it is denied. Whether something beneath it may be.
    fn enter(&mut self, path: &str, metadata: &fs::Metadata) -> Result<bool, ToolError> {
        let (read, write) = (self.read.of(path), self.write.of(path));
        match (read, write) {
            (Denied::Path, _) => {
                self.note(path, metadata, true)?;
                return Ok(false);
            }
            (_, Denied::Path) => self.note(path, metadata, false)?,
            _ => {}
        }
        let beneath = read == Denied::MaybeBeneath || (write == Denied::MaybeBeneath);
        Ok(beneath && metadata.is_dir())
    }

    /// Keeps a path from the run: hidden, or else read-only.
    fn note(&mut self, path: &str, metadata: &fs::Metadata, hidden: bool) -> Result<(), ToolError> {
        if metadata.is_symlink() {
            return self.note_target(path, hidden);
        }
        self.note_linked(path, metadata, hidden);
        if metadata.is_dir() {
            self.note_linked_beneath(path, hidden)?;
        }
        let list = if hidden { &mut self.masks.hidden } else { &mut self.masks.read_only };
        if list.iter().all(|mask| mask.path != path) {
            list.push(MaskedPath { path: path.to_owned(), directory: metadata.is_dir() });
        }
        Ok(())
    }

    /// A denied link: what it leads to is what must not be opened. What lies outside the workspace is not in the sandbox.
    fn note_target(&mut self, path: &str, hidden: bool) -> Result<(), ToolError> {
        let Ok(target) = self.workspace.join(path).canonicalize() else { return Ok(()) };
        let Ok(inside) = target.strip_prefix(&self.workspace) else { return Ok(()) };
        let inside = inside.to_str().ok_or_else(|| refused(&format!("`{path}` leads to a name that is not UTF-8")))?;
        if inside.is_empty() {
            return Err(refused(&format!("`{path}` leads to the workspace itself")));
        }
        let metadata = fs::symlink_metadata(&target).map_err(|error| unreadable(path, &error))?;
        self.note(inside, &metadata, hidden)
    }

    /// Files with further names in a denied directory.
    fn note_linked_beneath(&mut self, directory: &str, hidden: bool) -> Result<(), ToolError> {
        let mut waiting = vec![(directory.to_owned(), 0)];
        while let Some((directory, depth)) = waiting.pop() {
            for (path, metadata) in self.list(&directory, depth)? {
                if metadata.is_dir() {
                    waiting.push((path, depth + 1));
                } else {
                    self.note_linked(&path, &metadata, hidden);
                }
            }
        }
        Ok(())
    }

    fn note_linked(&mut self, path: &str, metadata: &fs::Metadata, hidden: bool) {
        if metadata.is_file() && metadata.nlink() > 1 {
            let files: &mut HashMap<_, _> = if hidden { &mut self.linked.hidden } else { &mut self.linked.read_only };
            files.entry(id_of(metadata)).or_insert_with(|| path.to_owned());
        }
    }

    /// Finds the further names of denied files.
    fn further_names(&mut self) -> Result<(), ToolError> {
        self.entries = 0;
        let mut waiting = vec![(String::new(), 0)];
        while let Some((directory, depth)) = waiting.pop() {
            for (path, metadata) in self.list(&directory, depth)? {
                let id = id_of(&metadata);
                if metadata.is_dir() {
                    if self.read.of(&path) != Denied::Path {
                        waiting.push((path, depth + 1));
                    }
                } else if self.linked.hidden.contains_key(&id) {
                    self.note(&path, &metadata, true)?;
                } else if self.linked.read_only.contains_key(&id) {
                    self.note(&path, &metadata, false)?;
                }
            }
        }
        Ok(())
    }

    /// What is in a directory, by path. A link is an entry of its own.
    fn list(&mut self, directory: &str, depth: usize) -> Result<Vec<(String, fs::Metadata)>, ToolError> {
        if depth > MAX_DEPTH {
            return Err(refused(&format!("the workspace is deeper than {MAX_DEPTH} directories")));
        }
        let mut found = Vec::new();
        for entry in fs::read_dir(self.workspace.join(directory)).map_err(|error| unreadable(directory, &error))? {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(refused(&format!("the workspace has more than {MAX_ENTRIES} entries to look through")));
            }
            let entry = entry.map_err(|error| unreadable(directory, &error))?;
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            let path = if directory.is_empty() { shown.into_owned() } else { format!("{directory}/{shown}") };
            // What is gone again is not there for the tool either.
            let Ok(metadata) = entry.metadata() else { continue };
            if name.to_str().is_none() && (self.read.of(&path), self.write.of(&path)) != (Denied::No, Denied::No) {
                return Err(refused(&format!("`{path}` is not UTF-8")));
            }
            if name.to_str().is_some() {
                found.push((path, metadata));
            }
        }
        Ok(found)
    }
}

fn id_of(metadata: &fs::Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

fn unreadable(what: &str, error: &std::io::Error) -> ToolError {
    refused(&format!("`{what}` cannot be read: {error}"))
}
