//! A credential in hand.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolplane_records::credential::CredentialPlacement;

use crate::config::CredentialKind;
use crate::error::CredentialError;
use crate::placement::{Injection, Unfit};
use crate::secret::Secret;
use crate::value::Value;

/// A credential that was given for one call. It can be put somewhere ([`Credential::place`]) and not printed; take it at the last
/// moment, and drop it then. Clones share the secret, which is overwritten with the last of them.
#[derive(Clone)]
pub struct Credential(Arc<Inner>);

struct Inner {
    name: String,
    kind: CredentialKind,
    generation: u64,
    value: Value,
}

impl Credential {
    pub(crate) fn new(name: &str, kind: CredentialKind, generation: u64, value: Value) -> Self {
        Self(Arc::new(Inner { name: name.to_owned(), kind, generation, value }))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What it is.
    pub fn kind(&self) -> CredentialKind {
        self.0.kind
    }

    /// Grows with every new value of the credential, from 1: an adapter whose credential was refused asks again, and tries
    /// once more when this is another one.
    pub fn generation(&self) -> u64 {
        self.0.generation
    }

    pub(crate) fn value(&self) -> &Value {
        &self.0.value
    }

    /// What is put at a place. `field` names a text of a `json` credential, or `username` or `password` of a `basic` one; without it
    /// the whole of it is meant.
    ///
    /// In a header, also one of a proxy, a `basic` credential is `Basic` and its Base64; a `bearer` one is `Bearer` and the token where the header
    /// is `Authorization` and no other prefix is asked for.
    ///
    /// # Errors
    ///
    /// [`CredentialError::Unfit`] when it has no such field, or does not fit the place.
    pub fn place(&self, placement: &CredentialPlacement, field: Option<&str>) -> Result<Injection, CredentialError> {
        self.injection(placement, field).map_err(|rule| CredentialError::Unfit { name: self.0.name.clone(), rule })
    }

    fn injection(&self, placement: &CredentialPlacement, field: Option<&str>) -> Result<Injection, Unfit> {
        let (CredentialPlacement::Header { name, prefix } | CredentialPlacement::Proxy { name, prefix, .. }) =
            placement
        else {
            return Injection::at(placement, "", self.part(field)?.clone());
        };
        match (&self.0.value, field, prefix) {
            (Value::Basic { both, .. }, None, None) => {
                Injection::at(placement, "Basic ", Secret::new(STANDARD.encode(both.reveal())))
            }
            (Value::Token(token), None, None)
                if self.0.kind == CredentialKind::Bearer && name.eq_ignore_ascii_case("authorization") =>
            {
                Injection::at(placement, "Bearer ", token.clone())
            }
            _ => Injection::at(placement, prefix.as_deref().unwrap_or_default(), self.part(field)?.clone()),
        }
    }

    fn part(&self, field: Option<&str>) -> Result<&Secret, Unfit> {
        match (&self.0.value, field) {
            (Value::Token(secret) | Value::Raw(secret), None) => Ok(secret),
            (Value::Basic { both, .. }, None) => Ok(both),
            (Value::Basic { user, .. }, Some("username")) => Ok(user),
            (Value::Basic { password, .. }, Some("password")) => Ok(password),
            (Value::Json { whole, .. }, None) => Ok(whole),
            (Value::Json { fields, .. }, Some(field)) => fields.get(field).ok_or(Unfit::NoField),
            _ => Err(Unfit::NoField),
        }
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential")
    }
}
