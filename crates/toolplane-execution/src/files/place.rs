//! Paths given by callers, and files opened by them.

use std::io;

use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt as _};
use toolplane_records::error::ToolError;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};

use crate::failure::{codes, excerpt, execution_failed, invalid_input, nothing_done};

/// Where sandboxed tools see the workspace; file tools take the same name for it.
const WORKSPACE: &str = "/workspace";
const MAX_PATH_BYTES: usize = 4096;
const MAX_COMPONENTS: usize = 128;

/// The path relative to the workspace, without `.`, `..` and empty components; `.` for the workspace itself.
///
/// Refuses NUL, more than 4096 bytes or 128 components, and paths that lead out of the workspace whatever is there. Paths
/// are taken literally: no `~`, no `%2e`. `..` takes away the component before it even where that is a link, because this is
/// how permission rules read the path: what was decided is what is opened.
pub(super) fn relative(path: &str) -> Result<String, ToolError> {
    if path.contains('\0') {
        return Err(invalid_input("path", "must not contain NUL"));
    }
    if path.len() > MAX_PATH_BYTES || path.split('/').count() > MAX_COMPONENTS {
        let rule = format!("is longer than {MAX_PATH_BYTES} bytes or {MAX_COMPONENTS} components");
        return Err(invalid_input("path", rule));
    }
    let inside = match path.strip_prefix(WORKSPACE) {
        Some("") => "",
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/'),
        _ if path.starts_with('/') => return Err(outside(path)),
        _ => path,
    };
    let mut kept: Vec<&str> = Vec::new();
    for component in inside.split('/') {
        match component {
            "" | "." => {}
            ".." => drop(kept.pop().ok_or_else(|| outside(path))?),
            _ => kept.push(component),
        }
    }
    Ok(if kept.is_empty() { ".".to_owned() } else { kept.join("/") })
}

/// A regular file, opened for reading without ever waiting for one.
pub(super) fn open_file(dir: &Dir, relative: &str, given: &str) -> Result<(File, u64), ToolError> {
    let mut options = OpenOptions::new();
    // Opening a FIFO without this waits for a writer.
    options.read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    let file = dir.open_with(relative, &options).map_err(|error| refused(given, &error))?;
    let metadata = file.metadata().map_err(|error| refused(given, &error))?;
    if metadata.is_dir() {
        return Err(invalid_input("path", "is a directory, not a file"));
    }
    if !metadata.is_file() {
        return Err(invalid_input("path", "is not a regular file"));
    }
    Ok((file, metadata.len()))
}

/// The error for a path the operating system refused.
pub(super) fn refused(path: &str, error: &io::Error) -> ToolError {
    let shown = excerpt(path);
    match error.kind() {
        // An attempt to leave the directory is refused before the system is asked, so it has no system error number.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => outside(path),
        io::ErrorKind::NotFound => {
            execution_failed(codes::PATH_NOT_FOUND, format!("there is no `{shown}` in the workspace"))
        }
        io::ErrorKind::NotADirectory => invalid_input("path", "goes through a file as if it were a directory"),
        io::ErrorKind::InvalidFilename => invalid_input("path", "has a name that is too long"),
        _ => match error.raw_os_error() {
            // A socket, or a device without a driver behind it.
            Some(6) => invalid_input("path", "is not a regular file"),
            _ => execution_failed(codes::PATH_UNREADABLE, format!("`{shown}` cannot be read: {error}")),
        },
    }
}

/// The error for a path that leads out of the workspace.
pub(super) fn outside(path: &str) -> ToolError {
    let shown = excerpt(path);
    nothing_done(ToolError {
        blocked_path: Some(shown.clone()),
        ..ToolError::new(
            codes::PATH_OUTSIDE,
            ErrorClass::SandboxViolation,
            Recoverability::ChangeArgumentsOrPolicy,
            format!("`{shown}` leads out of the workspace"),
        )
    })
}
