//! Places in a schema, and what references lead to.

use serde_json::Value;

/// The pointer of a member.
pub(crate) fn below(at: &str, keyword: &str) -> String {
    format!("{at}/{}", keyword.replace('~', "~0").replace('/', "~1"))
}

/// What a reference inside a schema leads to, and its pointer. References that leave the schema, or lead nowhere, lead to nothing; a
/// registered schema has none.
pub(crate) fn target<'a>(root: &'a Value, reference: &str) -> Option<(String, &'a Value)> {
    let own = root.get("$id").or_else(|| root.get("id")).and_then(Value::as_str).unwrap_or_default();
    let own = own.split('#').next().unwrap_or_default();
    let rest = reference.strip_prefix(own).unwrap_or(reference);
    let fragment = match rest.strip_prefix('#') {
        Some(fragment) => percent_decoded(fragment)?,
        None if rest.is_empty() => String::new(),
        None => return None,
    };
    if fragment.is_empty() || fragment.starts_with('/') {
        return root.pointer(&fragment).map(|found| (fragment, found));
    }
    anchored(root, "", &fragment, 0)
}

/// The part that has an anchor. Anchors are looked for where definitions are.
fn anchored<'a>(value: &'a Value, at: &str, name: &str, depth: usize) -> Option<(String, &'a Value)> {
    let members = value.as_object().filter(|_| depth < 64)?;
    let is_it = |keyword: &str| members.get(keyword).and_then(Value::as_str) == Some(name);
    if is_it("$anchor") || is_it("$dynamicAnchor") {
        return Some((at.to_owned(), value));
    }
    members.iter().find_map(|(key, value)| anchored(value, &below(at, key), name, depth + 1))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_lead_to_parts_by_pointer_and_by_anchor() {
        let root = json!({ "$id": "urn:x", "$defs": { "a/b": { "type": "null" }, "c": { "$anchor": "here" } } });
        for (reference, place) in [
            ("#/$defs/a~1b", Some("/$defs/a~1b")),
            ("#/%24defs/c", Some("/$defs/c")),
            ("urn:x#here", Some("/$defs/c")),
            ("#", Some("")),
            ("#/gone", None),
            ("https://example.org/x", None),
        ] {
            assert_eq!(target(&root, reference).map(|(at, _)| at).as_deref(), place, "{reference}");
        }
    }
}
