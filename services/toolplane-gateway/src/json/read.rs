//! JSON text → a message of the contract, in one pass.
//!
//! What is wrong is told by the path of the field and the rule it breaks. JSON values within a message (`JsonPayload`) are passed on
//! as the bytes they are; whether they may be so is said by the role that takes them, as for every other caller.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value};
use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use toolplane_runtime::ApiError;

use super::words::{self, Form};

mod scalar;

use scalar::Scalar;

/// Most letters of a name that a refusal repeats.
const MAX_SHOWN: usize = 64;

/// Reads `text` as a message of this type; nothing but white space is one without fields.
///
/// Fails with [`ApiError::InvalidArgument`] when it is not JSON, or not of this type.
pub(crate) fn message(text: &[u8], descriptor: &MessageDescriptor) -> Result<DynamicMessage, ApiError> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(DynamicMessage::new(descriptor.clone()));
    }
    let text = std::str::from_utf8(text).map_err(|error| {
        ApiError::invalid_argument("body", format!("is not valid UTF-8 at byte {}", error.valid_up_to()))
    })?;
    let fault = Fault::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = MessageSeed { descriptor, fault: &fault }.deserialize(&mut deserializer);
    read.and_then(|message| deserializer.end().map(|()| message)).map_err(|error| fault.told(&error))
}

/// What is wrong: the rule where one of ours is broken, and the path to it, which is put together on the way out.
#[derive(Debug, Default)]
struct Fault {
    rule: RefCell<Option<String>>,
    path: RefCell<String>,
}

impl Fault {
    /// A rule of ours is broken here.
    fn refuse<E: Error>(&self, rule: impl Into<String>) -> E {
        *self.rule.borrow_mut() = Some(rule.into());
        E::custom("refused")
    }

    /// The error, one step further out.
    fn beneath<E>(&self, step: impl FnOnce() -> String) -> impl FnOnce(E) -> E {
        move |error| {
            let mut path = self.path.borrow_mut();
            let step = step();
            let joint = if path.is_empty() || path.starts_with('[') { "" } else { "." };
            *path = format!("{step}{joint}{path}");
            error
        }
    }

    fn told(self, error: &serde_json::Error) -> ApiError {
        let path = self.path.into_inner();
        let field = if path.is_empty() { "body".to_owned() } else { path };
        ApiError::invalid_argument(
            field,
            self.rule.into_inner().unwrap_or_else(|| format!("is not valid JSON: {error}")),
        )
    }
}

/// A name of a caller's as a refusal repeats it.
fn shown(name: &str) -> String {
    name.chars().take(MAX_SHOWN).flat_map(char::escape_debug).collect()
}

/// Reads a message.
struct MessageSeed<'a> {
    descriptor: &'a MessageDescriptor,
    fault: &'a Fault,
}

impl<'de> DeserializeSeed<'de> for MessageSeed<'_> {
    type Value = DynamicMessage;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<DynamicMessage, D::Error> {
        match words::form(self.descriptor) {
            Form::Object => deserializer.deserialize_any(self),
            Form::Payload => {
                let raw = <&RawValue>::deserialize(deserializer)?;
                let mut message = DynamicMessage::new(self.descriptor.clone());
                let bytes = raw.get().as_bytes().to_vec();
                message.set_field_by_number(words::payload::INLINE, Value::Bytes(bytes.into()));
                Ok(message)
            }
            Form::Instant => {
                let text = Cow::<str>::deserialize(deserializer)
                    .map_err(|_| self.fault.refuse("must be an RFC 3339 time, e.g. `2031-01-01T00:00:00Z`"))?;
                scalar::instant(&text, self.descriptor).map_err(|rule| self.fault.refuse(rule))
            }
        }
    }
}

