//! Values into the stored form.

use serde::ser::{self, Serialize};

use super::StoredError;
use super::form::{
    AGAIN, BYTES, BYTES_AGAIN, END, FALSE, FLOAT, KEY_END, KEY_LITERAL, KEY_WORDS, LONG_WORD, MAP, MAX_SHORT_TEXT,
    MAX_SMALL, MAX_WORD, NEGATIVE, NULL, SEQ, SHORT_TEXT, SMALL, TEXT, TRUE, UINT, WORD,
};
use super::read::Reader;
use super::words;

/// Texts and bytes shorter than this are not looked for among earlier ones.
const WORTH_REPEATING: usize = 8;
/// Texts longer than this are no words.
const LONGEST_WORD: usize = 40;

/// Where texts and bytes are that may come again: first bytes, length, place of the tag, place of the content.
pub(super) type Seen = Vec<(u64, usize, usize, usize)>;

/// Writes one value to the end of `out`.
pub(super) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Where the record begins in `out`.
    start: usize,
    seen: &'a mut Seen,
}

impl<'a> Writer<'a> {
    /// Writes to `out`; what `seen` holds is of no use any more.
    pub(super) fn new(out: &'a mut Vec<u8>, seen: &'a mut Seen) -> Self {
        seen.clear();
        Self { start: out.len(), out, seen }
    }

    /// Most numbers take a byte or two, and each key is one.
    #[inline(always)]
    fn varint(&mut self, value: u64) {
        match value {
            0..0x80 => self.out.push(value as u8),
            0x80..0x4000 => self.out.extend_from_slice(&[value as u8 | 0x80, (value >> 7) as u8]),
            _ => self.long_varint(value),
        }
    }

    fn long_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.out.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.out.push(value as u8);
    }

    fn uint(&mut self, value: u64) {
        match u8::try_from(value).ok().filter(|small| *small <= MAX_SMALL) {
            Some(small) => self.out.push(SMALL + small),
            None => {
                self.out.push(UINT);
                self.varint(value);
            }
        }
    }

    /// Writes with `tag` where the same content stands already; false when it does not, and then it is noted to be written next.
    fn again(&mut self, tag: u8, content: &[u8], header: usize) -> bool {
        let Some(first) = content.first_chunk::<WORTH_REPEATING>() else { return false };
        // Ids and digests differ at their ends rather than at their beginnings.
        let last = content.last_chunk::<WORTH_REPEATING>().unwrap_or(first);
        let mark = u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(17);
        let same = |(seen, length, _, at): &&(u64, usize, usize, usize)| {
            *seen == mark && *length == content.len() && self.out[*at..*at + *length] == *content
        };
        if let Some((_, _, place, _)) = self.seen.iter().find(same).copied() {
            self.out.push(tag);
            self.varint((place - self.start) as u64);
            return true;
        }
        let at = self.out.len();
        self.seen.push((mark, content.len(), at, at + header));
        false
    }

    fn text(&mut self, text: &str) {
        if text.len() <= LONGEST_WORD
            && let Some(word) = words::number(text)
        {
            return self.word(word);
        }
        let short = u8::try_from(text.len()).ok().filter(|length| *length <= MAX_SHORT_TEXT);
        let header = short.map_or_else(|| 1 + varint_len(text.len() as u64), |_| 1);
        if self.again(AGAIN, text.as_bytes(), header) {
            return;
        }
        match short {
            Some(length) => self.out.push(SHORT_TEXT + length),
            None => {
                self.out.push(TEXT);
                self.varint(text.len() as u64);
            }
        }
        self.out.extend_from_slice(text.as_bytes());
    }

    fn word(&mut self, word: u16) {
        match u8::try_from(word).ok().filter(|short| *short <= MAX_WORD) {
            Some(short) => self.out.push(WORD + short),
            None => {
                self.out.push(LONG_WORD);
                self.varint(word.into());
            }
        }
    }

    fn key(&mut self, key: &str) {
        match words::number(key) {
            Some(word) => self.varint(KEY_WORDS + u64::from(word)),
            None => {
                self.varint(KEY_LITERAL);
                self.varint(key.len() as u64);
                self.out.extend_from_slice(key.as_bytes());
            }
        }
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), StoredError> {
        self.key(key);
        value.serialize(self)
    }

    /// A variant with something in it: a map of that one key.
    fn variant(&mut self, variant: &str) {
        self.out.push(MAP);
        self.key(variant);
    }
}

