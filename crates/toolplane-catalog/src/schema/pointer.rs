//! JSON pointers (RFC 6901), as they are written in violations and references.

/// A member name as a token of a JSON pointer.
pub(crate) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The member names of a JSON pointer (RFC 6901), decoded; `None` if the text is not a pointer.
pub fn decode_pointer(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    pointer.strip_prefix('/')?.split('/').map(decode_token).collect()
}

fn decode_token(token: &str) -> Option<String> {
    let mut decoded = String::with_capacity(token.len());
    let mut rest = token.chars();
    while let Some(character) = rest.next() {
        match character {
            '~' => decoded.push(match rest.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            }),
            other => decoded.push(other),
        }
    }
    Some(decoded)
}

/// The bytes behind `%..`; `None` if they are not text.
pub(super) fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
