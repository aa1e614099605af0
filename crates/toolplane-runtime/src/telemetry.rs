//! Logs and traces: set up once per process, the span tree of a call, and trace context in and out.
//!
//! Spans of the tree are made only by [`spans`], straight through the SDK of OpenTelemetry: they are no spans of the log, which
//! never shows them, and no layer translates them. When no exporter is set they cost one check each.

use std::time::Duration;
use toolplane_records::codes;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{KeyValue, global};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

use crate::config::{LogConfig, LogFormat, TelemetryConfig};

pub mod context;
pub mod semconv;
mod span;
pub mod spans;
#[cfg(test)]
pub(crate) mod tests;

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
            Self::AlreadySet => codes::TELEMETRY_ALREADY_SET.as_str(),
        }
    }
}

/// Keeps telemetry going; the last spans leave when it is dropped or shut down.
#[derive(Debug)]
#[must_use = "telemetry ends when this is dropped"]
pub struct TelemetryGuard {
    provider: Option<SdkTracerProvider>,
    flush_timeout: Duration,
}

impl TelemetryGuard {
    /// Sends what is waiting, without ending telemetry. Blocks at most the flush timeout of the exporter.
    pub fn flush(&self) {
        if let Some(provider) = &self.provider
            && let Err(error) = provider.force_flush()
        {
            tracing::warn!(%error, "spans could not be flushed");
        }
    }

    /// Sends the last spans and ends telemetry, at most `telemetry.flush_timeout_ms` long.
    pub async fn shutdown(mut self) {
        let (provider, limit) = (self.provider.take(), self.flush_timeout);
        // Blocking: the exporter needs the runtime's threads while we wait for it.
        let _ = tokio::task::spawn_blocking(move || end(provider, limit)).await;
    }
}

impl Drop for TelemetryGuard {
    fn drop(&mut self) {
        end(self.provider.take(), self.flush_timeout);
    }
}

fn end(provider: Option<SdkTracerProvider>, limit: Duration) {
    if let Some(provider) = provider
        && let Err(error) = provider.shutdown_with_timeout(limit)
    {
        tracing::warn!(%error, "the last spans may be lost");
    }
}

/// Sets up logs (on standard error) and, when an endpoint is configured, traces. Once per process, within the runtime.
///
/// `role` becomes the last part of `service.name`, e.g. `scheduler`; empty for all roles in one process.
///
/// Fails with [`TelemetryError::Exporter`] when traces cannot be exported to the endpoint as it is written, with
/// [`TelemetryError::Filter`] when `log.filter` is malformed, and with [`TelemetryError::AlreadySet`] when this process
/// has telemetry already.
pub fn init(config: &TelemetryConfig, log: &LogConfig, role: &str) -> Result<TelemetryGuard, TelemetryError> {
    global::set_text_map_propagator(TraceContextPropagator::new());
    let provider = config.otlp_endpoint.as_deref();
    let provider = provider.map(|endpoint| provider_to(endpoint, config, role)).transpose()?;
    Registry::default().with(log_layer(log)?).try_init().map_err(|_| TelemetryError::AlreadySet)?;
    if let Some(provider) = &provider {
        span::set_tracer(provider.tracer("toolplane"));
    }
    Ok(TelemetryGuard { provider, flush_timeout: Duration::from_millis(config.flush_timeout_ms) })
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

fn log_layer<S>(config: &LogConfig) -> Result<Box<dyn Layer<S> + Send + Sync>, TelemetryError>
where
    S: tracing::Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    let filter = parse_filter(&config.filter).map_err(TelemetryError::Filter)?;
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    Ok(match config.format {
        LogFormat::Text => {
            let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
            layer.with_ansi(colours).with_filter(filter).boxed()
        }
        LogFormat::Json => layer.json().flatten_event(true).with_filter(filter).boxed(),
    })
}

fn provider_to(endpoint: &str, config: &TelemetryConfig, role: &str) -> Result<SdkTracerProvider, TelemetryError> {
    let exporter = SpanExporter::builder().with_tonic().with_endpoint(endpoint).build();
    let exporter = exporter
        .map_err(|source| TelemetryError::Exporter { endpoint: endpoint.to_owned(), reason: source.to_string() })?;
    let name = match role {
        "" => config.service_name.clone(),
        role => format!("{}-{role}", config.service_name),
    };
    let resource = Resource::builder()
        .with_service_name(name)
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(SdkTracerProvider::builder()
        .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(config.sample_ratio))))
        .with_resource(resource)
        .with_batch_exporter(exporter)
        .build())
}
