//! `files.write_file`: a whole file at once.

use serde::{Deserialize, Serialize};
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::result::ContentBlock;

use super::change::diff;
use super::place::relative;
use super::replace::replace;
use super::site::{FileTool, Site};
use super::target::FileTarget;
use crate::failure::{excerpt, execution_failed, invalid_input, nothing_done};
use crate::outcome::Outcome;

/// Largest file that is written.
pub(super) const MAX_BYTES: usize = 4 * 1024 * 1024;

/// What the tool takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteInput {
    /// The file, relative to the workspace.
    path: String,
    /// All of it.
    content: String,
    /// A file that is there may be replaced.
    #[serde(default)]
    overwrite: bool,
    /// Missing directories are made.
    #[serde(default)]
    create_parents: bool,
}

#[derive(Debug, Serialize)]
struct WriteReport {
    path: String,
    /// There was no such file before.
    created: bool,
    /// Something was written; a file that holds these bytes already is left alone.
    changed: bool,
    size_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_size_bytes: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Write;

impl FileTool for Write {
    type Input = WriteInput;

    fn run(site: &Site, input: WriteInput) -> Result<Outcome, ToolError> {
        let content = input.content.as_bytes();
        if content.len() > MAX_BYTES {
            return Err(invalid_input("content", format!("is longer than {MAX_BYTES} bytes")));
        }
        let target = FileTarget::find(&site.dir, &input.path, input.create_parents)?;
        let mut before = target.existing(site, &input.path)?;
        let old = match &mut before {
            Some(existing) => existing.read(MAX_BYTES as u64, &input.path)?,
            None => None,
        };
        let mut report = WriteReport {
            path: relative(&input.path)?,
            created: before.is_none(),
            changed: true,
            size_bytes: content.len() as u64,
            previous_size_bytes: before.as_ref().map(|existing| existing.size),
        };
        if old.as_deref() == Some(content) {
            // A second attempt after a crash finds the work of the first: that is no conflict.
            report.changed = false;
            return Ok(Outcome::text(format!("`{}` holds this already", excerpt(&report.path))).structured(&report));
        }
        if before.is_some() && !input.overwrite {
            return Err(exists(&input.path));
        }
        replace(site, &target, before.as_ref(), content, &input.path)?;
        // Without the bytes before, all of the file would look new.
        let comparable = report.created || old.is_some();
        let shown = if comparable { diff(&report.path, old.as_deref(), content) } else { None };
        let verb = if report.created { "created" } else { "replaced" };
        let text = format!("{verb} `{}` ({} bytes)", excerpt(&report.path), report.size_bytes);
        Ok(told(text, shown).structured(&report))
    }
}

/// An outcome of a sentence and a diff.
pub(super) fn told(text: String, diff: Option<ContentBlock>) -> Outcome {
    let shown = diff.as_ref().and_then(ContentBlock::text).map_or(0, str::len);
    let output_bytes = (text.len() + shown) as u64;
    let blocks = std::iter::once(ContentBlock::Text { text }).chain(diff).collect();
    Outcome { output_bytes, ..Outcome::blocks(blocks) }
}

fn exists(given: &str) -> ToolError {
    let shown = excerpt(given);
    let message = format!("`{shown}` is there already: edit it, or say `overwrite` to replace all of it");
    nothing_done(execution_failed(codes::PATH_EXISTS, message))
}
