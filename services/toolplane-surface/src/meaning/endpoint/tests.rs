//! What is told of a failure, and where requests may go.

use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use toolplane_credentials::CredentialConfig;

use super::*;

const SECRET: &str = "sk-0123456789abcdef";

fn endpoint(url: &str, dir: &Path) -> Result<Endpoint, (&'static str, String)> {
    let config = MeaningConfig {
        endpoint: Some(url.to_owned()),
        endpoint_model: Some("small".to_owned()),
        credential: Some("key".to_owned()),
        credential_header: Some("api-key".to_owned()),
        ..MeaningConfig::default()
    };
    let file = dir.join("secret");
    std::fs::write(&file, SECRET).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let credential: CredentialConfig = toml::from_str(&format!(
        "name = \"key\"\nkind = \"api_key\"\nproviders = [\"{PLATFORM}\"]\nsource = {{ file = {file:?} }}\n"
    ))
    .unwrap();
    Endpoint::of(&config, Some(Broker::of_process(vec![credential]).unwrap()), Arc::new(Inside))
}

/// Every name stands for a machine of a private network.
#[derive(Debug)]
struct Inside;

impl Lookup for Inside {
    fn lookup(&self, _: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(vec![IpAddr::from([10, 0, 0, 7])]) })
    }
}

/// Answers one request with what it was sent.
async fn echo(status: u16) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let mut read = vec![0; 64 * 1024];
            let count = connection.read(&mut read).await.unwrap();
            let head = format!("HTTP/1.1 {status} So\r\ncontent-length: {count}\r\nconnection: close\r\n\r\n");
            connection.write_all(head.as_bytes()).await.unwrap();
            connection.write_all(&read[..count]).await.unwrap();
        }
    });
    format!("http://{address}/v1/embeddings?token=in-the-query")
}

async fn told(url: &str) -> Unread {
    let dir = tempfile::tempdir().unwrap();
    let endpoint = endpoint(url, dir.path()).unwrap();
    let unread = endpoint.read(vec!["what was asked".to_owned()], Purpose::Question).await.unwrap_err();
    let shown = format!("{unread} {unread:?} {endpoint:?}");
    for hidden in [SECRET, "what was asked"] {
        assert!(!shown.contains(hidden), "{shown}");
    }
    assert!(!unread.to_string().contains("in-the-query"), "{unread}");
    unread
}

#[tokio::test]
async fn no_failure_tells_a_secret_a_text_or_an_answer() {
    for (status, refused) in [(200, false), (400, true), (401, false), (307, false), (500, false)] {
        let unread = told(&echo(status).await).await;
        assert_eq!(matches!(unread, Unread::Refused { .. }), refused, "{status}: {unread}");
    }
    let nobody = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    let unread = told(&format!("http://{address}/v1/embeddings?token=in-the-query")).await;
    assert!(unread.to_string().contains("cannot be reached"), "{unread}");
}

#[tokio::test]
async fn a_name_that_stands_for_an_address_nobody_listed_is_not_asked() {
    let unread = told("https://api.test/v1/embeddings").await.to_string();
    assert!(unread.contains("stands for 10.0.0.7") && unread.contains("`endpoint_addresses`"), "{unread}");
}
