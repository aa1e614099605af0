//! What texts mean, asked of an endpoint over TLS that an authority of the test's own has signed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;
use toolplane_proto::v1;
use toolplane_testkit::redis::Certificates;
use toolplane_testkit::{Cluster, Options};
use toolplane_wait::eventually;

use crate::bed::PATIENCE;
use crate::default_surface::{echo, register};

/// An embedding endpoint over TLS; how often it was asked.
struct Endpoint {
    port: u16,
    asked: Arc<AtomicUsize>,
}

impl Endpoint {
    async fn start(files: &Certificates) -> Self {
        let certificates = CertificateDer::pem_file_iter(&files.server_cert).unwrap().map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_file(&files.server_key).unwrap();
        let config =
            ServerConfig::builder_with_provider(Arc::new(default_provider())).with_safe_default_protocol_versions();
        let config = config.unwrap().with_no_client_auth().with_single_cert(certificates, key).unwrap();
        let (acceptor, asked) = (TlsAcceptor::from(Arc::new(config)), Arc::new(AtomicUsize::new(0)));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let (port, counted) = (listener.local_addr().unwrap().port(), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let (acceptor, counted) = (acceptor.clone(), Arc::clone(&counted));
                tokio::spawn(async move {
                    // Who does not believe the certificate goes away here.
                    let connection = acceptor.accept(connection).await.ok()?;
                    answer(connection, &counted).await
                });
            }
        });
        Self { port, asked }
    }

    fn options(&self) -> Options {
        Options::new(format!(
            "[surface.search.meaning]\nendpoint = \"https://localhost:{}/v1/embeddings\"\nendpoint_model = \"small\"\n\
             patience_ms = 60000\n",
            self.port
        ))
    }
}

/// Answers each request of a connection with the same vector for every text.
async fn answer(mut connection: TlsStream<TcpStream>, asked: &AtomicUsize) -> Option<()> {
    let mut read = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            more(&mut connection, &mut read).await?;
        };
        let head = String::from_utf8(read.drain(..end).collect()).ok()?.to_ascii_lowercase();
        let length: usize = head.lines().find_map(|line| line.strip_prefix("content-length:"))?.trim().parse().ok()?;
        while read.len() < length {
            more(&mut connection, &mut read).await?;
        }
        let body: Value = serde_json::from_slice(&read.drain(..length).collect::<Vec<u8>>()).ok()?;
        let count = body["input"].as_array()?.len();
        let data: Vec<Value> = (0..count).map(|index| json!({ "index": index, "embedding": [1.0, 0.5] })).collect();
        asked.fetch_add(1, Ordering::Relaxed);
        let text = json!({ "data": data }).to_string();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", text.len());
        connection.write_all((head + &text).as_bytes()).await.ok()?;
        connection.flush().await.ok()?;
    }
}

async fn more(connection: &mut TlsStream<TcpStream>, read: &mut Vec<u8>) -> Option<()> {
    let mut part = [0; 4096];
    let count = connection.read(&mut part).await.ok().filter(|count| *count > 0)?;
    read.extend_from_slice(&part[..count]);
    Some(())
}

async fn meaning(cluster: &Cluster) -> String {
    let request = v1::SearchToolsRequest { query: "says it again".to_owned(), ..Default::default() };
    cluster.clients().surfaces().search_tools(request).await.unwrap().into_inner().result.unwrap().meaning
}

#[tokio::test]
async fn an_endpoint_over_tls_is_believed_where_its_authority_is_among_the_roots() {
    let folder = tempfile::tempdir().unwrap();
    let files = Certificates::write(folder.path()).unwrap();
    let endpoint = Endpoint::start(&files).await;
    let tool = || vec![echo("one", "say", r#"{"type":"object"}"#)];

    let strange = Cluster::start(endpoint.options()).await.unwrap();
    register(strange.clients(), tool()).await;
    assert_eq!(meaning(&strange).await, "away");
    assert_eq!(endpoint.asked.load(Ordering::Relaxed), 0, "nothing is sent to whom nobody vouches for");
    drop(strange);

    let ca = files.ca.display().to_string();
    let cluster = Cluster::start(endpoint.options().env("SSL_CERT_FILE", ca)).await.unwrap();
    register(cluster.clients(), tool()).await;
    let complete = async || (meaning(&cluster).await == "complete").then_some(());
    eventually("all tools are read", PATIENCE, complete).await;
    assert!(endpoint.asked.load(Ordering::Relaxed) > 0);
}
