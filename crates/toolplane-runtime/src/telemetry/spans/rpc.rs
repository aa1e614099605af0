//! Spans of gRPC calls, made by the server and client layers of this crate.

use crate::code_name::code_name;
use opentelemetry::Context;
use tonic::Code;
use tracing::{Level, Span, span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::{set_error, set_parent};
use crate::telemetry::semconv::{general, rpc};
use crate::telemetry::target::SPAN_TARGET;

/// SERVER span of `package.Service/Method`; `known` says whether this server has the method.
pub fn server(method: &str, known: bool, parent: Option<Context>) -> Span {
    let (name, original) = if known { (method, None) } else { (general::OTHER, Some(method)) };
    let span = span!(
        target: SPAN_TARGET,
        parent: None,
        Level::INFO,
        "rpc.server",
        otel.name = name,
        otel.kind = "server",
        { rpc::SYSTEM_NAME } = "grpc",
        { rpc::METHOD } = name,
        { rpc::METHOD_ORIGINAL } = original,
    );
    if let Some(parent) = parent {
        set_parent(&span, parent);
    }
    span
}

/// CLIENT span of `package.Service/Method`. A child of the current span.
pub fn client(method: &str, address: &str, port: u16) -> Span {
    span!(
        target: SPAN_TARGET,
        Level::INFO,
        "rpc.client",
        otel.name = method,
        otel.kind = "client",
        { rpc::SYSTEM_NAME } = "grpc",
        { rpc::METHOD } = method,
        { general::SERVER_ADDRESS } = address,
        { general::SERVER_PORT } = i64::from(port),
    )
}

/// Records the status of a served call. Only codes that mean a fault of the server count as errors.
pub fn end_server(span: &Span, code: Code) {
    let fault = matches!(
        code,
        Code::Unknown
            | Code::DeadlineExceeded
            | Code::Unimplemented
            | Code::Internal
            | Code::Unavailable
            | Code::DataLoss
    );
    end(span, code, fault);
}

/// Records the status of a call made. Everything but OK counts as an error.
pub fn end_client(span: &Span, code: Code) {
    end(span, code, code != Code::Ok);
}

fn end(span: &Span, code: Code, fault: bool) {
    if span.is_disabled() {
        return;
    }
    span.set_attribute(rpc::STATUS_CODE, code_name(code));
    if fault {
        set_error(span, code_name(code));
    }
}
