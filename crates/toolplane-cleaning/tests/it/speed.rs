//! How fast texts are cleaned, beside a plain copy of them.

use std::time::Duration;

use toolplane_cleaning::{Class, Cleaner, CleaningPolicy, Findings};

/// Time this thread has run so far: what others do on the machine does not count.
struct Instant(Duration);

impl Instant {
    fn now() -> Self {
        let said = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        Self(Duration::from_nanos(said.split_whitespace().next().unwrap().parse().unwrap()))
    }

    fn elapsed(&self) -> Duration {
        Self::now().0 - self.0
    }
}

/// `cargo test --release -p toolplane-cleaning --test it -- speed --ignored --nocapture` prints MB a second.
#[test]
#[ignore = "a measurement, of release builds"]
#[expect(clippy::print_stdout, reason = "the figures are for the one who makes rules")]
fn speed_of_texts_with_nothing_and_with_a_secret_on_each_line() {
    let now = Instant::now();
    let cleaner = Cleaner::new(&CleaningPolicy::default());
    let _ = cleaner.text("x", &mut Findings::default());
    println!("a cleaner is made in {:?}, ", now.elapsed());
    let now = Instant::now();
    let _ = Cleaner::new(&CleaningPolicy::default()).text("x", &mut Findings::default());
    println!("another in {:?}", now.elapsed());
    let plain = "2026-01-01T10:00:00Z INFO request 17 took 12 ms and answered 200 to GET /v1/items?page=3 from ten\n";
    let url = "2026-01-01T10:00:00Z INFO GET /v1/items?access_token=9f2c44aa01be took 12 ms and answered 200\n";
    let named = "2026-01-01T10:00:00Z INFO connecting with db_password=Tr0ub4dor-x9Q! to the host db-17 as admin\n";
    let vendor = "2026-01-01T10:00:00Z INFO token ghp_0123456789abcdefghijABCDEFGHIJ012345 was used for the call\n";
    let chinese = "2026年1月1日，服务“订单”启动完成：共处理 17 条记录，耗时 12 毫秒；下一次运行在明天上午。\n";
    let mixed = [plain, url, named, vendor].concat();
    let lines = [
        ("nothing", plain),
        ("chinese", chinese),
        ("url", url),
        ("named", named),
        ("vendor", vendor),
        ("mixed", &mixed),
    ];
    for (name, line) in lines {
        let text = line.repeat(8_000_000 / line.len());
        let megabytes = text.len() as f64 / 1e6;
        let start = Instant::now();
        let copy = std::hint::black_box(text.as_bytes().to_vec());
        let copied = megabytes / start.elapsed().as_secs_f64();
        let start = Instant::now();
        let (mut stream, mut out) = (cleaner.stream(), Vec::with_capacity(copy.len()));
        copy.chunks(64 * 1024).for_each(|piece| stream.push(piece, &mut out));
        let found = stream.finish(&mut out);
        let pieces = megabytes / start.elapsed().as_secs_f64();
        let start = Instant::now();
        let _ = std::hint::black_box(cleaner.text(&text, &mut Findings::default()));
        let whole = megabytes / start.elapsed().as_secs_f64();
        println!(
            "{name:<10} {pieces:>8.1} MB/s in pieces {whole:>8.1} as one; a copy {copied:.0}; masked {}",
            found.masked()
        );
    }
}

/// Bytes that are no text, as the scheduler looks through them: for credentials alone.
#[test]
#[ignore = "a measurement, of release builds"]
#[expect(clippy::print_stdout, reason = "the figures are for the one who makes rules")]
fn speed_of_bytes_that_are_no_text() {
    let cleaner = Cleaner::new(&CleaningPolicy::default().only(Class::Credentials));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let random: Vec<u8> = (0..4_000_000).flat_map(|_| next().to_le_bytes()).collect();
    // Small numbers, as programs and matrices have them: many zeros, few values.
    let numbers: Vec<u8> = (0..4_000_000).flat_map(|_| (next() % 5_000).to_le_bytes()).collect();
    for (name, bytes) in [("random", random), ("numbers", numbers)] {
        let start = Instant::now();
        let (mut stream, mut out) = (cleaner.stream(), Vec::new());
        for piece in bytes.chunks(64 * 1024) {
            stream.push(piece, &mut out);
            out.clear();
        }
        let found = stream.finish(&mut out);
        let speed = bytes.len() as f64 / 1e6 / start.elapsed().as_secs_f64();
        println!("{name:<10} {speed:>8.1} MB/s in pieces; masked {}", found.masked());
    }
}
