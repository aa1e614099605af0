//! Client certificates that are callers by themselves.
//!
//! The connection has already checked who signed a certificate and that it is in force; here its names are looked up.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use toolplane_records::ids::TenantId;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::caller::Caller;
use crate::config::MtlsConfig;

/// Certificates remembered at once; more are looked at anew.
const REMEMBERED: usize = 4096;

/// The subjects that are callers.
pub(super) struct Subjects {
    entries: Vec<(CertificateName, Arc<Caller>)>,
    /// By digest of the certificate: reading one costs more than the call it belongs to.
    known: RwLock<HashMap<[u8; 32], Option<Arc<Caller>>>>,
}

/// A name in a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CertificateName {
    Uri(String),
    Common(String),
    /// In lower case.
    Dns(String),
}

impl CertificateName {
    fn parse(text: &str) -> Self {
        match text.strip_prefix("CN=") {
            Some(name) => Self::Common(name.to_owned()),
            None if text.contains("://") => Self::Uri(text.to_owned()),
            None => Self::Dns(text.to_ascii_lowercase()),
        }
    }
}

impl Subjects {
    /// The subjects of the configuration, checked before.
    pub(super) fn new(entries: &[MtlsConfig]) -> Self {
        let caller = |entry: &MtlsConfig| Caller {
            tenant: TenantId::from_trusted(&entry.tenant),
            actor: entry.actor.clone(),
            caller_ref: format!("mtls:{}", entry.subject),
            roles: entry.roles.iter().copied().collect(),
            authenticated: true,
        };
        let entries = entries.iter().map(|entry| (CertificateName::parse(&entry.subject), Arc::new(caller(entry))));
        Self { entries: entries.collect(), known: RwLock::default() }
    }

    /// The caller a certificate (DER) stands for: the first entry that names it.
    pub(super) fn caller(&self, certificate: &[u8]) -> Option<Arc<Caller>> {
        if self.entries.is_empty() {
            return None;
        }
        let digest = crate::keys::digest(certificate);
        if let Some(known) = self.known.read().get(&digest) {
            return known.clone();
        }
        let names = names(certificate);
        let found = self.entries.iter().find(|(name, _)| names.contains(name)).map(|(_, caller)| Arc::clone(caller));
        let mut known = self.known.write();
        if known.len() < REMEMBERED {
            known.insert(digest, found.clone());
        }
        found
    }
}

fn names(certificate: &[u8]) -> Vec<CertificateName> {
    let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { return Vec::new() };
    let mut names = Vec::new();
    if let Ok(Some(alternative)) = certificate.subject_alternative_name() {
        for name in &alternative.value.general_names {
            match name {
                GeneralName::URI(uri) => names.push(CertificateName::Uri((*uri).to_owned())),
                GeneralName::DNSName(name) => names.push(CertificateName::Dns(name.to_ascii_lowercase())),
                _ => {}
            }
        }
    }
    let common = certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok());
    names.extend(common.map(|name| CertificateName::Common(name.to_owned())));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::Role;

    fn certificate(common: &str, alternative: &[rcgen::SanType]) -> Vec<u8> {
        let mut params = rcgen::CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, common);
        params.subject_alt_names = alternative.to_vec();
        let key = rcgen::KeyPair::generate().expect("key");
        params.self_signed(&key).expect("certificate").der().to_vec()
    }

    fn entry(subject: &str) -> MtlsConfig {
        MtlsConfig { subject: subject.to_owned(), tenant: "acme".to_owned(), actor: None, roles: vec![Role::Worker] }
    }

    #[test]
    fn names_are_matched_whole_and_by_kind() {
        let uri = rcgen::SanType::URI("spiffe://cluster/worker".try_into().expect("uri"));
        let dns = rcgen::SanType::DnsName("Worker.Example".try_into().expect("name"));
        let shown = certificate("worker-7", &[uri, dns]);
        for (subject, fits) in [
            ("spiffe://cluster/worker", true),
            ("spiffe://cluster/work", false),
            ("spiffe://cluster/worker/x", false),
            ("CN=worker-7", true),
            ("CN=worker", false),
            ("worker-7", false),
            ("worker.example", true),
            ("example", false),
            ("CN=Worker.Example", false),
        ] {
            let found = Subjects::new(&[entry(subject)]).caller(&shown);
            assert_eq!(found.is_some(), fits, "{subject}");
            if let Some(caller) = found {
                assert_eq!(caller.caller_ref, format!("mtls:{subject}"));
                assert_eq!((caller.tenant.as_str(), caller.is(Role::Worker)), ("acme", true));
            }
        }
        let several = Subjects::new(&[entry("CN=other"), entry("CN=worker-7"), entry("worker.example")]);
        for _ in 0..2 {
            assert_eq!(several.caller(&shown).expect("found").caller_ref, "mtls:CN=worker-7", "the first that fits");
        }
        assert!(several.caller(b"not a certificate").is_none());
    }
}
