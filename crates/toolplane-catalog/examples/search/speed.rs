//! How long questions take, and what memory the index takes, by the number of tools.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolplane_catalog::catalog::CatalogEntry;
use toolplane_catalog::search::Thesaurus;
use toolplane_catalog::{Effort, NameIndex, SearchIndex};

use crate::plain::Plain;
use crate::{ask, entry, growth, made, write};

const QUESTIONS: usize = 2_000;
const LIMIT: usize = 10;
/// Clients that ask at once.
const CLIENTS: usize = 16;

/// Measures with each number of tools, and writes the rows to `out`.
pub(crate) fn run(out: &str, sizes: &[&str]) {
    match sizes {
        [size] => {
            let mut rows = Vec::new();
            println!(
                "{:<14} {:>8} {:>9} {:>9} {:>10} {:>10}",
                "case", "tools", "p50 us", "p99 us", "per s", "bytes/tool"
            );
            let tools = size.parse().expect("a number of tools");
            growth::measure(tools, &mut rows);
            measure(tools, &mut rows);
            write(out, rows, &["case", "tools"]);
        }
        // Each in a process of its own: what one gave back would be counted as memory the next one does not take.
        sizes => sizes.iter().for_each(|size| alone(out, size)),
    }
}

/// Measures with one number of tools in another process, which adds its rows to `out`.
fn alone(out: &str, size: &str) {
    let program = std::env::current_exe().expect("a program");
    let ended = Command::new(program).args(["speed", out, size]).status().expect("a process");
    assert!(ended.success(), "the process for {size} tools ended with {ended}");
}

fn measure(tools: usize, rows: &mut Vec<Value>) {
    let entries: Vec<CatalogEntry> = (0..tools).map(|number| entry(made::tool(number))).collect();
    let (mut index, started) = (SearchIndex::default(), Instant::now());
    let mut times = Vec::with_capacity(tools);
    for one in &entries {
        let began = Instant::now();
        index.insert(one.clone());
        times.push(began.elapsed());
    }
    // By its own count: what was given back before is taken again, and does not show.
    let bytes = index.heap_bytes() as u64 / tools as u64;
    println!("index: {:.1} s, {} terms", started.elapsed().as_secs_f64(), index.terms());
    tell(rows, "index", tools, &mut times, Some(bytes));
    tell(rows, "index_replace", tools, &mut replace(&mut index, &entries), None);
    let (snapshot, thesaurus) = (index.snapshot(), Thesaurus::starter());
    let questions: Vec<String> = (0..QUESTIONS).map(|number| made::question(number, tools)).collect();
    let run = |question: &String| drop(ask(&snapshot, &thesaurus, question, LIMIT, None));
    questions.iter().take(200).for_each(run);
    tell(rows, "query", tools, &mut timed(&questions, run), Some(bytes));
    at_once(tools, &questions, run, rows);
    drop(snapshot);
    let names = names(&entries);
    let wrong: Vec<String> = (0..QUESTIONS).map(|number| made::wrong_name(number, tools)).collect();
    let similar = |name: &String| drop(names.similar(name, &mut Effort::of_one_request(), |_| true));
    tell(rows, "unknown_name", tools, &mut timed(&wrong, similar), None);
    drop(index);
    let texts: Vec<String> = entries.iter().map(words).collect();
    let plain = Plain::of(texts.iter().map(String::as_str));
    tell(rows, "query_plain_bm25", tools, &mut timed(&questions, |question| drop(plain.ask(question, LIMIT))), None);
    drop(plain);
    #[cfg(feature = "tantivy")]
    measure_tantivy(&texts, &questions, rows);
}

