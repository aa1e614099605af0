//! What certificates are for.

use std::net::IpAddr;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer as _, X509Certificate};

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
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let Some(names) = parsed.subject_alternative_name().ok()? else { return Some(Vec::new()) };
    let name = |name: &GeneralName<'_>| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let four = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
            let address = four.or_else(|_| <[u8; 16]>::try_from(*bytes).map(IpAddr::from));
            address.ok().map(|address| address.to_string())
        }
        _ => None,
    };
    Some(names.value.general_names.iter().filter_map(name).collect())
}
