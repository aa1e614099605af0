//! How many tokens a text has, estimated.
//!
//! Every vendor counts with a vocabulary of its own, some of which are not public; so this is an estimate, the same for all, and says so.

use toolplane_records::json::compact;
use toolplane_records::payload::JsonPayload;

use crate::tool::NO_ARGUMENTS;

/// How the estimate is called where it is told.
pub const ESTIMATE: &str = "estimate-1";

/// Letters and digits of one token of a longer word.
const PER_TOKEN: u64 = 4;

/// Tokens of a text, estimated: a word of up to six ASCII letters is one, a longer one has one for every four letters; digits go by
/// threes; marks go by twos; every other character is one. Spaces belong to what follows.
pub fn estimate(text: &str) -> u64 {
    let (mut tokens, mut letters, mut digits, mut marks) = (0_u64, 0_u64, 0_u64, 0_u64);
    let of_word = |letters: u64| if letters <= 6 { letters.min(1) } else { letters.div_ceil(PER_TOKEN) };
    for character in text.chars() {
        let (letter, digit) = (character.is_ascii_alphabetic(), character.is_ascii_digit());
        let mark = character.is_ascii_punctuation();
        if !letter {
            tokens += of_word(std::mem::take(&mut letters));
        }
        if !digit {
            tokens += std::mem::take(&mut digits).div_ceil(3);
        }
        if !mark {
            tokens += std::mem::take(&mut marks).div_ceil(2);
        }
        letters += u64::from(letter);
        digits += u64::from(digit);
        marks += u64::from(mark);
        tokens += u64::from(!letter && !digit && !mark && !character.is_ascii());
    }
    tokens + of_word(letters) + digits.div_ceil(3) + marks.div_ceil(2)
}

/// What a model is told of a tool, in tokens and in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Tokens, estimated.
    pub tokens: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What telling a model of a tool takes, whatever its vendor puts around it: its name, its description and the schema of its arguments.
pub fn told(alias: &str, description: &str, schema: Option<&JsonPayload>) -> Told {
    // As it is shown, whatever the file of the tool looks like.
    let schema = schema.map_or_else(|| NO_ARGUMENTS.to_owned(), |schema| compact(schema.text()));
    let parts = [alias, description, &schema];
    Told {
        tokens: parts.iter().map(|part| estimate(part)).sum(),
        bytes: parts.iter().map(|part| part.len() as u64).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_what_is_written_down() {
        for (text, tokens) in [
            ("", 0),
            ("Read a file", 3),
            ("internationalization", 5),
            ("12345", 2),
            (r#"{"a":"b"}"#, 6),
            ("读取文件", 4),
            ("   ", 0),
        ] {
            assert_eq!(estimate(text), tokens, "{text}");
        }
    }

    #[test]
    fn a_tool_is_told_by_its_name_description_and_schema() {
        let schema = JsonPayload::from_checked(r#"{"a":"b"}"#);
        assert_eq!(told("files__read", "Reads a file.", Some(&schema)), Told { tokens: 13, bytes: 33 });
        assert!(told("a", "", None).bytes > 1, "a model has to be told that there are no arguments");
    }
}
