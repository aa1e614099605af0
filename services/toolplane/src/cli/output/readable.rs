//! JSON for people who decide: what is written in escapes is shown as what it means.

use super::pretty;

/// The JSON value with line breaks, its texts without escapes that hide plain characters: `\u0072m` is shown as `rm`. Numbers
/// stay as they were written; text that is not JSON comes back more or less as it was.
pub(crate) fn readable(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(start) = rest.find('"') {
        let Some(length) = string_length(&rest[start..]) else { break };
        let token = &rest[start..start + length];
        plain.push_str(&rest[..start]);
        let text = serde_json::from_str::<String>(token).ok();
        match text.and_then(|text| serde_json::to_string(&text).ok()) {
            Some(text) => plain.push_str(&text),
            None => plain.push_str(token),
        }
        rest = &rest[start + length..];
    }
    plain.push_str(rest);
    pretty(&plain)
}

/// Bytes of the string that `text` begins with, both quotes included.
fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().enumerate().skip(1).find_map(|(at, byte)| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends.then_some(at + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn hidden_letters_are_shown_and_values_are_left_alone() {
        let given = r#"{"command":"\u0072m \"x\" \n","n":18446744073709551617,"e":"\\u0072"}"#;
        let shown =
            "{\n  \"command\": \"rm \\\"x\\\" \\n\",\n  \"n\": 18446744073709551617,\n  \"e\": \"\\\\u0072\"\n}";
        assert_eq!(readable(given), shown);
        assert_eq!(readable("\"open"), "\"open");
    }
}
