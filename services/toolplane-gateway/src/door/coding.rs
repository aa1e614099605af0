//! Codings of bodies (`content-encoding`): none is taken, and who sends one is told so, instead of hearing that it sent no JSON.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use http::{HeaderMap, HeaderValue};
use toolplane_records::codes;
use toolplane_records::visible::excerpt;
use toolplane_runtime::ApiError;

use super::refusal;

/// Lets requests through whose body is not coded.
pub(super) async fn plain(request: Request, next: Next) -> Response {
    match coding(request.headers()) {
        Some(coding) => refused(&coding),
        None => next.run(request).await,
    }
}

/// The first coding of a body that is one.
fn coding(headers: &HeaderMap) -> Option<String> {
    let said: Vec<_> = headers.get_all(CONTENT_ENCODING).iter().collect();
    let all = said.iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    let mut codings = all.flat_map(|list| list.split(',').map(|one| one.trim().to_owned()).collect::<Vec<_>>());
    codings.find(|one| !one.is_empty() && !one.eq_ignore_ascii_case("identity"))
}

fn refused(coding: &str) -> Response {
    let refused = ApiError::FailedPrecondition {
        reason: codes::CONTENT_ENCODING,
        subject: "content-encoding".to_owned(),
        message: format!("the body is coded as `{}`, and is taken only as it is", excerpt(coding, 40)),
    };
    let mut response = refusal(&refused.into());
    // RFC 9110, 15.5.16: so that the client can tell this from a media type that is not taken.
    response.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    response
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn;
    use axum::routing::post;
    use tower::ServiceExt as _;

    use super::*;

    async fn answered(codings: &[&str]) -> Response {
        let routes: Router = Router::new().route("/", post(async || "taken")).layer(from_fn(plain));
        let request =
            codings.iter().fold(Request::post("/"), |request, coding| request.header(CONTENT_ENCODING, *coding));
        routes.oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    #[tokio::test]
    async fn a_body_is_taken_as_it_is_alone() {
        for taken in [&[][..], &["identity"], &["Identity, identity"], &[""]] {
            assert_eq!(answered(taken).await.status().as_u16(), 200, "{taken:?}");
        }
        for coded in [&["gzip"][..], &["identity", "br"], &["identity, zstd"], &["\u{202e}"]] {
            let answer = answered(coded).await;
            assert_eq!(answer.status().as_u16(), 415, "{coded:?}");
            assert_eq!(answer.headers()["accept-encoding"], "identity");
        }
        let text = axum::body::to_bytes(answered(&["gzip"]).await.into_body(), 4096).await.unwrap();
        let text = String::from_utf8(text.to_vec()).unwrap();
        assert!(text.contains("CONTENT_ENCODING") && text.contains("coded as `gzip`"), "{text}");
    }
}
