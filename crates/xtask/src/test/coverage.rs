//! The table of what real calls of the tests have shown of the standard: each word with a test that saw it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::command::{self, TaskError};

/// A test by each word it was the first to show, by set.
type Seen = BTreeMap<(String, String), String>;

/// Forgets what earlier runs have seen.
pub(super) fn forget() {
    // What is not there need not be forgotten.
    let _ = std::fs::remove_dir_all(parts());
}

/// Writes `target/coverage/standard.json` and prints a line for each set. An error names every word that no test has shown.
pub(super) fn tell() -> Result<(), TaskError> {
    let vocabulary = command::root().join("schemas/vocabulary.json");
    let table = table(&read(&vocabulary)?, &seen(&parts())?);
    let mut text = serde_json::to_string_pretty(&table.sets).unwrap_or_default();
    text.push('\n');
    let path = parts().with_file_name("standard.json");
    std::fs::write(&path, text).map_err(|source| TaskError::File { path, source })?;
    println!("\nshown of the standard by real calls (target/coverage/standard.json):");
    table.lines.iter().for_each(|line| println!("  {line}"));
    match table.unseen.as_slice() {
        [] => Ok(()),
        unseen => Err(TaskError::Answer(format!("no test shows {}", unseen.join(", ")))),
    }
}

/// The table, how it is printed, and what is missing.
#[derive(Debug, Default)]
struct Table {
    sets: Map<String, Value>,
    lines: Vec<String>,
    unseen: Vec<String>,
}

fn table(vocabulary: &Value, seen: &Seen) -> Table {
    let mut table = Table::default();
    for (set, words) in vocabulary.as_object().into_iter().flatten() {
        let words: Vec<&str> = words.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let test = |word: &str| seen.get(&(set.clone(), word.to_owned())).cloned();
        let shown = words.iter().filter(|word| test(word).is_some()).count();
        table.lines.push(format!("{set}: {shown} of {}", words.len()));
        table.unseen.extend(words.iter().filter(|word| test(word).is_none()).map(|word| format!("`{set}: {word}`")));
        let rows = words.iter().map(|word| ((*word).to_owned(), test(word).map_or(Value::Null, Value::String)));
        table.sets.insert(set.clone(), Value::Object(rows.collect()));
    }
    table
}

fn parts() -> PathBuf {
    command::target().join("coverage/parts")
}

fn read(path: &Path) -> Result<Value, TaskError> {
    let text = std::fs::read(path).map_err(|source| TaskError::File { path: path.to_owned(), source })?;
    serde_json::from_slice(&text).map_err(|error| TaskError::Answer(format!("{}: {error}", path.display())))
}

/// Lines of `<set> <word> <test>`, from every test's own file, in the order of their names.
fn seen(parts: &Path) -> Result<Seen, TaskError> {
    let mut seen = Seen::new();
    let Ok(files) = std::fs::read_dir(parts) else { return Ok(seen) };
    let mut files: Vec<PathBuf> = files.filter_map(Result::ok).map(|file| file.path()).collect();
    files.sort();
    for path in files {
        let text = std::fs::read_to_string(&path).map_err(|source| TaskError::File { path, source })?;
        for line in text.lines() {
            let mut words = line.splitn(3, ' ');
            if let (Some(set), Some(word), Some(test)) = (words.next(), words.next(), words.next()) {
                seen.entry((set.to_owned(), word.to_owned())).or_insert_with(|| test.to_owned());
            }
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_nobody_saw_is_named_and_the_others_name_their_test() {
        let parts = tempfile::tempdir().unwrap();
        std::fs::write(parts.path().join("b"), "states running b::second\nstates odd b::second\n").unwrap();
        std::fs::write(parts.path().join("a"), "states running a::first\n").unwrap();
        let vocabulary = serde_json::json!({ "states": ["queued", "running"] });
        let table = table(&vocabulary, &seen(parts.path()).unwrap());
        assert_eq!(
            Value::Object(table.sets),
            serde_json::json!({ "states": { "queued": null, "running": "a::first" } })
        );
        assert_eq!(
            (table.lines, table.unseen),
            (vec!["states: 1 of 2".to_owned()], vec!["`states: queued`".to_owned()])
        );
    }
}
