//! Bytes that come in pieces, as the body of a response: with their media type and size, whole or by `Range`.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::{
    ACCEPT, ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_RANGE, RANGE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use prost_reflect::prost::Message as _;
use prost_reflect::{DynamicMessage, ReflectMessage as _, Value};
use tonic::{Request, Status, Streaming};
use toolplane_proto::v1::ReadPayloadResponse;
use toolplane_records::codes;
use toolplane_runtime::{ApiError, status};

use super::methods::Method;
use super::rpc;
use crate::door::refusal;
use crate::upstream::Upstream;

mod range;

use range::Wanted;

/// Whether the caller would rather have events than the bytes themselves.
pub(crate) fn as_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|list| list.split(',')).any(|one| one.trim().starts_with("text/event-stream"))
}

/// The bytes a request selects. Fails as the role that has them does, and with [`ApiError::InvalidArgument`] when the request says
/// twice which part is meant.
pub(crate) async fn answer(
    upstream: &Upstream,
    method: &Method,
    headers: &HeaderMap,
    request: DynamicMessage,
) -> Result<Response, Status> {
    let download = Download { upstream, method, request };
    let mut ranges = headers.get_all(RANGE).iter();
    // Two headers are no range either.
    let range = ranges.next().filter(|_| ranges.next().is_none());
    let wanted = range.and_then(|range| range.to_str().ok()).and_then(range::read);
    let Some(wanted) = wanted else { return download.part(download.own_part()).await.map(Part::into_response) };
    if download.own_part() != (0, 0) {
        return Err(ApiError::invalid_argument("range", "cannot be given beside `offset` and `limit`").into());
    }
    // A part of something else than the caller has already is of no use to it.
    if let Some(known) = headers.get(IF_RANGE)
        && download.part((0, 1)).await?.etag() != known.as_bytes()
    {
        return download.part((0, 0)).await.map(Part::into_response);
    }
    download.ranged(wanted).await
}

/// One payload, as it is asked for.
struct Download<'a> {
    upstream: &'a Upstream,
    method: &'a Method,
    request: DynamicMessage,
}

impl Download<'_> {
    async fn ranged(&self, wanted: Wanted) -> Result<Response, Status> {
        let (offset, limit) = match wanted {
            Wanted::From(offset, limit) => (offset, limit),
            Wanted::Last(length) => {
                let total = self.part((0, 1)).await?.first.total_size_bytes;
                (total.saturating_sub(length), length)
            }
        };
        let beyond = |total| Ok(unsatisfiable(total));
        match self.part((offset, limit)).await {
            Ok(part) if offset >= part.first.total_size_bytes || limit == 0 && wanted == Wanted::Last(0) => {
                beyond(part.first.total_size_bytes)
            }
            Ok(part) => Ok(part.into_partial()),
            Err(refused) if status::describe(&refused).violations.iter().any(|one| one.field == "offset") => {
                beyond(self.part((0, 1)).await?.first.total_size_bytes)
            }
            Err(refused) => Err(refused),
        }
    }

    /// The part the request itself names: first byte, and most bytes; to the end when 0.
    fn own_part(&self) -> (u64, u64) {
        let number = |name| self.request.get_field_by_name(name).and_then(|value| value.as_u64()).unwrap_or_default();
        (number("offset"), number("limit"))
    }

    /// Asks for a part, and waits for the first piece of it.
    async fn part(&self, (offset, limit): (u64, u64)) -> Result<Part, Status> {
        let mut request = self.request.clone();
        for (name, number) in [("offset", offset), ("limit", limit)] {
            if let Some(field) = request.descriptor().get_field_by_name(name) {
                request.set_field(&field, Value::U64(number));
            }
        }
        let mut rest = rpc::stream(self.upstream, self.method, Request::new(request.encode_to_vec().into())).await?;
        let first = rest.message().await?.ok_or_else(|| ended("before its first byte"))?;
        let first = ReadPayloadResponse::decode(first).map_err(|error| ended(&error.to_string()))?;
        Ok(Part { first, limit, rest })
    }
}

fn ended(how: &str) -> Status {
    ApiError::internal(codes::ANSWER_UNREADABLE, format!("a payload ended: {how}")).into()
}

/// A part of a payload whose first piece is there.
struct Part {
    first: ReadPayloadResponse,
    limit: u64,
    rest: Streaming<Bytes>,
}

impl Part {
    fn length(&self) -> u64 {
        let left = self.first.total_size_bytes.saturating_sub(self.first.offset);
        if self.limit == 0 { left } else { left.min(self.limit) }
    }

    fn etag(&self) -> Vec<u8> {
        format!("\"{}\"", hex::encode(&self.first.sha256)).into_bytes()
    }

    fn into_partial(self) -> Response {
        let (offset, total) = (self.first.offset, self.first.total_size_bytes);
        let last = (offset + self.length()).saturating_sub(1);
        let mut response = self.into_response();
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        if let Ok(range) = HeaderValue::try_from(format!("bytes {offset}-{last}/{total}")) {
            response.headers_mut().insert(CONTENT_RANGE, range);
        }
        response
    }

    fn into_response(self) -> Response {
        let (length, etag) = (self.length(), self.etag());
        let media_type = HeaderValue::try_from(&self.first.media_type);
        let rest = self.rest.map(|piece| {
            ReadPayloadResponse::decode(piece?).map(|piece| piece.data).map_err(|error| ended(&error.to_string()))
        });
        // What breaks off breaks the connection: the caller has been told how many bytes there are.
        let pieces = futures_util::stream::iter([Ok(self.first.data)]).chain(rest);
        let mut response = Response::new(Body::from_stream(pieces));
        let headers = response.headers_mut();
        let unknown = HeaderValue::from_static("application/octet-stream");
        headers.insert(CONTENT_TYPE, media_type.ok().filter(|text| !text.is_empty()).unwrap_or(unknown));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        if let Ok(etag) = HeaderValue::try_from(etag) {
            headers.insert(ETAG, etag);
        }
        // A tool wrote it: no browser may take it for a page of this listener.
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
        response
    }
}

fn unsatisfiable(total: u64) -> Response {
    let refused = ApiError::FailedPrecondition {
        reason: codes::RANGE,
        subject: "range".to_owned(),
        message: format!("the range lies beyond the {total} bytes there are"),
    };
    let mut response = refusal(&refused.into());
    if let Ok(range) = HeaderValue::try_from(format!("bytes */{total}")) {
        response.headers_mut().insert(CONTENT_RANGE, range);
    }
    response
}
