//! What is kept of what use teaches: how often a word led to a tool, and who said so today.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;

/// How many notebooks a tenant has. Each is about other tools, so that little is written at a time.
pub const NOTEBOOKS: u8 = 32;
/// Most words of a tool.
const MAX_WORDS_OF_TOOL: usize = 256;
/// Most words of all tools of a notebook.
const MAX_ENTRIES: usize = 2_000;
/// Most callers that teach the same on one day.
const MAX_TEACHERS: usize = 8;
/// A weight of 1: one caller on one day.
pub(super) const ONE: u32 = 1_000;

/// A question that led to a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// Words of the question, as [`words_of`](super::words_of) gives them.
    pub words: Vec<String>,
    /// The tool that was used.
    pub tool: ToolId,
    /// Who used it.
    pub teacher: u32,
    /// The day, counted since 1970.
    pub day: u32,
    /// How much it says, in thousandths.
    pub weight: u32,
    /// How often its notebook was forgotten from, as far as who learned it knew.
    pub era: u32,
}

/// What is learned of some tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notebook {
    tools: BTreeMap<ToolId, BTreeMap<SmolStr, Evidence>>,
    /// How often something of it was forgotten. What was learned before is not written into it afterwards.
    #[serde(default)]
    era: u32,
}

/// How often a word led to a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Evidence {
    /// In thousandths, as it was on `day`; later it is less.
    #[serde(rename = "w")]
    pub(super) weight: u32,
    /// The last day something was added.
    #[serde(rename = "d")]
    pub(super) day: u32,
    /// Who has added something on that day: each counts once.
    #[serde(rename = "by", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) teachers: Vec<u32>,
}

impl Lesson {
    /// The notebook that lessons about a tool belong into.
    pub fn notebook_of(tool: &ToolId) -> u8 {
        number_of(tool.as_str()).to_le_bytes()[0] % NOTEBOOKS
    }

    /// A caller as lessons name it: enough to count it once, too little to tell who it is.
    pub fn teacher(caller: &str) -> u32 {
        number_of(caller)
    }
}

impl Notebook {
    /// How often something of it was forgotten.
    pub fn era(&self) -> u32 {
        self.era
    }

    /// Forgets what is known of a tool, or everything; of how many tools, and how many words. Lessons of before that are not written
    /// yet are forgotten with it, those about the notebook's other tools too.
    pub fn forget(&mut self, tool: Option<&ToolId>) -> (usize, usize) {
        self.era = self.era.saturating_add(1);
        let gone = match tool {
            Some(tool) => self.tools.remove_entry(tool).into_iter().collect(),
            None => std::mem::take(&mut self.tools),
        };
        (gone.len(), gone.values().map(BTreeMap::len).sum())
    }

    /// Writes a lesson down; false where it says nothing new.
    pub fn learn(&mut self, lesson: &Lesson, half_life_days: u32) -> bool {
        if lesson.era < self.era {
            return false;
        }
        let mut new = false;
        let words = self.tools.entry(lesson.tool.clone()).or_default();
        for word in &lesson.words {
            new |= words.entry(word.as_str().into()).or_default().add(lesson, half_life_days);
        }
        words.retain(|_, evidence| evidence.weight > 0);
        let weight = |evidence: &Evidence| evidence.at(lesson.day, half_life_days);
        while words.len() > MAX_WORDS_OF_TOOL {
            let weakest = words.iter().min_by_key(|(_, evidence)| weight(evidence)).map(|(word, _)| word.clone());
            let Some(weakest) = weakest else { break };
            words.remove(&weakest);
        }
        if words.is_empty() {
            self.tools.remove(&lesson.tool);
        }
        self.shrink(lesson.day, half_life_days);
        new
    }

    /// Lets the weakest go, where there are too many.
    fn shrink(&mut self, day: u32, half_life_days: u32) {
        let count: usize = self.tools.values().map(BTreeMap::len).sum();
        if count <= MAX_ENTRIES {
            return;
        }
        let weights = self.entries().map(|(tool, word, one)| (one.at(day, half_life_days), tool, word));
        let mut weights: Vec<_> = weights.map(|(weight, tool, word)| (weight, tool.clone(), word.clone())).collect();
        weights.sort_unstable();
        // Some at a time, so that not each lesson goes through all of them.
        for (_, tool, word) in weights.into_iter().take(count - MAX_ENTRIES * 9 / 10) {
            if let Some(words) = self.tools.get_mut(&tool) {
                words.remove(&word);
            }
        }
        self.tools.retain(|_, words| !words.is_empty());
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&ToolId, &SmolStr, &Evidence)> {
        self.tools.iter().flat_map(|(tool, words)| words.iter().map(move |(word, evidence)| (tool, word, evidence)))
    }
}

impl Evidence {
    fn add(&mut self, lesson: &Lesson, half_life_days: u32) -> bool {
        if lesson.day > self.day {
            self.weight = self.at(lesson.day, half_life_days);
            self.day = lesson.day;
            self.teachers.clear();
        }
        let known = self.teachers.contains(&lesson.teacher) || self.teachers.len() >= MAX_TEACHERS;
        // What is told late, of a day before, would count again.
        if known || lesson.day < self.day {
            return false;
        }
        self.teachers.push(lesson.teacher);
        self.weight = self.weight.saturating_add(lesson.weight.min(ONE));
        true
    }

    fn at(&self, day: u32, half_life_days: u32) -> u32 {
        weight_at(self.weight, self.day, day, half_life_days)
    }
}

/// What is left of a weight on a later day.
pub(super) fn weight_at(weight: u32, since: u32, day: u32, half_life_days: u32) -> u32 {
    let ago = f64::from(day.saturating_sub(since)) / f64::from(half_life_days.max(1));
    (f64::from(weight) * (-ago).exp2()).round() as u32
}

/// The same number for the same text, everywhere.
fn number_of(text: &str) -> u32 {
    let digest = Digest::of(text.as_bytes());
    let [a, b, c, d, ..] = *digest.as_bytes();
    u32::from_le_bytes([a, b, c, d])
}
