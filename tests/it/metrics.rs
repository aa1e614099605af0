//! What a cluster counts and measures, as Prometheus and as an OTLP receiver get it, and what it says of calls in its log.

use opentelemetry_proto::tonic::metrics::v1::{Metric, metric, number_data_point};
use serde_json::Value;
use toolplane_proto::v1;
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::{Options, ports};

use crate::approvals::{answer, pending};
use crate::bed::{Bed, PATIENCE, RULES};

/// Something in the arguments that must be in no label and in no line.
const CANARY: &str = "canary-8d1f-arguments.txt";

async fn scrape(address: &str, accept: &str) -> String {
    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
    let answer = client.get(format!("http://{address}/metrics")).header("accept", accept).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 200);
    answer.text().await.unwrap()
}

/// The number of a series, of which the page has exactly one.
#[track_caller]
fn number(page: &str, series: &str) -> f64 {
    let found: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(series)?.strip_prefix(' ')).collect();
    assert_eq!(found.len(), 1, "`{series}` in\n{page}");
    found[0].split(' ').next().unwrap().parse().unwrap()
}

fn sum_of(metrics: &[Metric], name: &str) -> i64 {
    let found = metrics.iter().filter(|metric| metric.name == name).filter_map(|metric| match &metric.data {
        Some(metric::Data::Sum(sum)) => Some(&sum.data_points),
        _ => None,
    });
    let numbers = found.flatten().map(|point| match point.value {
        Some(number_data_point::Value::AsInt(number)) => number,
        _ => 0,
    });
    numbers.sum()
}

