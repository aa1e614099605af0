//! Client certificates that are callers by themselves.
//!
//! The connection has already checked who signed a certificate and that it is in force; here its names are looked up.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use toolplane_records::ids::TenantId;
use x509_cert::Certificate;
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Decode as _, Tag, Tagged as _};
use x509_cert::ext::pkix::name::GeneralName;

use crate::caller::Caller;
use crate::config::MtlsConfig;
use crate::tls::alternative;

/// Certificates remembered at once; more are looked at anew.
const REMEMBERED: usize = 4096;

/// The attribute of a subject that is its common name (RFC 5280, 4.1.2.4).
const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");

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
    let Ok(certificate) = Certificate::from_der(certificate) else { return Vec::new() };
    let alternative = alternative(&certificate).unwrap_or_default();
    let alternative = alternative.iter().filter_map(|name| match name {
        GeneralName::UniformResourceIdentifier(uri) => Some(CertificateName::Uri(uri.to_string())),
        GeneralName::DnsName(name) => Some(CertificateName::Dns(name.as_str().to_ascii_lowercase())),
        _ => None,
    });
    let subject = certificate.tbs_certificate.subject.0.iter().flat_map(|part| part.0.iter());
    alternative.chain(subject.filter_map(common_name).map(CertificateName::Common)).collect()
}

/// The text of a common name.
fn common_name(attribute: &AttributeTypeAndValue) -> Option<String> {
    let is_text = matches!(attribute.value.tag(), Tag::Utf8String | Tag::PrintableString | Tag::Ia5String);
    (attribute.oid == COMMON_NAME && is_text).then(|| String::from_utf8(attribute.value.value().to_vec()).ok())?
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

    #[test]
    fn a_subject_may_have_other_attributes_and_kinds_of_text() {
        let mut params = rcgen::CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::OrganizationName, "worker-7");
        let printable = "worker-8".try_into().expect("name");
        params.distinguished_name.push(rcgen::DnType::CommonName, rcgen::DnValue::PrintableString(printable));
        let key = rcgen::KeyPair::generate().expect("key");
        let shown = params.self_signed(&key).expect("certificate").der().to_vec();
        assert_eq!(
            names(&shown),
            [CertificateName::Common("worker-8".to_owned())],
            "an organisation is no common name"
        );
        assert_eq!(names(&shown[..shown.len() - 1]), [], "a certificate that was cut");
    }
}
