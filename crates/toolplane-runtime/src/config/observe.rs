//! Traces and logs.

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

/// Traces, sent by OTLP over gRPC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TelemetryConfig {
    /// Where spans go, e.g. `http://127.0.0.1:4317`; nothing is recorded when absent.
    pub otlp_endpoint: Option<String>,
    /// First part of `service.name`; the role follows, as in `toolplane-scheduler`.
    pub service_name: String,
    /// Share of new traces that are recorded, 0 to 1; a caller's own decision is respected.
    pub sample_ratio: f64,
    /// Whether arguments and results of tools may appear in spans. They may be secret: off unless you are sure.
    pub capture_content: bool,
    /// How a worker's span refers to the span that queued the call.
    pub queue_parenting: QueueParenting,
    /// Longest time the last spans may take to leave at the end of the process.
    pub flush_timeout_ms: u64,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self {
            otlp_endpoint: None,
            service_name: "toolplane".to_owned(),
            sample_ratio: 1.0,
            capture_content: false,
            queue_parenting: QueueParenting::Parent,
            flush_timeout_ms: 5_000,
        }
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
