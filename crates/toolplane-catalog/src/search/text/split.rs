//! Where a run of letters and digits falls into words: scripts written without spaces, humps of identifiers, numbers.

/// Scripts written without spaces between words: Han, kana, Hangul syllables, Thai.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0E7F}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{2FA1F}')
}

pub(super) fn split_scripts(run: &str) -> Vec<&str> {
    split_where(run, |before, after, _| is_unspaced(before) != is_unspaced(after))
}

pub(super) fn split_case(run: &str) -> Vec<&str> {
    split_where(run, |before, after, following| {
        let hump = before.is_lowercase() && after.is_uppercase();
        let acronym_ends = before.is_uppercase() && after.is_uppercase() && following.is_some_and(char::is_lowercase);
        let digits = before.is_numeric() != after.is_numeric();
        hump || acronym_ends || digits
    })
}

fn split_where(run: &str, splits: impl Fn(char, char, Option<char>) -> bool) -> Vec<&str> {
    let characters: Vec<(usize, char)> = run.char_indices().collect();
    let mut pieces = Vec::new();
    let mut start = 0;
    for (position, pair) in characters.windows(2).enumerate() {
        let following = characters.get(position + 2).map(|(_, c)| *c);
        if splits(pair[0].1, pair[1].1, following) {
            pieces.push(&run[start..pair[1].0]);
            start = pair[1].0;
        }
    }
    pieces.push(&run[start..]);
    pieces
}
