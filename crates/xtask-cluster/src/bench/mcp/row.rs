//! The figures: what a case came to, beside the same calls made directly and through a proxy.

use serde::Serialize;

use crate::bench::load::Measured;

/// A case with so many calls in flight.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) case: &'static str,
    pub(super) concurrency: usize,
    pub(super) calls_per_s: f64,
    pub(super) p50_us: u64,
    /// Of the calls made directly, in calls a second.
    pub(super) ratio_to_direct: f64,
    /// Of those through the proxy, where one was measured.
    pub(super) ratio_to_proxy: Option<f64>,
}

/// The cases others are compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Baseline {
    direct: &'static str,
    proxy: &'static str,
}

impl Baseline {
    pub(super) const STREAMS: Self = Self { direct: "direct", proxy: "fastmcp" };
    pub(super) const HTTP: Self = Self { direct: "direct_http", proxy: "contextforge" };
}

impl Row {
    /// The row of what was measured, below those that are there already.
    pub(super) fn of(
        case: &'static str,
        concurrency: usize,
        measured: &Measured,
        baseline: Baseline,
        earlier: &[Self],
    ) -> Self {
        Self::made(case, concurrency, (measured.per_second(), measured.percentile(50)), baseline, earlier)
    }

    fn made(
        case: &'static str,
        concurrency: usize,
        (rate, p50_us): (f64, u64),
        baseline: Baseline,
        earlier: &[Self],
    ) -> Self {
        let ratio_to = |case: &str| {
            let row = earlier.iter().find(|row| row.case == case && row.concurrency == concurrency)?;
            Some((rate / row.calls_per_s * 1000.0).round() / 1000.0)
        };
        let (ratio_to_direct, ratio_to_proxy) = (ratio_to(baseline.direct).unwrap_or(1.0), ratio_to(baseline.proxy));
        Self { case, concurrency, calls_per_s: rate.round(), p50_us, ratio_to_direct, ratio_to_proxy }
    }
}

/// Prints the rows.
pub(super) fn show(rows: &[Row]) {
    println!("case           in flight   calls/s     p50 us   of direct   of the proxy");
    for Row { case, concurrency, calls_per_s, p50_us, ratio_to_direct, ratio_to_proxy } in rows {
        let proxy = ratio_to_proxy.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
        println!("{case:<14} {concurrency:>9} {calls_per_s:>9.0} {p50_us:>10} {ratio_to_direct:>11.3}   {proxy:>12}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_the_same_concurrency() {
        let made = |case, rate, rows: &[Row]| Row::made(case, 16, (rate, 1), Baseline::STREAMS, rows);
        let mut rows = vec![Row::made("direct", 1, (1000.0, 1), Baseline::STREAMS, &[]), made("direct", 8000.0, &[])];
        let alone = made("toolplane", 4000.0, &rows);
        assert_eq!((alone.ratio_to_direct, alone.ratio_to_proxy), (0.5, None));
        rows.push(made("fastmcp", 500.0, &rows));
        let row = made("toolplane", 4000.0, &rows);
        assert_eq!((row.ratio_to_direct, row.ratio_to_proxy), (0.5, Some(8.0)));
    }
}