/// The same questions from many clients at once: how many are answered per second, beside one client alone.
fn at_once(tools: usize, questions: &[String], run: impl Fn(&String) + Sync, rows: &mut Vec<Value>) {
    let began = Instant::now();
    questions.iter().for_each(&run);
    let alone = questions.len() as f64 / began.elapsed().as_secs_f64();
    let took = Instant::now();
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let ask = |client: usize| {
            // Each asks all of them, from a place of its own.
            let mine: Vec<&String> = questions.iter().cycle().skip(client * 97).take(questions.len()).collect();
            let run = &run;
            scope.spawn(move || timed(&mine, |question| run(question)))
        };
        let clients: Vec<_> = (0..CLIENTS).map(ask).collect();
        clients.into_iter().flat_map(|client| client.join().expect("a client that ends")).collect()
    });
    let took = took.elapsed().as_secs_f64();
    times.sort();
    let per_s = times.len() as f64 / took;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let [p50, p99] = [0.5, 0.99].map(|part| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6);
    let (case, scale) = (format!("query_{CLIENTS}_clients"), per_s / alone);
    println!("{case:<14} {tools:>8} {p50:>9.1} {p99:>9.1} {per_s:>10.0}   {scale:.2} of one client, on {cores} cores");
    rows.push(json!({
        "case": case, "tools": tools, "p50_us": p50.round(), "p99_us": p99.round(), "per_s": per_s.round(), "bytes_per_tool": null,
        "of_one_client": scale, "cores": cores,
    }));
}

/// The same questions to tantivy, and one more text until it can be found.
#[cfg(feature = "tantivy")]
fn measure_tantivy(texts: &[String], questions: &[String], rows: &mut Vec<Value>) {
    let (tools, before) = (texts.len(), resident());
    let mut outside = crate::outside::Tantivy::of(texts.iter().map(String::as_str));
    let bytes = resident().saturating_sub(before) / tools as u64;
    questions.iter().take(200).for_each(|question| drop(outside.ask(question, LIMIT)));
    let mut times = timed(questions, |question| drop(outside.ask(question, LIMIT)));
    tell(rows, "query_tantivy", tools, &mut times, Some(bytes));
    let mut times: Vec<Duration> = (0..200)
        .map(|number| {
            let began = Instant::now();
            outside.add((tools + number) as u64, &texts[number % tools]);
            began.elapsed()
        })
        .collect();
    tell(rows, "index_tantivy", tools, &mut times, None);
}

/// Replaces tools by others of the same id, while a reader holds the index as it was.
fn replace(index: &mut SearchIndex, entries: &[CatalogEntry]) -> Vec<Duration> {
    let mut chance = made::Chance::new(9);
    let mut times = Vec::new();
    for _ in 0..500 {
        let (old, other) = (chance.below(entries.len()), chance.below(entries.len()));
        let mut tool = made::tool(other);
        tool["tool_id"] = json!(format!("tool_{old}"));
        let changed = entry(tool);
        let held = index.snapshot();
        let began = Instant::now();
        index.insert(changed);
        times.push(began.elapsed());
        drop(held);
        index.insert(entries[old].clone());
    }
    times
}

fn names(entries: &[CatalogEntry]) -> NameIndex {
    let mut names = NameIndex::default();
    entries.iter().for_each(|entry| names.put(&Arc::clone(&entry.tool)));
    names
}

fn words(entry: &CatalogEntry) -> String {
    let declaration = &entry.tool.registration().declaration;
    format!("{} {} {}", declaration.name, declaration.namespace, declaration.description)
}

fn timed<T>(all: &[T], run: impl Fn(&T)) -> Vec<Duration> {
    let time = |one| {
        let began = Instant::now();
        run(one);
        began.elapsed()
    };
    all.iter().map(time).collect()
}

pub(crate) fn tell(rows: &mut Vec<Value>, case: &str, tools: usize, times: &mut [Duration], bytes: Option<u64>) {
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6;
    let (p50, p99) = (at(0.5), at(0.99));
    let per_s = times.len() as f64 / times.iter().sum::<Duration>().as_secs_f64();
    let told = bytes.map_or("-".to_owned(), |bytes| bytes.to_string());
    println!("{case:<14} {tools:>8} {p50:>9.1} {p99:>9.1} {per_s:>10.0} {told:>10}");
    rows.push(json!({
        "case": case, "tools": tools, "p50_us": p50.round(), "p99_us": p99.round(), "per_s": per_s.round(), "bytes_per_tool": bytes,
    }));
}

/// Bytes of memory this process has.
pub(crate) fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("a Linux");
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("pages") * 4096
}
