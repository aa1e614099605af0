//! JSON Web Tokens of known issuers.
//!
//! The token says which issuer and which key it means; everything that decides is ours: the issuer's configuration, its
//! keys, and the list of algorithms, none of which has a shared secret.

use std::collections::HashMap;
use std::str::FromStr as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation};
use parking_lot::Mutex;
use serde_json::Value;
use toolplane_records::codes;
use toolplane_records::json::{self, JsonLimits, JsonRefusal};

use super::identified::{Identified, unknown};
use crate::caller::Caller;
use crate::clock;
use crate::config::{AuthConfig, JwtConfig};
use crate::server::error::ServerError;
use crate::status::ApiError;

mod claims;
mod fetch;
mod source;
#[cfg(test)]
mod tests;

pub(crate) use fetch::jwks_address;

use source::{KeySet, KeySource};

/// Longest token looked at, bytes.
const MAX_TOKEN_BYTES: usize = 8 * 1024;
/// How long a verified token is remembered at most: a key its issuer takes back ends it no later.
const REMEMBERED_MS: i64 = 60_000;
/// Tokens remembered at once.
const REMEMBERED: usize = 10_000;

/// All issuers, and the tokens that were found good a moment ago.
pub(super) struct Issuers {
    issuers: HashMap<String, Issuer>,
    verified: Mutex<HashMap<[u8; 32], Verified>>,
}

struct Issuer {
    config: JwtConfig,
    algorithms: Vec<Algorithm>,
    source: KeySource,
}

struct Verified {
    caller: Arc<Caller>,
    until_ms: i64,
    /// The keys it was verified with: others say nothing about it.
    keys: u64,
}

/// The outcome of checking a token.
enum TokenCheck {
    Good(Arc<Caller>),
    Bad(ApiError),
    /// No key of the issuer fits; it may have new ones.
    UnknownKey,
}

impl Issuers {
    pub(super) fn from_config(config: &AuthConfig) -> Result<Self, ServerError> {
        let mut issuers = HashMap::new();
        for one in &config.jwt {
            let source = KeySource::open(one, &config.jwks_hosts)?;
            let algorithms = one.algorithms.iter().filter_map(|name| Algorithm::from_str(&format!("{name:?}")).ok());
            let issuer = Issuer { config: one.clone(), algorithms: algorithms.collect(), source };
            issuers.insert(one.issuer.clone(), issuer);
        }
        Ok(Self { issuers, verified: Mutex::default() })
    }

    /// Whether a text could be a token of one of them.
    pub(super) fn may_know(&self, text: &[u8]) -> bool {
        !self.issuers.is_empty() && text.iter().filter(|byte| **byte == b'.').count() == 2
    }

    /// Looks whether files of keys changed.
    pub(super) fn look(&self) {
        self.issuers.values().for_each(|issuer| issuer.source.look());
    }

    /// The caller behind a token with this digest.
    pub(super) fn caller(self: &Arc<Self>, token: &[u8], digest: [u8; 32]) -> Identified {
        if token.len() > MAX_TOKEN_BYTES {
            return Identified::Now(Err(refused("it is too long")));
        }
        if says_twice(token) {
            return Identified::Now(Err(refused("a claim or a member of its header is there twice")));
        }
        let Some((issuer, kid, algorithm)) = self.meant(token) else { return Identified::Now(Err(unknown())) };
        let keys = issuer.source.current();
        if let Some(caller) = self.remembered(&digest, &keys) {
            return Identified::Now(Ok(caller));
        }
        match self.verify(issuer, &keys, token, kid.as_deref(), algorithm, digest) {
            TokenCheck::Good(caller) => Identified::Now(Ok(caller)),
            TokenCheck::Bad(refusal) => Identified::Now(Err(refusal)),
            TokenCheck::UnknownKey if !issuer.source.can_refresh() => Identified::Now(Err(no_key())),
            TokenCheck::UnknownKey => {
                let (issuers, token) = (Arc::clone(self), token.to_owned());
                Identified::later(async move { issuers.caller_with_new_keys(&token, digest).await })
            }
        }
    }

    /// The same after asking the issuer for its keys.
    async fn caller_with_new_keys(&self, token: &[u8], digest: [u8; 32]) -> Result<Arc<Caller>, ApiError> {
        let Some((issuer, kid, algorithm)) = self.meant(token) else { return Err(unknown()) };
        issuer.source.refresh().await;
        let keys = issuer.source.current();
        match self.verify(issuer, &keys, token, kid.as_deref(), algorithm, digest) {
            TokenCheck::Good(caller) => Ok(caller),
            TokenCheck::Bad(refusal) => Err(refusal),
            TokenCheck::UnknownKey => Err(no_key()),
        }
    }

