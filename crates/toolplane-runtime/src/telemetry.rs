//! Logs, traces and the sending of metrics: set up once per process, the span tree of a call, and trace context in and out.
//!
//! Spans of the tree are made only by [`spans`]: they are no spans of the log, which never shows them. Each is written once, in the form
//! in which it leaves (`otlp`), and sent by a task of its own (`export`); contexts, ids, sampling and what a process says of itself
//! are those of OpenTelemetry's crates. When no exporter is set a span costs one check.

use std::time::{Duration, Instant};

use toolplane_metrics::names;
use toolplane_records::codes;

use opentelemetry::{KeyValue, global};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

use crate::config::{LogConfig, LogFormat, TelemetryConfig};
use crate::metrics::MetricExport;

mod client;
pub mod context;
mod export;
mod fields;
mod held;
mod lines;
mod log_thread;
mod otlp;
pub mod semconv;
mod span;
pub mod spans;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use client::OtlpClient;
use client::Signal;
use export::{Exporter, FinishedSpans};
use held::Keep;
use log_thread::{LogLines, LogThread};
use span::Tracer;

pub use context::{
    CarriedContext, inject_into_headers, inject_into_metadata, parent_from_headers, parent_from_metadata, telemetry_ref,
};
pub use span::{Instrument, Span};

/// Telemetry could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// The exporter cannot be made.
    #[error("`telemetry.otlp_endpoint`: cannot export to `{endpoint}`: {reason}")]
    Exporter {
        /// The endpoint.
        endpoint: String,
        /// What the exporter said.
        reason: String,
    },
    /// The log filter is malformed.
    #[error("`log.filter`: {0}")]
    Filter(LogFilterError),
    /// The log cannot be written.
    #[error("the thread that writes the log cannot be started: {0}")]
    Log(std::io::Error),
    /// This process has telemetry already.
    #[error("telemetry is already set up in this process")]
    AlreadySet,
}

impl TelemetryError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Exporter { .. } => codes::TELEMETRY_EXPORTER.as_str(),
            Self::Filter(_) => codes::TELEMETRY_FILTER.as_str(),
            Self::Log(_) => codes::TELEMETRY_LOG.as_str(),
            Self::AlreadySet => codes::TELEMETRY_ALREADY_SET.as_str(),
        }
    }
}

/// Keeps telemetry going; the last spans and metrics leave when it is dropped or shut down.
#[derive(Debug)]
#[must_use = "telemetry ends when this is dropped"]
pub struct TelemetryGuard {
    spans: Option<FinishedSpans>,
    metrics: Option<MetricExport>,
    flush_timeout: Duration,
    /// Writes what is left of the log when it goes, so it is the last to go.
    _log: LogThread,
}

impl TelemetryGuard {
    /// Sends what is waiting, without ending telemetry. Blocks at most the flush timeout of the exporter.
    pub fn flush(&self) {
        if let Some(spans) = &self.spans
            && !spans.flush(self.flush_timeout)
        {
            tracing::warn!("spans could not be sent in time");
        }
        if let Some(metrics) = &self.metrics
            && !metrics.flush(self.flush_timeout)
        {
            tracing::warn!("metrics could not be sent in time");
        }
    }

    /// Sends the last metrics and spans and ends telemetry, at most `telemetry.flush_timeout_ms` long.
    pub async fn shutdown(mut self) {
        let (metrics, spans, limit) = (self.metrics.take(), self.spans.take(), self.flush_timeout);
        // Blocking: the exporters need the runtime's threads while we wait for them.
        let _ = tokio::task::spawn_blocking(move || end(metrics, spans, limit)).await;
    }
}

impl Drop for TelemetryGuard {
    fn drop(&mut self) {
        end(self.metrics.take(), self.spans.take(), self.flush_timeout);
    }
}

/// One bound for both: a receiver that is away takes neither.
fn end(metrics: Option<MetricExport>, spans: Option<FinishedSpans>, limit: Duration) {
    let began = Instant::now();
    if metrics.is_some_and(|metrics| !metrics.flush(limit)) {
        tracing::warn!("the last metrics may be missing");
    }
    let limit = limit.saturating_sub(began.elapsed());
    if spans.is_some_and(|spans| !spans.end(limit)) {
        tracing::warn!("the last spans may be lost");
    }
}

