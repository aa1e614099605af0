//! The members of an answer, taken one by one: what is left over was not understood.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use toolplane_records::payload::JsonPayload;

use crate::failure::HookFailure;

/// The members of one object.
#[derive(Debug)]
pub(super) struct ObjectMembers {
    members: BTreeMap<String, Box<RawValue>>,
}

impl ObjectMembers {
    /// The members of `text`, which must be one object.
    pub(super) fn of(text: &str, what: &str) -> Result<Self, HookFailure> {
        let members =
            serde_json::from_str(text).map_err(|_| HookFailure::bad(format!("{what} must be a JSON object")))?;
        Ok(Self { members })
    }

    /// Takes the member `name`. `null` is as good as nothing.
    pub(super) fn take<T: DeserializeOwned>(&mut self, name: &str, form: &str) -> Result<Option<T>, HookFailure> {
        let Some(value) = self.members.remove(name).filter(|value| value.get() != "null") else { return Ok(None) };
        let read = serde_json::from_str(value.get());
        read.map(Some).map_err(|_| HookFailure::bad(format!("`{name}` must be {form}")))
    }

    /// Takes the member `name` as it is written.
    pub(super) fn value(&mut self, name: &str) -> Option<JsonPayload> {
        let value = self.members.remove(name).filter(|value| value.get() != "null")?;
        Some(JsonPayload::from_checked(value.get().to_owned()))
    }

    /// Takes the member `name`, which must be an object.
    pub(super) fn object(&mut self, name: &str) -> Result<Option<Self>, HookFailure> {
        self.value(name).map(|value| Self::of(value.text(), &format!("`{name}`"))).transpose()
    }

    /// Takes the member `name`: one text, or a list of texts and objects.
    pub(super) fn texts(&mut self, name: &str) -> Result<Vec<String>, HookFailure> {
        let Some(value) = self.value(name) else { return Ok(Vec::new()) };
        if let Ok(one) = value.parse::<String>() {
            return Ok(vec![one]);
        }
        let list: Vec<Box<RawValue>> =
            value.parse().map_err(|_| HookFailure::bad(format!("`{name}` must be a text or a list")))?;
        Ok(list.iter().map(|item| text_of(item.get())).collect())
    }

    /// One note for each member that was not taken; only as many as fit on a page.
    pub(super) fn left(self, within: &str) -> Vec<String> {
        let shown = |name: &str| crate::bounds::cut(name, 64);
        self.members.keys().take(20).map(|name| format!("`{within}{}` is not known", shown(name))).collect()
    }
}

/// A text as it is; an object of a text by that text; anything else as its JSON.
pub(crate) fn text_of(json: &str) -> String {
    if let Ok(text) = serde_json::from_str::<String>(json) {
        return text;
    }
    let object: Option<BTreeMap<String, serde_json::Value>> = serde_json::from_str(json).ok();
    let text = object.as_ref().and_then(|object| object.get("text")).and_then(|text| text.as_str());
    text.map_or_else(|| json.to_owned(), str::to_owned)
}
