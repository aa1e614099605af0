//! Golden JSON of every record. `TOOLPLANE_WRITE_GOLDEN=1 cargo test -p toolplane-records` writes the files anew.

use std::path::PathBuf;

use crate::samples::{Sample, samples};

fn check(name: &str, kind: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.{kind}.json"));
    let actual = format!("{actual}\n");
    if std::env::var_os("TOOLPLANE_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, &actual).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(golden, actual, "{} differs", path.display());
}

#[test]
fn records_match_their_golden_files() {
    for Sample { name, full, minimal, .. } in samples() {
        check(name, "full", &full);
        if let Some(minimal) = minimal {
            check(name, "minimal", &minimal);
        }
    }
}

/// A reader gets back what was written, and is not bothered by fields it does not know.
#[test]
fn records_read_back_and_tolerate_unknown_fields() {
    for Sample { name, full, minimal, reread, .. } in samples() {
        let Some(reread) = reread else { continue };
        for text in [Some(full), minimal].into_iter().flatten() {
            assert_eq!(reread(&text), text, "{name} changed when read back");
            let newer = text.replacen('{', r#"{ "x_newer_field": {"a": [1, null]},"#, 1);
            assert_eq!(reread(&newer), text, "{name} changed with an unknown field");
        }
    }
}

/// No golden file is left over from a record that no longer exists.
#[test]
fn every_golden_file_has_its_sample() {
    let known: Vec<String> = samples()
        .iter()
        .flat_map(|sample| [format!("{}.full.json", sample.name), format!("{}.minimal.json", sample.name)])
        .collect();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&file), "{file} belongs to no sample");
    }
}
