//! The tags of the stored form. A value is a tag and what follows it; numbers that follow are varints (LEB128).

/// The first byte of every record in this form. No JSON text begins with it.
pub(super) const FORM: u8 = 0x01;

pub(super) const NULL: u8 = 0x00;
pub(super) const FALSE: u8 = 0x01;
pub(super) const TRUE: u8 = 0x02;
/// A number from 0 on.
pub(super) const UINT: u8 = 0x03;
/// A negative number: its bits, inverted.
pub(super) const NEGATIVE: u8 = 0x04;
/// Eight bytes, the lowest first.
pub(super) const FLOAT: u8 = 0x05;
/// A length, and as many bytes of UTF-8.
pub(super) const TEXT: u8 = 0x06;
/// A length, and as many bytes.
pub(super) const BYTES: u8 = 0x07;
/// Values up to [`END`].
pub(super) const SEQ: u8 = 0x08;
pub(super) const END: u8 = 0x09;
/// Keys and values up to [`KEY_END`].
pub(super) const MAP: u8 = 0x0a;
/// The number of a word.
pub(super) const LONG_WORD: u8 = 0x0b;
/// A text that stands already, as text or as bytes: the place of its tag.
pub(super) const AGAIN: u8 = 0x0c;
/// Bytes that stand already, as text or as bytes: the place of their tag.
pub(super) const BYTES_AGAIN: u8 = 0x0d;
/// A number up to [`MAX_SMALL`], in the tag.
pub(super) const SMALL: u8 = 0x10;
pub(super) const MAX_SMALL: u8 = 0x2f;
/// A text whose length is in the tag.
pub(super) const SHORT_TEXT: u8 = 0x40;
pub(super) const MAX_SHORT_TEXT: u8 = 0x3f;
/// A word whose number is in the tag.
pub(super) const WORD: u8 = 0x80;
pub(super) const MAX_WORD: u8 = 0x7f;

/// In the place of a key: the map ends.
pub(super) const KEY_END: u64 = 0;
/// The key follows: a length, and as many bytes of UTF-8.
pub(super) const KEY_LITERAL: u64 = 1;
/// The key is the word of this number and above.
pub(super) const KEY_WORDS: u64 = 2;

/// How deep values may lie within each other.
pub(super) const MAX_DEPTH: u16 = 128;
