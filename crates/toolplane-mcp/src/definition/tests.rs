use bytes::Bytes;

use super::*;

fn of(text: &str) -> Result<ToolDefinition, RefusedTool> {
    read(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default())
}

fn with_schema(schema: &str) -> ToolDefinition {
    of(&format!(r#"{{"name":"t","inputSchema":{schema}}}"#)).unwrap()
}

#[test]
fn a_tool_is_kept_as_it_was_shipped() {
    let schema = r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type":"object", "properties":{"n":{"maximum":1e2}}}"#;
    let tool = of(&format!(
        r#"{{"name":"read file","title":"Read","description":"Reads\nit","inputSchema":{schema},"outputSchema":{{"type": "object"}},
        "annotations":{{"readOnlyHint":true,"title":"Other","x":1}},"icons":[],"execution":{{}},"_meta":{{}},"later":null}}"#
    ))
    .unwrap();
    assert_eq!((tool.name.as_str(), tool.title.as_deref()), ("read file", Some("Read")));
    assert_eq!((tool.input_schema.text(), tool.output_schema.unwrap().text()), (schema, r#"{"type": "object"}"#));
    assert_eq!((tool.annotations.read_only_hint, tool.annotations.destructive_hint), (Some(true), None));
    assert!(tool.annotations.read_only() && !tool.annotations.destructive() && tool.annotations.open_world());
    for part in ["annotations.x", "icons", "execution", "_meta", "later", "recommends"] {
        assert!(tool.notes.iter().any(|note| note.contains(part)), "{part}: {:?}", tool.notes);
    }
}

#[test]
fn where_nothing_is_said_the_worst_is_taken() {
    let said_nothing = Annotations::default();
    assert!(!said_nothing.read_only() && said_nothing.destructive());
    assert!(!said_nothing.idempotent() && said_nothing.open_world());
    let tool = of(r#"{"name":"t","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}}"#).unwrap();
    assert_eq!(tool.annotations, Annotations::default());
    assert_eq!(tool.notes.len(), 1);
}

#[test]
fn a_bad_tool_is_refused_with_its_reason() {
    for (tool, reason) in [
        ("7", "not an object"),
        ("{}", "no name"),
        (r#"{"name":1}"#, "not a text"),
        (r#"{"name":"","inputSchema":{}}"#, "0 bytes"),
        (r#"{"name":"a\u0000","inputSchema":{}}"#, "control"),
        (r#"{"name":"t"}"#, "no `inputSchema`"),
        (r#"{"name":"t","inputSchema":[]}"#, "not an object"),
        (r#"{"name":"t","inputSchema":{"type":"string"}}"#, "about"),
        (r#"{"name":"t","inputSchema":{"type":"object","type":"object"}}"#, "twice"),
        (r#"{"name":"t","inputSchema":{},"outputSchema":7}"#, "outputSchema"),
    ] {
        let refused = of(tool).unwrap_err();
        assert!(refused.reason.contains(reason), "{tool}: {}", refused.reason);
    }
    let deep = format!(r#"{{"name":"t","inputSchema":{{"x":{}{}}}}}"#, "[".repeat(200), "]".repeat(200));
    assert!(of(&deep).unwrap_err().reason.contains("deeper"));
}

#[test]
fn arguments_in_headers_are_found() {
    let tool = with_schema(
        r#"{"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
            "again":{"type":"string","x-mcp-header":"REGION"},
            "bad":{"type":"string","x-mcp-header":"a b"},
            "number":{"type":"number","x-mcp-header":"Number"}}}"#,
    );
    let found: Vec<_> = tool.headers.iter().map(|found| (found.path.join("."), found.header.as_str())).collect();
    assert_eq!(found, [("region".to_owned(), "Region"), ("deep.n".to_owned(), "N")]);
    assert_eq!(tool.notes.len(), 3);
}
