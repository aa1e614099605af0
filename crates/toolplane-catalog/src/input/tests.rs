//! Inputs: exact numbers, internal and sensitive fields, bounded cost, violations a model can act on.

use serde_json::{Value, json};

use super::numbers::inexact_numbers;
use super::*;
use crate::fixtures::{payload, registration, shell_json, tool, tool_json};
use crate::limits::CatalogLimits;

fn validator(schema: &Value, extra: Value) -> InputValidator {
    let mut value = tool_json("test", "input");
    value["declaration"]["input_contract"] = extra;
    value["declaration"]["input_contract"]["model_input_schema"] = schema.clone();
    InputValidator::for_registration(&registration(&value), &CatalogLimits::default()).unwrap()
}

/// The violations as `field: rule` lines.
fn violations(validator: &InputValidator, input: &str) -> Vec<String> {
    match validator.validate(&payload(input)) {
        Ok(()) => Vec::new(),
        Err(found) => {
            found.into_iter().map(|violation| format!("{}: {}", violation.field, violation.description)).collect()
        }
    }
}

fn check(schema: Value, input: &str, expected: &[&str]) {
    assert_eq!(violations(&validator(&schema, json!({})), input), expected, "{schema} {input}");
}

fn object(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

#[test]
fn violations_say_where_and_which_rule() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            "mode": { "enum": ["fast", "slow"] },
            "lines": { "type": "array", "items": { "type": "integer", "maximum": 10 } },
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    check(schema.clone(), r#"{"path":"a","mode":"fast","lines":[1,2]}"#, &[]);
    check(schema.clone(), "{}", &["/path: is required"]);
    check(schema.clone(), r#"{"path":5}"#, &["/path: must be of type `string`; is 5"]);
    check(schema.clone(), r#"{"path":"a","mode":"x"}"#, &[r#"/mode: must be one of "fast", "slow"; is "x""#]);
    check(schema.clone(), r#"{"path":"a","lines":[1,11]}"#, &["/lines/1: must be at most 10; is 11"]);
    check(
        schema.clone(),
        r#"{"path":"a","pa/th":1}"#,
        &["/pa~1th: is not a field of this tool; its fields are `path`, `mode`, `lines`"],
    );
    check(schema.clone(), r#"[]"#, &[": must be of type `object`"]);
    check(schema.clone(), r#"{"path":"a","path":"b"}"#, &[": has the key `path` twice in one object"]);
    check(schema, r#"{"path""#, &[": is not valid JSON: EOF while parsing an object at line 1 column 7"]);
}

#[test]
fn integers_of_any_size_are_judged_exactly_or_refused() {
    let not_held = "is a number that cannot be held exactly; give it as a string or with fewer digits";
    let integer = object(json!({ "i": { "type": "integer" } }));
    for held in ["0", "-1", "9007199254740993", "18446744073709551615", "-9223372036854775808", "1e3", "1.0", "-0"] {
        check(integer.clone(), &format!(r#"{{"i":{held}}}"#), &[]);
    }
    for draft in ["http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        let mut old = integer.clone();
        old["$schema"] = json!(draft);
        for large in ["18446744073709551616", "-9223372036854775809", &"9".repeat(300)] {
            check(old.clone(), &format!(r#"{{"i":{large}}}"#), &[]);
        }
    }
    let text = object(json!({ "i": { "type": "string" } }));
    check(text, r#"{"i":18446744073709551616}"#, &["/i: must be of type `string`"]);
    let bounded = object(json!({ "i": { "type": "integer", "minimum": -5, "maximum": 1000 } }));
    check(bounded.clone(), r#"{"i":18446744073709551616}"#, &["/i: must be at most 1000"]);
    check(bounded, r#"{"i":-18446744073709551616}"#, &["/i: must be at least -5"]);
    // Where digits decide, no guess is made.
    let undecided = "is an integer beyond 64 bits, and the schema compares numbers in a way that cannot be decided for it; give it as \
                     a string";
    for looks in [
        json!({ "multipleOf": 2 }),
        json!({ "maximum": 1e30 }),
        json!({ "minimum": 18446744073709551615u64 }),
        json!({ "enum": [[18446744073709551615u64]] }),
        json!({ "const": i64::MIN }),
        json!({ "type": ["array", "integer"], "uniqueItems": true }),
    ] {
        check(object(json!({ "i": looks })), r#"{"i":18446744073709551616}"#, &[&format!("/i: {undecided}")]);
    }
    check(object(json!({ "i": { "multipleOf": 1 } })), r#"{"i":18446744073709551616}"#, &[]);
    for lost in ["9007199254740993.0", "1.00000000000000000001", "0.1e-99999"] {
        check(integer.clone(), &format!(r#"{{"i":{lost}}}"#), &[&format!("/i: {not_held}")]);
    }
    check(integer, r#"{"i":1.5}"#, &["/i: must be of type `integer`; is 1.5"]);
    let number = object(json!({ "n": { "type": "number" } }));
    for held in ["0.1", "6.02e23", "3.14159265358979323846", "1e-7"] {
        check(number.clone(), &format!(r#"{{"n":{held}}}"#), &[]);
    }
    assert!(violations(&validator(&number, json!({})), r#"{"n":1e400}"#)[0].contains("number out of range"));
    let bounded = object(json!({ "i": { "type": "integer", "maximum": 9007199254740992u64 } }));
    check(bounded, r#"{"i":9007199254740993}"#, &["/i: must be at most 9007199254740992; is 9007199254740993"]);
    let even = object(json!({ "i": { "multipleOf": 2 } }));
    check(even, r#"{"i":9007199254740993}"#, &["/i: must be a multiple of 2; is 9007199254740993"]);
    let exactly = object(json!({ "i": { "const": 9007199254740992u64 } }));
    check(exactly, r#"{"i":9007199254740993}"#, &["/i: must be 9007199254740992; is 9007199254740993"]);
}

#[test]
fn pointers_to_inexact_numbers_follow_the_text() {
    let text = r#"{"a":[1,{"b\"/~é":[true, 99999999999999999999 ,"1e999",{}]}],"z":2}"#;
    assert_eq!(inexact_numbers(text, 9), [("/a/1/b\"~1~0é/1".to_owned(), "99999999999999999999")]);
    assert_eq!(inexact_numbers("18446744073709551616", 9), [(String::new(), "18446744073709551616")]);
    assert_eq!(inexact_numbers(&"[99999999999999999999,".repeat(5), 2).len(), 2);
}

#[test]
fn internal_fields_are_refused_by_name() {
    let shell = InputValidator::for_registration(&registration(&shell_json()), &CatalogLimits::default()).unwrap();
    assert_eq!(violations(&shell, r#"{"command":"ls"}"#), [""; 0]);
    assert_eq!(
        violations(&shell, r#"{"command":"ls","sandbox_override_ref":"danger"}"#),
        ["/sandbox_override_ref: is internal: callers must not give it"]
    );
    // Also when the schema would let it through, and when only the runtime schema knows the field.
    let runtime = json!({ "runtime_input_schema": { "type": "object", "properties": { "fence": {}, "a": {} } } });
    let open = validator(&json!({ "type": "object", "properties": { "a": {} } }), runtime);
    assert_eq!(violations(&open, r#"{"a":1,"other":2,"fence":3}"#), ["/fence: is internal: callers must not give it"]);
}

#[test]
fn sensitive_values_and_names_are_not_repeated() {
    let schema = object(json!({
        "login": { "type": "object", "properties": { "key": { "type": "string", "pattern": "^k" } }, "additionalProperties": false },
        "n": { "type": "integer" },
    }));
    let tool = validator(&schema, json!({ "sensitive_fields": ["/login"] }));
    assert_eq!(violations(&tool, r#"{"n":"here"}"#), [r#"/n: must be of type `integer`; is "here""#]);
    assert_eq!(violations(&tool, r#"{"login":{"hunter2":1}}"#), ["/login: holds a field that is not allowed"]);
    assert_eq!(violations(&tool, r#"{"login":{"key":"hunter2"}}"#), ["/login: must match the pattern `^k`"]);
    // A secret in the place of what should hold it.
    let tool = validator(&schema, json!({ "sensitive_fields": ["/login/key"] }));
    assert_eq!(violations(&tool, r#"{"login":"hunter2"}"#), ["/login: must be of type `object`; is a string"]);
    assert_eq!(
        violations(&tool, r#"{"login":["hunter2"]}"#),
        ["/login: must be of type `object`; is an array of 1 elements"]
    );
}

/// What another party put into the input is not told to the caller.
#[test]
fn values_of_hooks_and_people_are_not_repeated() {
    let tool = validator(&object(json!({ "n": { "type": "integer" } })), json!({}));
    let found = tool.validate_call(&payload(r#"{"n":"hunter2"}"#)).unwrap_err();
    assert_eq!(found[0].description, "must be of type `integer`");
}

#[test]
fn wrong_values_are_shown_short_and_harmless() {
    let tool = validator(
        &json!({ "type": "object", "properties": {
            "text": { "enum": ["a\u{202e}b"] }, "short": { "maxLength": 3 }, "few": { "maxItems": 1 },
            "kind": { "anyOf": [{ "type": "integer" }, { "enum": ["auto"] }] },
            "deep": { "oneOf": [
                { "properties": { "op": { "const": "and" } }, "required": ["op"] },
                { "properties": { "op": { "const": "or" } }, "required": ["op"] },
            ] },
            "not": { "not": { "const": 1 } },
        } }),
        json!({}),
    );
    let told = |input: Value| violations(&tool, &input.to_string()).join("\n");
    let long = told(json!({ "text": "é".repeat(5_000) }));
    assert!(long.len() < 400 && long.contains(&"é".repeat(80)) && long.contains('…'), "{long}");
    let hostile = told(json!({ "text": "x\u{202e}\u{200b}\n\u{1b}[31m" }));
    assert_eq!(hostile, r#"/text: must be one of "a\u{202e}b"; is "x\u{202e}\u{200b}\n\u001b[31m""#);
    assert_eq!(told(json!({ "short": "abcde" })), "/short: must have at most 3 characters; has 5 characters");
    assert_eq!(told(json!({ "few": [1, 2] })), "/few: must have at most 1 elements; has 2 elements");
    let neither = "/kind: fits none of the alternatives (`anyOf`): must be of type `integer`, or must be one of \"auto\"; is \"x\"";
    assert_eq!(told(json!({ "kind": "x" })), neither);
    let deep = told(json!({ "deep": { "op": "xor" } }));
    assert!(deep.contains(r#"`/deep/op` must be "and"; is "xor", or `/deep/op` must be "or"; is "xor""#), "{deep}");
    assert_eq!(told(json!({ "not": 1 })), r#"/not: must not fit {"const":1}; is 1"#);
}

#[test]
fn nothing_inside_a_sensitive_element_is_told() {
    let schema = object(json!({ "list": { "type": "array", "items": { "type": "object", "properties": { "key": {
        "type": "object", "additionalProperties": false } } } } }));
    let tool = validator(&schema, json!({ "sensitive_fields": ["/list/*/key"] }));
    assert_eq!(violations(&tool, r#"{"list":[{},{"key":{"hunter2":1}}]}"#), ["/list/1/key: must be left out"]);
    let number = r#"{"list":[{"key":{"hunter2":9007199254740993.0}}]}"#;
    assert!(violations(&tool, number)[0].starts_with("/list/0/key: is a number"));
}

/// Internal fields may be in what the executor gets, and then have to fit the runtime schema.
#[test]
fn the_input_of_the_executor_is_held_against_both_schemas() {
    let model = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"],
        "additionalProperties": false });
    let runtime = json!({ "type": "object", "properties": { "ref": { "type": "string", "minLength": 2 } },
        "additionalProperties": false });
    let tool = validator(&model, json!({ "runtime_input_schema": runtime, "internal_only_fields": ["ref", "free"] }));
    let call = |input: &str| match tool.validate_call(&payload(input)) {
        Ok(()) => Vec::new(),
        Err(found) => found.into_iter().map(|fault| format!("{}: {}", fault.field, fault.description)).collect(),
    };
    assert_eq!(call(r#"{"a":"x"}"#), [""; 0]);
    assert_eq!(call(r#"{"a":"x","ref":"ok"}"#), [""; 0]);
    assert_eq!(call(r#"{"a":"x","ref":"o"}"#), ["/ref: must have at least 2 characters"]);
    assert_eq!(call(r#"{"a":1,"ref":"ok"}"#), ["/a: must be of type `string`"]);
    assert_eq!(call(r#"{"ref":"ok"}"#), ["/a: is required"]);
    assert_eq!(call(r#"{"a":"x","other":1}"#), ["/other: is not a field of this tool"]);
    assert_eq!(call(r#"{"a":"x","free":1}"#), ["/free: is not a field of this tool"], "the runtime schema is closed");
    assert_eq!(call("[]"), [": must be of type `object`"]);
    let needs = json!({ "type": "object", "properties": { "ref": {} }, "required": ["ref"] });
    let tool = validator(&model, json!({ "runtime_input_schema": needs }));
    assert!(tool.validate(&payload(r#"{"a":"x"}"#)).is_ok(), "a caller cannot give it");
    assert_eq!(tool.validate_call(&payload(r#"{"a":"x"}"#)).unwrap_err()[0].field, "/ref");
}

#[test]
fn a_tool_without_a_schema_takes_an_empty_object() {
    let nothing = InputValidator::for_registration(&tool("test", "ping"), &CatalogLimits::default()).unwrap();
    assert!(nothing.takes_nothing());
    assert_eq!(violations(&nothing, "{}"), [""; 0]);
    assert_eq!(violations(&nothing, r#"{"a":1}"#), ["/a: is not a field of this tool: it takes no arguments"]);
    assert_eq!(violations(&nothing, "null"), [": must be of type `object`"]);
}

#[test]
fn at_most_twenty_violations_are_reported() {
    let many: String = (0..500).map(|i| format!(r#","f{i}":0"#)).collect();
    let found = violations(&validator(&object(json!({})), json!({})), &format!("{{{}}}", &many[1..]));
    assert_eq!(found.len(), 20);
}

#[test]
fn keys_are_data() {
    let tool = validator(&object(json!({ "a": {} })), json!({}));
    let mut found = violations(&tool, r##"{"__proto__":{"x":1},"constructor":1,"$ref":"#"}"##);
    found.sort();
    assert_eq!(
        found,
        [
            "/$ref: is not a field of this tool; its only field is `a`",
            "/__proto__: is not a field of this tool; its only field is `a`",
            "/constructor: is not a field of this tool; its only field is `a`"
        ]
    );
}

#[test]
fn recursion_is_refused_before_it_explodes() {
    let branch = |op: &str| json!({ "properties": { "args": { "items": { "$ref": "#" } }, "op": { "const": op } }, "required": ["op"] });
    let schema = json!({ "type": "object", "oneOf": [branch("and"), branch("or")] });
    let tool = validator(&schema, json!({}));
    let nest = |levels: usize, leaf: &str| {
        format!("{}{}{}", r#"{"op":"and","args":["#.repeat(levels), leaf, "]}".repeat(levels))
    };
    assert_eq!(violations(&tool, &nest(12, r#"{"op":"or"}"#)), [""; 0]);
    let found = violations(&tool, &nest(5, r#"{"op":"xor"}"#));
    assert!(found[0].starts_with(": fits none of the alternatives (`oneOf`): "), "{found:?}");
    // The verdict is cheap where the reasons are not.
    assert_eq!(
        violations(&tool, &nest(14, r#"{"op":"xor"}"#)),
        [": does not satisfy the schema; the input is too large to list the reasons"]
    );
    assert_eq!(
        violations(&tool, &nest(31, r#"{"op":"or"}"#)),
        [": is too large or too deeply nested to be checked against this tool's schema"]
    );
}

#[test]
fn deep_recursion_fits_a_small_stack() {
    // The longest in-place chain that is accepted, at every level of the deepest instance that is accepted.
    let mut inner = json!({ "properties": { "a": { "$ref": "#" } } });
    for _ in 0..29 {
        inner = json!({ "allOf": [inner] });
    }
    let mut schema = inner;
    schema["type"] = json!("object");
    let tool = validator(&schema, json!({}));
    let input = format!("{}{{}}{}", r#"{"a":"#.repeat(63), "}".repeat(63));
    let wrong = format!("{}5{}", r#"{"a":"#.repeat(63), "}".repeat(63));
    let run = move || (violations(&tool, &input), violations(&tool, &wrong));
    let worker = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(run).unwrap();
    let (fits, breaks) = worker.join().unwrap();
    assert_eq!(fits, [""; 0]);
    assert_eq!(breaks.len(), 1);
}
