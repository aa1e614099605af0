//! Who calls: tokens, API keys, JSON Web Tokens and client certificates become a [`Caller`].
//!
//! A credential that is shown and wrong is refused even when another one would do, and several good ones must be of the
//! same caller: whose request it is would be a guess otherwise, and a wrong one where a party in between added one of
//! them. Neither errors nor logs ever hold a credential.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio_util::task::AbortOnDropHandle;
use tonic::transport::server::TlsConnectInfo;
use toolplane_records::codes;

use super::error::ServerError;
use super::life::ConnectionLife;
use crate::caller::Caller;
use crate::config::AuthConfig;
use crate::keys::digest;
use crate::status::ApiError;
use crate::web::ShownCertificates;

mod certificates;
mod credential_file;
mod identified;
mod jwt;
mod presented;
mod ring;
#[cfg(test)]
mod tests;
mod tokens;
mod watched;

pub(crate) use identified::Identified;
use identified::unknown;

pub(crate) use jwt::jwks_address;
pub(crate) use tokens::first_token;

use certificates::Subjects;
use jwt::Issuers;
use presented::Presented;
use ring::KeyRing;
use tokens::TokenSet;
use watched::Watched;

/// How often files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// In the extensions of a request: it comes from this very process. Nothing that comes over a wire can say so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnProcess;

/// Everything a server knows about its callers.
pub struct Auth {
    tokens: Option<Watched<TokenSet>>,
    keys: Option<Watched<KeyRing>>,
    issuers: Arc<Issuers>,
    subjects: Subjects,
    token_caller: Arc<Caller>,
}

impl Auth {
    /// The configuration's way in, with its files read.
    ///
    /// Fails with [`ServerError::File`] when a file cannot be read or holds no good tokens or keys, and with
    /// [`ServerError::Transport`] when an issuer has neither a file of keys nor an address from which they may be
    /// fetched. Keys are fetched later: an issuer that is away is no error here.
    pub fn from_config(config: &AuthConfig) -> Result<Self, ServerError> {
        let tokens = |file: &PathBuf| Watched::open("server.auth.token_file", file.clone(), TokenSet::from_text);
        let keys = |file: &PathBuf| Watched::open("server.auth.api_key_file", file.clone(), KeyRing::from_text);
        Ok(Self {
            tokens: config.token_file.as_ref().map(tokens).transpose()?,
            keys: config.api_key_file.as_ref().map(keys).transpose()?,
            issuers: Arc::new(Issuers::from_config(config)?),
            subjects: Subjects::new(&config.mtls),
            token_caller: Caller::everything("token"),
        })
    }

    /// Who sent a request with this head.
    pub(crate) fn identify(&self, headers: &http::HeaderMap, extensions: &http::Extensions) -> Identified {
        let shown = match Presented::of(headers) {
            Ok(shown) => shown,
            Err(refusal) => return Identified::Now(Err(refusal)),
        };
        let by_key = shown.key.map(|key| self.of_secret(key, &digest(key))).transpose();
        let others = by_key.and_then(|by_key| {
            let certificate = self.of_certificate(extensions).map(|caller| ("the client certificate", caller));
            agreed(by_key.map(|caller| ("`x-api-key`", caller)), certificate)
        });
        let others = match others {
            Ok(others) => others,
            Err(refusal) => return Identified::Now(Err(refusal)),
        };
        let Some(bearer) = shown.bearer else {
            return Identified::Now(others.map_or_else(|| of_nobody(extensions), |(_, caller)| Ok(caller)));
        };
        match self.of_bearer(bearer) {
            Identified::Now(found) => Identified::Now(found.and_then(|caller| beside(caller, others))),
            Identified::Later(finding) => Identified::later(async move { beside(finding.await?, others) }),
        }
    }

    fn of_bearer(&self, text: &[u8]) -> Identified {
        let digest = digest(text);
        match self.of_secret(text, &digest) {
            Err(_) if self.issuers.may_know(text) => self.issuers.caller(text, digest),
            found => Identified::Now(found),
        }
    }

    /// The caller behind a token or an API key.
    fn of_secret(&self, text: &[u8], digest: &[u8; 32]) -> Result<Arc<Caller>, ApiError> {
        if self.tokens.as_ref().is_some_and(|tokens| tokens.current().holds(digest)) {
            return Ok(Arc::clone(&self.token_caller));
        }
        match &self.keys {
            Some(keys) => keys.current().caller(text, digest),
            None => Err(unknown()),
        }
    }

    /// The caller a client certificate stands for. One that is mapped to no caller opens the connection and is no
    /// credential.
    fn of_certificate(&self, extensions: &http::Extensions) -> Option<Arc<Caller>> {
        if let Some(ShownCertificates(chain)) = extensions.get() {
            return self.subjects.caller(chain.first()?);
        }
        let certificates = extensions.get::<TlsConnectInfo<ConnectionLife>>().and_then(TlsConnectInfo::peer_certs);
        certificates.and_then(|chain| self.subjects.caller(chain.first()?))
    }

    /// Follows the files until the handle is dropped.
    pub(crate) fn follow(self: &Arc<Self>) -> AbortOnDropHandle<()> {
        let auth = Arc::clone(self);
        let following = async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let looking = Arc::clone(&auth);
                // A look that fails by panicking is repeated a second later.
                let _ = tokio::task::spawn_blocking(move || looking.look()).await;
            }
        };
        AbortOnDropHandle::new(crate::tasks::spawn("following keys and tokens", following))
    }

    fn look(&self) {
        self.tokens.iter().for_each(Watched::look);
        self.keys.iter().for_each(Watched::look);
        self.issuers.look();
    }
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Auth")
    }
}

/// A kind of credential, and whose it is.
type Shown = (&'static str, Arc<Caller>);

/// The caller of two credentials, if both are there and good.
fn agreed(one: Option<Shown>, other: Option<Shown>) -> Result<Option<Shown>, ApiError> {
    match (one, other) {
        (Some((one, first)), Some((other, second))) if first != second => Err(ApiError::Unauthenticated {
            reason: codes::CREDENTIALS_DIFFER,
            message: format!("{one} and {other} are of different callers: show one of them"),
        }),
        (one, other) => Ok(one.or(other)),
    }
}

/// The caller of `authorization`, beside what else was shown.
fn beside(caller: Arc<Caller>, others: Option<Shown>) -> Result<Arc<Caller>, ApiError> {
    agreed(Some(("`authorization`", Arc::clone(&caller))), others).map(|_| caller)
}

/// Who sent a request without a credential.
fn of_nobody(extensions: &http::Extensions) -> Result<Arc<Caller>, ApiError> {
    if extensions.get::<OwnProcess>().is_some() {
        return Ok(Caller::this_process());
    }
    Err(ApiError::Unauthenticated {
        reason: codes::TOKEN_MISSING,
        message:
            "a bearer token or an API key is required: `authorization: Bearer <token or key>`, or `x-api-key: <key>`"
                .to_owned(),
    })
}

/// Whether this certificate (PEM) is a caller by itself for a server with this configuration.
pub(crate) fn is_caller(config: &AuthConfig, certificate: &[u8]) -> bool {
    let first = CertificateDer::from_pem_slice(certificate);
    first.is_ok_and(|first| Subjects::new(&config.mtls).caller(&first).is_some())
}
