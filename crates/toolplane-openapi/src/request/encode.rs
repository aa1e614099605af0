//! Percent-encoding. Whatever means something in a URL is encoded, so that a value never becomes more than a value.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All but the characters that never mean anything.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// With `allowReserved`: what means something stays, but what would end the value or begin another one.
const RESERVED: &AsciiSet = &VALUE
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';')
    .remove(b'=');
/// The same in a path, where `/` and `?` end the value too.
const RESERVED_IN_PATH: &AsciiSet = &RESERVED.add(b'/').add(b'?');
/// The text of the document between path parameters: what is encoded there stays so.
const LITERAL: &AsciiSet = &RESERVED.add(b'?').remove(b'%').remove(b'+').remove(b'&').remove(b'\'');

/// A value in a path.
pub(super) fn path(text: &str, allow_reserved: bool) -> String {
    utf8_percent_encode(text, if allow_reserved { RESERVED_IN_PATH } else { VALUE }).to_string()
}

/// A value in a query, or in a cookie.
pub(super) fn query(text: &str, allow_reserved: bool) -> String {
    utf8_percent_encode(text, if allow_reserved { RESERVED } else { VALUE }).to_string()
}

/// What the document writes in a path itself.
pub(super) fn literal(text: &str) -> String {
    utf8_percent_encode(text, LITERAL).to_string()
}

/// A value in a form, where a space is `+`.
pub(super) fn form(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
