//! The figures: what a way in came to, beside the cheapest one, and beside other proxies of the same server.

use serde::Serialize;

use crate::bench::load::Measured;

/// A way in with so many calls in flight.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) case: &'static str,
    pub(super) concurrency: usize,
    pub(super) calls_per_s: f64,
    pub(super) p50_us: u64,
    /// Of `grpc`, in calls a second.
    pub(super) ratio_to_grpc: Option<f64>,
    /// Of `server`: the same MCP server behind our front door.
    pub(super) ratio_to_server: Option<f64>,
}

impl Row {
    /// The row of what was measured, below those that are there already.
    pub(super) fn of(case: &'static str, concurrency: usize, measured: &Measured, earlier: &[Self]) -> Self {
        Self::made(case, concurrency, (measured.per_second(), measured.percentile(50)), earlier)
    }

    fn made(case: &'static str, concurrency: usize, (rate, p50_us): (f64, u64), earlier: &[Self]) -> Self {
        let ratio_to = |case: &str| {
            let row = earlier.iter().find(|row| row.case == case && row.concurrency == concurrency)?;
            Some((rate / row.calls_per_s * 1000.0).round() / 1000.0)
        };
        let (ratio_to_grpc, ratio_to_server) = (ratio_to("grpc"), ratio_to("server"));
        Self { case, concurrency, calls_per_s: rate.round(), p50_us, ratio_to_grpc, ratio_to_server }
    }
}

/// Prints the rows.
pub(super) fn show(rows: &[Row]) {
    println!("case             in flight   calls/s     p50 us     of grpc   of server");
    let shown = |ratio: &Option<f64>| ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
    for Row { case, concurrency, calls_per_s, p50_us, ratio_to_grpc, ratio_to_server } in rows {
        let (grpc, server) = (shown(ratio_to_grpc), shown(ratio_to_server));
        println!("{case:<16} {concurrency:>9} {calls_per_s:>9.0} {p50_us:>10} {grpc:>11} {server:>11}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_the_same_concurrency() {
        let mut rows = vec![Row::made("grpc", 1, (1000.0, 1), &[]), Row::made("grpc", 16, (8000.0, 1), &[])];
        let json = Row::made("json", 16, (4000.0, 1), &rows);
        assert_eq!((json.ratio_to_grpc, json.ratio_to_server), (Some(0.5), None));
        rows.push(Row::made("server", 16, (500.0, 1), &rows));
        assert_eq!(Row::made("server_fastmcp", 16, (250.0, 1), &rows).ratio_to_server, Some(0.5));
    }
}
