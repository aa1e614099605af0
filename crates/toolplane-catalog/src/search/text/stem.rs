//! English words without their endings.

use rust_stemmers::{Algorithm, Stemmer};

/// The word without the endings English puts on it. Both sides of a comparison go through it, so it need not be a word.
pub(in crate::search) fn stem(word: &str) -> String {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    Stemmer::create(Algorithm::English).stem(word).into_owned()
}
