//! `docs/metrics.md`, written from the table, and the names by which Prometheus knows everything in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::about::Kind;
use crate::table;

const HEAD: &str = "\
# Metrics

<!-- Written by `cargo xtask gen` from `crates/toolplane-metrics/src/table.rs`. -->

Every process counts and measures for itself; what it says holds since it was started, and sums over processes are sums of the cluster.
Numbers about calls are told by the scheduler whose commit changed the call, after that commit, so a call is counted once however many
schedulers there are. A scheduler that dies right after a commit has not told it: the records are the truth, and metrics are for rates.

* **Prometheus:** `GET /metrics` on the address of `telemetry.metrics_listen`; the process says on standard output which it is. A
  reader that accepts OpenMetrics also gets exemplars: the newest sampled trace of each range of a histogram about calls.
* **OTLP:** sent to `telemetry.otlp_endpoint` every `telemetry.metrics_interval_ms`, cumulative, beside the traces.

Names here are those of OpenTelemetry; Prometheus' are in the second column. Labels have bounded sets of values: no text of a caller, tool
or person, no session, no tenant and no argument is ever one of them, and an instrument has at most 2,000 series (further ones are told
together as `other`). Dashboards and alert rules are in `deploy/grafana` and `deploy/prometheus`.

";

/// The page.
pub fn page() -> String {
    let mut out = HEAD.to_owned();
    out.push_str(
        "| metric | in Prometheus | kind | labels | told by | what it says |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let mut meanings = BTreeMap::new();
    for instrument in table::ALL {
        let about = instrument.about();
        let labels: Vec<_> = instrument.labels().iter().map(|label| format!("`{}`", label.spelled())).collect();
        let _ = writeln!(
            out,
            "| `{}` | `{}` | {} | {} | {} | {} |",
            about.name,
            sample_names(instrument.kind(), &about.family()).remove(0),
            instrument.kind().as_str(),
            labels.join(", "),
            about.told_by,
            about.help,
        );
        for label in instrument.labels() {
            let said = meanings.entry(label.spelled()).or_insert_with(Vec::new);
            if !said.contains(&label.values) {
                said.push(label.values);
            }
        }
    }
    out.push_str("\n## Labels\n\n| label | values |\n| --- | --- |\n");
    for (label, values) in meanings {
        let _ = writeln!(out, "| `{label}` | {} |", values.join("; or "));
    }
    out
}

/// Every name a query may use, with the labels it has; `le` is one of those of ranges.
pub fn samples() -> BTreeMap<String, Vec<String>> {
    let mut samples = BTreeMap::new();
    for instrument in table::ALL {
        let labels: Vec<String> = instrument.labels().iter().map(|label| label.spelled()).collect();
        for name in sample_names(instrument.kind(), &instrument.about().family()) {
            let ranged = name.ends_with("_bucket").then(|| "le".to_owned());
            samples.insert(name, labels.iter().cloned().chain(ranged).collect());
        }
    }
    samples
}

fn sample_names(kind: Kind, family: &str) -> Vec<String> {
    let endings: &[&str] = match kind {
        Kind::Counter => &["_total"],
        Kind::Gauge => &[""],
        Kind::Histogram => &["_bucket", "_sum", "_count"],
    };
    endings.iter().map(|ending| format!("{family}{ending}")).collect()
}