fn varint_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// A sequence or a map that is being written, and how often its end has to be told.
pub(super) struct Open<'w, 'a> {
    writer: &'w mut Writer<'a>,
    /// It stands within a variant, which ends with it.
    within: bool,
}

impl Open<'_, '_> {
    fn end(self, end: u8) -> Result<(), StoredError> {
        self.writer.out.push(end);
        if self.within {
            self.writer.out.push(KEY_END as u8);
        }
        Ok(())
    }
}

macro_rules! unsigned {
    ($($name:ident: $kind:ty),*) => {$(
        fn $name(self, value: $kind) -> Result<(), StoredError> {
            self.uint(value.into());
            Ok(())
        }
    )*};
}

macro_rules! signed {
    ($($name:ident: $kind:ty),*) => {$(
        fn $name(self, value: $kind) -> Result<(), StoredError> {
            self.serialize_i64(value.into())
        }
    )*};
}

impl<'w, 'a> ser::Serializer for &'w mut Writer<'a> {
    type Ok = ();
    type Error = StoredError;
    type SerializeSeq = Open<'w, 'a>;
    type SerializeTuple = Open<'w, 'a>;
    type SerializeTupleStruct = Open<'w, 'a>;
    type SerializeTupleVariant = Open<'w, 'a>;
    type SerializeMap = Open<'w, 'a>;
    type SerializeStruct = Open<'w, 'a>;
    type SerializeStructVariant = Open<'w, 'a>;

    fn is_human_readable(&self) -> bool {
        false
    }

    unsigned!(serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64);
    signed!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32);

    fn serialize_i64(self, value: i64) -> Result<(), StoredError> {
        match u64::try_from(value) {
            Ok(value) => self.uint(value),
            Err(_) => {
                self.out.push(NEGATIVE);
                self.varint(!(value as u64));
            }
        }
        Ok(())
    }

    fn serialize_bool(self, value: bool) -> Result<(), StoredError> {
        self.out.push(if value { TRUE } else { FALSE });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), StoredError> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), StoredError> {
        self.out.push(FLOAT);
        self.out.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), StoredError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), StoredError> {
        self.text(value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), StoredError> {
        if !self.again(BYTES_AGAIN, value, 1 + varint_len(value.len() as u64)) {
            self.out.push(BYTES);
            self.varint(value.len() as u64);
            self.out.extend_from_slice(value);
        }
        Ok(())
    }

    fn serialize_none(self) -> Result<(), StoredError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), StoredError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), StoredError> {
        self.out.push(NULL);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), StoredError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), StoredError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), StoredError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), StoredError> {
        self.variant(variant);
        value.serialize(&mut *self)?;
        self.out.push(KEY_END as u8);
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'w, 'a>, StoredError> {
        self.out.push(SEQ);
        Ok(Open { writer: self, within: false })
    }

    fn serialize_tuple(self, _: usize) -> Result<Open<'w, 'a>, StoredError> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Open<'w, 'a>, StoredError> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'w, 'a>, StoredError> {
        self.variant(variant);
        self.out.push(SEQ);
        Ok(Open { writer: self, within: true })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Open<'w, 'a>, StoredError> {
        self.out.push(MAP);
        Ok(Open { writer: self, within: false })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Open<'w, 'a>, StoredError> {
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'w, 'a>, StoredError> {
        self.variant(variant);
        self.out.push(MAP);
        Ok(Open { writer: self, within: true })
    }
}

macro_rules! sequence {
    ($($of:ident::$add:ident),*) => {$(
        impl ser::$of for Open<'_, '_> {
            type Ok = ();
            type Error = StoredError;

            fn $add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StoredError> {
                value.serialize(&mut *self.writer)
            }

            fn end(self) -> Result<(), StoredError> {
                Open::end(self, END)
            }
        }
    )*};
}

sequence!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! fields {
    ($($of:ident),*) => {$(
        impl ser::$of for Open<'_, '_> {
            type Ok = ();
            type Error = StoredError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), StoredError> {
                self.writer.field(key, value)
            }

            fn end(self) -> Result<(), StoredError> {
                Open::end(self, KEY_END as u8)
            }
        }
    )*};
}

fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Open<'_, '_> {
    type Ok = ();
    type Error = StoredError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), StoredError> {
        let mut written = Vec::new();
        key.serialize(&mut Writer::new(&mut written, &mut Seen::new()))?;
        self.writer.key(Reader::new(&written).text()?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), StoredError> {
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), StoredError> {
        Open::end(self, KEY_END as u8)
    }
}
