//! The one request to an OTLP receiver, over a connection that is made when it is first needed.
//!
//! `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_EXPORTER_OTLP_TIMEOUT` and their `_TRACES_` and `_METRICS_` forms are read as OpenTelemetry says.

use std::str::FromStr as _;
use std::time::Duration;

use http::uri::PathAndQuery;
use tonic::client::Grpc;
use tonic::metadata::{MetadataKey, MetadataMap, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Spans.
    Traces,
    /// Metrics.
    Metrics,
}

impl Signal {
    const fn method(self) -> &'static str {
        match self {
            Self::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
            Self::Metrics => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
        }
    }

    /// A setting of the environment: that for this signal, else that for everything.
    fn setting(self, name: &str) -> Option<String> {
        let found = |name: String| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
        let own = match self {
            Self::Traces => "TRACES",
            Self::Metrics => "METRICS",
        };
        found(format!("OTEL_EXPORTER_OTLP_{own}_{name}")).or_else(|| found(format!("OTEL_EXPORTER_OTLP_{name}")))
    }
}

/// How long a request may take where the environment does not say.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Nothing can be sent as the configuration and the environment say. No value of a header is named: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReceiverError {
    /// Encryption is asked for.
    #[error("traces and metrics are sent without TLS; name a collector by `http://` that passes them on")]
    Encrypted,
    /// The address is none.
    #[error("{0}")]
    Malformed(String),
    /// The address names no host.
    #[error("it has no host")]
    NoHost,
    /// The time limit of the environment is none.
    #[error("OTEL_EXPORTER_OTLP_TIMEOUT is not a number of milliseconds")]
    Timeout,
    /// The headers of the environment cannot be read.
    #[error("OTEL_EXPORTER_OTLP_HEADERS: not of the form `name=value,name=value`")]
    Headers,
}

/// A receiver of traces or metrics.
#[derive(Clone, Debug)]
pub(crate) struct OtlpClient {
    signal: Signal,
    channel: Channel,
    headers: MetadataMap,
}

impl OtlpClient {
    /// The receiver at `endpoint`. Nothing is sent yet. Fails with [`ReceiverError`] when the endpoint or the environment cannot be
    /// understood.
    pub(super) fn to(endpoint: &str, signal: Signal) -> Result<Self, ReceiverError> {
        if endpoint.starts_with("https:") {
            return Err(ReceiverError::Encrypted);
        }
        let malformed = |error: tonic::transport::Error| ReceiverError::Malformed(error.to_string());
        let parsed = Endpoint::from_shared(endpoint.to_owned()).map_err(malformed)?;
        if parsed.uri().host().is_none() {
            return Err(ReceiverError::NoHost);
        }
        let channel = parsed.timeout(timeout(signal)?).connect_timeout(TIMEOUT).connect_lazy();
        Ok(Self { signal, channel, headers: headers(&signal.setting("HEADERS").unwrap_or_default())? })
    }

    /// Sends what is there of the signal. Fails as the receiver does, or when it is not there.
    pub(crate) async fn export<Q, A>(&self, request: Q) -> Result<A, Status>
    where
        Q: prost::Message + Send + Sync + 'static,
        A: prost::Message + Default + Send + Sync + 'static,
    {
        let mut client = Grpc::new(self.channel.clone());
        client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let mut request = Request::new(request);
        *request.metadata_mut() = self.headers.clone();
        let codec = ProstCodec::<Q, A>::default();
        Ok(client.unary(request, PathAndQuery::from_static(self.signal.method()), codec).await?.into_inner())
    }
}

fn timeout(signal: Signal) -> Result<Duration, ReceiverError> {
    let Some(text) = signal.setting("TIMEOUT") else { return Ok(TIMEOUT) };
    text.trim().parse().map(Duration::from_millis).map_err(|_| ReceiverError::Timeout)
}

/// Reads `name=value,name=value`; values are percent-encoded.
fn headers(text: &str) -> Result<MetadataMap, ReceiverError> {
    let mut headers = MetadataMap::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or(ReceiverError::Headers)?;
        let value =
            percent_encoding::percent_decode_str(value.trim()).decode_utf8().map_err(|_| ReceiverError::Headers)?;
        let name = MetadataKey::from_str(&name.trim().to_ascii_lowercase()).map_err(|_| ReceiverError::Headers)?;
        let mut value = MetadataValue::from_str(&value).map_err(|_| ReceiverError::Headers)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_the_convention_says() {
        let read = headers("Authorization=Bearer%20abc, x-team=tools").expect("well-formed");
        assert_eq!(read.get("authorization").map(|value| value.as_bytes()), Some(&b"Bearer abc"[..]));
        assert_eq!(read.get("x-team").map(|value| value.as_bytes()), Some(&b"tools"[..]));
        assert!(headers("").expect("nothing").is_empty());
        let error = headers("x-key s3cret").expect_err("no `=`").to_string();
        assert!(!error.contains("s3cret"), "{error}");
    }

    #[tokio::test]
    async fn an_endpoint_that_cannot_be_used_is_refused() {
        for wrong in ["https://127.0.0.1:4317", "not an address", "/path"] {
            assert!(OtlpClient::to(wrong, Signal::Traces).is_err(), "{wrong}");
        }
        assert!(OtlpClient::to("http://127.0.0.1:4317", Signal::Metrics).is_ok());
    }
}
