//! One connection made to see how it fails: what a server thinks of a client's certificate is told only after the handshake,
//! and by then transports say no more than that the connection broke.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::fault::TlsFault;
use super::plain::HTTP2_PREFACE;

/// How long each step may take.
const PATIENCE: Duration = Duration::from_millis(500);

/// How to connect: the files of the command line, as PEM.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Name or address of the machine.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The name in the certificate, when it is not the host.
    pub server_name: Option<String>,
    /// Whom to trust.
    pub ca: Vec<u8>,
    /// Our certificate and its key.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl Probe {
    /// Connects and begins HTTP/2; what TLS says against it, if anything. Blocks for up to two seconds.
    pub fn run(&self) -> Option<TlsFault> {
        let name = ServerName::try_from(self.server_name.clone().unwrap_or_else(|| self.host.clone())).ok()?;
        let mut connection = ClientConnection::new(Arc::new(self.config()?), name).ok()?;
        let address = (self.host.as_str(), self.port).to_socket_addrs().ok()?.next()?;
        let mut socket = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
        socket.set_read_timeout(Some(PATIENCE)).ok()?;
        socket.set_write_timeout(Some(PATIENCE)).ok()?;
        let mut tls = rustls::Stream::new(&mut connection, &mut socket);
        let mut said = [0; 64];
        // Writing may fail before the reason was read.
        let written = tls.write_all(HTTP2_PREFACE).err();
        let read = tls.read(&mut said).err();
        [read, written].into_iter().flatten().find_map(|error| TlsFault::find(&error))
    }

    fn config(&self) -> Option<ClientConfig> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&self.ca) {
            roots.add(certificate.ok()?).ok()?;
        }
        let provider = Arc::new(default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
        let config = config.with_root_certificates(roots);
        let mut config = match &self.identity {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>().ok()?;
                config.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key).ok()?).ok()?
            }
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        Some(config)
    }
}
