//! Spans of gRPC calls, made by the server and client layers of this crate.

use crate::code_name::code_name;
use opentelemetry::Context;
use opentelemetry::trace::SpanKind;
use tonic::Code;

use super::{below_current, set_error};
use crate::telemetry::semconv::{general, rpc};
use crate::telemetry::span::Span;

/// SERVER span of `package.Service/Method`; `known` says whether this server has the method. No span where the code that asks
/// is untraced, which a caller in this process may be.
pub fn server(method: &str, known: bool, parent: Option<Context>) -> Span {
    if Context::map_current(Context::is_telemetry_suppressed) {
        return Span::none();
    }
    let name = if known { method } else { general::OTHER };
    Span::start(&SpanKind::Server, &parent.unwrap_or_default(), &[name], |attributes| {
        attributes.text(rpc::SYSTEM_NAME, "grpc").text(rpc::METHOD, name);
        if !known {
            attributes.text(rpc::METHOD_ORIGINAL, method);
        }
    })
}

/// CLIENT span of `package.Service/Method`. A child of the current span.
pub fn client(method: &str, address: &str, port: u16) -> Span {
    below_current(&SpanKind::Client, &[method], |attributes| {
        attributes
            .text(rpc::SYSTEM_NAME, "grpc")
            .text(rpc::METHOD, method)
            .text(general::SERVER_ADDRESS, address)
            .number(general::SERVER_PORT, i64::from(port));
    })
}

/// Records the status of a served call, and ends its span. Only codes that mean a fault of the server count as errors.
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

/// Records the status of a call made, and ends its span. Everything but OK counts as an error.
pub fn end_client(span: &Span, code: Code) {
    end(span, code, code != Code::Ok);
}

fn end(span: &Span, code: Code, fault: bool) {
    if span.is_disabled() {
        return;
    }
    span.set(rpc::STATUS_CODE, code_name(code));
    if fault {
        set_error(span, code_name(code));
    }
    span.end();
}
