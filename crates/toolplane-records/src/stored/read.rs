//! Values from the stored form. The bytes may be anybody's: whatever they are, reading ends, within its bounds.

use serde::de::{self, DeserializeSeed, Deserializer, Visitor, value::BorrowedStrDeserializer};
use serde::forward_to_deserialize_any;

use super::StoredError;
use super::form::{
    AGAIN, BYTES, BYTES_AGAIN, END, FALSE, FLOAT, KEY_END, KEY_LITERAL, KEY_WORDS, LONG_WORD, MAP, MAX_DEPTH,
    MAX_SHORT_TEXT, MAX_SMALL, NEGATIVE, NULL, SEQ, SHORT_TEXT, SMALL, TEXT, TRUE, UINT, WORD,
};
use super::words;

const SMALL_END: u8 = SMALL + MAX_SMALL;
const SHORT_TEXT_END: u8 = SHORT_TEXT + MAX_SHORT_TEXT;

/// Reads one value after the other.
pub(super) struct Reader<'de> {
    all: &'de [u8],
    at: usize,
    depth: u16,
}

impl<'de> Reader<'de> {
    pub(super) fn new(all: &'de [u8]) -> Self {
        Self { all, at: 0, depth: 0 }
    }

    /// Where the next byte stands in the record.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    /// Whether everything is read.
    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.all.len()
    }

    pub(super) fn byte(&mut self) -> Result<u8, StoredError> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }

    pub(super) fn peek(&self) -> Result<u8, StoredError> {
        self.all.get(self.at).copied().ok_or(StoredError::Form("it ends too early"))
    }

    pub(super) fn bytes(&mut self, length: u64) -> Result<&'de [u8], StoredError> {
        let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length));
        let bytes = end.and_then(|end| self.all.get(self.at..end)).ok_or(StoredError::Form("it ends too early"))?;
        self.at += bytes.len();
        Ok(bytes)
    }

    pub(super) fn varint(&mut self) -> Result<u64, StoredError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(StoredError::Form("a number is too long"))
    }

    /// The text that comes next.
    pub(super) fn text(&mut self) -> Result<&'de str, StoredError> {
        <&str as de::Deserialize>::deserialize(self)
    }

    /// The key that comes next; nothing at the end of a map.
    pub(super) fn key(&mut self) -> Result<Option<&'de str>, StoredError> {
        Ok(match self.varint()? {
            KEY_END => None,
            KEY_LITERAL => {
                let length = self.varint()?;
                Some(utf8(self.bytes(length)?)?)
            }
            number => Some(word(number - KEY_WORDS)?),
        })
    }

    /// The content of a text or of bytes whose tag was read.
    pub(super) fn content(&mut self, tag: u8) -> Result<&'de [u8], StoredError> {
        match tag {
            TEXT | BYTES => {
                let length = self.varint()?;
                self.bytes(length)
            }
            SHORT_TEXT..=SHORT_TEXT_END => self.bytes((tag - SHORT_TEXT).into()),
            _ => Err(StoredError::Form("what comes again is neither text nor bytes")),
        }
    }

    /// The content that stands at a place that comes next.
    fn again(&mut self) -> Result<&'de [u8], StoredError> {
        let place = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
        let mut earlier = Self { at: place, ..*self };
        let tag = earlier.byte()?;
        earlier.content(tag)
    }

    /// Reads what lies within the value at hand.
    pub(super) fn within<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, StoredError>,
    ) -> Result<T, StoredError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(StoredError::Form("values lie too deep within each other"));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn seq<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, StoredError> {
        self.within(|reader| {
            let value = visitor.visit_seq(Elements(reader))?;
            match reader.byte()? {
                END => Ok(value),
                _ => Err(StoredError::Form("a sequence has too many values")),
            }
        })
    }

    fn map<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, StoredError> {
        self.within(|reader| {
            let mut fields = Fields { reader, ended: false };
            let value = visitor.visit_map(&mut fields)?;
            if fields.ended { Ok(value) } else { Err(StoredError::Form("a map has too many values")) }
        })
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = StoredError;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, StoredError> {
        match self.byte()? {
            NULL => visitor.visit_unit(),
            FALSE => visitor.visit_bool(false),
            TRUE => visitor.visit_bool(true),
            UINT => visitor.visit_u64(self.varint()?),
            NEGATIVE => match i64::try_from(self.varint()?) {
                Ok(inverted) => visitor.visit_i64(!inverted),
                Err(_) => Err(StoredError::Form("a negative number is too long")),
            },
            FLOAT => {
                let bytes = self.bytes(8)?.try_into().map_err(|_| StoredError::Form("it ends too early"))?;
                visitor.visit_f64(f64::from_le_bytes(bytes))
            }
            SEQ => self.seq(visitor),
            MAP => self.map(visitor),
            LONG_WORD => visitor.visit_borrowed_str(word(self.varint()?)?),
            AGAIN => visitor.visit_borrowed_str(utf8(self.again()?)?),
            BYTES_AGAIN => visitor.visit_borrowed_bytes(self.again()?),
            tag @ SMALL..=SMALL_END => visitor.visit_u64((tag - SMALL).into()),
            tag @ WORD.. => visitor.visit_borrowed_str(word((tag - WORD).into())?),
            BYTES => visitor.visit_borrowed_bytes(self.content(BYTES)?),
            tag @ (TEXT | SHORT_TEXT..=SHORT_TEXT_END) => visitor.visit_borrowed_str(utf8(self.content(tag)?)?),
            _ => Err(StoredError::Form("it has a tag that is not known")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, StoredError> {
        if self.peek()? == NULL {
            self.at += 1;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, StoredError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, StoredError> {
        if self.peek()? != MAP {
            return visitor.visit_enum(BorrowedStrDeserializer::new(self.text()?));
        }
        self.at += 1;
        self.within(|reader| visitor.visit_enum(Variant(reader)))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, StoredError> {
    std::str::from_utf8(bytes).map_err(|_| StoredError::Form("a text is not UTF-8"))
}

/// The word of a number.
fn word(number: u64) -> Result<&'static str, StoredError> {
    words::word(number).ok_or(StoredError::Form("it has a word that a later version added"))
}

struct Elements<'r, 'de>(&'r mut Reader<'de>);

impl<'de> de::SeqAccess<'de> for Elements<'_, 'de> {
    type Error = StoredError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, StoredError> {
        if self.0.peek()? == END { Ok(None) } else { seed.deserialize(&mut *self.0).map(Some) }
    }
}

struct Fields<'r, 'de> {
    reader: &'r mut Reader<'de>,
    ended: bool,
}

impl<'de> de::MapAccess<'de> for &mut Fields<'_, 'de> {
    type Error = StoredError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, StoredError> {
        match self.reader.key()? {
            Some(key) => seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some),
            None => {
                self.ended = true;
                Ok(None)
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, StoredError> {
        seed.deserialize(&mut *self.reader)
    }
}

/// A variant with something in it.
struct Variant<'r, 'de>(&'r mut Reader<'de>);

impl Variant<'_, '_> {
    fn end(self) -> Result<(), StoredError> {
        match self.0.key()? {
            None => Ok(()),
            Some(_) => Err(StoredError::Form("a variant has two names")),
        }
    }
}

impl<'de> de::EnumAccess<'de> for Variant<'_, 'de> {
    type Error = StoredError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), StoredError> {
        let name = self.0.key()?.ok_or(StoredError::Form("a variant has no name"))?;
        Ok((seed.deserialize(BorrowedStrDeserializer::<StoredError>::new(name))?, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, 'de> {
    type Error = StoredError;

    fn unit_variant(self) -> Result<(), StoredError> {
        <() as de::Deserialize>::deserialize(&mut *self.0)?;
        self.end()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, StoredError> {
        let value = seed.deserialize(&mut *self.0)?;
        self.end()?;
        Ok(value)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, StoredError> {
        let value = (&mut *self.0).deserialize_any(visitor)?;
        self.end()?;
        Ok(value)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, StoredError> {
        let value = (&mut *self.0).deserialize_any(visitor)?;
        self.end()?;
        Ok(value)
    }
}
