//! Sizes, times and other small things as words.

use std::time::Duration;

use prost_types::Timestamp;
use toolplane_runtime::clock;

/// A size, e.g. `12.3 MiB`.
pub(crate) fn bytes(size: u64) -> String {
    indicatif::BinaryBytes(size).to_string()
}

/// A duration, e.g. `340 ms`, `3.2 s`, `4 min 10 s`.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        1..=59 => format!("{:.1} s", time.as_secs_f64()),
        60..=3599 => format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60),
        3600..=86_399 => format!("{} h {} min", time.as_secs() / 3600, time.as_secs() / 60 % 60),
        _ => format!("{} d", time.as_secs() / 86_400),
    }
}

/// An instant in UTC, to the second; `-` when there is none.
pub(crate) fn instant(at: Option<&Timestamp>) -> String {
    let read = at.and_then(|at| jiff::Timestamp::from_second(at.seconds).ok());
    read.map_or_else(|| "-".to_owned(), |at| at.to_string())
}

/// How long ago an instant was, by this machine's clock; `-` when there is none.
pub(crate) fn age(at: Option<&Timestamp>) -> String {
    let now = clock::since_epoch().as_secs();
    let Some(seconds) = at.and_then(|at| u64::try_from(at.seconds).ok()) else { return "-".to_owned() };
    match now.saturating_sub(seconds) {
        0 => "now".to_owned(),
        seconds => duration(Duration::from_secs(seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_the_unit_that_fits() {
        let words = [40, 3_200, 250_000, 7_260_000, 90_000_000].map(|ms| duration(Duration::from_millis(ms)));
        assert_eq!(words, ["40 ms", "3.2 s", "4 min 10 s", "2 h 1 min", "1 d"]);
    }
}
