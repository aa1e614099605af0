//! Words of a vocabulary as they travel: closed ones as an enum, open ones as the standard's string with the enum beside it.

use std::str::FromStr;

use toolplane_records::vocabulary::UnknownWord;

use crate::convert::convert_error::ConvertError;

/// A word that has a number on the wire.
pub trait Word: Copy + Eq + FromStr<Err = UnknownWord> + 'static {
    /// The value of the enum on the wire; never 0.
    fn number(self) -> i32;

    /// The word of a number; nothing for 0 and for numbers newer than this program.
    fn from_number(number: i32) -> Option<Self>;

    /// The word as the standard spells it.
    fn text(self) -> &'static str;
}

/// Reads a required word of a closed vocabulary.
///
/// Fails with a [`ConvertError`] when the number is 0 (unspecified) or this program does not know it.
pub fn closed<W: Word>(field: &str, number: i32) -> Result<W, ConvertError> {
    optional_closed(field, number)?.ok_or_else(|| ConvertError::missing(field))
}

/// Reads a word of a closed vocabulary that may be unspecified, which is the number 0.
///
/// Fails with a [`ConvertError`] when the number is not 0 and this program does not know it.
pub fn optional_closed<W: Word>(field: &str, number: i32) -> Result<Option<W>, ConvertError> {
    match (number, W::from_number(number)) {
        (0, _) => Ok(None),
        (_, None) => Err(ConvertError::new(field, format!("has the unknown value {number}"))),
        (_, word) => Ok(word),
    }
}

/// Reads a required word of an open vocabulary from its text, its number, or both when they agree.
///
/// Fails with a [`ConvertError`] when the text is empty and the number is 0, and as [`optional_open`] does.
pub fn open<W: Word>(field: &str, text: &str, number: i32) -> Result<W, ConvertError> {
    optional_open(field, text, number)?.ok_or_else(|| ConvertError::missing(field))
}

/// Like [`open`] for a word that may be left out.
///
/// The text wins over a number this program does not know; a text it does not know is refused, because the records keep
/// only known words.
pub fn optional_open<W: Word>(field: &str, text: &str, number: i32) -> Result<Option<W>, ConvertError> {
    if text.is_empty() {
        return optional_closed(field, number);
    }
    let word: W = text.parse().map_err(|error: UnknownWord| unknown(field, &error))?;
    match W::from_number(number) {
        Some(other) if other != word => Err(ConvertError::new(
            field,
            format!("says `{}` while the enum beside it says `{}`", word.text(), other.text()),
        )),
        _ => Ok(Some(word)),
    }
}

/// Reads a list of words of an open vocabulary from their texts, their numbers, or both when they agree.
///
/// Fails with a [`ConvertError`] when both lists are given and have different lengths, and when [`open`] fails for a
/// word; the error then names its place, e.g. `field[2]`.
pub fn open_list<W: Word>(field: &str, texts: &[String], numbers: &[i32]) -> Result<Vec<W>, ConvertError> {
    if !texts.is_empty() && !numbers.is_empty() && texts.len() != numbers.len() {
        let rule = format!("has {} words while the enums beside it are {}", texts.len(), numbers.len());
        return Err(ConvertError::new(field, rule));
    }
    (0..texts.len().max(numbers.len()))
        .map(|at| {
            let text = texts.get(at).map_or("", String::as_str);
            open(&format!("{field}[{at}]"), text, numbers.get(at).copied().unwrap_or_default())
        })
        .collect()
}

/// The number of a word that may be absent: 0 when it is.
pub fn optional_number<W: Word>(word: Option<W>) -> i32 {
    word.map_or(0, W::number)
}

/// The text of a word that may be absent: empty when it is.
pub fn optional_text<W: Word>(word: Option<W>) -> String {
    word.map_or_else(String::new, |word| word.text().to_owned())
}

/// The texts of some words, in order.
pub fn texts<W: Word>(words: &[W]) -> Vec<String> {
    words.iter().map(|word| word.text().to_owned()).collect()
}

/// The numbers of some words, in order.
pub fn numbers<W: Word>(words: &[W]) -> Vec<i32> {
    words.iter().map(|word| word.number()).collect()
}

fn unknown(field: &str, error: &UnknownWord) -> ConvertError {
    ConvertError::new(field, error.to_string())
}
