//! What was meant by a word that no tool has.

use toolplane_matching::near;

use super::index::{Dictionary, Form};

/// Most words that may have been meant by one.
const MAX_MEANT: usize = 3;
/// Most words that are compared letter by letter with one.
const MAX_COMPARED: usize = 4_000;
/// The bits of a signature that say how long the word is.
const LENGTH_BITS: u32 = 6;
const LETTER_MASK: u64 = u64::MAX >> LENGTH_BITS;

/// A word that may have been meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meant {
    /// The word as it is written in tools.
    pub(super) word: String,
    /// How many letters have to be changed.
    pub(super) edits: usize,
}

/// How many letters may be wrong in `word`: none in short words, of which too many are alike.
pub(super) fn allowed_edits(word: &str) -> usize {
    match word.chars().count() {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// Which letters a word has, and its length: two words of few edits differ in few bits.
pub(super) fn letters(word: &str) -> u64 {
    let mut bits = 0;
    let mut length = 0_u64;
    for c in word.chars() {
        let bit = match c {
            'a'..='z' => u32::from(c) - u32::from('a'),
            '0'..='9' => 26 + u32::from(c) - u32::from('0'),
            other => 36 + u32::from(other) % 22,
        };
        bits |= 1_u64 << bit;
        length += 1;
    }
    bits | length.min(63) << (64 - LENGTH_BITS)
}

/// Whether words of these signatures may be `edits` apart.
fn may_be_near(one: u64, other: u64, edits: u32) -> bool {
    let (length, other_length) = (one >> (64 - LENGTH_BITS), other >> (64 - LENGTH_BITS));
    // A letter put in, left out or swapped changes one bit at most, one replaced by another two.
    length.abs_diff(other_length) <= u64::from(edits) && ((one ^ other) & LETTER_MASK).count_ones() <= 2 * edits
}

/// The words of tools that are closest to `word`: those with fewest edits, of these those in names, then the commonest.
pub(super) fn meant(forms: &Dictionary<Form>, word: &str) -> Vec<Meant> {
    let allowed = allowed_edits(word);
    if allowed == 0 || word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let wanted = letters(word);
    let mut compared = 0;
    let mut found: Vec<(usize, bool, bool, u32, &str)> = Vec::new();
    for bucket in forms.buckets() {
        for (form, known) in bucket.words.iter().zip(&bucket.values) {
            if !may_be_near(wanted, known.letters, allowed as u32) || form.as_str() == word {
                continue;
            }
            compared += 1;
            let edits = near(word, form, allowed);
            if edits <= allowed {
                let same_start = form.chars().next() == word.chars().next();
                found.push((edits, known.in_names == 0, !same_start, u32::MAX - known.tools, form));
            }
            if compared == MAX_COMPARED {
                break;
            }
        }
    }
    found.sort_unstable();
    let least = found.first().map_or(0, |best| best.0);
    let closest = found.into_iter().take_while(|candidate| candidate.0 == least).take(MAX_MEANT);
    closest.map(|(edits, _, _, _, word)| Meant { word: word.to_owned(), edits }).collect()
}
