//! What is compared with: plain BM25 (k1 = 1.5, b = 0.75) over name, namespace and description, with Snowball's English endings and
//! the usual stop words left out.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

const K1: f64 = 1.5;
const B: f64 = 0.75;

const STOP_WORDS: &str = "i me my we our you your he him his she her it its they them their what which who whom this that these those am \
    is are was were be been being have has had do does did a an the and but if or because as until while of at by for with about \
    against between into through during before after above below to from up down in out on off over under again then here there \
    when where why how all any both each few more most other some such no nor not only own same so than too very s t can will just \
    don should now";

/// An index of plain BM25.
pub(crate) struct Plain {
    stemmer: Stemmer,
    postings: HashMap<String, Vec<(u32, u32)>>,
    lengths: Vec<u32>,
}

impl Plain {
    pub(crate) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut plain =
            Self { stemmer: Stemmer::create(Algorithm::English), postings: HashMap::new(), lengths: Vec::new() };
        for (place, text) in (0..).zip(texts) {
            let words = plain.words(text);
            plain.lengths.push(words.len() as u32);
            let mut counts: HashMap<String, u32> = HashMap::new();
            for word in words {
                *counts.entry(word).or_default() += 1;
            }
            for (word, count) in counts {
                plain.postings.entry(word).or_default().push((place, count));
            }
        }
        plain
    }

    /// The best `limit` texts by place, best first.
    pub(crate) fn ask(&self, query: &str, limit: usize) -> Vec<u32> {
        let all = self.lengths.len() as f64;
        let average = self.lengths.iter().map(|length| f64::from(*length)).sum::<f64>() / all;
        let mut scores: HashMap<u32, f64> = HashMap::new();
        let mut words = self.words(query);
        words.sort();
        words.dedup();
        for list in words.iter().filter_map(|word| self.postings.get(word)) {
            let having = list.len() as f64;
            let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            for (place, count) in list {
                let (count, length) = (f64::from(*count), f64::from(self.lengths[*place as usize]));
                let frequency = count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / average));
                *scores.entry(*place).or_default() += rarity * frequency;
            }
        }
        let mut ranked: Vec<(u32, f64)> = scores.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        ranked.into_iter().take(limit).map(|(place, _)| place).collect()
    }

    fn words(&self, text: &str) -> Vec<String> {
        let mut split = String::with_capacity(text.len());
        let mut before = ' ';
        for c in text.chars() {
            if before.is_lowercase() && c.is_uppercase() {
                split.push(' ');
            }
            split.push(c);
            before = c;
        }
        let lower = split.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let telling = words.filter(|word| STOP_WORDS.split_whitespace().all(|stop| stop != *word));
        telling.map(|word| self.stemmer.stem(word).into_owned()).collect()
    }
}
