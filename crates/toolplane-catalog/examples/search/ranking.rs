//! How well the right tools are found, in public sets of questions: as they are, with one slip of the keyboard in each, and every
//! second of them with what use has taught of the others.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};
use toolplane_catalog::SearchIndex;
use toolplane_catalog::catalog::CatalogEntry;
use toolplane_catalog::search::{Nearest, Question, Recall, Thesaurus};
use toolplane_meaning::Embedder;

use crate::meaning::Understood;
use crate::plain::Plain;
use crate::{ask, entry, found, taught, write};

pub(crate) const DEPTH: usize = 10;

/// The best tools for a question, by place.
type Search<'a> = &'a dyn Fn(&str) -> Vec<u32>;

/// A question, and the tools that are right for it.
pub(crate) struct Labelled {
    pub(crate) text: String,
    pub(crate) relevant: Vec<u32>,
}

/// The mean figures of some questions, in percent.
#[derive(Default)]
struct Figures {
    recall_5: f64,
    recall_10: f64,
    ndcg_10: f64,
    mrr: f64,
}

/// Measures every set of `data`, and writes the figures to `out`.
///
/// With a folder of a model, what it finds beside words, and alone, is measured too.
pub(crate) fn run(data: &str, out: &str, model: Option<&str>) {
    let model = model.map(crate::meaning::open);
    let mut sets: Vec<_> = std::fs::read_dir(data).expect("the folder of the sets").filter_map(Result::ok).collect();
    sets.sort_by_key(std::fs::DirEntry::file_name);
    let mut rows = Vec::new();
    println!(
        "{:<26} {:<8} {:<13} {:>6} {:>6} {:>8} {:>6}",
        "set", "queries", "search", "R@5", "R@10", "nDCG@10", "MRR"
    );
    for set in sets.iter().map(std::fs::DirEntry::path).filter(|path| path.join("queries.jsonl").exists()) {
        measure(&set, model.as_deref(), &mut rows);
    }
    write(out, rows, &["set", "queries", "search"]);
}

