//! A token that a token server gives for a client's own credentials (RFC 6749, 4.4).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use serde::Deserialize;
use toolplane_records::json::{self, JsonLimits};
use url::{Url, form_urlencoded};

use crate::config::{OAuth2Auth, OAuth2Config};
use crate::error::SourceFault;
use crate::secret::{MIN_SECRET_BYTES, Secret};
use crate::tokens::{TokenAnswer, TokenClient, TokenClientError, TokenRequest};

/// How long a token is good when the server does not say.
const UNSAID: Duration = Duration::from_secs(300);
/// Longest lifetime that is believed.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);
/// What a server may say in `error` (RFC 6749, 5.2). Any other text is not repeated.
const ERRORS: [&str; 6] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
];

/// The secret of a client, without a line break at its end.
pub(super) fn client_secret(bytes: &Secret) -> Result<Secret, SourceFault> {
    let text = bytes.reveal();
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    if text.iter().any(|byte| !matches!(byte, b' '..=b'~')) {
        return Err(SourceFault::NotVisible);
    }
    if text.len() < MIN_SECRET_BYTES { Err(SourceFault::TooShort) } else { Ok(Secret::new(text)) }
}

/// Asks for a token, once. Gives it with its lifetime, counted from when it was asked for.
pub(super) async fn fetch(
    client: &dyn TokenClient,
    config: &OAuth2Config,
    secret: &Secret,
) -> Result<(Secret, Duration), SourceFault> {
    let timeout = Duration::from_millis(config.timeout_ms);
    let request = request(config, secret, timeout)?;
    let answer = tokio::time::timeout(timeout, client.post(request)).await.map_err(|_| SourceFault::ServerLate)?;
    read(&answer.map_err(|error| match error {
        TokenClientError::Away => SourceFault::ServerAway,
        TokenClientError::Late => SourceFault::ServerLate,
        TokenClientError::Denied => SourceFault::ServerDenied,
        TokenClientError::TooLarge => SourceFault::LargeAnswer,
    })?)
}

fn request(config: &OAuth2Config, secret: &Secret, timeout: Duration) -> Result<TokenRequest, SourceFault> {
    let url = Url::parse(&config.token_url).map_err(|_| SourceFault::ServerDenied)?;
    let text = secret.reveal_text().unwrap_or_default();
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "client_credentials");
    if !config.scopes.is_empty() {
        form.append_pair("scope", &config.scopes.join(" "));
    }
    if let Some(audience) = &config.audience {
        form.append_pair("audience", audience);
    }
    let mut authorization = None;
    match config.auth {
        OAuth2Auth::Basic => {
            // Both parts are form-encoded first (RFC 6749, 2.3.1).
            let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let both = STANDARD.encode(format!("{}:{}", encoded(&config.client_id), encoded(text)));
            let mut value = HeaderValue::from_str(&format!("Basic {both}")).map_err(|_| SourceFault::NotVisible)?;
            value.set_sensitive(true);
            authorization = Some(value);
        }
        OAuth2Auth::Body => {
            form.append_pair("client_id", &config.client_id).append_pair("client_secret", text);
        }
    }
    Ok(TokenRequest { url, authorization, body: Secret::new(form.finish()), timeout })
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    token_type: String,
    #[serde(default)]
    expires_in: Option<Seconds>,
}

/// Some servers write numbers as texts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seconds {
    Number(f64),
    Text(String),
}

#[derive(Deserialize)]
struct Refused {
    error: String,
}

/// Reads the answer of a server, whatever it is.
pub(crate) fn read(answer: &TokenAnswer) -> Result<(Secret, Duration), SourceFault> {
    let body = answer.body.reveal();
    let is_object = json::check(body, &JsonLimits::default()).is_ok();
    if answer.status != 200 {
        let refused: Option<Refused> = serde_json::from_slice(body).ok().filter(|_| is_object);
        let known = refused.and_then(|refused| ERRORS.into_iter().find(|known| *known == refused.error));
        let is_refusal = matches!(answer.status, 400 | 401 | 403);
        return Err(known
            .filter(|_| is_refusal)
            .map_or(SourceFault::ServerStatus(answer.status), SourceFault::TokenError));
    }
    let granted: Granted = serde_json::from_slice(body).map_err(|_| SourceFault::BadAnswer)?;
    let token = Secret::new(granted.access_token);
    let is_visible = token.reveal().iter().all(u8::is_ascii_graphic);
    if !is_object || !is_visible || token.len() < MIN_SECRET_BYTES || !granted.token_type.eq_ignore_ascii_case("bearer")
    {
        return Err(SourceFault::BadAnswer);
    }
    Ok((token, lifetime(granted.expires_in)?))
}

fn lifetime(said: Option<Seconds>) -> Result<Duration, SourceFault> {
    let seconds = match said {
        None => return Ok(UNSAID),
        Some(Seconds::Number(seconds)) => seconds,
        Some(Seconds::Text(text)) => text.trim().parse().map_err(|_| SourceFault::BadAnswer)?,
    };
    if !seconds.is_finite() || seconds < 1.0 {
        return Err(SourceFault::BadAnswer);
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST))
}