/// Sets up logs (on standard error) and, when an endpoint is configured, traces and metrics. Once per process, within the runtime.
///
/// `role` becomes the last part of `service.name`, e.g. `scheduler`; empty for all roles in one process.
///
/// Fails with [`TelemetryError::Exporter`] when they cannot be exported to the endpoint as it is written, with
/// [`TelemetryError::Filter`] when `log.filter` is malformed, with [`TelemetryError::Log`] when the log cannot be written, and with
/// [`TelemetryError::AlreadySet`] when this process has telemetry already.
pub fn init(config: &TelemetryConfig, log: &LogConfig, role: &str) -> Result<TelemetryGuard, TelemetryError> {
    global::set_text_map_propagator(TraceContextPropagator::new());
    let receiver = |signal| config.otlp_endpoint.as_deref().map(|endpoint| receiver(endpoint, signal)).transpose();
    let (traces, metrics) = (receiver(Signal::Traces)?, receiver(Signal::Metrics)?);
    names::TOOLS.set_most(config.metrics_tools);
    let format = log.format;
    let (lines, written) =
        LogThread::start(std::io::stderr(), move |count| lost(format, count)).map_err(TelemetryError::Log)?;
    Registry::default().with(log_layer(log, lines)?).try_init().map_err(|_| TelemetryError::AlreadySet)?;
    let spans = traces.map(|client| {
        let spans = FinishedSpans::default();
        Exporter::start(spans.clone(), client, &resource(config, role));
        span::set_tracer(Tracer::new(config.sample_ratio, keep(config), spans.clone()));
        spans
    });
    let metrics = metrics.zip(config.metrics_interval());
    let metrics = metrics.map(|(client, interval)| MetricExport::start(client, &resource(config, role), interval));
    Ok(TelemetryGuard { spans, metrics, flush_timeout: Duration::from_millis(config.flush_timeout_ms), _log: written })
}

/// Which traces are kept that the sampler leaves out.
fn keep(config: &TelemetryConfig) -> Keep {
    let slow = (config.keep_slow_ms > 0).then(|| Duration::from_millis(config.keep_slow_ms));
    Keep { errors: config.keep_errors, slow }
}

/// A log filter that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is not a log filter: {error}")]
pub struct LogFilterError {
    text: String,
    error: tracing_subscriber::filter::ParseError,
}

/// Reads a log filter.
pub(crate) fn parse_filter(text: &str) -> Result<EnvFilter, LogFilterError> {
    EnvFilter::try_new(text).map_err(|error| LogFilterError { text: text.to_owned(), error })
}

fn log_layer<S>(config: &LogConfig, out: LogLines) -> Result<Box<dyn Layer<S> + Send + Sync>, TelemetryError>
where
    S: tracing::Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    let filter = parse_filter(&config.filter).map_err(TelemetryError::Filter)?;
    let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
    Ok(lines::layer(config.format, colours, out).with_filter(filter).boxed())
}

/// The line of a log in this format that says why a process cannot go on, for one whose log does not go on either.
pub(crate) fn last_line(format: LogFormat, message: &str, code: Option<codes::Code>) -> Vec<u8> {
    lines::rendered(format, || {
        let (error_code, see) = (code.map(codes::Code::as_str), code.map(codes::Code::page));
        tracing::error!(target: "toolplane_runtime::process", error_code, see, "{message}");
    })
}

/// The last line of a log whose reader is too slow.
fn lost(format: LogFormat, count: usize) -> Vec<u8> {
    lines::rendered(format, || {
        tracing::warn!(lines = count, "the reader of the log was too slow at the end: as many lines as this are lost");
    })
}

fn receiver(endpoint: &str, signal: Signal) -> Result<OtlpClient, TelemetryError> {
    let refused = |error: client::ReceiverError| TelemetryError::Exporter {
        endpoint: endpoint.to_owned(),
        reason: error.to_string(),
    };
    OtlpClient::to(endpoint, signal).map_err(refused)
}

/// What this process is, for all its spans and metrics; also what the environment says of it (`OTEL_RESOURCE_ATTRIBUTES`).
fn resource(config: &TelemetryConfig, role: &str) -> Resource {
    let name = match role {
        "" => config.service_name.clone(),
        role => format!("{}-{role}", config.service_name),
    };
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    Resource::builder().with_service_name(name).with_attribute(version).build()
}