#[tokio::test]
async fn calls_are_counted_measured_and_logged_and_none_of_it_tells_what_they_were_about() {
    let receiver = OtlpReceiver::start().await.unwrap();
    let address = format!("127.0.0.1:{}", ports::free());
    let options = Options::new(RULES.replace("filter = \"info\"", "filter = \"info\"\nformat = \"json\""))
        .env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint())
        .env("TOOLPLANE__TELEMETRY__METRICS_INTERVAL_MS", "200")
        .env("TOOLPLANE__TELEMETRY__METRICS_LISTEN", &address);
    let bed = Bed::with(options).await;
    std::fs::write(bed.cluster.workspace().join(CANARY), "a b c\n").unwrap();
    let good = format!("{{\"path\":\"{CANARY}\"}}");
    let mut spec = bed.spec("text.word_count", &good);
    spec.native_call_id = "call_77".to_owned();
    spec.runtime_refs = vec!["iteration:3".to_owned()];
    spec.session_ref = "b\u{2028}c".to_owned();
    bed.followed(spec).await;
    bed.followed(v1::InvocationSpec { session_ref: r"b\u{2028}c".to_owned(), ..bed.spec("text.word_count", &good) })
        .await;
    let failed = bed.call("text.word_count", format!("{{\"path\":\"no-{CANARY}\"}}")).await;
    let denied = bed.call("http.fetch", format!("{{\"url\":\"http://127.0.0.1:9/{CANARY}\"}}")).await;
    let unknown = bed.call(CANARY, "{}").await;
    assert!(failed.is_error && denied.is_error && unknown.is_error);
    let asked = bed.submit(bed.spec("shell.exec", format!("{{\"command\":\"cat {CANARY}\"}}"))).await;
    bed.until(&asked.invocation_id, v1::InvocationStatus::AwaitingApproval).await;
    answer(&bed, &pending(&bed).await.approval_id, v1::Behavior::Deny).await;
    bed.replay(&asked.invocation_id, 1).await;

    let page = scrape(&address, "application/openmetrics-text").await;
    let class = &failed.error.as_ref().unwrap().error_class;
    let ended = |labels: &str| number(&page, &format!("toolplane_calls_ended_total{{{labels}}}"));
    assert!((ended(r#"gen_ai_tool_name="text.word_count",status="succeeded""#) - 2.0).abs() < 0.1);
    let failures = format!(r#"gen_ai_tool_name="text.word_count",status="failed",error_type="{class}""#);
    assert!((ended(&failures) - 1.0).abs() < 0.1);
    let denials = r#"gen_ai_tool_name="http.fetch",status="denied",error_type="permission_denied""#;
    assert!((ended(denials) - 1.0).abs() < 0.1);
    let waited = r#"toolplane_call_queue_wait_seconds_count{gen_ai_tool_name="text.word_count"}"#;
    assert!((number(&page, waited) - 3.0).abs() < 0.1);
    let took = r#"toolplane_call_duration_seconds_count{gen_ai_tool_name="text.word_count",status="succeeded"}"#;
    assert!((number(&page, took) - 2.0).abs() < 0.1);
    let person = r#"toolplane_call_approval_wait_seconds_count{gen_ai_tool_name="shell.exec",answer="rejected"}"#;
    assert!((number(&page, person) - 1.0).abs() < 0.1);
    for behavior in ["allow", "ask", "deny"] {
        assert!(page.contains(&format!("toolplane_decisions_total{{behavior=\"{behavior}\"")), "{page}");
    }
    assert!(page.contains("# {trace_id="), "no exemplar in\n{page}");
    for metric in
        ["toolplane_store_commit_duration_seconds", "toolplane_pool_slots", "rpc_server_call_duration_seconds"]
    {
        assert!(page.contains(&format!("# TYPE {metric} ")), "no {metric} in\n{page}");
    }
    assert!(!page.contains("canary-8d1f"), "what a call was about is in\n{page}");
    assert!(!page.contains(bed.cluster.folder().to_str().unwrap()));

    let complete = |metrics: &[Metric]| sum_of(metrics, "toolplane.calls.ended") >= 6;
    let metrics = receiver.metrics_of("toolplane", PATIENCE, complete).await.unwrap();
    assert_eq!(sum_of(&metrics, "toolplane.calls.ended"), 6);
    assert!(!format!("{metrics:?}").contains("canary-8d1f"));

    let log = std::fs::read_to_string(bed.cluster.log_file()).unwrap();
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of = |target: &str| lines.iter().filter(|line| line["target"] == target).collect::<Vec<_>>();
    let calls = of("toolplane::calls");
    assert_eq!(calls.len(), 6, "{log}");
    let first = calls.iter().find(|line| line["request_id"] == "call_77").expect("its line");
    assert_eq!((&first["event"], &first["tool"]), (&"agent_tool_done".into(), &"text.word_count".into()));
    assert_eq!((&first["status"], &first["iteration"]), (&"completed".into(), &3.into()));
    assert!(first["duration_ms"].is_u64() && first["trace_id"].is_string() && first["warnings_count"] == 0, "{first}");
    assert_eq!(first["cache_hit"], false, "{first}");
    // Two sessions never look alike, and no reader takes one for two lines.
    let sessions: Vec<_> = calls.iter().filter_map(|line| line["session_id"].as_str()).collect();
    assert_eq!(sessions, ["b\u{2028}c", r"b\u{2028}c"]);
    assert!(!log.contains('\u{2028}'), "{log}");
    let failure = calls.iter().find(|line| line["ended_as"] == "failed").expect("its line");
    assert_eq!(failure["error_code"], failed.error.unwrap().error_code.as_str());
    assert!(of("toolplane::decisions").iter().any(|line| line["status"] == "deny"), "{log}");
    assert!(!log.contains("canary-8d1f"), "what a call was about is in\n{log}");
}

/// The page is for this machine; from others it is encrypted and for callers that are known.
#[tokio::test]
async fn metrics_that_others_could_read_without_a_name_are_refused() {
    let options = Options::new(RULES).env("TOOLPLANE__TELEMETRY__METRICS_LISTEN", "0.0.0.0:9464");
    let cluster = toolplane_testkit::Cluster::prepare(options).unwrap();
    let output = cluster.command().unwrap().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("telemetry.metrics_listen") && said.contains("CONFIG_VALUE_INVALID"), "{said}");
}
