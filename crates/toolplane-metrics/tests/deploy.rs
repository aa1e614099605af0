//! The dashboards and alert rules under `deploy/` name only metrics and labels that exist, and Prometheus' own program reads the rules,
//! and a page with every instrument.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests start programs and fail by panicking"
)]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use regex::Regex;
use serde_json::Value;
use toolplane_metrics::{page, table, text};

/// What Prometheus itself adds to every series.
const EVERYWHERE: [&str; 2] = ["instance", "job"];
/// Words of the query language that look like metrics where they stand.
const WORDS: [&str; 13] = [
    "and",
    "or",
    "unless",
    "by",
    "without",
    "on",
    "ignoring",
    "group_left",
    "group_right",
    "offset",
    "bool",
    "inf",
    "nan",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The metrics a query uses and the labels it selects by; then the labels it groups by.
fn parts(query: &str) -> (Vec<(String, Vec<String>)>, Vec<String>) {
    let quoted = Regex::new(r#""(?:[^"\\]|\\.)*""#).unwrap();
    let query = quoted.replace_all(query, r#""""#).into_owned();
    let grouped = Regex::new(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)").unwrap();
    let names =
        |list: &str| list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    let groups: Vec<String> =
        grouped.captures_iter(&query).flat_map(|found| -> Vec<String> { names(&found[1]) }).collect();
    let query = grouped.replace_all(&query, " ").into_owned();
    let ranges = Regex::new(r"\[[^\]]*\]").unwrap().replace_all(&query, " ").into_owned();
    let used = Regex::new(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\(|\{([^}]*)\})?").unwrap();
    let label = Regex::new(r"([a-zA-Z_]+)\s*(?:=~|!~|!=|=)").unwrap();
    let metrics = used.captures_iter(&ranges).filter(|found| found.get(2).is_none_or(|after| after.as_str() != "("));
    let metrics =
        metrics.filter(|found| !WORDS.contains(&&found[1]) && !is_span(&ranges, found.get(1).unwrap().start()));
    let metrics = metrics.map(|found| {
        let selected = found.get(3).map_or("", |labels| labels.as_str());
        (found[1].to_owned(), label.captures_iter(selected).map(|label| label[1].to_owned()).collect())
    });
    (metrics.collect(), groups)
}

/// Whether the name at this place belongs to a number, as in `1h`.
fn is_span(query: &str, at: usize) -> bool {
    query[..at].chars().next_back().is_some_and(|before| before.is_ascii_digit())
}

/// Everything that is wrong with a query.
fn faults(query: &str, known: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let (metrics, groups) = parts(query);
    let mut faults = Vec::new();
    let mut labels: Vec<&str> = EVERYWHERE.to_vec();
    for (metric, selected) in &metrics {
        let own = match known.get(metric) {
            Some(own) => own.as_slice(),
            None if metric == "up" => &[],
            None => {
                faults.push(format!("there is no metric `{metric}`"));
                continue;
            }
        };
        labels.extend(own.iter().map(String::as_str));
        let has = |label: &String| own.contains(label) || EVERYWHERE.contains(&label.as_str());
        faults.extend(selected.iter().filter(|label| !has(label)).map(|label| format!("`{metric}` has no `{label}`")));
    }
    if metrics.is_empty() {
        faults.push("it asks for nothing".to_owned());
    }
    faults.extend(groups.iter().filter(|label| !labels.contains(&label.as_str())).map(|label| format!("no `{label}`")));
    faults
}

#[track_caller]
fn assert_right(origin: &str, queries: &[String]) {
    let known = page::samples();
    assert!(!queries.is_empty(), "{origin} has no query");
    for query in queries {
        let faults = faults(query, &known);
        assert!(faults.is_empty(), "{origin}: {faults:?} in `{query}`");
    }
}

#[test]
fn alert_rules_name_what_exists() {
    let rules = read("deploy/prometheus/alerts.yml");
    let queries: Vec<String> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).map(str::to_owned).collect();
    assert_eq!(
        queries.len(),
        rules.matches("- alert:").count(),
        "an expression that is not in one line is not looked at"
    );
    assert_right("alerts.yml", &queries);
}

/// Every query of a dashboard: those of its panels, and those its variables are filled by.
fn queries(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("expr").and_then(Value::as_str).map(str::to_owned));
            if let Some(filled_by) = fields.get("definition").and_then(Value::as_str) {
                let inner = filled_by.strip_prefix("label_values(").and_then(|rest| rest.strip_suffix(')')).unwrap();
                let (metric, label) = inner.rsplit_once(',').unwrap();
                found.push(format!("sum by ({}) ({metric})", label.trim()));
            }
            fields.values().for_each(|inner| queries(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| queries(inner, found)),
        _ => {}
    }
}

#[test]
fn dashboards_name_what_exists_and_leave_nothing_out() {
    let mut all = Vec::new();
    for file in std::fs::read_dir(root().join("deploy/grafana")).unwrap() {
        let path = file.unwrap().path();
        let dashboard: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let mut found = Vec::new();
        queries(&dashboard, &mut found);
        assert_right(&path.display().to_string(), &found);
        all.extend(found);
    }
    let shown: Vec<String> = all.iter().flat_map(|query| parts(query).0).map(|(metric, _)| metric).collect();
    for metric in page::samples().into_keys() {
        let family = metric.trim_end_matches("_bucket").trim_end_matches("_sum").trim_end_matches("_count");
        assert!(shown.iter().any(|shown| shown.starts_with(family)), "no dashboard shows `{metric}`");
    }
}

#[test]
fn a_wrong_name_is_found_wherever_it_stands() {
    let known = page::samples();
    for (query, wrong) in [
        ("rate(toolplane_calls_finished_total[5m])", "toolplane_calls_finished_total"),
        (r#"sum(toolplane_calls_ended_total{tool="x"}) > 5"#, "`tool`"),
        ("sum by (tenant) (toolplane_calls_ended_total)", "`tenant`"),
        ("toolplane_pool_workers and on (queue) toolplane_pool_workers", "`queue`"),
    ] {
        assert!(faults(query, &known).iter().any(|fault| fault.contains(wrong)), "{query}");
    }
    let right =
        r#"sum by (status, le) (rate(toolplane_call_duration_seconds_bucket{status!="x{y}"}[5m] offset 1h)) > 0.5"#;
    assert_eq!(faults(right, &known), Vec::<String>::new());
}

/// What `cargo xtask test --prepare` made sure of.
fn promtool() -> Command {
    let own = root().join("target/prometheus/usr/bin/promtool");
    let mut tool = Command::new(if own.exists() { own } else { PathBuf::from("promtool") });
    tool.current_dir(root().join("deploy/prometheus"));
    tool
}

#[track_caller]
fn says_yes(mut tool: Command, input: &str) {
    tool.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = tool.spawn().unwrap_or_else(|error| panic!("promtool: {error}; run `cargo xtask test --prepare`"));
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{said}");
}

#[test]
fn prometheus_takes_the_rules_and_fires_them_as_their_tests_say() {
    for arguments in [["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]] {
        let mut tool = promtool();
        tool.args(arguments);
        says_yes(tool, "");
    }
    let mut tool = promtool();
    tool.args(["check", "config", "prometheus.toolplane.yml"]);
    says_yes(tool, "");
}

#[test]
fn prometheus_reads_a_page_with_instruments_of_each_kind() {
    table::CALLS_ENDED.add(["demo.echo", "failed", "timeout"], 1);
    table::POOL_SLOTS.add(["a \"quoted\\name", "free"], 2);
    table::RPC_SERVER.record(["toolplane.v1.InvocationService/Invoke", "OK"], Duration::from_millis(3));
    let mut tool = promtool();
    tool.args(["check", "metrics"]);
    says_yes(tool, &text::page(&toolplane_metrics::collect(), text::Format::Prometheus));
}