impl<'de> Visitor<'de> for MessageSeed<'_> {
    type Value = DynamicMessage;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DynamicMessage, A::Error> {
        let Self { descriptor, fault } = self;
        let mut message = DynamicMessage::new(descriptor.clone());
        let (mut seen, mut given): (Vec<FieldDescriptor>, Vec<FieldDescriptor>) = Default::default();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let field = descriptor.get_field_by_name(&name).or_else(|| descriptor.get_field_by_json_name(&name));
            let Some(field) = field else {
                let rule = format!("is no field of `{}`", descriptor.name());
                return Err(fault.beneath(|| shown(&name))(fault.refuse(rule)));
            };
            let at = || field.name().to_owned();
            if seen.contains(&field) {
                return Err(fault.beneath(at)(fault.refuse("is given twice")));
            }
            seen.push(field.clone());
            let seed = FieldSeed { field: &field, fault };
            if let Some(value) = map.next_value_seed(seed).map_err(fault.beneath(at))? {
                if words::is_never_empty(&field) && value.as_str().is_some_and(str::is_empty) {
                    return Err(fault.beneath(at)(fault.refuse("is empty: leave it out, or give a value")));
                }
                let choice = field.containing_oneof();
                if let Some(other) = choice.and_then(|choice| choice.fields().find(|other| given.contains(other))) {
                    let rule = format!("cannot be given beside `{}`", other.name());
                    return Err(fault.beneath(at)(fault.refuse(rule)));
                }
                message.set_field(&field, value);
                given.push(field);
            }
        }
        Ok(message)
    }

    fn visit_unit<E: Error>(self) -> Result<DynamicMessage, E> {
        Err(self.fault.refuse("must be an object and is null"))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<DynamicMessage, E> {
        Err(self.fault.refuse("must be an object and is a truth value"))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<DynamicMessage, E> {
        Err(self.fault.refuse("must be an object and is a number"))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<DynamicMessage, E> {
        self.visit_i64(0)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<DynamicMessage, E> {
        self.visit_i64(0)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<DynamicMessage, E> {
        Err(self.fault.refuse("must be an object and is a text"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<DynamicMessage, A::Error> {
        Err(self.fault.refuse("must be an object and is a list"))
    }
}

/// Reads the value of a field; nothing where it is `null`, unless it is a JSON value, which may be `null`.
struct FieldSeed<'a> {
    field: &'a FieldDescriptor,
    fault: &'a Fault,
}

impl<'de> DeserializeSeed<'de> for FieldSeed<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let kind = self.field.kind();
        if self.field.is_list() || self.field.is_map() {
            return deserializer.deserialize_any(self);
        }
        match &kind {
            Kind::Message(descriptor) if words::form(descriptor) == Form::Payload => {
                let seed = MessageSeed { descriptor, fault: self.fault };
                seed.deserialize(deserializer).map(|message| Some(Value::Message(message)))
            }
            _ => deserializer.deserialize_option(self),
        }
    }
}

impl<'de> Visitor<'de> for FieldSeed<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        ElementSeed { kind: &self.field.kind(), fault: self.fault }.deserialize(deserializer).map(Some)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        if !self.field.is_list() {
            return Err(self.fault.refuse("must be an object and is a list"));
        }
        let (kind, mut values) = (self.field.kind(), Vec::new());
        let element = || ElementSeed { kind: &kind, fault: self.fault };
        loop {
            let at = format!("[{}]", values.len());
            match list.next_element_seed(element()).map_err(self.fault.beneath(|| at))? {
                Some(value) => values.push(value),
                None => return Ok(Some(Value::List(values))),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some((key, value)) = self.entries() else {
            return Err(self.fault.refuse("must be a list and is an object"));
        };
        let mut entries = std::collections::HashMap::new();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let at = || shown(&name);
            let Some(read) = key_of(&name, &key) else {
                return Err(self.fault.beneath(at)(self.fault.refuse("is no key of this map")));
            };
            let seed = ElementSeed { kind: &value, fault: self.fault };
            let value = map.next_value_seed(seed).map_err(self.fault.beneath(at))?;
            if entries.insert(read, value).is_some() {
                return Err(self.fault.beneath(at)(self.fault.refuse("is given twice")));
            }
        }
        Ok(Some(Value::Map(entries)))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Err(self.fault.refuse(self.wanted()))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Err(self.fault.refuse(self.wanted()))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Err(self.fault.refuse(self.wanted()))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Err(self.fault.refuse(self.wanted()))
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Err(self.fault.refuse(self.wanted()))
    }
}

impl FieldSeed<'_> {
    fn wanted(&self) -> &'static str {
        if self.field.is_map() { "must be an object" } else { "must be a list" }
    }

    /// The kinds of keys and values of a map.
    fn entries(&self) -> Option<(Kind, Kind)> {
        let kind = self.field.kind();
        let entry = kind.as_message().filter(|_| self.field.is_map())?;
        Some((entry.map_entry_key_field().kind(), entry.map_entry_value_field().kind()))
    }
}

/// The key of a map, which JSON writes as text.
fn key_of(name: &str, kind: &Kind) -> Option<MapKey> {
    match kind {
        Kind::String => Some(MapKey::String(name.to_owned())),
        Kind::Bool => name.parse().ok().map(MapKey::Bool),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => name.parse().ok().map(MapKey::I32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => name.parse().ok().map(MapKey::I64),
        Kind::Uint32 | Kind::Fixed32 => name.parse().ok().map(MapKey::U32),
        Kind::Uint64 | Kind::Fixed64 => name.parse().ok().map(MapKey::U64),
        _ => None,
    }
}

/// Reads one value: the whole of a field, or an element of it.
struct ElementSeed<'a> {
    kind: &'a Kind,
    fault: &'a Fault,
}

impl<'de> DeserializeSeed<'de> for ElementSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.kind {
            Kind::Message(descriptor) => {
                MessageSeed { descriptor, fault: self.fault }.deserialize(deserializer).map(Value::Message)
            }
            kind => deserializer.deserialize_any(Scalar { kind, fault: self.fault }),
        }
    }
}

#[cfg(test)]
mod tests;
