use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::ErrorClass;

fn fill(template: &[&str], input: &str) -> Result<Vec<String>, ErrorClass> {
    let template: Vec<_> = template.iter().map(|argument| (*argument).to_owned()).collect();
    super::fill(&template, &JsonPayload::from_checked(input.to_owned().into_bytes())).map_err(|error| error.error_class)
}

fn check(template: &[&str], input: &str, expected: &[&str]) {
    assert_eq!(fill(template, input).unwrap(), expected, "{template:?}");
}

#[test]
fn a_field_stays_one_argument() {
    check(&["grep", "{q}", "--"], r#"{"q":"a b; rm -rf / $(id) '\" *"}"#, &["grep", "a b; rm -rf / $(id) '\" *", "--"]);
    check(
        &["x", "{n}", "{b}", "{e}"],
        r#"{"n":18446744073709551615,"b":true,"e":""}"#,
        &["x", "18446744073709551615", "true", ""],
    );
    check(&["x", "{n}"], r#"{"n":123456789012345678901234567890}"#, &["x", "123456789012345678901234567890"]);
}

#[test]
fn everything_else_is_literal() {
    check(&["awk", "{{print}}", "--f={q}", "{}x"], r#"{"q":"1"}"#, &["awk", "{print}", "--f={q}", "{}x"]);
}

#[test]
fn faults_are_told_apart() {
    for template in [&[][..], &["{p}"], &["x", "{a b}"], &["x", "{}"], &["x", "{print $1}"]] {
        assert_eq!(fill(template, r#"{"p":"sh"}"#), Err(ErrorClass::SetupRequired), "{template:?}");
    }
    for input in ["{}", r#"{"q":null}"#, r#"{"q":[1]}"#, r#"{"q":"a\u0000b"}"#, "[]"] {
        assert_eq!(fill(&["x", "{q}"], input), Err(ErrorClass::InvalidArguments), "{input}");
    }
}
