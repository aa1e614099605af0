//! From what a TLS or HTTP/2 library reports to what is wrong.

use std::error::Error;

use rustls::{AlertDescription, CertificateError, InvalidMessage};

use super::plain::PLAIN_WORDS;

/// Why a connection failed, where encryption or the lack of it is the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsFault {
    /// We spoke TLS, and the other side does not.
    #[error("the port does not speak TLS")]
    PlainPort,
    /// We spoke plain text to a port that speaks TLS.
    #[error("the port speaks TLS")]
    TlsPort,
    /// The certificate is signed by no authority we trust.
    #[error("its certificate is not signed by a trusted authority")]
    UnknownAuthority,
    /// The certificate is over.
    #[error("its certificate has expired")]
    Expired,
    /// The certificate is not in force yet.
    #[error("its certificate is not in force yet: one of the two clocks is wrong, or it is too new")]
    NotYet,
    /// The certificate is another one's.
    #[error("its certificate is for another name{}", names(presented))]
    OtherName {
        /// The names in it, where the library tells them.
        presented: Vec<String>,
    },
    /// The other side wants to see a certificate of ours.
    #[error("it asks for a client certificate")]
    CertificateNeeded,
    /// The other side does not take the certificate we showed.
    #[error("it does not take the client certificate")]
    CertificateRefused,
    /// Something else about TLS.
    #[error("the TLS handshake failed: {0}")]
    Other(String),
}

impl TlsFault {
    /// What `error` says about TLS, wherever in its chain of causes, if it says anything.
    pub fn find(error: &(dyn Error + 'static)) -> Option<Self> {
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return Some(Self::of(error));
        }
        // What an I/O error carries is not among its causes.
        let carried = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if let Some(found) = carried.and_then(|carried| Self::find(carried)) {
            return Some(found);
        }
        match error.source() {
            Some(cause) => Self::find(cause),
            None => error.to_string().contains(PLAIN_WORDS).then_some(Self::TlsPort),
        }
    }

    /// What to do, for a person who can name files and addresses at the command line.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::PlainPort => "use `http://` in the endpoint, or turn on `server.tls` there",
            Self::TlsPort => "use `https://` in the endpoint, with `--ca-file`",
            Self::UnknownAuthority => "name its authority with `--ca-file` (`toolplane keys tls` writes `ca.pem`)",
            Self::Expired => "ask the operator for a new certificate (`toolplane keys tls --renew`)",
            Self::NotYet => "look at the clocks of both machines",
            Self::OtherName { .. } => "use one of its names in the endpoint, or name it with `--server-name`",
            Self::CertificateNeeded => "show one with `--cert-file` and `--key-file`",
            Self::CertificateRefused => {
                "show one that an authority of `server.tls.client_ca_file` has signed, and that is in force"
            }
            Self::Other(_) => "look at the certificates of both sides",
        }
    }

    fn of(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => Self::PlainPort,
            rustls::Error::InvalidCertificate(reason) => Self::of_certificate(reason),
            rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => Self::CertificateNeeded,
            rustls::Error::AlertReceived(
                AlertDescription::BadCertificate
                | AlertDescription::UnknownCA
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::AccessDenied
                | AlertDescription::DecryptError,
            ) => Self::CertificateRefused,
            other => Self::Other(other.to_string()),
        }
    }

    fn of_certificate(reason: &CertificateError) -> Self {
        match reason {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotYet,
            // Another authority of the same name signs with another key.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::UnknownAuthority,
            CertificateError::NotValidForName => Self::OtherName { presented: Vec::new() },
            CertificateError::NotValidForNameContext { presented, .. } => {
                Self::OtherName { presented: presented.iter().map(|name| bare(name)).collect() }
            }
            other => Self::Other(other.to_string()),
        }
    }
}

/// A name without the kind the library writes around it: `DnsName("a.example")`, `IpAddress(127.0.0.1)`.
fn bare(name: &str) -> String {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
    inner.trim_matches('"').to_owned()
}

fn names(presented: &[String]) -> String {
    match presented {
        [] => String::new(),
        names => format!(": it is for {}", names.join(", ")),
    }
}
