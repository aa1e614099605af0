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

impl Row {
    /// The row of what was measured, below those that are there already.
    pub(super) fn of(case: &'static str, concurrency: usize, measured: &Measured, earlier: &[Self]) -> Self {
        Self::made(case, concurrency, measured.per_second(), measured.percentile(50), earlier)
    }

    fn made(case: &'static str, concurrency: usize, rate: f64, p50_us: u64, earlier: &[Self]) -> Self {
        let ratio_to = |case: &str| {
            let row = earlier.iter().find(|row| row.case == case && row.concurrency == concurrency)?;
            Some((rate / row.calls_per_s * 1000.0).round() / 1000.0)
        };
        let (ratio_to_direct, ratio_to_proxy) = (ratio_to("direct").unwrap_or(1.0), ratio_to("fastmcp"));
        Self { case, concurrency, calls_per_s: rate.round(), p50_us, ratio_to_direct, ratio_to_proxy }
    }
}

/// Prints the rows.
pub(super) fn show(rows: &[Row]) {
    println!("case       in flight   calls/s     p50 us   of direct   of the proxy");
    for Row { case, concurrency, calls_per_s, p50_us, ratio_to_direct, ratio_to_proxy } in rows {
        let proxy = ratio_to_proxy.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
        println!("{case:<10} {concurrency:>9} {calls_per_s:>9.0} {p50_us:>10} {ratio_to_direct:>11.3}   {proxy:>12}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_the_same_concurrency() {
        let mut rows = vec![Row::made("direct", 1, 1000.0, 1, &[]), Row::made("direct", 16, 8000.0, 1, &[])];
        let alone = Row::made("toolplane", 16, 4000.0, 2, &rows);
        assert_eq!((alone.ratio_to_direct, alone.ratio_to_proxy), (0.5, None));
        rows.push(Row::made("fastmcp", 16, 500.0, 3, &rows));
        let row = Row::made("toolplane", 16, 4000.0, 2, &rows);
        assert_eq!((row.ratio_to_direct, row.ratio_to_proxy), (0.5, Some(8.0)));
    }
}
