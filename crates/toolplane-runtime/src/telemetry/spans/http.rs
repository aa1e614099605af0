//! The span of a request over HTTP: what the gateway answers, and beneath it what it asks the roles.

use http::{HeaderMap, Method, StatusCode};
use opentelemetry::Context;
use opentelemetry::context::{FutureExt as _, WithContext};
use opentelemetry::trace::SpanKind;

use crate::telemetry::context::parent_from_headers;
use crate::telemetry::semconv::{general, http as names};
use crate::telemetry::span::Span;

/// What a span says about a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts<'a> {
    /// Its method.
    pub method: &'a Method,
    /// The route it fits, e.g. `/v1/call`. A path that fits none is not recorded: it may hold anything.
    pub route: Option<&'a str>,
    /// Whether the connection is encrypted.
    pub encrypted: bool,
}

/// A request that is being answered: its SERVER span, below that of the caller. The span ends when this is dropped.
#[derive(Debug)]
pub struct Exchange {
    span: Span,
    /// The context of what is done for the request; the caller's own where no span is recorded.
    context: Option<Context>,
}

impl Exchange {
    /// Begins with the head of a request.
    pub fn begin(facts: &RequestFacts<'_>, headers: &HeaderMap) -> Self {
        let parent = parent_from_headers(headers);
        let method = method_name(facts.method);
        let named = [method, " ", facts.route.unwrap_or_default()];
        let name = if facts.route.is_some() { &named[..] } else { &named[..1] };
        let span = Span::start(&SpanKind::Server, &parent.clone().unwrap_or_default(), name, |attributes| {
            attributes
                .text(names::REQUEST_METHOD, method)
                .text(names::URL_SCHEME, if facts.encrypted { "https" } else { "http" })
                .present(names::ROUTE, facts.route.unwrap_or_default())
                .present(names::URL_PATH, facts.route.unwrap_or_default());
        });
        let context = span.context().cloned().or(parent);
        Self { span, context }
    }

    /// The future, within the request.
    pub fn within<F: Future>(&self, future: F) -> WithContext<F> {
        future.with_context(self.context.clone().unwrap_or_else(Context::current))
    }

    /// Does `work` within the request.
    pub fn in_scope<T>(&self, work: impl FnOnce() -> T) -> T {
        let _within = self.context.clone().map(Context::attach);
        work()
    }

    /// Records the status of the answer. Only one that means a fault of ours counts as an error.
    pub fn answered(&self, status: StatusCode) {
        if self.span.is_disabled() {
            return;
        }
        super::attribute(&self.span, names::RESPONSE_STATUS_CODE, i64::from(status.as_u16()));
        if status.is_server_error() {
            self.failed(status.as_str());
        }
    }

    /// Records that an answer could not be given as it was begun; `kind` is a word of few.
    pub fn failed(&self, kind: &str) {
        self.span.set(general::ERROR_TYPE, kind);
        self.span.set_error();
    }
}

/// The name of a method, where it is one that is known.
fn method_name(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or(general::OTHER)
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
    use opentelemetry_proto::tonic::trace::v1::status::StatusCode as SpanStatus;

    use super::*;
    use crate::telemetry::spans::rpc;
    use crate::telemetry::tests::{Recorder, attribute_of};

    #[test]
    fn a_request_is_a_server_span_and_what_is_asked_for_it_lies_beneath() {
        let (recorder, _guard) = Recorder::start();
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap());
        let facts = RequestFacts { method: &Method::POST, route: Some("/v1/call"), encrypted: false };
        let exchange = Exchange::begin(&facts, &headers);
        exchange.in_scope(|| drop(rpc::client("a.S/M", "127.0.0.1", 1)));
        exchange.answered(StatusCode::SERVICE_UNAVAILABLE);
        drop(exchange);
        let (server, client) = (recorder.find("POST /v1/call"), recorder.find("a.S/M"));
        assert_eq!(server.kind(), SpanKind::Server);
        assert_eq!(hex::encode(&server.parent_span_id), "b7ad6b7169203331");
        assert_eq!(client.parent_span_id, server.span_id);
        let said = |key| attribute_of(&server, key);
        assert_eq!(said("http.response.status_code").as_deref(), Some("503"));
        assert_eq!(said("http.route").as_deref(), Some("/v1/call"));
        assert_eq!(said("error.type").as_deref(), Some("503"));
        assert_eq!(server.status.unwrap().code(), SpanStatus::Error);
    }

    #[test]
    fn what_nobody_knows_is_not_recorded() {
        let (recorder, _guard) = Recorder::start();
        let method = Method::from_bytes(b"S3CRET").unwrap();
        let exchange =
            Exchange::begin(&RequestFacts { method: &method, route: None, encrypted: true }, &HeaderMap::new());
        exchange.answered(StatusCode::NOT_FOUND);
        drop(exchange);
        let span = recorder.find("_OTHER");
        assert_eq!(attribute_of(&span, "url.path"), None);
        assert_eq!(attribute_of(&span, "http.response.status_code").as_deref(), Some("404"));
        assert_eq!(attribute_of(&span, "error.type"), None, "what the caller did wrong is no fault of ours");
    }
}
