//! Bytes of others: the JSON gate, records as JSON, names, instants and text that is shown.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toolplane_fuzz::fuzz;

use crate::json::{JsonLimits, check, elements, members};
use crate::payload::JsonPayload;

const JSON: [&str; 6] = [
    r#"{"a": [1, -2.5e3, true, null, "text \u00e9 \ud83e\udd80"], "b": {"c": {}}}"#,
    r#"[[[[[[[["deep"]]]]]]]]"#,
    r#"{"n": 18446744073709551617, "f": 0.1000000000000000055511151231257827}"#,
    r#"{"a": 1, "\u0061": 2}"#,
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "null",
];

/// What the gate lets in can be read, has no key twice and stays what it is.
#[test]
fn the_json_gate() {
    let limits = JsonLimits { max_bytes: 4096, max_depth: 12, max_nodes: 200 };
    fuzz!("json gate", JSON, |bytes: &[u8]| {
        let Ok(()) = check(bytes, &limits) else { return };
        let text = std::str::from_utf8(bytes).unwrap();
        let raw: &serde_json::value::RawValue = serde_json::from_str(text).unwrap();
        match text.trim_start().as_bytes().first() {
            Some(b'{') => {
                let mut keys: Vec<String> = members(raw).unwrap().into_iter().map(|(key, _)| key).collect();
                let all = keys.len();
                keys.sort_unstable();
                keys.dedup();
                assert_eq!(keys.len(), all, "a key twice in {text}");
            }
            Some(b'[') => assert!(elements(raw).unwrap().len() <= limits.max_nodes),
            _ => {}
        }
        let form = crate::json::canonical(text).unwrap();
        assert_eq!(crate::json::canonical(&form).unwrap(), form, "{text}");
        let kept = JsonPayload::ingest(text.to_owned(), &limits).unwrap();
        assert_eq!(check(kept.text().as_bytes(), &JsonLimits::default()), Ok(()), "{text}");
    });
}

/// What has a canonical form is JSON, and so is the form; it is its own form.
#[test]
fn the_canonical_form() {
    fuzz!("canonical json", JSON, |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let Some(form) = crate::json::canonical(&text) else { return };
        for text in [&text, form.as_str()] {
            assert!(serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok(), "{text}");
        }
        assert_eq!(crate::json::canonical(&form), Some(form.clone()), "{text}");
    });
}

/// A record that can be read is written so that it is read as the same.
fn record<R: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(name: &str, golden: [&str; 2]) {
    fuzz!(name, golden, |bytes: &[u8]| {
        let Ok(record) = serde_json::from_slice::<R>(bytes) else { return };
        let written = serde_json::to_vec(&record).unwrap();
        let again: R = serde_json::from_slice(&written).unwrap();
        assert_eq!(again, record, "{}", String::from_utf8_lossy(&written));
    });
}

macro_rules! golden {
    ($name:literal) => {
        [
            include_str!(concat!("../tests/golden/", $name, ".full.json")),
            include_str!(concat!("../tests/golden/", $name, ".minimal.json")),
        ]
    };
}

#[test]
fn records_as_json() {
    record::<crate::invocation::Invocation>("invocation", golden!("invocation-record"));
    record::<crate::declaration::ToolDeclaration>("declaration", golden!("tool-declaration"));
    record::<crate::profile::ExecutionProfile>("profile", golden!("execution-profile"));
    record::<crate::rule::PermissionRule>("rule", golden!("permission-rule"));
    record::<crate::approval::Approval>("approval", golden!("approval"));
    record::<crate::batch::Batch>("batch", golden!("batch"));
    record::<crate::event::ToolEvent>("event", golden!("event"));
    record::<crate::result::ToolResult>("result", golden!("result"));
    record::<crate::surface::ToolSurface>("surface", golden!("tool-surface"));
    record::<crate::provider::Provider>("provider", golden!("provider-mcp-stdio"));
    record::<crate::provider::Provider>("provider openapi", golden!("provider-openapi"));
    record::<crate::provider::ProviderStatus>("provider status", golden!("provider-status"));
    record::<crate::provider::ProvidedTool>("provided tool", golden!("provided-tool"));
}

/// An instant that can be read is written so that it is read as the same.
#[test]
fn instants() {
    fuzz!(
        "instants",
        ["2026-11-22T10:00:00.123Z", "1969-12-31T23:59:59+14:00", "9999-12-30T22:00:00Z"],
        |bytes: &[u8]| {
            let Ok(instant) = String::from_utf8_lossy(bytes).parse::<crate::time::Timestamp>() else { return };
            assert_eq!(instant.to_string().parse(), Ok(instant));
        }
    );
}

/// Nothing that is shown acts, however it is cut.
#[test]
fn shown_text() {
    fuzz!("shown text", ["plain", "tab\tand\nline", "p\u{430}ypal \u{202e}txt.exe", "\u{1b}[2J"], |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let line = crate::visible::line(&text);
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert_eq!(crate::visible::line(&line), line, "shown again, it stays");
        assert!(crate::visible::excerpt(&text, 10).chars().count() <= 11);
    });
}
