use toolplane_records::payload::JsonPayload;

use super::split;

fn cut(text: &str) -> Result<(String, Vec<String>), String> {
    let split = split(JsonPayload::from_checked(text.to_owned()), true).map_err(|error| error.error_code)?;
    Ok((split.0.text().to_owned(), split.1.iter().map(|one| one.text().to_owned()).collect()))
}

#[test]
fn they_are_taken_out_and_nothing_else_changes() {
    let text = r#"{"z": 12345678901234567890.10, "_context_modifiers": [{"a":1}, {"b" : 2}], "é\n": [ 1 ]}"#;
    let wanted = (
        r#"{"z":12345678901234567890.10,"é\n":[ 1 ]}"#.to_owned(),
        vec![r#"{"a":1}"#.to_owned(), r#"{"b" : 2}"#.to_owned()],
    );
    assert_eq!(cut(text), Ok(wanted));
    assert_eq!(cut(r#"{"_context_modifiers":[]}"#), Ok(("{}".to_owned(), Vec::new())));
}

#[test]
fn what_is_no_list_of_modifiers_is_output() {
    for text in [r#"[{"_context_modifiers":[]}]"#, r#"{"_context_modifiers":{"a":1}}"#, r#"{"a":"_context_modifiers"}"#]
    {
        assert_eq!(cut(text), Ok((text.to_owned(), Vec::new())));
    }
    let kept = JsonPayload::from_checked(r#"{"_context_modifiers":[{}]}"#.to_owned());
    assert_eq!(split(kept.clone(), false).unwrap(), (kept, Vec::new()), "a tool that may have none");
}

#[test]
fn bounds_hold() {
    let many = format!(r#"{{"_context_modifiers":[{}]}}"#, vec!["{}"; 65].join(","));
    let large = format!(r#"{{"_context_modifiers":[{{"a":"{}"}}]}}"#, "x".repeat(64 * 1024));
    for text in [many.as_str(), large.as_str(), r#"{"_context_modifiers":[1]}"#] {
        assert_eq!(cut(text), Err("exec.output_invalid".to_owned()));
    }
}
