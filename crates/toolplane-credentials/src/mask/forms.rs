//! The forms a secret has in outputs, as far as they do not depend on the text around it.
//!
//! Escapes (percent, form, JSON) and line breaks are taken back while a text is read (see [`super::view`]), because programs do not
//! agree on what they escape. What is left is few enough to be listed.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::secret::MIN_SECRET_BYTES;

/// Shortest line of a secret of several lines, and shortest part of a token, that is masked by itself.
const MIN_PART: usize = 16;

/// Every form of a secret that is looked for. Empty when it is too short to be masked.
pub(super) fn of(secret: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::new();
    if secret.len() < MIN_SECRET_BYTES {
        return forms;
    }
    encoded(secret, &mut forms);
    forms.extend(token_parts(secret));
    let lines: Vec<&[u8]> = secret.split(|byte| matches!(byte, b'\n' | b'\r')).collect();
    if lines.len() > 1 {
        forms.extend(Some(lines.concat()).filter(|joined| joined.len() >= MIN_SECRET_BYTES));
        // The armour of keys is the same for all of them.
        let own = lines.iter().map(|line| line.trim_ascii()).filter(|line| !line.starts_with(b"-----"));
        forms.extend(own.filter(|line| line.len() >= MIN_PART).map(<[u8]>::to_vec));
    }
    forms
}

fn encoded(secret: &[u8], forms: &mut BTreeSet<Vec<u8>>) {
    forms.insert(secret.to_vec());
    forms.insert(hex::encode(secret).into_bytes());
    forms.insert(hex::encode_upper(secret).into_bytes());
    // As it is encoded alone, to its last character.
    forms.insert(STANDARD_NO_PAD.encode(secret).into_bytes());
    forms.insert(URL_SAFE_NO_PAD.encode(secret).into_bytes());
    for before in 0..3 {
        forms.insert(inside_base64(secret, before, &STANDARD_NO_PAD));
        forms.insert(inside_base64(secret, before, &URL_SAFE_NO_PAD));
    }
}

/// The characters that are the same wherever the secret stands in encoded bytes with `before` bytes (modulo 3) in front of it. The
/// character at either end may also hold bits of a neighbour; it is left out, and tells at most four bits.
fn inside_base64(secret: &[u8], before: usize, engine: &base64::engine::GeneralPurpose) -> Vec<u8> {
    let mut padded = vec![0; before];
    padded.extend_from_slice(secret);
    let encoded = engine.encode(&padded).into_bytes();
    let (first, last) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
    encoded[first..last].to_vec()
}

/// Claims and signature of a JSON Web Token. Its header is the same for every token of an issuer, and says nothing.
fn token_parts(secret: &[u8]) -> Vec<Vec<u8>> {
    let parts: Vec<&[u8]> = secret.split(|byte| *byte == b'.').collect();
    let is_part = |part: &&[u8]| part.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if !matches!(parts.len(), 3 | 5) || !secret.starts_with(b"eyJ") || !parts.iter().all(is_part) {
        return Vec::new();
    }
    parts[1..].iter().filter(|part| part.len() >= MIN_PART).map(|part| part.to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_inside_encoded_bytes_does_not_depend_on_its_neighbours() {
        let secret = b"correct-horse";
        for before in 0..7_usize {
            for after in 0..4_usize {
                let bytes = [vec![b'x'; before], secret.to_vec(), vec![b'y'; after]].concat();
                let text = STANDARD_NO_PAD.encode(bytes);
                let form = String::from_utf8(inside_base64(secret, before % 3, &STANDARD_NO_PAD)).unwrap();
                assert!(text.contains(&form), "{before} {after}: {text} {form}");
            }
        }
    }

    #[test]
    fn a_token_has_parts_and_a_key_has_lines() {
        let token = b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";
        let found = of(token);
        assert!(found.contains(&b"eyJzdWIiOiIxMjM0NTY3ODkwIn0"[..]));
        assert!(found.contains(&b"dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"[..]));
        assert!(!found.contains(&b"eyJhbGciOiJIUzI1NiJ9"[..]));
        let key = b"-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG9w0B\nAQEFAASCAUAwggE8AgEAAkEA\n-----END KEY-----\n";
        let found = of(key);
        assert!(found.contains(&b"MIIBVgIBADANBgkqhkiG9w0B"[..]) && !found.contains(&b"-----BEGIN KEY-----"[..]));
        assert!(of(b"seven77").is_empty());
    }
}
