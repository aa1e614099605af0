//! What of a tool is looked at, and how much a word counts by where it is.

use std::collections::HashMap;

use crate::catalog::own_names;
use crate::filter::{FilterKind, plain};
use crate::search::text::{Side, is_stop_word, stem, words};
use crate::traits::Traits;
use crate::validate::Checked;

/// Most parameter names that are looked at.
const MAX_PARAMETERS: usize = 200;
/// How soon repeating a word stops to count.
const SATURATION: f64 = 2.0;
/// The most a word of a tool can say.
const FULL_WEIGHT: f64 = 65_535.0;

/// A text of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum Field {
    Name,
    Alias,
    Title,
    Hint,
    Namespace,
    Description,
    Parameters,
    Examples,
}

/// How a field counts.
struct Share {
    /// How much one word of it says.
    weight: f64,
    /// How many words it has as a rule. Fixed, so that what a tool's words weigh depends on no other tool.
    usual_length: f64,
    /// How much a longer text than usual takes from each of its words.
    discount: f64,
}

impl Field {
    pub(in crate::search) const ALL: [Self; 8] = [
        Self::Name,
        Self::Alias,
        Self::Title,
        Self::Hint,
        Self::Namespace,
        Self::Description,
        Self::Parameters,
        Self::Examples,
    ];

    pub(in crate::search) const fn bit(self) -> u8 {
        1 << self as u8
    }

    pub(in crate::search) const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Alias => "alias",
            Self::Title => "title",
            Self::Hint => "search_hint",
            Self::Namespace => "namespace",
            Self::Description => "description",
            Self::Parameters => "parameters",
            Self::Examples => "search_examples",
        }
    }

    const fn share(self) -> Share {
        let (weight, usual_length, discount) = match self {
            Self::Name => (4.0, 3.0, 0.4),
            Self::Alias => (2.0, 3.0, 0.4),
            Self::Title => (2.0, 4.0, 0.5),
            Self::Hint => (2.0, 6.0, 0.5),
            Self::Namespace => (1.0, 2.0, 0.2),
            Self::Description => (1.0, 18.0, 0.75),
            Self::Parameters => (0.5, 6.0, 0.75),
            Self::Examples => (1.5, 20.0, 0.75),
        };
        Share { weight, usual_length, discount }
    }

    /// What the tool says there.
    pub(in crate::search) fn text(self, tool: &Checked) -> String {
        let registration = tool.registration();
        let declaration = &registration.declaration;
        match self {
            Self::Name => declaration.name.clone(),
            Self::Alias => registration.aliases().join(" "),
            Self::Title => declaration.title.clone(),
            Self::Hint => registration.search_hint().to_owned(),
            Self::Namespace => declaration.namespace.clone(),
            Self::Description => declaration.description.clone(),
            Self::Parameters => {
                let names = tool.parameters().iter().take(MAX_PARAMETERS);
                names.map(String::as_str).collect::<Vec<_>>().join(" ")
            }
            Self::Examples => declaration.search_examples.join(" "),
        }
    }
}

/// A word of a tool: how much it says, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TermWeight {
    pub(super) weight: u16,
    pub(super) fields: u8,
}

/// Everything a tool is found by.
#[derive(Debug, Default)]
pub(crate) struct ToolWords {
    /// Words without their endings.
    pub(super) terms: HashMap<String, TermWeight>,
    /// Words as they are written, and the fields they are in.
    pub(super) forms: HashMap<String, u8>,
    /// Whole names, and what it can be filtered by.
    pub(super) keys: Vec<String>,
}

/// Words and what is left of them without their endings: tools that are worked out together have most of their words in common.
#[derive(Debug, Default)]
pub(super) struct Stems(HashMap<String, String>);

impl Stems {
    fn of(&mut self, word: &str) -> &str {
        if !self.0.contains_key(word) {
            self.0.insert(word.to_owned(), stem(word));
        }
        self.0.get(word).map_or("", String::as_str)
    }
}

impl ToolWords {
    pub(crate) fn of(tool: &Checked, traits: &Traits) -> Self {
        Self::with(tool, traits, &mut Stems::default())
    }

    /// The same, with what is left of words that were met before.
    pub(super) fn with(tool: &Checked, traits: &Traits, stems: &mut Stems) -> Self {
        let mut frequencies: HashMap<String, (f64, u8)> = HashMap::new();
        let mut forms: HashMap<String, u8> = HashMap::new();
        for field in Field::ALL {
            let words = words(&field.text(tool), Side::Tool);
            let nothing_told = words.iter().all(|word| is_stop_word(word));
            let telling: Vec<&String> = words.iter().filter(|word| nothing_told || !is_stop_word(word)).collect();
            let share = field.share();
            let length = 1.0 - share.discount + share.discount * telling.len() as f64 / share.usual_length;
            for word in telling {
                let stem = stems.of(word);
                let (frequency, fields) = match frequencies.get_mut(stem) {
                    Some(known) => known,
                    None => frequencies.entry(stem.to_owned()).or_default(),
                };
                *frequency += share.weight / length;
                *fields |= field.bit();
                if word.bytes().all(|byte| byte.is_ascii_digit()) {
                    // Nobody means another number.
                    continue;
                }
                if let Some(fields) = forms.get_mut(word) {
                    *fields |= field.bit();
                } else {
                    forms.insert(word.clone(), field.bit());
                }
            }
        }
        let saturated = |(frequency, fields): (f64, u8)| {
            let weight = (FULL_WEIGHT * frequency / (SATURATION + frequency)).round() as u16;
            TermWeight { weight: weight.max(1), fields }
        };
        let terms = frequencies.into_iter().map(|(term, found)| (term, saturated(found))).collect();
        Self { terms, forms, keys: keys(tool, traits) }
    }
}

/// What tools can be chosen by, without regard to words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum KeyKind {
    Name,
    Filter(FilterKind),
}

/// The entry of the dictionary for a whole name or a filter. No word has such signs.
pub(in crate::search) fn key(kind: KeyKind, value: &str) -> String {
    let sign = match kind {
        KeyKind::Name => "=",
        KeyKind::Filter(FilterKind::Namespace) => ":n:",
        KeyKind::Filter(FilterKind::Kind) => ":k:",
        KeyKind::Filter(FilterKind::Risk) => ":r:",
        KeyKind::Filter(FilterKind::Provider) => ":p:",
        KeyKind::Filter(FilterKind::Tag) => ":t:",
        KeyKind::Filter(FilterKind::Capability) => ":c:",
    };
    format!("{sign}{}", plain(value))
}

fn keys(tool: &Checked, traits: &Traits) -> Vec<String> {
    let registration = tool.registration();
    let mut keys =
        vec![key(KeyKind::Name, &registration.declaration.name), key(KeyKind::Name, &registration.bare_name())];
    keys.extend(own_names(registration).iter().map(|(name, _)| key(KeyKind::Name, name)));
    for by in FilterKind::ALL {
        keys.extend(by.words_of(traits).into_iter().map(|word| key(KeyKind::Filter(by), word)));
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}
