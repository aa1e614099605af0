//! From texts to the terms that are compared: words of identifiers and sentences, lower case, without endings.

/// Most terms taken from one text; what follows adds nothing to finding a tool.
const MAX_TERMS: usize = 4_000;

/// Words that say nothing about a tool.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been", "but", "by",
    "can", "could", "did", "do", "does", "for", "from", "give", "had", "has", "have", "he", "help", "her", "here",
    "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "like", "me", "more", "my", "need",
    "no", "not", "of", "on", "or", "our", "out", "please", "she", "should", "so", "some", "such", "than", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "to", "up", "us", "use", "using", "want", "was",
    "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

/// The terms of `text` in order, stop words left out unless nothing else is there.
pub(super) fn terms(text: &str) -> Vec<String> {
    let words = words(text);
    let telling: Vec<String> =
        words.iter().filter(|word| STOP_WORDS.binary_search(&word.as_str()).is_err()).map(|word| stem(word)).collect();
    if telling.is_empty() { words.iter().map(|word| stem(word)).collect() } else { telling }
}

/// Lower-case words: runs of letters and digits, split where an identifier changes case or goes from letters to digits;
/// a split identifier also counts as a whole. Scripts without spaces give pairs of neighbouring characters.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        if words.len() >= MAX_TERMS {
            break;
        }
        for piece in split_scripts(run) {
            if piece.chars().next().is_some_and(is_unspaced) {
                words.extend(pairs(piece));
                continue;
            }
            let parts = split_case(piece);
            if parts.len() > 1 {
                words.push(piece.to_lowercase());
            }
            words.extend(parts.iter().map(|part| part.to_lowercase()));
        }
    }
    words
}

/// Scripts written without spaces between words: Han, kana, Hangul syllables, Thai.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0E7F}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{2FA1F}')
}

fn split_scripts(run: &str) -> Vec<&str> {
    split_where(run, |before, after, _| is_unspaced(before) != is_unspaced(after))
}

fn split_case(run: &str) -> Vec<&str> {
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

fn pairs(run: &str) -> Vec<String> {
    let characters: Vec<char> = run.chars().collect();
    match characters.as_slice() {
        [single] => vec![single.to_string()],
        many => many.windows(2).map(|pair| pair.iter().collect()).collect(),
    }
}

/// The word without the endings English puts on it. Both sides of a comparison go through it, so it need not be a word.
pub(super) fn stem(word: &str) -> String {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut stem = without_plural(word);
    stem = without_verb_ending(&stem);
    for (ending, kept, shortest) in [
        ("ization", "iz", 9),
        ("ation", "at", 7),
        ("ator", "at", 6),
        ("ment", "", 8),
        ("ion", "", 6),
        ("er", "", 6),
        ("ly", "", 6),
    ] {
        if stem.len() >= shortest
            && let Some(root) = stem.strip_suffix(ending)
        {
            stem = format!("{root}{kept}");
            break;
        }
    }
    if stem.len() > 3
        && let Some(root) = stem.strip_suffix('e')
    {
        stem = root.to_owned();
    }
    if stem.len() > 2
        && let Some(root) = stem.strip_suffix('y')
        && !root.ends_with(is_vowel)
    {
        stem = format!("{root}i");
    }
    stem
}

fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

fn without_plural(word: &str) -> String {
    let keeps_its_s = ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    let hissing = ["sses", "xes", "ches", "shes", "zes"].iter().any(|ending| word.ends_with(ending));
    match word {
        _ if keeps_its_s => word.to_owned(),
        _ if hissing => word[..word.len() - 2].to_owned(),
        _ => match (word.strip_suffix("ies"), word.strip_suffix('s')) {
            (Some(root), _) if root.len() >= 2 => format!("{root}y"),
            (_, Some(root)) => root.to_owned(),
            _ => word.to_owned(),
        },
    }
}

fn without_verb_ending(word: &str) -> String {
    if let Some(root) = word.strip_suffix("ied")
        && root.len() >= 2
    {
        return format!("{root}y");
    }
    let root = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed"));
    match root {
        Some(root) if root.len() >= 3 && root.contains(is_vowel) => {
            let doubled = root.as_bytes().windows(2).next_back().is_some_and(|pair| pair[0] == pair[1]);
            let keeps = root.ends_with(['l', 's', 'z']);
            if doubled && !keeps { root[..root.len() - 1].to_owned() } else { root.to_owned() }
        }
        _ => word.to_owned(),
    }
}
