//! What models say, and what schemas can be.

use toolplane_fuzz::fuzz;
use toolplane_records::json::{JsonLimits, check};
use toolplane_records::payload::JsonPayload;

use crate::{Options, Shape, Tool, calls, cards, export, given};

const SAID: [&str; 4] = [
    r#"{"output":[{"type":"function_call","call_id":"c","name":"a__b","arguments":"{\"a\":null,\"b\":[1.50]}"}]}"#,
    r#"{"content":[{"type":"tool_use","id":"t","name":"a__b","input":{"a":{"b":null}}}]}"#,
    r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"a_b":1}}}]}}]}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{"a":null}}}"#,
];

const SCHEMAS: [&str; 4] = [
    r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"properties":{"n":{"$ref":"#/$defs/n"}}}}}"##,
    r#"{"oneOf":[{"properties":{"a":{"type":["string","null"]}},"required":["a"]},{"allOf":[{"properties":{"b-c":{"enum":[1,"x",null]}}}]}]}"#,
    r##"{"type":"object","properties":{"a":{"anyOf":[{"type":"array","prefixItems":[{"const":1}]},{"$ref":"#"}]}},"additionalProperties":{"type":"number"}}"##,
    r#"{"type":"object","patternProperties":{"^x":{"minimum":1}},"properties":{"t":{"format":"date","minLength":3}},"if":{},"then":{}}"#,
];

/// Whatever a model says, it is read or refused; and what is read is JSON.
#[test]
fn said() {
    let schema = JsonPayload::from_checked(SCHEMAS[0]);
    fuzz!("said", SAID, |bytes: &[u8]| {
        for call in calls(&String::from_utf8_lossy(bytes)).unwrap_or_default() {
            if let Ok(given) = given(&call.arguments, Some(&schema), call.shape, true) {
                check(given.arguments.bytes(), &JsonLimits::default()).unwrap();
            }
        }
    });
}

/// Whatever a schema is, every shape of it is JSON, and of a bounded size.
#[test]
fn schemas() {
    fuzz!("schemas", SCHEMAS, |bytes: &[u8]| {
        if check(bytes, &JsonLimits { max_bytes: 64 * 1024, max_depth: 64, max_nodes: 5_000 }).is_err() {
            return;
        }
        let input_schema = Some(JsonPayload::from_checked(bytes.to_vec()));
        let tool = Tool { alias: "a__b".to_owned(), input_schema, ..Tool::default() };
        for shape in Shape::ALL {
            for strict in [false, true] {
                let out = export([&tool], Options { shape, strict });
                let _: serde_json::Value = serde_json::from_str(out.tools.text()).unwrap();
            }
        }
        assert_eq!(cards([&tool], None).cards.len(), 1);
    });
}