    /// What the token says of itself, as far as it is needed to check it: its issuer, its key, its algorithm.
    fn meant(&self, token: &[u8]) -> Option<(&Issuer, Option<String>, Algorithm)> {
        let header = jsonwebtoken::decode_header(token).ok()?;
        // Extensions that must be understood are not.
        if header.crit.is_some() || header.enc.is_some() || header.zip.is_some() {
            return None;
        }
        let claims: Value = jsonwebtoken::dangerous::insecure_decode_claims(token).ok()?;
        let issuer = self.issuers.get(claims.get("iss")?.as_str()?)?;
        Some((issuer, header.kid, header.alg))
    }

    fn remembered(&self, digest: &[u8; 32], keys: &KeySet) -> Option<Arc<Caller>> {
        let verified = self.verified.lock();
        let found = verified.get(digest)?;
        (found.keys == keys.generation() && clock::now().as_millis() < found.until_ms)
            .then(|| Arc::clone(&found.caller))
    }

    fn verify(
        &self,
        issuer: &Issuer,
        keys: &KeySet,
        token: &[u8],
        kid: Option<&str>,
        algorithm: Algorithm,
        digest: [u8; 32],
    ) -> TokenCheck {
        if !issuer.algorithms.contains(&algorithm) {
            return TokenCheck::Bad(refused("its algorithm is not taken from this issuer"));
        }
        let Some(key) = keys.find(kid, algorithm) else { return TokenCheck::UnknownKey };
        let mut validation = Validation::new(algorithm);
        validation.leeway = issuer.config.leeway_seconds;
        validation.validate_nbf = true;
        validation.set_issuer(&[&issuer.config.issuer]);
        validation.set_audience(&[&issuer.config.audience]);
        validation.set_required_spec_claims(&["iss", "aud", "exp", "sub"]);
        let claims = match jsonwebtoken::decode::<Value>(token, key, &validation) {
            Ok(token) => token.claims,
            Err(error) => return TokenCheck::Bad(of_library(error.kind())),
        };
        let caller = match claims::caller(&issuer.config, &claims) {
            Ok(caller) => Arc::new(caller),
            Err(error) => return TokenCheck::Bad(refused(&error.to_string())),
        };
        let end = claims.get("exp").and_then(Value::as_f64).map_or(0, |exp| (exp * 1000.0) as i64);
        let until_ms = end.min(clock::now().as_millis() + REMEMBERED_MS);
        self.remember(digest, Verified { caller: Arc::clone(&caller), until_ms, keys: keys.generation() });
        TokenCheck::Good(caller)
    }

    fn remember(&self, digest: [u8; 32], found: Verified) {
        let mut verified = self.verified.lock();
        if verified.len() >= REMEMBERED {
            let now = clock::now().as_millis();
            verified.retain(|_, known| now < known.until_ms);
        }
        if verified.len() < REMEMBERED {
            verified.insert(digest, found);
        }
    }
}

/// Whether its header or its claims say something twice. Which of the two counts differs between readers, so that what
/// its issuer or a proxy has looked at may not be what is used here.
fn says_twice(token: &[u8]) -> bool {
    let limits = JsonLimits { max_bytes: MAX_TOKEN_BYTES, ..JsonLimits::default() };
    token.split(|byte| *byte == b'.').take(2).any(|part| {
        let part = URL_SAFE_NO_PAD.decode(part).unwrap_or_default();
        matches!(json::check(&part, &limits), Err(JsonRefusal::DuplicateKey(_)))
    })
}

fn refused(reason: &str) -> ApiError {
    ApiError::Unauthenticated { reason: codes::TOKEN_REFUSED, message: format!("the token is refused: {reason}") }
}

fn no_key() -> ApiError {
    refused("no key of its issuer fits")
}

/// What the library found, in words of ours: its own may repeat what is in the token.
fn of_library(error: &ErrorKind) -> ApiError {
    let reason = match error {
        ErrorKind::ExpiredSignature => {
            let message = "the token has expired".to_owned();
            return ApiError::Unauthenticated { reason: codes::TOKEN_EXPIRED, message };
        }
        ErrorKind::ImmatureSignature => "it is not in force yet",
        ErrorKind::InvalidAudience => "it is for another audience",
        ErrorKind::InvalidIssuer => "it is from another issuer",
        ErrorKind::InvalidSignature => "its signature is wrong",
        ErrorKind::InvalidAlgorithm => "its algorithm does not fit the key",
        ErrorKind::MissingRequiredClaim(_) => "it needs `iss`, `aud`, `exp` and `sub`",
        _ => "it is malformed",
    };
    refused(reason)
}