fn measure(set: &Path, model: Option<&dyn Embedder>, rows: &mut Vec<Value>) {
    let name = set.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let tools = lines(&set.join("tools.jsonl"));
    let places: HashMap<&str, u32> = tools.iter().map(|tool| text(tool, "id")).zip(0..).collect();
    let entries: Vec<CatalogEntry> = (0..).zip(&tools).map(|(place, tool)| entry(declaration(place, tool))).collect();
    let mut index = SearchIndex::default();
    entries.iter().for_each(|entry| index.insert(entry.clone()));
    let understood = model.map(|model| Understood::of(model, &entries));
    let texts: Vec<String> = tools
        .iter()
        .map(|tool| ["name", "namespace", "description"].map(|field| text(tool, field)).join(" "))
        .collect();
    let plain = Plain::of(texts.iter().map(String::as_str));
    let queries: Vec<Labelled> =
        lines(&set.join("queries.jsonl")).iter().map(|query| labelled(query, &places)).collect();
    let (snapshot, starter, none) = (index.snapshot(), Thesaurus::starter(), Thesaurus::empty());
    let toolplane =
        |thesaurus: &Thesaurus, query: &str| -> Vec<u32> { numbers(&ask(&snapshot, thesaurus, query, DEPTH, None)) };
    let learned = taught::learn(queries.iter().step_by(2));
    let with_meaning = |query: &str, learned: Option<Recall<'_>>| -> Vec<u32> {
        let asked = understood.as_ref().map(|understood| understood.ask(query));
        let meaning = asked.as_ref().map(|asked| asked as &dyn Nearest);
        let (filters, after, thesaurus) = (&[], None, &*starter);
        numbers(&found(&snapshot, &Question { text: query, filters, limit: DEPTH, after, thesaurus, learned, meaning }))
    };
    let meaning_alone = |query: &str| -> Vec<u32> {
        let near = understood.as_ref().map(|understood| understood.ask(query).nearest(DEPTH, &mut |_| true));
        numbers(&near.unwrap_or_default().iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    // Each with what it needs: a model, and questions nothing was learned from.
    let searches: [(&str, (bool, bool), Search<'_>); 7] = [
        ("toolplane", (false, false), &|query| toolplane(&starter, query)),
        ("no thesaurus", (false, false), &|query| toolplane(&none, query)),
        ("plain BM25", (false, false), &|query| plain.ask(query, DEPTH)),
        ("use of even", (false, true), &|query| taught::ask(&snapshot, &learned, query)),
        ("with meaning", (true, false), &|query| with_meaning(query, None)),
        ("use, meaning", (true, true), &|query| with_meaning(query, Some(taught::recall(&learned)))),
        ("meaning only", (true, false), &meaning_alone),
    ];
    let all: Vec<&Labelled> = queries.iter().collect();
    let odd: Vec<&Labelled> = queries.iter().skip(1).step_by(2).collect();
    for (kind, misspelt, queries) in
        [("clean", false, &all), ("one typo", true, &all), ("odd", false, &odd), ("odd typo", true, &odd)]
    {
        let halved = queries.len() < all.len();
        let can =
            |(needs_model, needs_half): (bool, bool)| (model.is_some() || !needs_model) && (halved || !needs_half);
        for (search, _, run) in searches.iter().filter(|(_, needs, _)| can(*needs)) {
            let figures = figures(queries, misspelt, run);
            println!(
                "{name:<26} {kind:<8} {search:<13} {:>6.1} {:>6.1} {:>8.1} {:>6.1}",
                figures.recall_5, figures.recall_10, figures.ndcg_10, figures.mrr
            );
            rows.push(json!({
                "set": name, "queries": kind, "search": search, "tools": tools.len(), "count": queries.len(),
                "recall_5": tenths(figures.recall_5), "recall_10": tenths(figures.recall_10),
                "ndcg_10": tenths(figures.ndcg_10), "mrr": tenths(figures.mrr),
            }));
        }
    }
}

fn figures(queries: &[&Labelled], misspelt: bool, run: Search<'_>) -> Figures {
    let mut sum = Figures::default();
    for query in queries {
        let found = if misspelt { run(&slipped(&query.text)) } else { run(&query.text) };
        let hit = |at: &usize| found.get(*at).is_some_and(|place| query.relevant.contains(place));
        let among = |most: usize| (0..most).filter(hit).count() as f64 / query.relevant.len() as f64;
        let gain = |at: usize| 1.0 / (at as f64 + 2.0).log2();
        let best: f64 = (0..query.relevant.len().min(DEPTH)).map(gain).sum();
        sum.recall_5 += among(5);
        sum.recall_10 += among(DEPTH);
        sum.ndcg_10 += (0..DEPTH).filter(hit).map(gain).sum::<f64>() / best;
        sum.mrr += (0..DEPTH).find(hit).map_or(0.0, |at| 1.0 / (at as f64 + 1.0));
    }
    let percent = |sum: f64| 100.0 * sum / queries.len() as f64;
    Figures {
        recall_5: percent(sum.recall_5),
        recall_10: percent(sum.recall_10),
        ndcg_10: percent(sum.ndcg_10),
        mrr: percent(sum.mrr),
    }
}

/// The text with one slip in one word of four letters or more: two letters swapped, one left out, doubled or replaced. Which one
/// depends on the text alone.
fn slipped(text: &str) -> String {
    let mut chance = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut pick = |most: usize| {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        (chance % most.max(1) as u64) as usize
    };
    let words: Vec<&str> = text.split(' ').collect();
    let is_word = |word: &&str| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let long: Vec<usize> = (0..words.len()).filter(|at| is_word(&words[*at])).collect();
    let Some(&wrong) = long.get(pick(long.len())) else { return text.to_owned() };
    let mut letters: Vec<char> = words[wrong].chars().collect();
    let at = pick(letters.len() - 1);
    match pick(4) {
        0 => letters.swap(at, at + 1),
        1 => drop(letters.remove(at)),
        2 => letters.insert(at, letters[at]),
        _ => letters[at] = char::from(b'a' + pick(26) as u8),
    }
    let slip: String = letters.into_iter().collect();
    words
        .iter()
        .enumerate()
        .map(|(at, word)| if at == wrong { slip.as_str() } else { word })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The places in the ids this bench gives its tools.
fn numbers(ids: &[String]) -> Vec<u32> {
    ids.iter().filter_map(|id| id.strip_prefix("tool_")?.parse().ok()).collect()
}

fn declaration(place: usize, tool: &Value) -> Value {
    // Names of the sets have signs that names of tools have not.
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' };
    let name: String = text(tool, "name").chars().map(allowed).take(128).collect();
    let parts: Vec<&str> = name.split('.').filter(|part| !part.is_empty()).collect();
    let namespace: String = text(tool, "namespace").chars().map(allowed).take(128).collect();
    let within: Vec<&str> = namespace.split('.').filter(|part| !part.is_empty()).collect();
    json!({
        "tool_id": format!("tool_{place}"), "namespace": if within.is_empty() { "none".to_owned() } else { within.join(".") },
        "name": if parts.is_empty() { "tool".to_owned() } else { parts.join(".") }, "description": text(tool, "description"),
        "lifecycle": "available", "tool_kind": "function",
    })
}

fn labelled(query: &Value, places: &HashMap<&str, u32>) -> Labelled {
    let relevant = query["relevant"].as_array().expect("the right tools");
    let relevant = relevant.iter().filter_map(|id| places.get(id.as_str()?).copied());
    Labelled { text: text(query, "query").to_owned(), relevant: relevant.collect() }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a file of the set");
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn tenths(percent: f64) -> f64 {
    (percent * 10.0).round() / 10.0
}
