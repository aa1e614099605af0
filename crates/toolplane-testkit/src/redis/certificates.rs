//! Certificates that are good for one test: an authority of its own, a server's and a client's.

use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::problem::Problem;

/// PEM files of one server with TLS, below its folder.
#[derive(Clone, Debug)]
pub struct Certificates {
    /// The authority's certificate, which clients and the server trust.
    pub ca: PathBuf,
    /// The server's certificate, for `localhost` and `127.0.0.1`.
    pub server_cert: PathBuf,
    /// The server's key.
    pub server_key: PathBuf,
    /// A client's certificate.
    pub client_cert: PathBuf,
    /// The client's key.
    pub client_key: PathBuf,
}

impl Certificates {
    /// Makes and writes all of them into `folder`.
    pub fn write(folder: &Path) -> Result<Self, Problem> {
        let files = Self {
            ca: folder.join("ca.pem"),
            server_cert: folder.join("server.pem"),
            server_key: folder.join("server.key"),
            client_cert: folder.join("client.pem"),
            client_key: folder.join("client.key"),
        };
        for (path, text) in make(&files).map_err(|error| Problem::Missing(format!("no certificates: {error}")))? {
            std::fs::write(&path, text).map_err(Problem::file(&path))?;
        }
        Ok(files)
    }
}

fn make(files: &Certificates) -> Result<Vec<(PathBuf, String)>, rcgen::Error> {
    let mut authority = CertificateParams::new(Vec::new())?;
    // A certificate with the name of its issuer would pass for one that signed itself.
    authority.distinguished_name.push(DnType::CommonName, "toolplane test authority");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate()?;
    let own = authority.self_signed(&key)?;
    let issuer = Issuer::new(authority, key);

    let mut texts = vec![(files.ca.clone(), own.pem())];
    for (name, cert_file, key_file) in
        [("localhost", &files.server_cert, &files.server_key), ("a-client", &files.client_cert, &files.client_key)]
    {
        let mut params = CertificateParams::new(vec![name.to_owned(), "127.0.0.1".to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate()?;
        let signed = params.signed_by(&key, &issuer)?;
        texts.push((cert_file.clone(), signed.pem()));
        texts.push((key_file.clone(), key.serialize_pem()));
    }
    Ok(texts)
}
