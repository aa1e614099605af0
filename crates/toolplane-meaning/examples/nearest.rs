//! How long it takes to find the nearest of so many vectors, and how much memory they take:
//! `cargo run --release -p toolplane-meaning --example nearest -- 3000 30000 300000`.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement ends where something does not work"
)]

use std::time::{Duration, Instant};

use toolplane_meaning::{Quantised, Vectors};

/// As many numbers as a vector of MiniLM has.
const DIMENSION: usize = 384;
const QUESTIONS: usize = 200;
const MOST: usize = 100;

fn main() {
    println!(
        "{:>8} {:>9} {:>9} {:>12} {:>12} {:>12}",
        "vectors", "p50 us", "p99 us", "insert ns", "remove ns", "bytes each"
    );
    for count in std::env::args().skip(1) {
        measure(count.parse().expect("a number of vectors"));
    }
}

fn measure(count: usize) {
    let mut chance = Chance(1);
    let mut vectors = Vectors::new(DIMENSION);
    let mut inserting = Duration::ZERO;
    for key in 0..count {
        let vector = chance.vector();
        let began = Instant::now();
        vectors.insert(key, &vector);
        inserting += began.elapsed();
    }
    let mut times: Vec<Duration> = (0..QUESTIONS)
        .map(|_| {
            let question = chance.vector();
            let began = Instant::now();
            assert_eq!(vectors.nearest(&question, MOST, -1.0, |_| true).len(), MOST.min(count));
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    let bytes = vectors.heap_bytes() / count;
    let began = Instant::now();
    (0..count).step_by(2).for_each(|key| assert!(vectors.remove(&key)));
    let removing = began.elapsed() / u32::try_from(count.div_ceil(2)).expect("not too many");
    println!(
        "{count:>8} {:>9} {:>9} {:>12} {:>12} {bytes:>12}",
        times[QUESTIONS / 2].as_micros(),
        times[QUESTIONS * 99 / 100].as_micros(),
        inserting.as_nanos() / count as u128,
        removing.as_nanos(),
    );
}

/// Numbers that look drawn, the same in each run.
struct Chance(u64);

impl Chance {
    fn vector(&mut self) -> Quantised {
        let mut number = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
        };
        let numbers: Vec<f32> = (0..DIMENSION).map(|_| number()).collect();
        Quantised::of(&numbers).expect("a direction")
    }
}
