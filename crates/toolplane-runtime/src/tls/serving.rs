//! Encryption of a listener that speaks HTTP/1.1 as well as HTTP/2; that of the gRPC listener is made by its transport.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs::default_provider;
use rustls::server::{NoClientAuth, WebPkiClientVerifier};

use super::check::{authorities, chain, key};
use crate::config::TlsConfig;
use crate::server::ServerError;

/// The settings of a listener with the certificate, the key and the clients' authority of `files`.
///
/// Fails with [`ServerError::File`] when a file cannot be read or used, and with [`ServerError::Transport`] when they do not go
/// together.
pub(crate) fn of_server(files: &TlsConfig) -> Result<rustls::ServerConfig, ServerError> {
    let transport = |error: &dyn std::fmt::Display| ServerError::Transport(error.to_string());
    let provider = Arc::new(default_provider());
    let verifier = match &files.client_ca_file {
        Some(file) => {
            let roots = Arc::new(authorities("server.tls.client_ca_file", file)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider));
            verifier.build().map_err(|error| transport(&error))?
        }
        None => Arc::new(NoClientAuth),
    };
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| transport(&error))?
        .with_client_cert_verifier(verifier)
        .with_single_cert(
            chain("server.tls.cert_file", &files.cert_file)?,
            key("server.tls.key_file", &files.key_file)?,
        )
        .map_err(|error| transport(&error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
