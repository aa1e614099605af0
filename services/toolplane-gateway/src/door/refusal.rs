//! A gRPC status as the answer of an HTTP request.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value, json};
use tonic::{Code, Status};
use toolplane_records::codes;
use toolplane_runtime::code_name;
use toolplane_runtime::status::{Description, describe};

/// The response to a request that is refused: `{"error": {"code": 404, "status": ..., "reason": ..., "message": ...}}`, with the
/// wrong fields in `violations`, the thing that is meant in `resource`, and when the same request may be tried again in `retry_after_ms`,
/// where the status says so.
pub(crate) fn refusal(status: &Status) -> Response {
    let told = describe(status);
    let mut response = Response::new(Body::from(json!({ "error": error(status) }).to_string()));
    *response.status_mut() = http_status_of(&told);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(wait) = told.retry_after.filter(|wait| !wait.is_zero()) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds(wait)));
    }
    response
}

/// The same as a JSON object, also for the end of a stream.
pub(crate) fn error(status: &Status) -> Value {
    let told = describe(status);
    let mut error = Map::new();
    error.insert("code".to_owned(), http_status_of(&told).as_u16().into());
    error.insert("status".to_owned(), code_name(told.code).into());
    if let Some(reason) = told.reason {
        error.insert("reason".to_owned(), reason.into());
    }
    error.insert("message".to_owned(), told.message.into());
    if !told.violations.is_empty() {
        let violations = told.violations.iter().map(|one| json!({ "field": one.field, "rule": one.rule }));
        error.insert("violations".to_owned(), violations.collect());
    }
    if let Some(resource) = told.resource {
        error.insert("resource".to_owned(), resource.into());
    }
    if let Some(wait) = told.retry_after {
        error.insert("retry_after_ms".to_owned(), u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).into());
    }
    Value::Object(error)
}

/// The HTTP status of a refusal: that of its reason where HTTP has a word of its own for it, else that of its gRPC code.
fn http_status_of(told: &Description) -> StatusCode {
    match told.reason.as_deref().and_then(codes::Code::find) {
        Some(codes::MESSAGE_TOO_LARGE) => StatusCode::PAYLOAD_TOO_LARGE,
        Some(codes::HTTP_METHOD) => StatusCode::METHOD_NOT_ALLOWED,
        Some(codes::CONTENT_TYPE | codes::CONTENT_ENCODING) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Some(codes::RANGE) => StatusCode::RANGE_NOT_SATISFIABLE,
        _ => http_status(told.code),
    }
}

/// The HTTP status that says what a gRPC code says, after the mapping of `google.rpc.Code`.
pub(crate) fn http_status(code: Code) -> StatusCode {
    match code {
        Code::Ok => StatusCode::OK,
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => StatusCode::BAD_REQUEST,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        // The one the client closed its request for; it is not there to read it.
        Code::Cancelled => StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST),
        Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
        Code::Unknown | Code::Internal | Code::DataLoss => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Whole seconds, at least one: the header knows no others.
pub(crate) fn seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}
