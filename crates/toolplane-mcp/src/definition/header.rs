//! Arguments that go into headers as well (`x-mcp-header`), so that what stands between client and server can route by them.

use std::collections::HashSet;

use serde_json::Value;
use toolplane_records::mcp::McpHeaderParameter;
use toolplane_records::payload::JsonPayload;

use crate::failure::shown;

/// Deepest place of an argument that goes into a header.
const DEPTH: usize = 16;
/// Most arguments of a tool that go into headers.
const MOST: usize = 32;

/// The arguments a schema marks, and what is wrong with others it marks.
pub(super) fn parameters(schema: &JsonPayload) -> (Vec<McpHeaderParameter>, Vec<String>) {
    let mut found = Found::default();
    if schema.text().contains("x-mcp-header") {
        found.look(&schema.to_value(), &mut Vec::new());
    }
    (found.parameters, found.odd)
}

#[derive(Default)]
struct Found {
    parameters: Vec<McpHeaderParameter>,
    odd: Vec<String>,
    names: HashSet<String>,
}

impl Found {
    fn look(&mut self, schema: &Value, path: &mut Vec<String>) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        if path.len() >= DEPTH {
            return;
        }
        for (name, property) in properties {
            path.push(name.clone());
            if let Some(header) = property.get("x-mcp-header") {
                match self.usable(header, property) {
                    Some(header) => self.parameters.push(McpHeaderParameter { path: path.clone(), header }),
                    None => self.odd.push(format!("`x-mcp-header` of `{}` cannot be used", shown(&path.join(".")))),
                }
            }
            self.look(property, path);
            path.pop();
        }
    }

    /// A header's name that nobody else has, of a value that can be written in a header.
    fn usable(&mut self, header: &Value, property: &Value) -> Option<String> {
        let header = header.as_str()?;
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let writable = matches!(property.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean"));
        let good = !header.is_empty() && header.len() <= 64 && header.bytes().all(token) && writable;
        let new = good && self.parameters.len() < MOST && self.names.insert(header.to_ascii_lowercase());
        new.then(|| header.to_owned())
    }
}
