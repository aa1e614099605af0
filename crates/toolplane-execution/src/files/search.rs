//! `files.search_text`: lines that match a pattern, in the files beneath a directory or in one file.

use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Read as _};

use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::FileType;
use serde::{Deserialize, Serialize};
use toolplane_matching::glob::PathGlob;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};

use super::dir::Dir;
use super::place::{Opened, open_either, relative};
use super::site::{FileTool, Site, Stop};
use crate::denied::{Access, Guard};
use crate::failure::{excerpt, invalid_input};
use crate::outcome::Outcome;

const DEFAULT_MATCHES: usize = 200;
const MAX_MATCHES: usize = 5000;
const MAX_PATTERN_BYTES: usize = 4096;
/// How much of one search is looked at.
#[derive(Clone, Copy, Debug)]
struct SearchBounds {
    entries: usize,
    bytes: u64,
}
const BOUNDS: SearchBounds = SearchBounds { entries: 100_000, bytes: 256 * 1024 * 1024 };
/// Depth of directories, bytes of one file, bytes shown of one line.
const MAX_DEPTH: usize = 64;
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;
const MAX_LINE_BYTES: usize = 500;
/// Memory a compiled pattern may take.
const MAX_PATTERN_SIZE: usize = 4 * 1024 * 1024;

/// What the tool takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchInput {
    /// A regular expression, matched against each line; without look-around and back-references.
    pattern: String,
    /// The directory or file to look in, relative to the workspace; the workspace itself when absent.
    #[serde(default)]
    path: String,
    /// Only files whose path beneath the directory matches, e.g. `**/*.rs`. A pattern without `/` matches file names.
    glob: Option<String>,
    /// Most matching lines; 200 when absent.
    max_matches: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Match {
    path: String,
    line: u64,
    text: String,
}

#[derive(Debug, Default, Serialize)]
struct SearchReport {
    matches: Vec<Match>,
    files_searched: usize,
    files_skipped: usize,
    /// There may be more: the bound that was reached, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_at: Option<&'static str>,
}

#[derive(Debug)]
pub(crate) struct Search;

impl FileTool for Search {
    type Input = SearchInput;

    fn run(site: &Site, input: SearchInput) -> Result<Outcome, ToolError> {
        search(&site.dir, input, &site.stop, &site.guard, BOUNDS)
    }
}

fn search(
    workspace: &Dir,
    input: SearchInput,
    stop: &Stop,
    guard: &Guard,
    bounds: SearchBounds,
) -> Result<Outcome, ToolError> {
    let most = input.max_matches.unwrap_or(DEFAULT_MATCHES);
    if most == 0 || most > MAX_MATCHES {
        return Err(invalid_input("max_matches", format!("must be from 1 to {MAX_MATCHES}")));
    }
    let pattern = compile(&input.pattern)?;
    let glob = input.glob.as_deref().map(compile_glob).transpose()?;
    let start = relative(&input.path)?;
    let found = open_either(workspace, &start, &input.path)?;
    let mut walk =
        SearchWalk { pattern, glob, most, bounds, stop, guard, entries: 0, bytes: 0, report: SearchReport::default() };
    match found {
        Opened::Dir(root) => walk.run(root)?,
        Opened::File(file) => {
            let name = start.rsplit('/').next().unwrap_or(&start);
            if walk.wants(name) {
                walk.search(file, name)?;
            }
        }
    }
    Ok(outcome(walk.report))
}

fn compile(pattern: &str) -> Result<Regex, ToolError> {
    if pattern.is_empty() || pattern.len() > MAX_PATTERN_BYTES {
        return Err(invalid_input("pattern", format!("must have from 1 to {MAX_PATTERN_BYTES} bytes")));
    }
    RegexBuilder::new(pattern).size_limit(MAX_PATTERN_SIZE).build().map_err(|error| {
        let text = error.to_string();
        let rule = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        invalid_input("pattern", format!("is not a regular expression this tool takes: {}", excerpt(rule)))
    })
}

fn compile_glob(glob: &str) -> Result<PathGlob, ToolError> {
    if glob.len() > MAX_PATTERN_BYTES {
        return Err(invalid_input("glob", format!("is longer than {MAX_PATTERN_BYTES} bytes")));
    }
    PathGlob::parse(glob).map_err(|fault| invalid_input("glob", fault.to_string()))
}

