//! An inverted index over the texts of tools, ranked by BM25 with a weight per field.

use std::collections::{BTreeMap, HashMap};

use toolplane_records::ids::ToolId;

use super::text::terms;
use crate::validate::Checked;

/// Name and aliases; title and search hint; namespace; description; parameter names.
const FIELDS: usize = 5;
/// How much a word counts by where it is.
const WEIGHT: [f64; FIELDS] = [3.0, 2.0, 1.0, 1.0, 0.5];
/// How much a long field discounts its words.
const LENGTH: [f64; FIELDS] = [0.4, 0.5, 0.2, 0.75, 0.75];
/// How soon repeating a word stops to count.
const SATURATION: f64 = 1.2;
/// Most parameter names that are indexed.
const MAX_PARAMETERS: usize = 200;
/// Most terms of a query that count, the rarest: each is compared with every tool that has it.
const MAX_WANTED: usize = 64;

/// One tool found, with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// The tool.
    pub tool_id: ToolId,
    /// Higher is better; only comparable within one query.
    pub score: f64,
}

/// The searchable texts of every tool of a catalog. Tools can be replaced one at a time.
#[derive(Debug, Default)]
pub struct SearchIndex {
    documents: HashMap<ToolId, Document>,
    /// Term to the tools it is in, in order of their ids so that sums do not depend on history.
    postings: HashMap<String, BTreeMap<ToolId, [u32; FIELDS]>>,
    total_length: [u64; FIELDS],
}

#[derive(Debug)]
struct Document {
    terms: Vec<String>,
    length: [u32; FIELDS],
}

impl SearchIndex {
    /// Adds a tool, or replaces what was known of it.
    pub fn insert(&mut self, tool: &Checked) {
        let tool_id = &tool.registration().declaration.tool_id;
        self.remove(tool_id);
        let mut counts: HashMap<String, [u32; FIELDS]> = HashMap::new();
        let mut length = [0u32; FIELDS];
        for (field, text) in texts(tool).iter().enumerate() {
            for term in terms(text) {
                counts.entry(term).or_default()[field] += 1;
                length[field] += 1;
            }
        }
        for (total, length) in self.total_length.iter_mut().zip(length) {
            *total += u64::from(length);
        }
        self.documents.insert(tool_id.clone(), Document { terms: counts.keys().cloned().collect(), length });
        for (term, counts) in counts {
            self.postings.entry(term).or_default().insert(tool_id.clone(), counts);
        }
    }

    /// Forgets a tool.
    pub fn remove(&mut self, tool_id: &ToolId) {
        let Some(document) = self.documents.remove(tool_id) else { return };
        for (total, length) in self.total_length.iter_mut().zip(document.length) {
            *total -= u64::from(length);
        }
        for term in document.terms {
            if let Some(tools) = self.postings.get_mut(&term) {
                tools.remove(tool_id);
                if tools.is_empty() {
                    self.postings.remove(&term);
                }
            }
        }
    }

    /// The tools that share a term with `query`, best first; equal scores in order of ids.
    ///
    /// The order depends on nothing but the query and the tools that are indexed.
    pub fn search(&self, query: &str) -> Vec<SearchHit> {
        let mut scores: HashMap<&ToolId, f64> = HashMap::new();
        let mut wanted = terms(query);
        wanted.sort();
        wanted.dedup();
        let mut lists: Vec<_> = wanted.iter().filter_map(|term| self.postings.get(term)).collect();
        if lists.len() > MAX_WANTED {
            lists.sort_by_key(|tools| tools.len());
            lists.truncate(MAX_WANTED);
        }
        for tools in lists {
            let rarity = self.rarity(tools.len());
            for (tool_id, counts) in tools {
                if let Some(document) = self.documents.get(tool_id) {
                    let frequency = self.weighted_frequency(document, counts);
                    *scores.entry(tool_id).or_default() += rarity * frequency / (SATURATION + frequency);
                }
            }
        }
        let hit = |(tool_id, score): (&ToolId, f64)| SearchHit { tool_id: tool_id.clone(), score };
        let mut hits: Vec<SearchHit> = scores.into_iter().map(hit).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.tool_id.cmp(&b.tool_id)));
        hits
    }

    fn rarity(&self, having: usize) -> f64 {
        let (all, having) = (self.documents.len() as f64, having as f64);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    fn weighted_frequency(&self, document: &Document, counts: &[u32; FIELDS]) -> f64 {
        let mut sum = 0.0;
        for field in 0..FIELDS {
            if counts[field] > 0 {
                let average = self.total_length[field] as f64 / self.documents.len() as f64;
                let relative = f64::from(document.length[field]) / average;
                sum += WEIGHT[field] * f64::from(counts[field]) / (1.0 - LENGTH[field] + LENGTH[field] * relative);
            }
        }
        sum
    }
}

fn texts(tool: &Checked) -> [String; FIELDS] {
    let registration = tool.registration();
    let declaration = &registration.declaration;
    let names = format!("{} {}", declaration.name, registration.aliases().join(" "));
    let phrases = format!("{} {}", declaration.title, registration.search_hint());
    [names, phrases, declaration.namespace.clone(), declaration.description.clone(), parameters(tool)]
}

fn parameters(tool: &Checked) -> String {
    let names = tool.parameters().iter().take(MAX_PARAMETERS);
    names.map(String::as_str).collect::<Vec<_>>().join(" ")
}
