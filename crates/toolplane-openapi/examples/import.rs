//! Imports documents and prints what became of them: `cargo run -p toolplane-openapi --example import -- FILE...`.
//!
//! For each document one line with the operations found, imported and refused, the schemas of answers that were left out, and
//! the time; with `-v` every refusal, with `-vv` every note, with `-vvv` every tool. With `-vc` each tool is held to the rules of
//! the catalogue. Afterwards the most memory the process had, in MiB.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::Instant;

use serde_json::json;
use toolplane_catalog::{CatalogLimits, Registration, validate};
use toolplane_openapi::{Document, DocumentLimits, Import, ImportOptions, Selection};
use toolplane_records::payload::JsonPayload;
use url::Url;

fn main() -> ExitCode {
    let (flags, files): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|word| word.starts_with("-v"));
    let check = flags.iter().any(|flag| flag == "-vc");
    let verbose = flags.iter().map(|flag| flag.matches('v').count()).max().unwrap_or(0);
    let mut failed = false;
    for file in &files {
        let started = Instant::now();
        let bytes = match std::fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                println!("{file}: {error}");
                failed = true;
                continue;
            }
        };
        match Document::read(&bytes, &DocumentLimits::default()) {
            Err(error) => {
                println!("{file}: refused: {error}");
                failed = true;
            }
            Ok(document) => {
                let read = started.elapsed();
                let options = ImportOptions {
                    document_url: Url::parse("https://documents.test/").ok(),
                    ..ImportOptions::default()
                };
                match document.operations(&Selection::default(), &options) {
                    Err(error) => println!("{file}: {error}"),
                    Ok(import) => {
                        let (read, all) = (read.as_secs_f64(), started.elapsed().as_secs_f64());
                        println!(
                            "{file}: {:?}, {} found, {}, read {read:.2} s, all {all:.2} s",
                            document.version(),
                            document.operation_count(),
                            counts(&import)
                        );
                        details(&import, verbose);
                        if check {
                            registered(&import);
                        }
                    }
                }
            }
        }
    }
    if let Some(peak) = peak_mib() {
        println!("most memory: {peak} MiB");
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn counts(import: &Import) -> String {
    let noted =
        |word: &str| import.operations.iter().filter(|one| one.notes.iter().any(|note| note.contains(word))).count();
    format!(
        "{} imported, {} refused, {} excluded; {} with an answer schema ({} cut), {} lost one, {} inputs cut, {} widened",
        import.operations.len(),
        import.refused.len(),
        import.excluded,
        import.operations.iter().filter(|one| one.output_schema.is_some()).count(),
        noted("only its outer parts are checked"),
        noted("schema of the answer is left out"),
        noted("larger than the catalogue takes: parts"),
        noted("cannot be checked"),
    )
}

fn details(import: &Import, verbose: usize) {
    if verbose >= 1 {
        for refusal in &import.refused {
            println!("    {refusal}");
        }
    }
    if verbose >= 2 {
        let mut notes: BTreeMap<&str, usize> = BTreeMap::new();
        for note in import.operations.iter().flat_map(|one| &one.notes) {
            *notes.entry(note).or_default() += 1;
        }
        for (note, count) in notes {
            println!("    {count} x {note}");
        }
    }
    if verbose >= 3 {
        for one in &import.operations {
            println!(
                "--- {} ({})\n{}\n{}\n{:?}",
                one.name,
                one.native_id,
                one.description,
                one.input_schema.text(),
                one.facts
            );
        }
    }
}

/// Holds each tool to the rules of the catalogue, and prints how many it takes.
fn registered(import: &Import) {
    let (mut taken, mut names) = (0, BTreeSet::new());
    for one in &import.operations {
        let declaration = json!({
            "tool_id": format!("openapi:api/{}", one.id_part()), "namespace": "github", "name": one.name,
            "title": one.title, "description": one.description, "search_hint": one.search_hint,
            "lifecycle": "available", "tool_kind": one.kind,
            "input_contract": { "model_input_schema": one.input_schema.to_value() },
            "output_contract": { "structured_schema": one.output_schema.as_ref().map(JsonPayload::to_value) }
        });
        let registration: Result<Registration, _> = serde_json::from_value(json!({ "declaration": declaration }));
        match registration.map(|registration| validate(&registration, &CatalogLimits::default())) {
            Ok(Ok(checked)) if checked.registration().alias().len() <= 64 => {
                taken += 1;
                names.insert(checked.registration().alias());
            }
            other => println!("    {}: {other:?}", one.native_id),
        }
    }
    println!("    the catalogue takes {taken} of {}, under {} names", import.operations.len(), names.len());
}

/// The most memory the process had so far.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}
