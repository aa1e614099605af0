//! A cluster as a real Prometheus reads it: what it is asked afterwards, it got from the page alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::process::Process;
use toolplane_testkit::{Options, ports};
use toolplane_wait::eventually;

use crate::bed::{Bed, PATIENCE, RULES};

struct Prometheus {
    _process: Process,
    address: String,
    client: reqwest::Client,
}

impl Prometheus {
    /// One that reads `target`, with the rules that are shipped.
    fn start(folder: &Path, target: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let own = root.join("target/prometheus/usr/bin/prometheus");
        let rules = root.join("deploy/prometheus/alerts.yml");
        let config = folder.join("prometheus.yml");
        let text = format!(
            "global: {{ scrape_interval: 200ms, evaluation_interval: 200ms }}\nrule_files: [{}]\nscrape_configs:\n  - job_name: \
             toolplane\n    static_configs: [{{ targets: [\"{target}\"] }}]\n",
            rules.display()
        );
        std::fs::write(&config, text).unwrap();
        let address = format!("127.0.0.1:{}", ports::free());
        let mut command = Command::new(if own.exists() { own } else { PathBuf::from("prometheus") });
        command.arg(format!("--config.file={}", config.display()));
        command.arg(format!("--storage.tsdb.path={}", folder.join("series").display()));
        command.arg(format!("--web.listen-address={address}")).arg("--enable-feature=exemplar-storage");
        let process = Process::start("prometheus", &mut command, &folder.join("prometheus.log"))
            .expect("run `cargo xtask test --prepare`");
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { _process: process, address, client }
    }

    /// What it answers, as soon as it answers.
    async fn ask(&self, path: &str, query: &[(&str, &str)]) -> Option<Value> {
        let url = reqwest::Url::parse_with_params(&format!("http://{}/api/v1/{path}", self.address), query).unwrap();
        let answer = self.client.get(url).send().await.ok()?.bytes().await.ok()?;
        let answer: Value = serde_json::from_slice(&answer).ok()?;
        (answer["status"] == "success").then(|| answer["data"].clone())
    }

    /// The one number of a query, when it has one.
    async fn number(&self, query: &str) -> Option<f64> {
        let data = self.ask("query", &[("query", query)]).await?;
        data["result"][0]["value"][1].as_str()?.parse().ok()
    }
}

#[tokio::test]
async fn what_happened_can_be_asked_of_prometheus() {
    let page = format!("127.0.0.1:{}", ports::free());
    let receiver = OtlpReceiver::start().await.unwrap();
    let options = Options::new(RULES)
        .env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint())
        .env("TOOLPLANE__TELEMETRY__METRICS_LISTEN", &page);
    let bed = Bed::with(options).await;
    let folder = bed.cluster.folder().join("prometheus");
    std::fs::create_dir_all(&folder).unwrap();
    let prometheus = Prometheus::start(&folder, &page);
    std::fs::write(bed.cluster.workspace().join("there.txt"), "a b c\n").unwrap();
    let good = bed.call("text.word_count", r#"{"path":"there.txt"}"#).await;
    let bad = bed.call("text.word_count", r#"{"path":"not-there.txt"}"#).await;
    assert!(!good.is_error && bad.is_error);

    let ended = eventually("both calls are read", PATIENCE, async || {
        prometheus.number("sum(toolplane_calls_ended_total)").await.filter(|number| *number > 1.5)
    });
    assert!((ended.await - 2.0).abs() < 0.1);
    let failed = prometheus.number(r#"toolplane_calls_ended_total{status="failed"}"#).await.unwrap();
    assert!((failed - 1.0).abs() < 0.1, "{failed}");
    let p99 = "histogram_quantile(0.99, sum by (le) (toolplane_call_duration_seconds_bucket))";
    let p99 = prometheus.number(p99).await.unwrap();
    assert!(p99 > 0.0 && p99 < PATIENCE.as_secs_f64(), "{p99}");

    // An exemplar leads from a histogram to the trace of a call.
    let traces = [&good, &bad].map(|result| result.telemetry_refs[0].trace_id.clone());
    eventually("an exemplar names the trace of a call", PATIENCE, async || {
        let query = [("query", "toolplane_call_duration_seconds_bucket"), ("start", "0"), ("end", "9999999999")];
        let found = prometheus.ask("query_exemplars", &query).await?.to_string();
        traces.iter().any(|trace| found.contains(trace.as_str())).then_some(())
    })
    .await;

    let rules = eventually("every rule was tried", PATIENCE, async || {
        let groups = prometheus.ask("rules", &[]).await?;
        let rules: Vec<Value> = groups["groups"]
            .as_array()?
            .iter()
            .flat_map(|group| group["rules"].as_array().cloned())
            .flatten()
            .collect();
        (!rules.is_empty() && rules.iter().all(|rule| rule["health"] != "unknown")).then_some(rules)
    })
    .await;
    assert!(rules.iter().all(|rule| rule["health"] == "ok"), "{rules:?}");
}
