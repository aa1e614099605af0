//! A tool as its server ships it.

mod header;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolplane_records::json;
use toolplane_records::mcp::McpHeaderParameter;
use toolplane_records::payload::JsonPayload;

use crate::failure::shown;
use crate::limits::Limits;

/// Longest name of a tool, in bytes. The protocol asks for at most 128 characters.
const NAME: usize = 512;
/// Most notes about one tool.
const NOTES: usize = 32;

/// What a server says of a tool beside its schema. It may lie: these are claims, for who trusts the server.
///
/// What was not said is `None`; the methods give what the protocol takes then, which is the worst.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Annotations {
    /// A title, as it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// May destroy what was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// A second call with the same arguments changes nothing more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Deals with a world that is not closed, e.g. the web.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Annotations {
    /// Whether the tool changes nothing; it does where nothing is said.
    pub fn read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// Whether the tool may destroy something; it may where nothing is said. Of a tool that only reads this means nothing.
    pub fn destructive(&self) -> bool {
        !self.read_only() && self.destructive_hint.unwrap_or(true)
    }

    /// Whether a second call changes nothing more; it does where nothing is said.
    pub fn idempotent(&self) -> bool {
        self.idempotent_hint.unwrap_or(false)
    }

    /// Whether the tool reaches an open world; it does where nothing is said.
    pub fn open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}

/// A tool. As JSON, its schemas are byte for byte what the server wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name, as its server calls it.
    pub name: String,
    /// The title: the tool's own, or that of its annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description, as it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The schema of the arguments, an object as it was written. Its dialect is for who compiles it.
    pub input_schema: JsonPayload,
    /// The schema of the structured content, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<JsonPayload>,
    /// What the server claims.
    #[serde(default)]
    pub annotations: Annotations,
    /// Arguments that go into headers as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<McpHeaderParameter>,
    /// What was left out, and what is odd.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A tool that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedTool {
    /// Its name, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Why.
    pub reason: String,
}

#[derive(Deserialize)]
struct NameOnly {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hints {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    read_only_hint: Option<bool>,
    #[serde(default)]
    destructive_hint: Option<bool>,
    #[serde(default)]
    idempotent_hint: Option<bool>,
    #[serde(default)]
    open_world_hint: Option<bool>,
}

/// Reads one element of a list.
pub(crate) fn read(tool: &Bytes, limits: &Limits) -> Result<ToolDefinition, RefusedTool> {
    let name = serde_json::from_slice::<NameOnly>(tool).ok().map(|named| named.name);
    let refused = |reason: String| RefusedTool { name: name.clone().map(|name| shown(&name)), reason };
    json::check(tool, &limits.json()).map_err(|refusal| refused(format!("the tool {refusal}")))?;
    let raw: &RawValue = serde_json::from_slice(tool).map_err(|error| refused(error.to_string()))?;
    let members = json::members(raw).map_err(|_| refused("the tool is not an object".to_owned()))?;
    Reading::default().definition(members).map_err(refused)
}

/// A tool that is being read.
#[derive(Default)]
struct Reading {
    notes: Vec<String>,
}

impl Reading {
    fn note(&mut self, note: String) {
        if self.notes.len() < NOTES {
            self.notes.push(note);
        }
    }

    fn definition(&mut self, members: Vec<(String, &RawValue)>) -> Result<ToolDefinition, String> {
        let (mut name, mut title, mut description) = (None, None, None);
        let (mut input, mut output, mut annotations) = (None, None, Annotations::default());
        for (key, value) in members {
            match key.as_str() {
                "name" => name = Some(text(value).ok_or("the name is not a text")?),
                "title" => title = self.optional(value, "title"),
                "description" => description = self.optional(value, "description"),
                "inputSchema" => input = Some(value),
                "outputSchema" => output = Some(value).filter(|value| value.get() != "null"),
                "annotations" => annotations = self.annotations(value),
                "icons" => self.note("`icons` is left out".to_owned()),
                "execution" => self.note("`execution` is left out: tools are called, and not run as tasks".to_owned()),
                "_meta" => self.note("`_meta` is left out".to_owned()),
                other => self.note(format!("`{}` is not known and left out", shown(other))),
            }
        }
        let name = self.name(name)?;
        let input_schema = self.input(input.ok_or("the tool has no `inputSchema`")?)?;
        let output_schema = output.map(Self::output).transpose()?;
        let (headers, odd) = header::parameters(&input_schema);
        odd.into_iter().for_each(|odd| self.note(odd));
        let title = title.or_else(|| annotations.title.clone());
        let notes = std::mem::take(&mut self.notes);
        Ok(ToolDefinition { name, title, description, input_schema, output_schema, annotations, headers, notes })
    }

    fn name(&mut self, name: Option<String>) -> Result<String, String> {
        let name = name.ok_or("the tool has no name")?;
        if name.is_empty() || name.len() > NAME {
            return Err(format!("the name has {} bytes; 1 to {NAME} are taken", name.len()));
        }
        if name.chars().any(char::is_control) {
            return Err("the name has control characters".to_owned());
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if name.len() > 128 || !name.chars().all(plain) {
            self.note("the name is not one the protocol recommends: 1 to 128 of `A-Za-z0-9_.-`".to_owned());
        }
        Ok(name)
    }

    fn input(&mut self, value: &RawValue) -> Result<JsonPayload, String> {
        let members = json::members(value).map_err(|_| "`inputSchema` is not an object")?;
        match members.iter().find(|(key, _)| key == "type").map(|(_, kind)| text(kind).unwrap_or_default()) {
            Some(kind) if kind == "object" => {}
            None => self.note("`inputSchema` does not say that it is about an object".to_owned()),
            Some(other) => {
                return Err(format!("`inputSchema` is about `{}`, and arguments are an object", shown(&other)));
            }
        }
        Ok(payload(value))
    }

    fn output(value: &RawValue) -> Result<JsonPayload, String> {
        match value.get().as_bytes().first() {
            Some(b'{' | b't' | b'f') => Ok(payload(value)),
            _ => Err("`outputSchema` is not a schema".to_owned()),
        }
    }

    fn optional(&mut self, value: &RawValue, what: &str) -> Option<String> {
        let read = text(value);
        if read.is_none() && value.get() != "null" {
            self.note(format!("`{what}` is not a text and left out"));
        }
        read
    }

    fn annotations(&mut self, value: &RawValue) -> Annotations {
        let Ok(hints) = serde_json::from_str::<Option<Hints>>(value.get()) else {
            self.note("`annotations` cannot be read: nothing is claimed".to_owned());
            return Annotations::default();
        };
        let Some(hints) = hints else { return Annotations::default() };
        let known = ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        let others = json::members(value).unwrap_or_default().into_iter();
        for (other, _) in others.filter(|(key, _)| !known.contains(&key.as_str())) {
            self.note(format!("`annotations.{}` is not known and left out", shown(&other)));
        }
        Annotations {
            title: hints.title,
            read_only_hint: hints.read_only_hint,
            destructive_hint: hints.destructive_hint,
            idempotent_hint: hints.idempotent_hint,
            open_world_hint: hints.open_world_hint,
        }
    }
}

/// Copied: a schema lives longer than the page it came in.
fn payload(value: &RawValue) -> JsonPayload {
    JsonPayload::from_checked(Bytes::copy_from_slice(value.get().as_bytes()))
}

fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

#[cfg(test)]
mod tests;
