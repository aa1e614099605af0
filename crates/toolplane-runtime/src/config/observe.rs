//! Traces, metrics and logs.

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a worker's span refers to the span that queued the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueueParenting {
    /// As its child, and linked to it: one trace per call.
    #[default]
    Parent,
    /// Only linked to it: a new trace per attempt.
    Link,
}

/// Traces and metrics, sent by OTLP over gRPC; metrics also to be read from this process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TelemetryConfig {
    /// Where spans and metrics go, e.g. `http://127.0.0.1:4317`; no span is recorded when absent.
    pub otlp_endpoint: Option<String>,
    /// First part of `service.name`; the role follows, as in `toolplane-scheduler`.
    pub service_name: String,
    /// Share of new traces that are recorded, 0 to 1; a caller's own decision is respected.
    pub sample_ratio: f64,
    /// Whether traces that are left out by that are kept all the same when something in them failed.
    pub keep_errors: bool,
    /// Traces of calls that took at least so long are kept, too; 0 keeps none for that.
    pub keep_slow_ms: u64,
    /// Whether arguments and results of tools may appear in spans. They may be secret: off unless you are sure.
    pub capture_content: bool,
    /// How a worker's span refers to the span that queued the call.
    pub queue_parenting: QueueParenting,
    /// Where this process answers `GET /metrics` for Prometheus, e.g. `127.0.0.1:9464`; nowhere when absent. Beyond loopback,
    /// `server.tls` and `server.auth` are required, and the reader is an operator or an auditor.
    pub metrics_listen: Option<SocketAddr>,
    /// How often metrics are sent to `otlp_endpoint`; 0 is never.
    pub metrics_interval_ms: u64,
    /// How many tools metrics tell apart by name; further ones are told together as `other`.
    pub metrics_tools: usize,
    /// Longest time the last spans and metrics may take to leave at the end of the process.
    pub flush_timeout_ms: u64,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self {
            otlp_endpoint: None,
            service_name: "toolplane".to_owned(),
            sample_ratio: 1.0,
            keep_errors: true,
            keep_slow_ms: 10_000,
            capture_content: false,
            queue_parenting: QueueParenting::Parent,
            metrics_listen: None,
            metrics_interval_ms: 60_000,
            metrics_tools: 200,
            flush_timeout_ms: 5_000,
        }
    }
}

impl TelemetryConfig {
    /// How often metrics are sent, if they are.
    pub fn metrics_interval(&self) -> Option<Duration> {
        (self.metrics_interval_ms > 0).then(|| Duration::from_millis(self.metrics_interval_ms))
    }
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Logs, on standard error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// What is logged, e.g. `info` or `warn,toolplane_scheduler=debug`.
    pub filter: String,
    /// How log lines look.
    pub format: LogFormat,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { filter: "info".to_owned(), format: LogFormat::Text }
    }
}
