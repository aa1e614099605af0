//! Short texts that callers name things by: sessions, tasks, keys, references. One rule, wherever such a text is given, so that what one request
//! keeps another one can name.

/// Longest such text, in bytes.
pub const MAX_BYTES: usize = 256;

/// The rule that a text of at most `most` bytes breaks, if it breaks one.
pub fn broken_rule(text: &str, most: usize) -> Option<String> {
    if text.len() > most {
        return Some(format!("must be at most {most} bytes"));
    }
    text.chars().any(char::is_control).then(|| "must not contain control characters".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_short_and_has_no_control_characters() {
        for fine in ["", "task:7", "agent:Zoë", &"x".repeat(MAX_BYTES)] {
            assert_eq!(broken_rule(fine, MAX_BYTES), None, "{fine}");
        }
        for wrong in ["task:\u{0}", "a\nb", "a\tb", "\u{1b}[1m", "a\u{7f}", "a\u{85}"] {
            assert_eq!(broken_rule(wrong, MAX_BYTES).unwrap(), "must not contain control characters", "{wrong:?}");
        }
        // Two bytes each: it is bytes that are counted.
        assert_eq!(broken_rule(&"é".repeat(129), MAX_BYTES).unwrap(), "must be at most 256 bytes");
    }
}
