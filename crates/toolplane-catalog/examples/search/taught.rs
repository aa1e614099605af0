//! What use teaches, measured: learned from every second question, and asked about the others.

use std::collections::BTreeMap;

use toolplane_catalog::search::{Learned, Lesson, Notebook, Recall, Snapshot, words_of};
use toolplane_records::ids::ToolId;

use crate::ask_taught;
use crate::ranking::{DEPTH, Labelled};

const DAY: u32 = 20_000;
const HALF_LIFE_DAYS: u32 = 30;

/// What was learned from the questions at even places: each led once to each of its right tools.
pub(crate) fn learn<'q>(questions: impl Iterator<Item = &'q Labelled>) -> Learned {
    let mut notebooks: BTreeMap<u8, Notebook> = BTreeMap::new();
    for (teacher, question) in (0..).zip(questions) {
        for place in &question.relevant {
            let tool = ToolId::parse(&format!("tool_{place}")).expect("an id");
            // As a load of several tools is counted.
            let weight = 1_000 / question.relevant.len() as u32;
            let lesson = Lesson { words: words_of(&question.text), tool, teacher, day: DAY, weight, era: 0 };
            notebooks.entry(Lesson::notebook_of(&lesson.tool)).or_default().learn(&lesson, HALF_LIFE_DAYS);
        }
    }
    Learned::of(notebooks.values(), HALF_LIFE_DAYS)
}

/// What was learned, on the day it was.
pub(crate) fn recall(learned: &Learned) -> Recall<'_> {
    learned.on(DAY)
}

/// The best tools for a question, by place.
pub(crate) fn ask(index: &Snapshot, learned: &Learned, query: &str) -> Vec<u32> {
    let found = ask_taught(index, recall(learned), query, DEPTH);
    found.iter().filter_map(|id| id.strip_prefix("tool_")?.parse().ok()).collect()
}
