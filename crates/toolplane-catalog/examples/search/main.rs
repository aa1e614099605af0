//! How well and how fast tools are found, and what else grows with a catalogue: `cargo xtask bench ranking` and
//! `cargo xtask bench search`.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement ends where something does not work"
)]

mod growth;
mod made;
mod meaning;
#[cfg(feature = "tantivy")]
mod outside;
mod plain;
mod ranking;
mod speed;
mod taught;

use std::sync::Arc;

use serde_json::{Value, json};
use toolplane_catalog::catalog::CatalogEntry;
use toolplane_catalog::search::{Everything, Position, Question, Recall, Snapshot, Thesaurus, search};
use toolplane_catalog::{CatalogLimits, History, Since, Traits, validate};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["ranking", data, out] => ranking::run(data, out, None),
        ["ranking", data, out, model] => ranking::run(data, out, Some(model)),
        ["speed", out, sizes @ ..] => speed::run(out, sizes),
        _ => panic!("usage: search ranking DATA OUT [MODEL] | search speed OUT TOOLS..."),
    }
}

/// A tool as the catalogue has it.
fn entry(declaration: Value) -> CatalogEntry {
    let registration = serde_json::from_value(json!({ "declaration": declaration })).expect("a registration");
    let tool = validate(&registration, &CatalogLimits::default()).expect("a tool that can be registered");
    let traits = Arc::new(Traits::of(tool.registration()));
    let (history, since) = (Arc::new(History::default()), Since::default());
    CatalogEntry { tool: Arc::new(tool), revision: 1, history, since, traits }
}

/// The ids of the best `limit` tools.
fn ask(index: &Snapshot, thesaurus: &Thesaurus, text: &str, limit: usize, after: Option<&Position>) -> Vec<String> {
    found(index, &Question { text, filters: &[], limit, after, thesaurus, learned: None, meaning: None })
}

/// The same with what use has taught.
fn ask_taught(index: &Snapshot, learned: Recall<'_>, text: &str, limit: usize) -> Vec<String> {
    let thesaurus = &*Thesaurus::starter();
    let learned = Some(learned);
    found(index, &Question { text, filters: &[], limit, after: None, thesaurus, learned, meaning: None })
}

/// The ids of the best tools for a question.
fn found(index: &Snapshot, question: &Question<'_>) -> Vec<String> {
    let answer = search(&Everything::default(), index, question).expect("a question that can be read");
    answer.result.matches.iter().map(ToString::to_string).collect()
}

/// Writes `rows` to a file, in place of those there that `same` says are about the same. Other programs add rows of their own.
fn write(out: &str, rows: Vec<Value>, same: &[&str]) {
    let path = std::path::Path::new(out);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for the figures");
    let before = std::fs::read_to_string(path).ok().and_then(|text| serde_json::from_str::<Vec<Value>>(&text).ok());
    let mut all = before.unwrap_or_default();
    all.retain(|known| !rows.iter().any(|row| same.iter().all(|field| row[field] == known[field])));
    all.extend(rows);
    std::fs::write(path, serde_json::to_string_pretty(&all).expect("JSON")).expect("the figures are written");
}
