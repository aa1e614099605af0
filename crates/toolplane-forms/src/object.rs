//! A JSON object while it is written: members stay in order, and a value that is JSON already keeps its bytes.

use serde::Serialize;
use toolplane_records::payload::JsonPayload;

/// Members in the order they were added. Numbers of any size survive, because nothing makes a tree of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object(String);

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// An object whose first member says what type it is.
    pub fn typed(kind: &str) -> Self {
        Self::new().with("type", kind)
    }

    /// A member.
    #[must_use]
    pub fn with<T: Serialize + ?Sized>(self, name: &str, value: &T) -> Self {
        self.raw(name, JsonPayload::of(value).text())
    }

    /// A member, where there is a value.
    #[must_use]
    pub fn maybe<T: Serialize>(self, name: &str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.with(name, &value),
            None => self,
        }
    }

    /// A text, where it says something.
    #[must_use]
    pub fn text(self, name: &str, text: &str) -> Self {
        if text.is_empty() { self } else { self.with(name, text) }
    }

    /// An object as a member.
    #[must_use]
    pub fn object(self, name: &str, object: &Self) -> Self {
        self.raw(name, &object.json())
    }

    /// Objects as a member, also when there are none.
    #[must_use]
    pub fn list(self, name: &str, objects: &[Self]) -> Self {
        self.raw(name, &array(objects))
    }

    /// A member whose value is JSON already.
    #[must_use]
    pub fn raw(mut self, name: &str, json: &str) -> Self {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(JsonPayload::of(name).text());
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    /// Whether it has no member.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its JSON.
    pub fn json(&self) -> String {
        format!("{{{}}}", self.0)
    }

    /// Its JSON as a value of a record.
    pub fn payload(&self) -> JsonPayload {
        JsonPayload::from_checked(self.json())
    }
}

/// Objects as one JSON array.
pub fn array(objects: &[Object]) -> String {
    let parts: Vec<String> = objects.iter().map(Object::json).collect();
    format!("[{}]", parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stay_in_order_and_json_stays_as_it_is() {
        let inner = Object::typed("x").maybe("none", None::<u8>).maybe("some", Some(1)).text("empty", "");
        let object =
            Object::new().raw("n", "1.50").object("o", &inner).list("l", &[Object::new()]).with("a\"b", "c\"d");
        assert_eq!(object.json(), r#"{"n":1.50,"o":{"type":"x","some":1},"l":[{}],"a\"b":"c\"d"}"#);
        assert!(Object::new().is_empty() && !object.is_empty());
    }
}
