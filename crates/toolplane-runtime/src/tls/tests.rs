use std::path::{Path, PathBuf};

use super::*;
use crate::config::{Config, Endpoints, TlsConfig};

/// Certificates made for a test.
struct Made {
    folder: tempfile::TempDir,
}

impl Made {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("file");
    }

    /// An authority with a server in force, one that is over, and one that is not in force yet.
    fn new() -> Self {
        let made = Self { folder: tempfile::tempdir().expect("folder") };
        for name in ["ca", "other"] {
            made.authority(name);
        }
        made
    }

    fn authority(&self, name: &str) {
        let mut params = rcgen::CertificateParams::new(Vec::new()).expect("params");
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().expect("key");
        self.write(&format!("{name}.pem"), &params.self_signed(&key).expect("authority").pem());
        let issuer = rcgen::Issuer::new(params, key);
        for (kind, from, to) in [("server", 2000, 4000), ("over", 2000, 2001), ("early", 3999, 4000)] {
            let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("params");
            params.not_before = rcgen::date_time_ymd(from, 1, 1);
            params.not_after = rcgen::date_time_ymd(to, 1, 1);
            let key = rcgen::KeyPair::generate().expect("key");
            let certificate = params.signed_by(&key, &issuer).expect("certificate");
            self.write(&format!("{name}-{kind}.pem"), &certificate.pem());
            self.write(&format!("{name}-{kind}.key"), &key.serialize_pem());
        }
    }

    /// What is said about a server with these files, whose peers are encrypted.
    fn said(&self, certificate: &str, key: &str, peers_ca: &str, clients_ca: Option<&str>) -> String {
        let mut config = Config::default();
        config.server.tls = Some(TlsConfig {
            cert_file: self.path(certificate),
            key_file: self.path(key),
            client_ca_file: clients_ca.map(|name| self.path(name)),
        });
        config.peers.ca_file = Some(self.path(peers_ca));
        config.peers.scheduler = Endpoints::new(["https://localhost:1".to_owned()]);
        match check(&config.server, &config.peers) {
            Ok(()) => String::new(),
            Err(error) => error.to_string().replace(&Path::display(self.folder.path()).to_string(), ""),
        }
    }
}

#[test]
fn files_that_cannot_work_together_are_refused() {
    let made = Made::new();
    let read = |name: &str| std::fs::read_to_string(made.path(name)).expect("file");
    made.write("chain.pem", &(read("ca-server.pem") + &read("ca.pem")));
    made.write("no-chain.pem", &(read("ca-server.pem") + &read("other.pem")));
    made.write("empty.pem", "# nothing");
    for (certificate, key, peers_ca, clients_ca, expected) in [
        ("ca-server.pem", "ca-server.key", "ca.pem", Some("ca.pem"), ""),
        ("chain.pem", "ca-server.key", "ca.pem", None, ""),
        ("no-chain.pem", "ca-server.key", "ca.pem", None, "followed by that of its issuer"),
        ("ca-server.pem", "other-server.key", "ca.pem", None, "it is not the key of the certificate"),
        ("ca-server.pem", "ca-server.pem", "ca.pem", None, "it holds no private key"),
        ("empty.pem", "ca-server.key", "ca.pem", None, "it holds no certificate"),
        ("missing.pem", "ca-server.key", "ca.pem", None, "`server.tls.cert_file`"),
        ("ca-over.pem", "ca-over.key", "ca.pem", None, "expired on"),
        ("ca-early.pem", "ca-early.key", "ca.pem", None, "in force only from"),
        ("ca-server.pem", "ca-server.key", "empty.pem", None, "`peers.ca_file`"),
        ("ca-server.pem", "ca-server.key", "ca-over.pem", None, "expired on"),
        ("ca-server.pem", "ca-server.key", "other.pem", None, "peers that trust `peers.ca_file` would refuse it"),
        ("ca-server.pem", "ca-server.key", "ca.pem", Some("other.pem"), "`server.tls.client_ca_file` would refuse it"),
        ("ca-server.pem", "ca-server.key", "ca.pem", Some("missing.pem"), "`server.tls.client_ca_file`"),
    ] {
        let said = made.said(certificate, key, peers_ca, clients_ca);
        let right = if expected.is_empty() { said.is_empty() } else { said.contains(expected) };
        assert!(right, "{certificate} {key} {peers_ca} {clients_ca:?}: `{said}` instead of `{expected}`");
    }
}

#[test]
fn plain_text_is_told_from_tls_and_answered_in_its_own_words() {
    for plain in ["PRI * HTTP/2.0", "GET / HTTP/1.1", "POST /x"] {
        assert!(is_plain(plain.as_bytes()), "{plain}");
    }
    assert!(!is_plain(&[0x16, 3, 1]) && !is_plain(&[]));
    let answer = String::from_utf8_lossy(&answer_to_plain(b"GET /")).into_owned();
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("speaks TLS"), "{answer}");
    let frames = answer_to_plain(b"PRI * HTTP/2.0");
    let goaway = &frames[9..];
    assert!(
        is_of_tls(&frames) && is_of_tls(&[0x15, 3, 3, 0, 2]) && !is_of_tls(HTTP2_PREFACE) && !is_of_tls(&[0, 0, 0, 4])
    );
    assert_eq!((frames[3], goaway[3], usize::from(goaway[2]) + 9), (4, 7, goaway.len()), "two whole frames");
}

#[test]
fn what_is_wrong_is_found_wherever_it_is_said() {
    let presented = vec!["DnsName(\"a.example\")".to_owned(), "IpAddress(127.0.0.1)".to_owned(), "other".to_owned()];
    let expected = rustls::pki_types::ServerName::try_from("b.example").expect("name");
    let other = rustls::CertificateError::NotValidForNameContext { expected, presented };
    for (error, words) in [
        (
            rustls::Error::InvalidCertificate(other),
            "its certificate is for another name: it is for a.example, 127.0.0.1, other",
        ),
        (rustls::Error::InvalidCertificate(rustls::CertificateError::Expired), "its certificate has expired"),
        (
            rustls::Error::AlertReceived(rustls::AlertDescription::CertificateRequired),
            "it asks for a client certificate",
        ),
        (rustls::Error::AlertReceived(rustls::AlertDescription::UnknownCA), "it does not take the client certificate"),
        (rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType), "the port does not speak TLS"),
    ] {
        // As transports hand it on: within an I/O error, within another one.
        let error = std::io::Error::other(std::io::Error::other(error));
        let fault = TlsFault::find(&error).expect(words);
        assert_eq!(fault.to_string(), words);
        assert!(!fault.advice().is_empty());
    }
    let told = std::io::Error::other(String::from_utf8_lossy(&answer_to_plain(b"GET /")).into_owned());
    assert_eq!(TlsFault::find(&told), Some(TlsFault::TlsPort));
    assert_eq!(TlsFault::find(&std::io::Error::other("refused")), None);
}
