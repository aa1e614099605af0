//! How a token server is asked: one request, through a client that the process hands in, so that its rules about where a worker may
//! connect hold here too.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::HeaderValue;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use url::Url;

use crate::secret::Secret;

/// Largest answer that is taken, in bytes.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// A request for a token: `POST`, with a form as its body.
#[derive(Debug)]
pub struct TokenRequest {
    /// Where to.
    pub url: Url,
    /// The header `Authorization`, if there is one; marked as sensitive.
    pub authorization: Option<HeaderValue>,
    /// The form, encoded.
    pub body: Secret,
    /// How long the answer may take, all of it.
    pub timeout: Duration,
}

/// What a server answered.
#[derive(Debug)]
pub struct TokenAnswer {
    /// The status.
    pub status: u16,
    /// At most [`MAX_ANSWER_BYTES`].
    pub body: Secret,
}

/// Why there is no answer. Without any text: one could hold what was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenClientError {
    /// The server cannot be reached, or broke off.
    #[error("the server cannot be reached")]
    Away,
    /// Time was up.
    #[error("the server did not answer in time")]
    Late,
    /// The worker's rules do not let it connect there.
    #[error("the worker may not connect there")]
    Denied,
    /// The answer is larger than [`MAX_ANSWER_BYTES`].
    #[error("the answer is too large")]
    TooLarge,
}

/// Sends requests for tokens. It must follow no redirect (the request holds a secret), read no more than [`MAX_ANSWER_BYTES`], keep to
/// the timeout, write nothing of the request or the answer to logs and traces, and connect only where the worker may.
pub trait TokenClient: Send + Sync + fmt::Debug {
    /// Sends it once.
    fn post(&self, request: TokenRequest) -> BoxFuture<'_, Result<TokenAnswer, TokenClientError>>;
}

/// A client over `reqwest`. The resolver of the builder says where it may connect.
#[derive(Debug)]
pub struct HttpTokens {
    client: reqwest::Client,
    allows: fn(&Url) -> bool,
}

impl HttpTokens {
    /// A client of this builder, which is made to follow no redirect. `allows` is asked about each address before anything is
    /// looked up.
    ///
    /// # Errors
    ///
    /// What `reqwest` says when TLS cannot be set up.
    pub fn new(builder: reqwest::ClientBuilder, allows: fn(&Url) -> bool) -> reqwest::Result<Self> {
        let client = builder.redirect(reqwest::redirect::Policy::none()).referer(false).build()?;
        Ok(Self { client, allows })
    }

    /// The client of a process: no proxy of the environment, and ten seconds to connect. It goes to any address, because only the
    /// operator names token servers, and the configuration takes only `https`, or `http` on loopback.
    ///
    /// # Errors
    ///
    /// What `reqwest` says when TLS cannot be set up.
    pub fn usual() -> reqwest::Result<Self> {
        let builder = reqwest::Client::builder().no_proxy().connect_timeout(Duration::from_secs(10));
        Self::new(builder, |_| true)
    }

    async fn send(&self, request: TokenRequest) -> Result<TokenAnswer, TokenClientError> {
        if !(self.allows)(&request.url) {
            return Err(TokenClientError::Denied);
        }
        let fault =
            |error: reqwest::Error| if error.is_timeout() { TokenClientError::Late } else { TokenClientError::Away };
        let mut post = self
            .client
            .post(request.url)
            .timeout(request.timeout)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(ACCEPT, "application/json")
            .body(request.body.reveal().to_vec());
        if let Some(authorization) = request.authorization {
            post = post.header(AUTHORIZATION, authorization);
        }
        let mut answer = post.send().await.map_err(fault)?;
        let status = answer.status().as_u16();
        let mut body = Vec::with_capacity(MAX_ANSWER_BYTES);
        while let Some(part) = answer.chunk().await.map_err(fault)? {
            if body.len() + part.len() > MAX_ANSWER_BYTES {
                return Err(TokenClientError::TooLarge);
            }
            body.extend_from_slice(&part);
        }
        Ok(TokenAnswer { status, body: Secret::new(body) })
    }
}

impl TokenClient for HttpTokens {
    fn post(&self, request: TokenRequest) -> BoxFuture<'_, Result<TokenAnswer, TokenClientError>> {
        Box::pin(self.send(request))
    }
}

/// For workers without token servers: every request is denied.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTokens;

impl TokenClient for NoTokens {
    fn post(&self, _: TokenRequest) -> BoxFuture<'_, Result<TokenAnswer, TokenClientError>> {
        Box::pin(async { Err(TokenClientError::Denied) })
    }
}
