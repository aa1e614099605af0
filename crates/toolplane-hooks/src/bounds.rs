//! How much of an answer is kept.

/// Most characters of one text a hook gives: a reason, all its context, all its messages, all its progress.
pub const MAX_TEXT_CHARS: usize = 10_000;
/// Most lines of progress of one run.
pub const MAX_PROGRESS: usize = 100;
/// Most bytes of one whole answer.
pub const MAX_ANSWER_BYTES: usize = 1024 * 1024;
/// Most bytes of one value a record repeats; of a larger one it keeps size and digest.
pub const MAX_RECORDED_BYTES: u64 = 16 * 1024;

/// What the end of a text is replaced by when it is cut.
const CUT: &str = "…";

/// The first `most` characters of `text`; one that was cut ends with `…`.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) if most == 0 => String::new(),
        Some(_) => {
            let end = text.char_indices().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
            format!("{}{CUT}", &text[..end])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_cut_text_keeps_its_bound_and_says_so() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("äöüß", 2), "ä…");
        assert_eq!((cut("", 0).as_str(), cut("a", 0).as_str(), cut("ab", 1).as_str()), ("", "", "…"));
        assert_eq!(cut(&"x".repeat(20_000), 10_000).chars().count(), 10_000);
    }
}