fn outcome(report: SearchReport) -> Outcome {
    let lines = report.matches.iter().map(|found| format!("{}:{}:{}\n", found.path, found.line, found.text));
    let outcome = Outcome::text(lines.collect()).structured(&report);
    match report.stopped_at {
        // Enough matches is an answer; giving up looking is only part of one, or none when nothing was found by then.
        None | Some("max_matches") => outcome,
        Some(bound) => {
            let class = if report.matches.is_empty() { ErrorClass::ResultTooLarge } else { ErrorClass::PartialFailure };
            let message = format!("the search ended at its bound of {bound}; narrow it with `path` or `glob`");
            outcome.failed(ToolError::new(codes::OUTPUT_LIMIT, class, Recoverability::ChangeArguments, message))
        }
    }
}

struct SearchWalk<'a> {
    pattern: Regex,
    glob: Option<PathGlob>,
    most: usize,
    bounds: SearchBounds,
    stop: &'a Stop,
    guard: &'a Guard,
    entries: usize,
    bytes: u64,
    report: SearchReport,
}

impl SearchWalk<'_> {
    /// Breadth first, in the order of names, never through a symbolic link, never into `.git`.
    fn run(&mut self, root: Dir) -> Result<(), ToolError> {
        let mut waiting = VecDeque::from([(root, String::new(), 0)]);
        while let Some((dir, path, depth)) = waiting.pop_front() {
            let Ok(entries) = dir.entries() else { continue };
            let mut entries: Vec<_> = entries.take(self.bounds.entries + 1).collect();
            entries.sort_by(|one, other| one.name.cmp(&other.name));
            for entry in entries {
                self.entries += 1;
                if self.over() {
                    return Ok(());
                }
                let child = format!("{path}{}", entry.name.to_string_lossy());
                let is_dir = entry.kind == FileType::Directory;
                if is_dir && entry.name != ".git" && depth < MAX_DEPTH {
                    if let Ok(below) = dir.dir(&entry.name) {
                        waiting.push_back((below, format!("{child}/"), depth + 1));
                    }
                } else if entry.kind == FileType::RegularFile && self.wants(&child) {
                    match dir.file(&entry.name) {
                        Ok(file) => self.search(file, &child)?,
                        Err(_) => self.report.files_skipped += 1,
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the file at this path beneath the start is one of those asked for.
    fn wants(&self, path: &str) -> bool {
        self.glob.as_ref().is_none_or(|glob| glob.is_match(path))
    }

    /// Whether a bound was reached; notes which.
    fn over(&mut self) -> bool {
        let bound = if self.report.matches.len() >= self.most {
            "max_matches"
        } else if self.entries > self.bounds.entries {
            "entries"
        } else if self.bytes > self.bounds.bytes {
            "bytes"
        } else if self.stop.wanted() {
            "time"
        } else {
            return false;
        };
        self.report.stopped_at = Some(bound);
        true
    }

    /// Returns an error when it cannot be told whether the file has a denied name too; one that has is skipped.
    fn search(&mut self, file: File, path: &str) -> Result<(), ToolError> {
        let searched = |metadata: Metadata| metadata.is_file() && metadata.len() <= MAX_FILE_BYTES;
        if !file.metadata().is_ok_and(searched) {
            self.report.files_skipped += 1;
            return Ok(());
        }
        if self.guard.denied_name(&file, Access::Read)?.is_some() {
            self.report.files_skipped += 1;
            return Ok(());
        }
        // The file may grow while it is read.
        let mut source = BufReader::with_capacity(64 * 1024, file.take(MAX_FILE_BYTES));
        if source.fill_buf().is_ok_and(|beginning| beginning.contains(&0)) {
            self.report.files_skipped += 1;
            return Ok(());
        }
        self.report.files_searched += 1;
        let mut line = Vec::new();
        let mut number = 0;
        while source.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            number += 1;
            self.bytes += line.len() as u64;
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if self.pattern.is_match(text) {
                let shown = String::from_utf8_lossy(&text[..text.len().min(MAX_LINE_BYTES)]).into_owned();
                self.report.matches.push(Match { path: path.to_owned(), line: number, text: shown });
            }
            if self.over() {
                return Ok(());
            }
            line.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
