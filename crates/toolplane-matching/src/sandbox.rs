//! Whether an input may ask for something about its sandbox.

use toolplane_records::payload::JsonPayload;

/// The word all such wishes have in common.
const WORD: &[u8] = b"sandbox";

/// Whether the input may say something of a sandbox, so that it has to be read: it has the word, in letters of any case, or an
/// escape that may hide it. Of any other input nothing counts for whether it asks to leave its sandbox.
pub fn may_speak_of_sandbox(input: &JsonPayload) -> bool {
    let text = input.bytes();
    text.windows(WORD.len()).any(|part| part.eq_ignore_ascii_case(WORD)) || text.windows(2).any(|part| part == b"\\u")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_and_what_may_hide_it_are_seen() {
        let speaks = |text: &str| may_speak_of_sandbox(&JsonPayload::from_checked(text.to_owned()));
        assert!(speaks(r#"{"dangerouslyDisableSandbox":true}"#) && speaks(r#"{"sandbox_profile":"none"}"#));
        assert!(speaks("{\"s\\u0061ndbox_profile\":\"none\"}"));
        assert!(!speaks(r#"{"text":"sand boxes"}"#) && !speaks("{}") && !speaks("1"));
    }
}
