//! From texts to the words that are compared: words of identifiers and sentences, in one spelling.

mod fold;
mod split;
mod stem;
#[cfg(test)]
mod tests;

pub(crate) use fold::fold;
use split::{is_unspaced, split_case, split_scripts};
pub(super) use stem::stem;

/// Most words taken from one text; what follows adds nothing to finding a tool.
const MAX_WORDS: usize = 4_000;

/// Words that say nothing about a tool.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been", "but", "by",
    "can", "could", "d", "did", "do", "does", "doesn", "don", "each", "every", "for", "from", "give", "had", "has",
    "have", "he", "hello", "help", "her", "here", "hey", "hi", "him", "his", "how", "i", "if", "in", "into", "is",
    "isn", "it", "its", "just", "let", "like", "ll", "m", "may", "me", "might", "more", "my", "need", "no", "not",
    "of", "ok", "okay", "on", "only", "or", "our", "out", "please", "re", "s", "she", "should", "so", "some", "such",
    "t", "than", "thank", "thanks", "that", "the", "their", "them", "then", "there", "these", "they", "this", "to",
    "too", "up", "us", "use", "using", "ve", "very", "want", "was", "we", "were", "what", "when", "where", "which",
    "who", "why", "will", "with", "would", "you", "your",
];

/// Words people wrap what they ask for in. A tool may well have them, so they count, but less.
const WEAK_WORDS: &[&str] = &[
    "able",
    "anything",
    "assist",
    "available",
    "based",
    "best",
    "better",
    "current",
    "currently",
    "different",
    "explore",
    "feel",
    "feeling",
    "find",
    "found",
    "fun",
    "get",
    "give",
    "go",
    "going",
    "good",
    "great",
    "having",
    "information",
    "interested",
    "know",
    "latest",
    "look",
    "looking",
    "love",
    "many",
    "much",
    "now",
    "perfect",
    "possible",
    "provide",
    "really",
    "related",
    "right",
    "said",
    "same",
    "say",
    "show",
    "something",
    "specific",
    "sure",
    "tell",
    "thing",
    "things",
    "think",
    "today",
    "try",
    "trying",
    "understand",
    "used",
    "using",
    "way",
    "wondering",
    "working",
];

/// Whose text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// A tool's: a run of a script without spaces can be found by each of its characters too.
    Tool,
    /// A question's: such a run means its pairs, and a character means itself only where it is alone.
    Query,
}

/// Whether a word says nothing about a tool.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Whether a word of a question mostly belongs to how it is asked, and not to what is asked for.
pub(super) fn is_weak_word(word: &str) -> bool {
    WEAK_WORDS.binary_search(&word).is_ok()
}

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// In lower case.
    pub(super) word: String,
    /// It is an identifier whose parts follow as words of their own.
    pub(super) whole: bool,
}

/// The words of `text`, in order; a split identifier also as a whole.
pub(super) fn words(text: &str, side: Side) -> Vec<String> {
    tokens(text, side).into_iter().map(|token| token.word).collect()
}

/// Lower-case words: runs of letters and digits, split where an identifier changes case or goes from letters to digits;
/// a split identifier also counts as a whole. Scripts without spaces give pairs of neighbouring characters.
pub(super) fn tokens(text: &str, side: Side) -> Vec<Token> {
    let text = fold(text);
    let mut tokens = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        if tokens.len() >= MAX_WORDS {
            break;
        }
        for piece in split_scripts(run) {
            if piece.chars().next().is_some_and(is_unspaced) {
                tokens.extend(unspaced(piece, side).map(|word| Token { word, whole: false }));
                continue;
            }
            let parts = split_case(piece);
            if parts.len() > 1 {
                tokens.push(Token { word: piece.to_lowercase(), whole: true });
            }
            tokens.extend(parts.iter().map(|part| Token { word: part.to_lowercase(), whole: false }));
        }
    }
    tokens
}

/// The pairs of a run; of a tool's, its characters too.
fn unspaced(run: &str, side: Side) -> impl Iterator<Item = String> {
    let characters: Vec<char> = run.chars().collect();
    let alone = side == Side::Tool || characters.len() == 1;
    let single = characters.iter().filter(|_| alone).map(char::to_string);
    let pairs = characters.windows(2).map(|pair| pair.iter().collect::<String>());
    single.chain(pairs).collect::<Vec<_>>().into_iter()
}
