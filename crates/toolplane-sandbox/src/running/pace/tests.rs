use std::time::Duration;

use tokio::time::Instant;

use super::Pace;
use crate::limits::Rate;

fn seconds(number: f64) -> Duration {
    Duration::from_secs_f64(number)
}

#[test]
fn a_burst_goes_at_once_and_the_rest_at_the_rate() {
    let begin = Instant::now();
    let mut pace = Pace::new(Rate { bytes_per_second: 100, burst_bytes: 200 }, begin);
    pace.flowed(200, begin);
    assert_eq!(pace.wait(begin), None);
    pace.flowed(50, begin);
    assert_eq!(pace.wait(begin), Some(begin + seconds(0.5)));
    assert_eq!(pace.wait(begin + seconds(0.5)), None);
    // A pause earns one burst, not more.
    let later = begin + seconds(1000.0);
    pace.flowed(300, later);
    assert_eq!(pace.wait(later), Some(later + seconds(1.0)));
}

#[test]
fn no_rate_stops_the_clock_or_overflows() {
    let now = Instant::now();
    for rate in [0, 1, u64::MAX] {
        let mut pace = Pace::new(Rate { bytes_per_second: rate, burst_bytes: u64::MAX }, now);
        pace.flowed(u64::MAX, now);
        let _ = pace.wait(now);
    }
}

/// However the bytes are cut: in any stretch of time no more than the rate, one burst and one chunk flow.
#[test]
fn the_flow_stays_below_the_rate_however_it_is_cut() {
    let rate = Rate { bytes_per_second: 1000, burst_bytes: 500 };
    for chunk in [1, 7, 64, 999, 5000] {
        let begin = Instant::now();
        let (mut pace, mut now, mut flowed) = (Pace::new(rate, begin), begin, 0);
        while flowed < 50_000 {
            now = pace.wait(now).unwrap_or(now);
            pace.flowed(chunk, now);
            flowed += chunk;
            let allowed = (now - begin).as_secs_f64() * 1000.0 + 500.0 + chunk as f64;
            assert!(flowed as f64 <= allowed + 1.0, "{flowed} after {:?} in chunks of {chunk}", now - begin);
        }
        let expected = 50.0 - 0.5 - chunk as f64 / 1000.0;
        assert!((now - begin).as_secs_f64() >= expected - 0.01, "too fast in chunks of {chunk}");
    }
}
