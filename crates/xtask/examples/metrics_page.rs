//! Prints `docs/metrics.md`: everything the processes count and measure.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(toolplane_metrics::page::page().as_bytes())
}
