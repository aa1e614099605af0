//! The public keys of an issuer: from a file, or fetched.

use crate::server::auth::credential_file::{KeySetError, MAX_KEYS};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;
use toolplane_records::json::{self, JsonLimits, JsonRefusal};

use super::fetch::Remote;
use crate::config::JwtConfig;
use crate::server::auth::watched::Watched;
use crate::server::error::ServerError;

/// Keys that check signatures.
pub(super) struct KeySet {
    generation: u64,
    keys: Vec<Key>,
}

struct Key {
    id: Option<String>,
    algorithm: Option<Algorithm>,
    key: DecodingKey,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

impl KeySet {
    /// No key.
    pub(super) fn empty() -> Self {
        Self { generation: next(), keys: Vec::new() }
    }

    /// The keys of a JWK set that check signatures; others (shared secrets, keys for encryption, unknown kinds) are left out.
    pub(super) fn parse(text: &str) -> Result<Self, KeySetError> {
        let limits = JsonLimits { max_bytes: text.len(), ..JsonLimits::default() };
        if matches!(json::check(text.as_bytes(), &limits), Err(JsonRefusal::DuplicateKey(_))) {
            return Err(KeySetError::SaidTwice);
        }
        let document: Document = serde_json::from_str(text).map_err(|_| KeySetError::NotAKeySet)?;
        if document.keys.len() > MAX_KEYS {
            return Err(KeySetError::TooManyKeys);
        }
        let keys: Vec<Key> = document.keys.into_iter().filter_map(key).collect();
        let mut known = HashSet::new();
        if keys.iter().any(|key| key.id.as_ref().is_some_and(|id| !known.insert((id, key.key.family() as u8)))) {
            return Err(KeySetError::SameId);
        }
        if keys.is_empty() { Err(KeySetError::NoKey) } else { Ok(Self { generation: next(), keys }) }
    }

    /// A number of this set's own.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// The key a token means. Without an id it must be the only one that fits.
    pub(super) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&DecodingKey> {
        let fits = |key: &&Key| {
            key.key.family() == algorithm.family()
                && key.algorithm.is_none_or(|own| own == algorithm)
                && id.is_none_or(|id| key.id.as_deref() == Some(id))
        };
        let mut fitting = self.keys.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => Some(&key.key),
            _ => None,
        }
    }
}

fn next() -> u64 {
    static GENERATION: AtomicU64 = AtomicU64::new(0);
    GENERATION.fetch_add(1, Ordering::Relaxed)
}

fn key(value: Value) -> Option<Key> {
    let jwk: Jwk = serde_json::from_value(value).ok()?;
    if matches!(jwk.algorithm, AlgorithmParameters::OctetKey(_)) {
        return None;
    }
    let common = &jwk.common;
    let signs = common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature);
    let verifies = common.key_operations.as_ref().is_none_or(|allowed| allowed.contains(&KeyOperations::Verify));
    if !signs || !verifies {
        return None;
    }
    let algorithm = match &common.key_algorithm {
        // One we do not know is none we take.
        Some(name) => Some(format!("{name:?}").parse().ok()?),
        None => None,
    };
    Some(Key { id: common.key_id.clone(), algorithm, key: DecodingKey::from_jwk(&jwk).ok()? })
}

/// Where keys come from.
pub(super) enum KeySource {
    File(Watched<KeySet>),
    Remote(Arc<Remote>),
}

impl KeySource {
    pub(super) fn open(config: &JwtConfig, hosts: &[String]) -> Result<Self, ServerError> {
        match (&config.jwks_file, &config.jwks_url) {
            (Some(file), _) => {
                let read = |text: &str| Ok(KeySet::parse(text)?);
                Ok(Self::File(Watched::open("server.auth.jwt.jwks_file", file.clone(), read)?))
            }
            (None, Some(url)) => Ok(Self::Remote(Arc::new(Remote::new(url, hosts, config.jwks_ttl_ms)?))),
            (None, None) => Err(ServerError::Transport(format!("issuer `{}` has no keys", config.issuer))),
        }
    }

    pub(super) fn look(&self) {
        if let Self::File(file) = self {
            file.look();
        }
    }

    pub(super) fn current(&self) -> Arc<KeySet> {
        match self {
            Self::File(file) => Arc::clone(&file.current()),
            Self::Remote(remote) => remote.current(),
        }
    }

    /// Whether asking again may help.
    pub(super) fn can_refresh(&self) -> bool {
        matches!(self, Self::Remote(_))
    }

    /// Asks for the keys again, as often as that is decent.
    pub(super) async fn refresh(&self) {
        if let Self::Remote(remote) = self {
            remote.refresh().await;
        }
    }
}
