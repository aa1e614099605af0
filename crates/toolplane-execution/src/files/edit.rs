//! `files.edit_file`: one piece of a text file for another.

use serde::{Deserialize, Serialize};
use toolplane_records::codes;
use toolplane_records::error::ToolError;

use super::change::diff;
use super::place::relative;
use super::replace::replace;
use super::site::{FileTool, Site};
use super::target::FileTarget;
use super::write::{MAX_BYTES, told};
use crate::failure::{excerpt, execution_failed, invalid_input, nothing_done};
use crate::outcome::Outcome;

/// What the tool takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EditInput {
    /// The file, relative to the workspace.
    path: String,
    /// The text to be replaced, byte for byte; in the file exactly once unless `replace_all`.
    old_string: String,
    /// What takes its place; may be empty.
    new_string: String,
    /// Every occurrence is replaced.
    #[serde(default)]
    replace_all: bool,
}

#[derive(Debug, Serialize)]
struct EditReport {
    path: String,
    replacements: usize,
    /// Line of the first replacement, from 1.
    line: usize,
    size_bytes: u64,
    previous_size_bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Edit;

impl FileTool for Edit {
    type Input = EditInput;

    fn run(site: &Site, input: EditInput) -> Result<Outcome, ToolError> {
        if input.old_string.is_empty() {
            return Err(invalid_input("old_string", "must not be empty; a new file is made with `files.write_file`"));
        }
        if input.old_string == input.new_string {
            return Err(invalid_input("new_string", "is the same as `old_string`"));
        }
        let target = FileTarget::find(&site.dir, &input.path, false)?;
        let Some(mut before) = target.existing(site, &input.path)? else { return Err(missing(&input.path)) };
        let Some(bytes) = before.read(MAX_BYTES as u64, &input.path)? else { return Err(too_long(before.size)) };
        let text = String::from_utf8(bytes).map_err(|_| not_text())?;
        let found = text.matches(&input.old_string).count();
        let first = match (text.find(&input.old_string), found) {
            (None, _) => return Err(not_found(&text, &input)),
            (Some(_), 2..) if !input.replace_all => return Err(not_unique(found)),
            (Some(first), _) => first,
        };
        let length = text.len() - found * input.old_string.len() + found * input.new_string.len();
        if length > MAX_BYTES {
            return Err(too_long(length as u64));
        }
        let after = text.replace(&input.old_string, &input.new_string);
        replace(site, &target, Some(&before), after.as_bytes(), &input.path)?;
        let report = EditReport {
            path: relative(&input.path)?,
            replacements: found,
            line: text.as_bytes().iter().take(first).filter(|byte| **byte == b'\n').count() + 1,
            size_bytes: after.len() as u64,
            previous_size_bytes: text.len() as u64,
        };
        let shown = diff(&report.path, Some(text.as_bytes()), after.as_bytes());
        let times = if found == 1 { "once".to_owned() } else { format!("{found} times") };
        let told = told(format!("changed `{}` {times}, from line {}", excerpt(&report.path), report.line), shown);
        Ok(told.structured(&report))
    }
}

fn missing(given: &str) -> ToolError {
    let message = format!("there is no `{}` in the workspace", excerpt(given));
    nothing_done(execution_failed(codes::PATH_NOT_FOUND, message))
}

fn too_long(size: u64) -> ToolError {
    let message = format!("a file of {size} bytes is too long to be edited: at most {MAX_BYTES} are");
    nothing_done(execution_failed(codes::PATH_UNWRITABLE, message))
}

fn not_text() -> ToolError {
    nothing_done(execution_failed(codes::PATH_UNWRITABLE, "the file is not UTF-8 text"))
}

fn not_found(text: &str, input: &EditInput) -> ToolError {
    // The commonest reason is not visible in what a reader was shown.
    let lines = text.contains("\r\n") && text.replace("\r\n", "\n").contains(&input.old_string);
    let hint = if lines { "; lines of this file end with CR LF" } else { "" };
    nothing_done(execution_failed(codes::EDIT_NOT_FOUND, format!("`old_string` is not in the file{hint}")))
}

fn not_unique(found: usize) -> ToolError {
    let message =
        format!("`old_string` is in the file {found} times: give more of its surroundings, or say `replace_all`");
    nothing_done(execution_failed(codes::EDIT_NOT_UNIQUE, message))
}
