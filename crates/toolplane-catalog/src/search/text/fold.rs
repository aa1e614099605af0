//! One spelling for texts that differ in accents, width or ligatures only.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

/// `text` without accents, wide letters as narrow ones, ligatures and signs as the letters they stand for. Case stays:
/// it tells where identifiers have their words.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    // Put together again at the end: syllables of Hangul and kana with their marks are letters of their own.
    let bare = text.nfkd().filter(|c| !is_accent(*c)).nfc();
    let mut folded = String::with_capacity(text.len());
    for c in bare {
        match spelled_out(c) {
            Some(letters) => folded.push_str(letters),
            None => folded.push(c),
        }
    }
    Cow::Owned(folded)
}

/// Marks on letters of alphabets and abjads, which people leave out when they type. Those of kana, Thai or Devanagari are not.
fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0487}' | '\u{0591}'..='\u{05BD}' | '\u{064B}'..='\u{065F}'
        | '\u{0670}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}')
}

/// Letters that no decomposition takes apart.
fn spelled_out(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'Æ' => "AE",
        'œ' => "oe",
        'Œ' => "OE",
        'ø' => "o",
        'Ø' => "O",
        'đ' | 'ð' => "d",
        'Đ' | 'Ð' => "D",
        'ł' => "l",
        'Ł' => "L",
        'þ' => "th",
        'Þ' => "Th",
        'ı' => "i",
        _ => return None,
    })
}
