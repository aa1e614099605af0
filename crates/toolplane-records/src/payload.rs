//! JSON values as exact bytes with their digest; never a lossy tree.

use std::fmt;
use std::sync::OnceLock;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use smol_str::SmolStr;

use crate::json::{self, JsonLimits, JsonRefusal};

/// What is put in the place of a value that is not shown, whatever its type was.
pub const REDACTED: &str = "[redacted]";

/// SHA-256 of some exact bytes; printed as `sha256:<hex>`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// The text or bytes are not a SHA-256 digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a SHA-256 digest")]
pub struct InvalidDigest;

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A digest from its 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 64 lower-case hex digits, without a prefix.
    pub fn hex(&self) -> String {
        self.with_digits(str::to_owned)
    }

    /// The digits, without memory of their own: they are needed many times for each record.
    fn with_digits<T>(&self, then: impl FnOnce(&str) -> T) -> T {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        then(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

impl TryFrom<&[u8]> for Digest {
    type Error = InvalidDigest;
    fn try_from(bytes: &[u8]) -> Result<Self, InvalidDigest> {
        bytes.try_into().map(Self).map_err(|_| InvalidDigest)
    }
}

impl std::str::FromStr for Digest {
    type Err = InvalidDigest;
    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let text = text.strip_prefix("sha256:").unwrap_or(text);
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| InvalidDigest)?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.with_digits(|digits| f.write_str(digits))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { serializer.serialize_bytes(&self.0) }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DigestVisitor)
    }
}

/// Reads both forms wherever they stand: in what lies within tagged values, serde forgets which one it is.
struct DigestVisitor;

impl serde::de::Visitor<'_> for DigestVisitor {
    type Value = Digest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a SHA-256 digest")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Digest, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Digest, E> {
        Digest::try_from(bytes).map_err(E::custom)
    }
}

/// One JSON value as the exact bytes it arrived in, with their SHA-256.
///
/// Integers of any size, key order and number spelling survive; equality is equality of bytes. As part of a record the
/// value is embedded verbatim in the record's JSON, without insignificant white space around it.
#[derive(Clone)]
pub struct JsonPayload {
    bytes: Bytes,
    /// Made when somebody asks for it: most payloads of events are never asked.
    digest: OnceLock<Digest>,
}

impl JsonPayload {
    /// Checks untrusted bytes with [`json::check`] and keeps them unchanged. Bytes that are not one JSON value within
    /// `limits` are refused with [`JsonRefusal`].
    pub fn ingest(bytes: impl Into<Bytes>, limits: &JsonLimits) -> Result<Self, JsonRefusal> {
        let bytes = bytes.into();
        json::check(&bytes, limits)?;
        Ok(Self::from_checked(bytes))
    }

    /// Wraps bytes already known to be one JSON value (made by this program, or read back from a store).
    pub fn from_checked(bytes: impl Into<Bytes>) -> Self {
        Self { bytes: bytes.into(), digest: OnceLock::new() }
    }

    /// Serialises a value of this program. Values that cannot be JSON (maps with non-string keys) become `null`.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        Self::from_checked(serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec()))
    }

    /// The exact bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The value as text; JSON bytes are UTF-8 by construction.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap_or("null")
    }

    /// SHA-256 of the exact bytes.
    pub fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| Digest::of(&self.bytes))
    }

    /// Length in bytes.
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Reads the value as `T`. Fails with a [`serde_json::Error`] when the value does not have the form of `T`.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.bytes)
    }

    /// The value as a tree, for looking inside; `null` if it cannot be represented.
    pub fn to_value(&self) -> serde_json::Value {
        self.parse().unwrap_or(serde_json::Value::Null)
    }
}

impl PartialEq for JsonPayload {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for JsonPayload {}

impl fmt::Debug for JsonPayload {
    /// Arguments and results may be secret: only size and digest are shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonPayload({} bytes, {})", self.bytes.len(), self.digest())
    }
}

impl Serialize for JsonPayload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_bytes(&self.bytes);
        }
        let raw: &RawValue = serde_json::from_slice(&self.bytes).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonPayload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return deserializer.deserialize_bytes(PayloadVisitor);
        }
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self::from_checked(Bytes::from(String::from(Box::<str>::from(raw)).into_bytes())))
    }
}

/// Reads a payload that was stored as its bytes.
struct PayloadVisitor;

impl serde::de::Visitor<'_> for PayloadVisitor {
    type Value = JsonPayload;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a JSON value")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<JsonPayload, E> {
        let text = std::str::from_utf8(bytes).map_err(E::custom)?;
        serde_json::from_str::<&RawValue>(text).map_err(E::custom)?;
        Ok(JsonPayload::from_checked(Bytes::copy_from_slice(bytes)))
    }
}

/// Reads a field that may hold any JSON value, so that a value of `null` stays a value and only a missing field is none.
pub(crate) fn even_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<JsonPayload>, D::Error> {
    JsonPayload::deserialize(deserializer).map(Some)
}

/// A payload kept elsewhere: what it is, how large, and the digest that proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PayloadRef {
    /// Where the bytes are, e.g. `payload:<invocation>/<hex>` or `toolplane://results/...`.
    pub uri: SmolStr,
    /// Media type, e.g. `application/json`.
    pub media_type: SmolStr,
    /// SHA-256 over the exact bytes.
    pub digest: Digest,
    /// Size in bytes.
    pub size_bytes: u64,
}
