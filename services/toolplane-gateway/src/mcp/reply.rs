//! The result of a request, written member by member: exact JSON stays exact.

use serde::Serialize;
use serde_json::json;

use crate::mcp::version::Version;

/// What this server calls itself.
pub(crate) const SERVER: &str = "toolplane";

/// A result while it is put together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reply {
    kind: Option<&'static str>,
    members: String,
    meta: String,
}

impl Reply {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// What kind of result it is, in the version that says so; `complete` without this.
    pub(crate) fn kind(self, kind: &'static str) -> Self {
        Self { kind: Some(kind), ..self }
    }

    /// A member that is JSON already.
    pub(crate) fn raw(mut self, name: &str, json: &str) -> Self {
        put(&mut self.members, name, json);
        self
    }

    pub(crate) fn value(self, name: &str, value: &impl Serialize) -> Self {
        self.raw(name, &serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
    }

    /// Whether a tool says that it failed.
    pub(crate) fn is_tool_error(&self) -> bool {
        self.members.contains(r#","isError":true"#)
    }

    /// A fact beside the result itself.
    pub(crate) fn meta(mut self, name: &str, value: &impl Serialize) -> Self {
        put(&mut self.meta, name, &serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()));
        self
    }

    /// How long a client may keep it: for itself alone, because other callers see other things.
    pub(crate) fn kept_for(self, millis: u64, version: Version) -> Self {
        if version.has_sessions() {
            return self;
        }
        self.value("ttlMs", &millis).value("cacheScope", &"private")
    }

    /// The result as one JSON object.
    pub(crate) fn write(mut self, version: Version) -> String {
        if !version.has_sessions() {
            let kind = self.kind.unwrap_or("complete");
            let server = json!({ "name": SERVER, "version": env!("CARGO_PKG_VERSION") });
            self = self.value("resultType", &kind).meta("io.modelcontextprotocol/serverInfo", &server);
        }
        if !self.meta.is_empty() {
            let meta = format!("{{{}}}", self.meta);
            put(&mut self.members, "_meta", &meta);
        }
        format!("{{{}}}", self.members)
    }
}

fn put(object: &mut String, name: &str, json: &str) {
    if !object.is_empty() {
        object.push(',');
    }
    object.push_str(&serde_json::Value::from(name).to_string());
    object.push(':');
    // A message is one line, over standard streams and as an event. Within JSON a line break is never part of a text: those are spelled.
    object.extend(json.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exact_stays_exact() {
        let reply =
            || Reply::new().raw("structuredContent", r#"{"b": 1e2,"a":12345678901234567890123}"#).meta("x/y", &1);
        let old = reply().kept_for(5, Version::V2025June).write(Version::V2025June);
        assert_eq!(old, r#"{"structuredContent":{"b": 1e2,"a":12345678901234567890123},"_meta":{"x/y":1}}"#);
        let new: serde_json::Value =
            serde_json::from_str(&reply().kept_for(5, Version::V2026July).write(Version::V2026July)).unwrap();
        assert_eq!(
            (&new["resultType"], &new["ttlMs"], &new["cacheScope"]),
            (&json!("complete"), &json!(5), &json!("private"))
        );
        assert_eq!(new["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolplane");
    }

    #[test]
    fn a_message_is_one_line() {
        let schema = "{\n  \"type\": \"object\",\r\n  \"title\": \"a\\nb\"\n}";
        let line = Reply::new().raw("inputSchema", schema).write(Version::V2025June);
        assert!(!line.contains(['\n', '\r']), "{line}");
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["inputSchema"], json!({ "type": "object", "title": "a\nb" }));
    }
}
