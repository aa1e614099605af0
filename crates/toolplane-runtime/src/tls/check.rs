//! Whether the certificates and keys of a configuration can do what they are for, before a client connects.

use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use x509_cert::der::Decode as _;
use x509_cert::time::Time;
use x509_cert::{Certificate, TbsCertificate};

use crate::config::{PeersConfig, ServerConfig};
use crate::server::error::{ServerError, read};

/// What a certificate or a key cannot be used for, and why.
#[derive(Debug, thiserror::Error)]
enum CertificateError {
    #[error("the certificate of `{subject}` expired on {end}")]
    Expired { subject: String, end: Time },
    #[error("the certificate of `{subject}` is in force only from {start} on")]
    NotYet { subject: String, start: Time },
    #[error("a certificate cannot be read")]
    Unreadable,
    #[error("it is not the key of the certificate in `server.tls.cert_file`")]
    OtherKey,
    #[error("the key cannot be used")]
    Key,
    #[error("it names no host")]
    NoHost,
    #[error("{0}")]
    Authorities(rustls::client::VerifierBuilderError),
    #[error("{}", super::fault::TlsFault::find(.0).map_or_else(|| .0.to_string(), |fault| fault.to_string()))]
    Refused(rustls::Error),
}

/// Checks all files that `server` and `peers` name for TLS: they are there and in force, the key is that of the certificate, the
/// chain is one, and the authorities the cluster trusts are those that signed it.
pub(crate) fn check(server: &ServerConfig, peers: &PeersConfig) -> Result<(), ServerError> {
    let peers_ca = peers.ca_file.as_deref().map(|file| authorities("peers.ca_file", file)).transpose()?;
    let Some(tls) = &server.tls else { return Ok(()) };
    let chain = chain("server.tls.cert_file", &tls.cert_file)?;
    let key = key("server.tls.key_file", &tls.key_file)?;
    fits(&chain, key).map_err(|reason| refuse("server.tls.key_file", &tls.key_file, reason.to_string()))?;
    let clients_ca =
        tls.client_ca_file.as_deref().map(|file| authorities("server.tls.client_ca_file", file)).transpose()?;
    // What this process shows others, and others of this configuration show it.
    let encrypted = |url: &String| url.starts_with("https://");
    if ![&peers.surface, &peers.permission, &peers.scheduler].iter().any(|at| at.urls().iter().any(encrypted)) {
        return Ok(());
    }
    if let Some(roots) = peers_ca {
        as_server(&chain, roots).map_err(|reason| {
            refuse(
                "server.tls.cert_file",
                &tls.cert_file,
                format!("peers that trust `peers.ca_file` would refuse it: {reason}"),
            )
        })?;
    }
    if let Some(roots) = clients_ca {
        as_client(&chain, roots).map_err(|reason| {
            let rule = format!("it is shown to peers, and `server.tls.client_ca_file` would refuse it: {reason}");
            refuse("server.tls.cert_file", &tls.cert_file, rule)
        })?;
    }
    Ok(())
}

fn refuse(key: &'static str, file: &Path, reason: impl Into<String>) -> ServerError {
    ServerError::File { key, file: file.to_owned(), reason: reason.into() }
}

fn certificates(key: &'static str, file: &Path) -> Result<Vec<CertificateDer<'static>>, ServerError> {
    let pem = read(key, file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(refuse(key, file, "it holds no certificate (PEM)")),
        Ok(found) => Ok(found),
        Err(error) => Err(refuse(key, file, format!("it is not PEM: {error}"))),
    }
}

/// A chain whose certificates are in force, each signed in the name of the next.
pub(super) fn chain(key: &'static str, file: &Path) -> Result<Vec<CertificateDer<'static>>, ServerError> {
    let chain = certificates(key, file)?;
    let mut issuer = None;
    for certificate in &chain {
        let parsed = Certificate::from_der(certificate)
            .map_err(|_| refuse(key, file, CertificateError::Unreadable.to_string()))?
            .tbs_certificate;
        in_force(&parsed).map_err(|reason| refuse(key, file, reason.to_string()))?;
        let TbsCertificate { subject, issuer: signer, .. } = parsed;
        if issuer.is_some_and(|issuer| issuer != subject) {
            return Err(refuse(key, file, "it is no chain: each certificate must be followed by that of its issuer"));
        }
        issuer = Some(signer);
    }
    Ok(chain)
}

/// Authorities, at least one of which is in force.
pub(super) fn authorities(key: &'static str, file: &Path) -> Result<RootCertStore, ServerError> {
    let mut roots = RootCertStore::empty();
    let mut reason = None;
    for certificate in certificates(key, file)? {
        let parsed = Certificate::from_der(&certificate).map(|parsed| in_force(&parsed.tbs_certificate));
        match parsed {
            Ok(Ok(())) => roots.add(certificate).map_err(|error| refuse(key, file, error.to_string()))?,
            Ok(Err(over)) => reason = Some(over),
            Err(_) => reason = Some(CertificateError::Unreadable),
        }
    }
    match reason {
        Some(reason) if roots.is_empty() => Err(refuse(key, file, reason.to_string())),
        _ => Ok(roots),
    }
}

fn in_force(certificate: &TbsCertificate) -> Result<(), CertificateError> {
    let (start, end) = (certificate.validity.not_before, certificate.validity.not_after);
    let now = UnixTime::now().as_secs();
    let subject = certificate.subject.to_string();
    if end.to_unix_duration().as_secs() < now {
        return Err(CertificateError::Expired { subject, end });
    }
    if start.to_unix_duration().as_secs() > now {
        return Err(CertificateError::NotYet { subject, start });
    }
    Ok(())
}

pub(super) fn key(name: &'static str, file: &Path) -> Result<PrivateKeyDer<'static>, ServerError> {
    let pem = read(name, file)?;
    // What the library says could hold parts of the key.
    PrivateKeyDer::from_pem_slice(&pem).map_err(|_| refuse(name, file, "it holds no private key (PEM)"))
}

fn fits(chain: &[CertificateDer<'static>], key: PrivateKeyDer<'static>) -> Result<(), CertificateError> {
    let checked = rustls::sign::CertifiedKey::from_der(chain.to_vec(), key, &default_provider());
    checked.map(drop).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => CertificateError::OtherKey,
        _ => CertificateError::Key,
    })
}

fn as_server(chain: &[CertificateDer<'static>], roots: RootCertStore) -> Result<(), CertificateError> {
    let Some((own, between)) = chain.split_first() else { return Ok(()) };
    let name = first_name(own).ok_or(CertificateError::NoHost)?;
    let verifier =
        rustls::client::WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::new(default_provider()));
    let verifier = verifier.build().map_err(CertificateError::Authorities)?;
    verifier.verify_server_cert(own, between, &name, &[], UnixTime::now()).map(drop).map_err(CertificateError::Refused)
}

fn as_client(chain: &[CertificateDer<'static>], roots: RootCertStore) -> Result<(), CertificateError> {
    let Some((own, between)) = chain.split_first() else { return Ok(()) };
    let verifier =
        rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(default_provider()));
    let verifier = verifier.build().map_err(CertificateError::Authorities)?;
    verifier.verify_client_cert(own, between, UnixTime::now()).map(drop).map_err(CertificateError::Refused)
}

/// A name the certificate is for.
fn first_name(certificate: &CertificateDer<'_>) -> Option<ServerName<'static>> {
    super::names::names(certificate)?.into_iter().find_map(|name| ServerName::try_from(name).ok())
}
