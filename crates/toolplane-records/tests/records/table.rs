//! Every record that leaves as JSON fits the field types the standard publishes (`tests/data/record-types.tsv`).

use serde_json::Value;

use crate::samples::samples;

struct Row {
    record: &'static str,
    field: &'static str,
    kind: &'static str,
    required: bool,
}

fn rows() -> Vec<Row> {
    let table = include_str!("../data/record-types.tsv");
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [record, field, kind, required] = cells[..] else { panic!("not a row: {line}") };
        Row { record, field, kind, required: required == "yes" }
    };
    table.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

/// Whether `value` is of the type `kind` as the table writes it.
fn fits(value: &Value, kind: &str) -> bool {
    match kind {
        "any" => true,
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "object" => value.is_object(),
        "boolean or string" => value.is_boolean() || value.is_string(),
        _ => match (kind.strip_suffix("[]"), kind.strip_prefix("one of ")) {
            (Some(item), _) => value.as_array().is_some_and(|items| items.iter().all(|value| fits(value, item))),
            (_, Some(words)) => value.as_str().is_some_and(|word| words.split(", ").any(|one| one == word)),
            _ => panic!("the table has a type this test does not know: {kind}"),
        },
    }
}

pub(crate) fn problems(record: &str, json: &Value, complete: bool) -> Vec<String> {
    let mut found = Vec::new();
    for row in rows().into_iter().filter(|row| row.record == record) {
        match json.get(row.field) {
            None if row.required || complete => found.push(format!("{record}.{} is missing", row.field)),
            None => {}
            Some(value) if !fits(value, row.kind) => {
                found.push(format!("{record}.{} is not {}: {value}", row.field, row.kind));
            }
            Some(_) => {}
        }
    }
    found
}

#[test]
fn records_fit_the_published_types() {
    let mut found = Vec::new();
    for sample in samples() {
        let Some(record) = sample.published_as else { continue };
        found.extend(problems(record, &serde_json::from_str(&sample.full).unwrap(), true));
        if let Some(minimal) = sample.minimal {
            found.extend(problems(record, &serde_json::from_str(&minimal).unwrap(), false));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_published_record_has_a_sample() {
    let samples = samples();
    let missing: Vec<&str> = rows()
        .into_iter()
        .map(|row| row.record)
        .filter(|record| !samples.iter().any(|sample| sample.published_as == Some(*record)))
        .collect();
    assert!(missing.is_empty(), "no sample of {missing:?}");
}

/// The check itself finds a wrong type, a wrong word, a missing required field and an incomplete record.
#[test]
fn the_check_can_fail() {
    let sample = samples().into_iter().find(|sample| sample.published_as == Some("progress")).unwrap();
    let good: Value = serde_json::from_str(&sample.full).unwrap();
    assert!(problems("progress", &good, true).is_empty());
    let change = |field: &str, value: Value| {
        let mut changed = good.clone();
        changed[field] = value;
        problems("progress", &changed, true).len()
    };
    assert_eq!(change("sequence", "1".into()), 1);
    assert_eq!(change("percent", "half".into()), 1);
    assert_eq!(change("artifact_refs", serde_json::json!(["a"])), 1);
    assert_eq!(problems("progress", &serde_json::json!({}), false).len(), 6);
    assert!(!fits(&"sometimes".into(), "one of low, high"));
}
