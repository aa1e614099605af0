//! Error codes are defined in one place: all other code takes them from there.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::is_test;
use super::sources::shown;
use crate::command::TaskError;

/// The registry.
const REGISTRY: &str = "crates/toolplane-records/src/codes";
/// Words that are codes and, in these files, something else.
const OTHERWISE: [(&str, &str); 1] = [
    // What gRPC itself calls its statuses.
    ("crates/toolplane-runtime/src/code_name.rs", "NOT_FOUND INVALID_ARGUMENT"),
];
/// Where a single word has to be to be a code: it may mean many things.
const MAKERS: [&str; 6] = ["reason", "error_code", "code(", "ToolError", "ApiError", "Code"];

/// No code is typed as a string outside the registry; tests may.
pub(super) fn typed_elsewhere(root: &Path, sources: &[PathBuf]) -> Result<Vec<String>, TaskError> {
    let registry = root.join(REGISTRY);
    let mut codes = Vec::new();
    for file in sources.iter().filter(|file| file.starts_with(&registry)) {
        codes.extend(registered(&fs::read_to_string(file).map_err(TaskError::file(file))?));
    }
    let mut broken = Vec::new();
    let elsewhere = sources.iter().filter(|file| !file.starts_with(&registry) && !is_test(root, file));
    for file in elsewhere {
        let place = shown(root, file);
        if place.starts_with("crates/xtask") || place.contains("/conformance") || place.contains("testkit") {
            continue;
        }
        let text = fs::read_to_string(file).map_err(TaskError::file(file))?;
        let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
        let otherwise = OTHERWISE.iter().find(|(known, _)| *known == place).map_or("", |(_, words)| words);
        for code in codes.iter().filter(|code| !otherwise.split(' ').any(|word| word == code.as_str())) {
            if let Some(line) = typed(text, code) {
                broken.push(format!("{place}:{line}: the code `{code}` is typed here; take it from {REGISTRY}"));
            }
        }
    }
    Ok(broken)
}

/// The codes of a table: the text behind `NAME = `.
fn registered(table: &str) -> Vec<String> {
    let row = |line: &str| {
        let (name, rest) = line.trim().split_once(" = \"")?;
        let (code, _) = rest.split_once("\", ")?;
        let constant = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        (constant && !name.is_empty() && !code.ends_with('*')).then(|| code.to_owned())
    };
    table.lines().filter_map(row).collect()
}

/// The first line on which the code is typed.
fn typed(text: &str, code: &str) -> Option<usize> {
    let quoted = format!("\"{code}\"");
    let means_much = !code.contains(['.', '_']);
    let found =
        |line: &&str| line.contains(&quoted) && (!means_much || MAKERS.iter().any(|maker| line.contains(maker)));
    let (at, _) = text.lines().enumerate().find(|(_, line)| found(line))?;
    Some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_where_it_is_typed() {
        let table = "    LATE = \"exec.timeout\", Call(Timeout, RetrySafe),\n    FAMILY = \"a.*\", Fault,\n    RATE = \"RATE\", Fault,";
        assert_eq!(registered(table), ["exec.timeout", "RATE"]);
        assert_eq!(typed("let a = 1;\nnew(\"exec.timeout\")", "exec.timeout"), Some(2));
        assert_eq!(typed("new(codes::LATE) // exec.timeout", "exec.timeout"), None);
        assert_eq!(typed("let unit = \"RATE\";", "RATE"), None);
        assert_eq!(typed("reason: \"RATE\",", "RATE"), Some(1));
    }
}
