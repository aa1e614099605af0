//! The JSON Schemas of records (`schemas/records`): what is written fits them, and what fits them fits the standard.

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::samples::{Sample, samples};
use crate::table::problems;

fn schema(record: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/records");
    let text = std::fs::read_to_string(format!("{folder}/{record}.schema.json"));
    serde_json::from_str(&text.unwrap_or_else(|error| panic!("{record}: {error}; run `cargo xtask gen`"))).unwrap()
}

fn validator(record: &str) -> Validator {
    jsonschema::validator_for(&schema(record)).unwrap()
}

fn published() -> impl Iterator<Item = (&'static str, Sample)> {
    samples().into_iter().filter_map(|sample| Some((sample.published_as?, sample)))
}

#[test]
fn written_records_fit_their_schemas() {
    for (record, sample) in published() {
        let validator = validator(record);
        for text in [Some(&sample.full), sample.minimal.as_ref()].into_iter().flatten() {
            let written: Value = serde_json::from_str(text).unwrap();
            let wrong: Vec<String> = validator.iter_errors(&written).map(|error| error.to_string()).collect();
            assert!(wrong.is_empty(), "{}: {wrong:#?}", sample.name);
        }
    }
}

/// Every field that is written has a schema that says something of it, beside those that hold any JSON.
#[test]
fn every_written_field_is_described() {
    for (record, sample) in published() {
        let schema = schema(record);
        let written: Value = serde_json::from_str(&sample.full).unwrap();
        for field in written.as_object().unwrap().keys() {
            assert!(schema["properties"][field].is_object(), "{record}.{field} has no schema");
        }
    }
}

/// Whatever is put into any field, and whichever is left out: what our schema takes, the standard takes. And it takes fewer: nearly all of
/// what is put in wrongly is refused.
#[test]
fn what_fits_ours_fits_the_standard() {
    let values = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5),
        json!("word"),
        json!(""),
        json!([]),
        json!(["word"]),
        json!([1]),
        json!([{}]),
        json!({}),
        json!({ "a": 1 }),
    ];
    let (mut loose, mut ours, mut theirs) = (Vec::new(), 0, 0);
    for (record, sample) in published() {
        let validator = validator(record);
        let good: Value = serde_json::from_str(&sample.full).unwrap();
        for field in good.as_object().unwrap().keys() {
            let mut without = good.clone();
            without.as_object_mut().unwrap().remove(field);
            let changed = values.iter().map(|value| {
                let mut changed = good.clone();
                changed[field] = value.clone();
                changed
            });
            for mutated in changed.chain([without]) {
                let (fits, wrong) = (validator.is_valid(&mutated), problems(record, &mutated, false));
                ours += usize::from(fits);
                theirs += usize::from(wrong.is_empty());
                if fits {
                    loose.extend(wrong);
                }
            }
        }
    }
    assert!(loose.is_empty(), "ours takes what the standard does not: {loose:#?}");
    assert!(ours < theirs, "ours takes {ours} mutated records, the standard {theirs}");
}
