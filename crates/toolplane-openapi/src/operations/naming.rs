//! Names of tools: one for each operation, never the same for two, and never one that passes from an operation to another.

use std::collections::HashMap;

use toolplane_records::payload::Digest;

use super::Found;

/// Characters of the digest at the end of a name, with the `_` before them.
const SUFFIX: usize = 9;
/// Longest part of a tool's id.
const MAX_ID_PART: usize = 120;

/// The name of each operation, in their order.
///
/// It is the operation's id with `_` for every character names cannot have. Where two would be called alike, and where a name is
/// too long, it ends with eight digits of the digest of the id; of two that would be called alike neither keeps the plain
/// name, so that a name never means another operation because one was added.
pub(super) fn names(all: &[Found<'_>], max_chars: usize) -> Vec<String> {
    let max_chars = max_chars.max(SUFFIX + 8);
    let plain: Vec<String> = all.iter().map(plain_name).collect();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    plain.iter().for_each(|name| *uses.entry(name).or_default() += 1);
    let alone = |name: &str| uses.get(name) == Some(&1);
    let made = plain.iter().zip(all).map(|(name, one)| match alone(name) && name.len() <= max_chars {
        true => name.clone(),
        false => {
            let kept: String = name.chars().take(max_chars - SUFFIX).collect();
            let suffixed = format!("{kept}_{}", &Digest::of(one.native_id.as_bytes()).hex()[..SUFFIX - 1]);
            match uses.contains_key(suffixed.as_str()) {
                // Somebody called an operation like this on purpose.
                true => format!("x_{}", &Digest::of(one.native_id.as_bytes()).hex()[..max_chars.min(40) - 2]),
                false => suffixed,
            }
        }
    });
    made.collect()
}

fn plain_name(one: &Found<'_>) -> String {
    let has_id = one.native_id != format!("{} {}", one.method, one.path);
    let text = if has_id { one.native_id.clone() } else { format!("{}{}", one.method.to_lowercase(), one.path) };
    let mut name = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' => name.push(c),
            // `/{id}` is one separator, not two.
            _ if name.ends_with('_') && !has_id => {}
            _ => name.push('_'),
        }
    }
    let name = if has_id { name.as_str() } else { name.trim_end_matches('_') };
    match name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        true => name.to_owned(),
        false => format!("_{name}"),
    }
}

/// See [`super::Operation::id_part`].
pub(super) fn id_part(native_id: &str) -> String {
    let mut part = String::with_capacity(native_id.len());
    for byte in native_id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b':' | b'/' | b'@' | b'-' => {
                part.push(char::from(byte))
            }
            _ => part.push_str(&format!("+{byte:02x}")),
        }
    }
    if part.len() > MAX_ID_PART {
        part.truncate(MAX_ID_PART - 20);
        // No encoded byte begins with `+h`.
        part.push_str(&format!("+h{}", &Digest::of(native_id.as_bytes()).hex()[..18]));
    }
    part
}
