//! From the bytes of a source to what a credential of its kind is.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, de};
use toolplane_records::json::{self, JsonLimits};

use crate::config::{CredentialConfig, CredentialKind};
use crate::error::SourceFault;
use crate::secret::{MAX_SECRET_BYTES, MIN_SECRET_BYTES, Secret};

/// What a credential is.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// One line of visible text.
    Token(Secret),
    /// A user, its password, and `user:password`.
    Basic { user: Secret, password: Secret, both: Secret },
    /// Any bytes.
    Raw(Secret),
    /// A document, the texts at its top by name, and every text in it that is secret.
    Json { whole: Secret, fields: BTreeMap<String, Secret>, secret: Vec<Secret> },
}

impl Value {
    /// Reads what the source gave. Whatever is not of the kind is refused, and so is what is too short to be masked.
    pub(crate) fn read(config: &CredentialConfig, bytes: &Secret) -> Result<Self, SourceFault> {
        if bytes.len() > MAX_SECRET_BYTES {
            return Err(SourceFault::TooLong);
        }
        match config.kind {
            CredentialKind::Bearer | CredentialKind::ApiKey => {
                let line = line(bytes)?;
                // A space within could be of a prefix that somebody wrote down with the token.
                if line.reveal().contains(&b' ') {
                    return Err(SourceFault::NotVisible);
                }
                long_enough(line).map(Self::Token)
            }
            CredentialKind::Basic => basic(config.username.as_deref(), line(bytes)?),
            CredentialKind::Raw => long_enough(bytes.clone()).map(Self::Raw),
            CredentialKind::Json => document(bytes, config.secret_fields.as_deref()),
        }
    }

    /// What must be in no output.
    pub(crate) fn secrets(&self) -> Vec<&Secret> {
        match self {
            Self::Token(secret) | Self::Raw(secret) => vec![secret],
            Self::Basic { password, both, .. } => vec![password, both],
            Self::Json { whole, secret, .. } => [whole].into_iter().chain(secret).collect(),
        }
    }

    /// Whether it is made of the same bytes.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (own, others) = (self.secrets(), other.secrets());
        own.len() == others.len() && own.iter().zip(others).all(|(own, other)| own.is_same(other))
    }
}

/// The bytes without a line break at their end; they must be visible ASCII, or spaces within.
fn line(bytes: &Secret) -> Result<Secret, SourceFault> {
    let text = bytes.reveal();
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let is_visible = text.iter().all(|byte| matches!(byte, b' '..=b'~'));
    if !is_visible || text.starts_with(b" ") || text.ends_with(b" ") {
        return Err(SourceFault::NotVisible);
    }
    Ok(if text.len() == bytes.len() { bytes.clone() } else { Secret::new(text) })
}

fn long_enough(secret: Secret) -> Result<Secret, SourceFault> {
    if secret.len() < MIN_SECRET_BYTES { Err(SourceFault::TooShort) } else { Ok(secret) }
}

fn basic(username: Option<&str>, line: Secret) -> Result<Value, SourceFault> {
    let (user, password) = match username {
        Some(user) => (Secret::new(user), line),
        None => {
            let colon = line.reveal().iter().position(|byte| *byte == b':').ok_or(SourceFault::NoPassword)?;
            (Secret::new(&line.reveal()[..colon]), Secret::new(&line.reveal()[colon + 1..]))
        }
    };
    let password = long_enough(password)?;
    let both = Secret::new([user.reveal(), b":", password.reveal()].concat());
    Ok(Value::Basic { user, password, both })
}

fn document(bytes: &Secret, secret_fields: Option<&[String]>) -> Result<Value, SourceFault> {
    json::check(bytes.reveal(), &JsonLimits::default()).map_err(|_| SourceFault::NotAnObject)?;
    let read: BTreeMap<String, Field> = serde_json::from_slice(bytes.reveal()).map_err(|_| SourceFault::NotAnObject)?;
    let is_secret = |name: &String| secret_fields.is_none_or(|secret| secret.contains(name));
    let mut secret = Vec::new();
    for (_, field) in read.iter().filter(|(name, _)| is_secret(name)) {
        field.texts_into(&mut secret);
    }
    let has_text = |name: &String| read.get(name).is_some_and(|field| !field.is_without_text());
    if secret.is_empty() || !secret_fields.unwrap_or_default().iter().all(has_text) {
        return Err(SourceFault::NoField);
    }
    if secret.iter().any(|text| text.len() < MIN_SECRET_BYTES) {
        return Err(SourceFault::ShortField);
    }
    let own = |(name, field)| if let Field::Text(text) = field { Some((name, text)) } else { None };
    let fields = read.into_iter().filter_map(own).collect();
    Ok(Value::Json { whole: long_enough(bytes.clone())?, fields, secret })
}

/// What a document holds, as far as it is text.
enum Field {
    Text(Secret),
    /// The values of a list or an object.
    Many(Vec<Field>),
    Other,
}

impl Field {
    /// Adds every text in it, at any depth. Documents are not deeper than [`JsonLimits`] allow.
    fn texts_into(&self, texts: &mut Vec<Secret>) {
        match self {
            Self::Text(text) => texts.push(text.clone()),
            Self::Many(fields) => fields.iter().for_each(|field| field.texts_into(texts)),
            Self::Other => {}
        }
    }

    fn is_without_text(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Many(fields) => fields.iter().all(Self::is_without_text),
            Self::Other => true,
        }
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldVisitor)
    }
}

struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = Field;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Field, E> {
        Ok(Field::Text(Secret::new(text)))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Field, E> {
        Ok(Field::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Field, E> {
        Ok(Field::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Field, E> {
        Ok(Field::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Field, E> {
        Ok(Field::Other)
    }

    fn visit_unit<E>(self) -> Result<Field, E> {
        Ok(Field::Other)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Field, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = items.next_element()? {
            fields.push(field);
        }
        Ok(Field::Many(fields))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut items: A) -> Result<Field, A::Error> {
        let mut fields = Vec::new();
        while let Some((_, field)) = items.next_entry::<de::IgnoredAny, Field>()? {
            fields.push(field);
        }
        Ok(Field::Many(fields))
    }
}
