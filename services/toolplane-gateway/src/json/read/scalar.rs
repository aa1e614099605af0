//! Values that are no messages: truth values, numbers, texts, bytes and words of a vocabulary.

use std::fmt;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use prost_reflect::{DynamicMessage, EnumDescriptor, Kind, MessageDescriptor, Value};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};

use super::{Fault, shown};
use crate::json::words;

/// Words of a vocabulary that a refusal names at most.
const MAX_WORDS: usize = 12;

const LAX: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LAX);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LAX);

/// Reads one value of this kind.
pub(super) struct Scalar<'a> {
    pub(super) kind: &'a Kind,
    pub(super) fault: &'a Fault,
}

impl<'de> Visitor<'de> for Scalar<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Value, E> {
        match self.kind {
            Kind::Bool => Ok(Value::Bool(truth)),
            _ => Err(self.refused("is a truth value")),
        }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        self.number(i128::from(number), number as f64)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        self.number(i128::from(number), number as f64)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        match self.kind {
            Kind::Double => Ok(Value::F64(number)),
            Kind::Float => Ok(Value::F32(number as f32)),
            // `1.0` and `1e3` are integers too, as long as nobody has to guess which.
            _ if number.fract() == 0.0 && number.abs() <= words::EXACT as f64 => self.number(number as i128, number),
            _ => Err(self.refused("is a number that is none of those")),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        match self.kind {
            Kind::String => Ok(Value::String(text.to_owned())),
            Kind::Bytes => {
                bytes(text).map(|bytes| Value::Bytes(bytes.into())).ok_or_else(|| self.refused("is other text"))
            }
            Kind::Enum(vocabulary) => match vocabulary.get_value_by_name(text) {
                Some(word) => Ok(Value::EnumNumber(word.number())),
                None => Err(self.refused(&format!("is `{}`", shown(text)))),
            },
            Kind::Double => self.fraction(text).map(Value::F64),
            Kind::Float => self.fraction(text).map(|number| Value::F32(number as f32)),
            Kind::Bool | Kind::Message(_) => Err(self.refused("is a text")),
            _ => match text.parse::<i128>() {
                Ok(number) => self.number(number, number as f64),
                Err(_) => Err(self.refused("is other text")),
            },
        }
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Err(self.refused("is null"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Value, A::Error> {
        Err(self.refused("is a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Value, A::Error> {
        Err(self.refused("is an object"))
    }
}

impl Scalar<'_> {
    fn number<E: Error>(self, exact: i128, near: f64) -> Result<Value, E> {
        let read = match self.kind {
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => i32::try_from(exact).ok().map(Value::I32),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => i64::try_from(exact).ok().map(Value::I64),
            Kind::Uint32 | Kind::Fixed32 => u32::try_from(exact).ok().map(Value::U32),
            Kind::Uint64 | Kind::Fixed64 => u64::try_from(exact).ok().map(Value::U64),
            Kind::Enum(_) => i32::try_from(exact).ok().map(Value::EnumNumber),
            Kind::Double => Some(Value::F64(near)),
            Kind::Float => Some(Value::F32(near as f32)),
            _ => None,
        };
        read.ok_or_else(|| self.refused("is another number"))
    }

    fn fraction<E: Error>(&self, text: &str) -> Result<f64, E> {
        match text {
            "NaN" => Ok(f64::NAN),
            "Infinity" => Ok(f64::INFINITY),
            "-Infinity" => Ok(f64::NEG_INFINITY),
            // What Rust reads beyond numbers (`inf`) is none in JSON.
            _ if text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) => {
                text.parse().map_err(|_| self.refused("is other text"))
            }
            _ => Err(self.refused("is other text")),
        }
    }

    fn refused<E: Error>(&self, is: &str) -> E {
        self.fault.refuse(format!("must be {}, and {is}", wanted(self.kind)))
    }
}

/// What a value of this kind has to be.
fn wanted(kind: &Kind) -> String {
    let word = match kind {
        Kind::Bool => "true or false",
        Kind::String => "a text",
        Kind::Bytes => "base64",
        Kind::Double | Kind::Float => "a number",
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => "an integer of 32 bits",
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => "an integer of 64 bits",
        Kind::Uint32 | Kind::Fixed32 => "an integer of 32 bits, not negative",
        Kind::Uint64 | Kind::Fixed64 => "an integer of 64 bits, not negative",
        Kind::Message(_) => "an object",
        Kind::Enum(vocabulary) => return words_of(vocabulary),
    };
    word.to_owned()
}

fn words_of(vocabulary: &EnumDescriptor) -> String {
    let names: Vec<String> = vocabulary.values().map(|word| format!("`{}`", word.name())).collect();
    match names.len() {
        0..=MAX_WORDS => format!("one of {}", names.join(", ")),
        _ => format!("a word of `{}`, e.g. {}", vocabulary.name(), names[1]),
    }
}

/// Base64, of either alphabet, padded or not.
fn bytes(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()
}

/// An RFC 3339 time as a `google.protobuf.Timestamp`, which knows the years 1 to 9999. The error is the rule that is broken.
pub(super) fn instant(text: &str, descriptor: &MessageDescriptor) -> Result<DynamicMessage, &'static str> {
    let read: jiff::Timestamp = text.parse().map_err(|_| "is not an RFC 3339 time, e.g. `2031-01-01T00:00:00Z`")?;
    let (mut seconds, mut nanos) = (read.as_second(), read.subsec_nanosecond());
    if nanos < 0 {
        (seconds, nanos) = (seconds - 1, nanos + 1_000_000_000);
    }
    if seconds < -62_135_596_800 {
        return Err("is before the year 1");
    }
    let mut message = DynamicMessage::new(descriptor.clone());
    message.set_field_by_number(words::instant::SECONDS, Value::I64(seconds));
    message.set_field_by_number(words::instant::NANOS, Value::I32(nanos));
    Ok(message)
}
