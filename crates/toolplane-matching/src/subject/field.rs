//! Where in an input the subjects are.

use serde_json::Value;

use toolplane_records::payload::REDACTED;

use super::spec::{SubjectKind, SubjectSpec};

/// Most values of one field.
const MAX_VALUES: usize = 1_000;

/// One value of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Text(String),
    /// A list: arguments of a command, or several paths or URLs.
    Words(Vec<String>),
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct FieldValues {
    pub(super) given: Vec<Given>,
    pub(super) complete: bool,
}

impl SubjectKind {
    /// The names that tools usually give to such fields.
    const fn usual_fields(self) -> &'static [&'static str] {
        match self {
            Self::Command => &["command", "cmd", "commands", "script", "command_line", "argv"],
            Self::Path => &[
                "path",
                "file_path",
                "filepath",
                "file",
                "filename",
                "file_name",
                "notebook_path",
                "target_file",
                "source",
                "destination",
                "src",
                "dst",
                "source_path",
                "destination_path",
                "old_path",
                "new_path",
                "from",
                "to",
                "dir",
                "directory",
                "paths",
                "files",
                "file_paths",
            ],
            Self::Url => &["url", "uri", "urls", "endpoint", "href", "link"],
        }
    }
}

/// Finds every value that is a subject. Of the usual fields any may be there; of named ones all must be.
pub(super) fn find(spec: &SubjectSpec, input: &Value) -> FieldValues {
    let mut found = FieldValues { given: Vec::new(), complete: true };
    if !input.is_object() {
        return FieldValues::default();
    }
    if spec.fields.is_empty() {
        spec.kind.usual_fields().iter().filter_map(|name| input.get(name)).for_each(|value| found.take(value));
    } else {
        spec.fields.iter().filter_map(|field| look_up(input, field)).for_each(|value| found.take(value));
    }
    if found.given.is_empty() && found.complete {
        // A file tool without a path works on the whole workspace; without a command or URL nothing is known.
        match spec.kind {
            SubjectKind::Path => found.given.push(Given::Text(".".to_owned())),
            SubjectKind::Command | SubjectKind::Url => found.complete = false,
        }
    }
    found
}

/// The directory a command begins in.
pub(super) enum StartDirectory {
    /// The input names none.
    Workspace,
    /// This one, as given.
    Given(String),
    /// The input names one that cannot be read.
    Unknown,
}

/// The directory in which the command of an input begins.
pub(super) fn start_directory(input: &Value) -> StartDirectory {
    let names = ["cwd", "workdir", "working_directory", "working_dir", "directory"];
    match names.iter().find_map(|name| input.get(name)) {
        None | Some(Value::Null) => StartDirectory::Workspace,
        Some(Value::String(text)) if text == REDACTED => StartDirectory::Unknown,
        Some(Value::String(text)) if text.is_empty() => StartDirectory::Workspace,
        Some(Value::String(text)) => StartDirectory::Given(text.clone()),
        Some(_) => StartDirectory::Unknown,
    }
}

/// Whether the input asks for more than the path itself: a search, or work on a whole directory.
pub(super) fn is_tree(input: &Value) -> bool {
    let asked = |name: &str| input.get(name).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)));
    ["pattern", "glob", "query", "regex", "recursive"].iter().any(|name| asked(name))
        || SubjectKind::Path.usual_fields().iter().all(|name| input.get(name).is_none())
}

fn look_up<'v>(input: &'v Value, field: &str) -> Option<&'v Value> {
    if field.starts_with('/') {
        return input.pointer(field);
    }
    let field = field.strip_prefix("$.").unwrap_or(field);
    let field = field.strip_prefix("input.").unwrap_or(field);
    input.get(field).or_else(|| field.split('.').try_fold(input, |value, name| value.get(name)))
}

impl FieldValues {
    fn take(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::String(text) if text != REDACTED => self.given.push(Given::Text(text.clone())),
            Value::Array(values) if values.len() <= MAX_VALUES && !values.is_empty() => {
                let words: Vec<String> = values.iter().filter_map(readable).collect();
                self.complete &= words.len() == values.len();
                self.given.push(Given::Words(words));
            }
            _ => self.complete = false,
        }
    }
}

fn readable(value: &Value) -> Option<String> {
    value.as_str().filter(|text| *text != REDACTED).map(str::to_owned)
}
