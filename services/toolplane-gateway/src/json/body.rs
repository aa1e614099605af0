//! The body of a request.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use toolplane_records::codes;
use toolplane_runtime::ApiError;

/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(60);

/// Refuses a body that says it is something else than JSON. `application/x-www-form-urlencoded` is what `curl -d` says of any body; pages
/// of other origins could send it too, but they do not get this far.
///
/// Fails with [`ApiError::FailedPrecondition`].
pub(crate) fn expect_json(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(given) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let given = given.to_str().unwrap_or_default().to_ascii_lowercase();
    let (media, parameters) = given.split_once(';').unwrap_or((&given, ""));
    let json = matches!(media.trim(), "" | "application/json" | "application/x-www-form-urlencoded");
    let charset = parameters.split(';').filter_map(|one| one.trim().strip_prefix("charset="));
    if json && charset.map(|charset| charset.trim_matches('"')).all(|charset| matches!(charset, "utf-8" | "utf8")) {
        return Ok(());
    }
    Err(ApiError::FailedPrecondition {
        reason: codes::CONTENT_TYPE,
        subject: "content-type".to_owned(),
        message: "the body must be `application/json` in UTF-8".to_owned(),
    })
}

/// The whole body.
///
/// Fails with [`ApiError::Exhausted`] when it is larger than `limit`, and with [`ApiError::FailedPrecondition`] when it does not arrive
/// as a whole within a minute.
pub(crate) async fn whole(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, ApiError> {
    let said = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if said.is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    let reading = async {
        let (mut parts, mut whole) = (body.into_data_stream(), BytesMut::new());
        while let Some(part) = parts.next().await {
            let part = part.map_err(|_| incomplete("the body ends before its end"))?;
            if part.len() > limit - whole.len() {
                return Err(too_large(limit));
            }
            whole.extend_from_slice(&part);
        }
        Ok(whole.freeze())
    };
    tokio::time::timeout(PATIENCE, reading).await.map_err(|_| incomplete("the body takes longer than a minute"))?
}

/// The body does not arrive as it should.
pub(crate) fn incomplete(message: &str) -> ApiError {
    let (reason, subject) = (codes::BODY_INCOMPLETE, "body".to_owned());
    ApiError::FailedPrecondition { reason, subject, message: message.to_owned() }
}

fn too_large(limit: usize) -> ApiError {
    ApiError::Exhausted {
        reason: codes::MESSAGE_TOO_LARGE,
        subject: "body".to_owned(),
        message: format!("the body is larger than {limit} bytes (`server.max_message_bytes`)"),
        retry_after: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_taken_under_the_names_clients_give_it() {
        let taken = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, value.parse().unwrap());
            expect_json(&headers).is_ok()
        };
        assert!(expect_json(&HeaderMap::new()).is_ok());
        for good in ["application/json", "Application/JSON; charset=UTF-8", "application/x-www-form-urlencoded"] {
            assert!(taken(good), "{good}");
        }
        for wrong in
            ["text/plain", "multipart/form-data; boundary=x", "application/json; charset=latin1", "application/xml"]
        {
            assert!(!taken(wrong), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_body_has_a_bound() {
        let read = |length: usize| async move {
            let headers = HeaderMap::new();
            whole(&headers, Body::from(vec![b' '; length]), 10).await.map(|body| body.len())
        };
        assert_eq!(read(10).await, Ok(10));
        assert_eq!(read(11).await.unwrap_err().reason(), "MESSAGE_TOO_LARGE");
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_LENGTH, "11".parse().unwrap());
        let refused =
            whole(&headers, Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>()), 10);
        assert_eq!(refused.await.unwrap_err().reason(), "MESSAGE_TOO_LARGE", "said, not sent");
    }
}
