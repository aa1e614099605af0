//! Keys of an issuer from where it publishes them.
//!
//! The address is the operator's, never the token's, and its host must be on the operator's list. When an issuer is
//! away, the keys it published last stay good.

use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use url::Url;

use super::source::KeySet;
use crate::server::auth::credential_file::KeySetError;
use crate::server::error::ServerError;

const TIMEOUT: Duration = Duration::from_secs(5);
/// Largest answer taken.
const MAX_BYTES: usize = 1024 * 1024;
/// Between two questions to an issuer that answered: tokens with made-up keys must not turn us against it.
const PAUSE: Duration = Duration::from_secs(5);
/// The same for one that did not.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// A key set that is fetched.
pub(super) struct Remote {
    url: Url,
    client: reqwest::Client,
    ttl: Duration,
    current: ArcSwap<KeySet>,
    fetched_at: Mutex<Option<Instant>>,
    /// When the next question may be asked. Held while one is.
    next: tokio::sync::Mutex<Option<Instant>>,
}

/// The rule that an address of keys breaks.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JwksAddressError {
    #[error("is not a URL")]
    NotAUrl,
    #[error("names no host")]
    NoHost,
    #[error("must start with `https://`, or `http://` on loopback")]
    NotEncrypted,
    #[error("must hold no user, password or fragment")]
    TooMuch,
    #[error("needs `{0}` in `server.auth.jwks_hosts`")]
    UnknownHost(String),
}

/// Why the keys of an issuer could not be fetched.
#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error("{0}")]
    Away(reqwest::Error),
    #[error("it answers {0}")]
    Status(reqwest::StatusCode),
    #[error("its answer is larger than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("its answer is not UTF-8 text")]
    NotText,
    #[error(transparent)]
    KeySet(#[from] KeySetError),
}

/// Checks an address of keys: `https`, or `http` on loopback, on one of these hosts.
pub(crate) fn jwks_address(url: &str, hosts: &[String]) -> Result<Url, JwksAddressError> {
    let url = Url::parse(url).map_err(|_| JwksAddressError::NotAUrl)?;
    if url.host().is_none() {
        return Err(JwksAddressError::NoHost);
    }
    if !toolplane_credentials::is_private(&url) {
        return Err(JwksAddressError::NotEncrypted);
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err(JwksAddressError::TooMuch);
    }
    let host = url.host_str().unwrap_or_default();
    if !hosts.iter().any(|known| known.eq_ignore_ascii_case(host)) {
        return Err(JwksAddressError::UnknownHost(host.to_owned()));
    }
    Ok(url)
}

impl Remote {
    pub(super) fn new(url: &str, hosts: &[String], ttl_ms: u64) -> Result<Self, ServerError> {
        let refuse = |rule: &dyn Display| ServerError::Transport(format!("`server.auth.jwt.jwks_url`: `{url}` {rule}"));
        let address = jwks_address(url, hosts).map_err(|rule| refuse(&rule))?;
        let mut client = reqwest::Client::builder().timeout(TIMEOUT).redirect(reqwest::redirect::Policy::none());
        if address.scheme() == "http" {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| refuse(&error))?;
        Ok(Self {
            url: address,
            client,
            ttl: Duration::from_millis(ttl_ms),
            current: ArcSwap::from_pointee(KeySet::empty()),
            fetched_at: Mutex::new(None),
            next: tokio::sync::Mutex::new(None),
        })
    }

    /// The keys fetched last. Old ones are used once more while they are fetched again.
    pub(super) fn current(self: &Arc<Self>) -> Arc<KeySet> {
        let stale = self.fetched_at.lock().is_some_and(|at| at.elapsed() > self.ttl);
        if stale && self.next.try_lock().is_ok() {
            let remote = Arc::clone(self);
            crate::tasks::spawn("fetching keys", async move { remote.refresh().await });
        }
        self.current.load_full()
    }

    /// Fetches the keys, unless that was done or tried a moment ago.
    pub(super) async fn refresh(&self) {
        let mut next = self.next.lock().await;
        if next.is_some_and(|next| Instant::now() < next) {
            return;
        }
        let pause = match self.fetch().await {
            Ok(keys) => {
                self.current.store(Arc::new(keys));
                *self.fetched_at.lock() = Some(Instant::now());
                PAUSE
            }
            Err(reason) => {
                tracing::warn!(url = %self.url, %reason, "the keys of an issuer cannot be fetched; known ones stay in force");
                PAUSE_AFTER_FAILURE
            }
        };
        *next = Some(Instant::now() + pause);
    }

    async fn fetch(&self) -> Result<KeySet, FetchError> {
        let away = |error: reqwest::Error| FetchError::Away(error.without_url());
        let answer = self.client.get(self.url.clone()).send().await.map_err(away)?;
        if answer.status() != reqwest::StatusCode::OK {
            return Err(FetchError::Status(answer.status()));
        }
        let (mut body, mut parts) = (Vec::new(), answer.bytes_stream());
        while let Some(part) = parts.next().await {
            let part = part.map_err(away)?;
            if body.len() + part.len() > MAX_BYTES {
                return Err(FetchError::TooLarge);
            }
            body.extend_from_slice(&part);
        }
        let text = String::from_utf8(body).map_err(|_| FetchError::NotText)?;
        Ok(KeySet::parse(&text)?)
    }
}
