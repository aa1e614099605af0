//! The API keys a server takes: found by id, known by digest.

use std::collections::HashMap;
use std::sync::Arc;

use toolplane_records::codes;
use toolplane_records::time::Timestamp;

use super::credential_file::CredentialFileError;
use super::identified::unknown;
use super::tokens::same;
use crate::caller::Caller;
use crate::status::ApiError;
use crate::{clock, keys};

/// The keys of one file.
pub(super) struct KeyRing(HashMap<String, Holder>);

struct Holder {
    digest: [u8; 32],
    caller: Arc<Caller>,
    expires_at: Option<Timestamp>,
    disabled: bool,
}

impl KeyRing {
    /// The keys of a file's text.
    pub(super) fn from_text(text: &str) -> Result<Self, CredentialFileError> {
        let keys = keys::read_file(text)?;
        let holder = |key: keys::Key| {
            let caller = Caller {
                tenant: key.tenant,
                actor: key.actor,
                caller_ref: format!("key:{}", key.id),
                roles: key.roles,
                authenticated: true,
            };
            let (digest, expires_at, disabled) = (key.digest, key.expires_at, key.disabled);
            (key.id, Holder { digest, caller: Arc::new(caller), expires_at, disabled })
        };
        Ok(Self(keys.into_iter().map(holder).collect()))
    }

    /// The caller behind a key. That a key was taken back or is over is told only to those who have it.
    pub(super) fn caller(&self, text: &[u8], digest: &[u8; 32]) -> Result<Arc<Caller>, ApiError> {
        let found = keys::id_in(text).and_then(|id| self.0.get(id)).filter(|key| same(&key.digest, digest));
        let Some(key) = found else { return Err(unknown()) };
        let refuse = |reason, message: &str| Err(ApiError::Unauthenticated { reason, message: message.to_owned() });
        if key.disabled {
            return refuse(codes::KEY_DISABLED, "the API key was disabled");
        }
        if key.expires_at.is_some_and(|end| end <= clock::now()) {
            return refuse(codes::KEY_EXPIRED, "the API key has expired");
        }
        Ok(Arc::clone(&key.caller))
    }
}
