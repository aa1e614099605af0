//! Paths that file tools open.

use serde_json::Value;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::visible::excerpt;
use toolplane_records::workspace::{self, PathRefusal};

use super::refusals::{invalid_input, refusal};

/// Most characters of a path that error texts show, and that errors name.
const SHOWN: usize = 200;

/// The built-in tools on files take their path in this field.
const FIELD: &str = "path";

/// Refuses a path that the built-in tool `name` never opens; a name that is none of theirs opens nothing.
pub(super) fn check(name: &str, input: &Value) -> Result<(), Box<ToolError>> {
    let Some(path) = input.get(FIELD).and_then(Value::as_str) else { return Ok(()) };
    match name {
        "files.read_file" | "files.list_dir" | "files.search_text" => readable(path).map(drop),
        "files.write_file" | "files.edit_file" => writable(path).map(drop),
        _ => Ok(()),
    }
}

/// The path relative to the workspace, `.` for the workspace itself; see [`workspace::relative`].
///
/// # Errors
///
/// - [`codes::PATH_OUTSIDE`] when the path leads out of the workspace.
/// - [`codes::INPUT_INVALID`] when the path contains NUL, or has more than [`workspace::MAX_PATH`] bytes or
///   [`workspace::MAX_COMPONENTS`] names.
pub fn readable(path: &str) -> Result<String, Box<ToolError>> {
    workspace::relative(path).map_err(|refused| match refused {
        PathRefusal::Outside => outside(path),
        rule => invalid_input(FIELD, rule.to_string()),
    })
}

/// The same for a file that is to be written: one that no tool writes is refused with the part that is protected.
pub fn writable(path: &str) -> Result<String, Box<ToolError>> {
    let relative = readable(path)?;
    let last = path.rsplit('/').next().unwrap_or_default();
    if relative == "." || matches!(last, "" | "." | "..") {
        return Err(invalid_input(FIELD, "names a directory, not a file"));
    }
    unprotected(&relative)?;
    Ok(relative)
}

/// Checks that tools may write a path that is relative to the workspace.
///
/// Fails with a [`ToolError`] of the code [`codes::PATH_PROTECTED`] when one of the names in the path is closed to all
/// tools, e.g. `.git`.
pub fn unprotected(relative: &str) -> Result<(), Box<ToolError>> {
    workspace::closed_part(relative).map_or(Ok(()), |closed| Err(protected(relative, closed)))
}

/// The error for a path that leads out of the workspace.
pub fn outside(path: &str) -> Box<ToolError> {
    let mut error = refusal(
        codes::PATH_OUTSIDE,
        FIELD,
        PathRefusal::Outside.to_string(),
        format!("`{}` leads out of the workspace", excerpt(path, SHOWN)),
    );
    error.blocked_path = Some(path.chars().take(workspace::MAX_PATH).collect());
    error
}

/// A protected path lies inside the workspace: what is missing is the permission, which no person and no rule can give.
fn protected(path: &str, closed: &str) -> Box<ToolError> {
    let message =
        format!("`{}` decides what other programs do here later, and no tool writes it", excerpt(closed, SHOWN));
    let mut error = refusal(codes::PATH_PROTECTED, FIELD, "leads to what no tool writes".to_owned(), message);
    error.blocked_path = Some(path.to_owned());
    error
}
