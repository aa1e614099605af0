//! What certificates are for.

use std::net::IpAddr;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// Whether a text holds a certificate (PEM).
pub fn holds_certificate(pem: &[u8]) -> bool {
    CertificateDer::pem_slice_iter(pem).any(|certificate| certificate.is_ok())
}

/// The host names and addresses the first certificate of a text (PEM) is for; `None` when there is none that can be read.
pub fn names_in(pem: &[u8]) -> Option<Vec<String>> {
    names(&CertificateDer::pem_slice_iter(pem).next()?.ok()?)
}

/// The host names and addresses a certificate is for; `None` when it cannot be read.
pub(super) fn names(certificate: &CertificateDer<'_>) -> Option<Vec<String>> {
    let name = |name: &GeneralName| match name {
        GeneralName::DnsName(name) => Some(name.to_string()),
        GeneralName::IpAddress(bytes) => {
            let four = <[u8; 4]>::try_from(bytes.as_bytes()).map(IpAddr::from);
            let address = four.or_else(|_| <[u8; 16]>::try_from(bytes.as_bytes()).map(IpAddr::from));
            address.ok().map(|address| address.to_string())
        }
        _ => None,
    };
    Some(alternative(&Certificate::from_der(certificate).ok()?)?.iter().filter_map(name).collect())
}

/// The alternative names of the subject; `None` when they cannot be read.
pub(crate) fn alternative(certificate: &Certificate) -> Option<Vec<GeneralName>> {
    let found = certificate.tbs_certificate.get::<SubjectAltName>().ok()?;
    Some(found.map(|(_, names)| names.0).unwrap_or_default())
}
