//! Credentials, right and wrong ones, are in no log, no span and no answer, however much is logged.

use toolplane_proto::v1;
use toolplane_testkit::Options;
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::{Cluster, tools};

use super::callers::new_key;
use super::tokens::{issuer, known_issuer, token};
use crate::bed::{register, surface};

#[tokio::test]
async fn credentials_are_never_written_down() {
    let receiver = OtlpReceiver::start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (keys, jwks, tokens) =
        (folder.path().join("keys.toml"), folder.path().join("jwks.json"), folder.path().join("tokens"));
    let right_key = new_key(&keys, "right", "acme", &["operator", "agent"]);
    let (signer, set) = issuer();
    std::fs::write(&jwks, set).unwrap();
    std::fs::write(&tokens, "the-right-bearer-token\n").unwrap();
    let path = |file: &std::path::Path| format!("{:?}", file.display().to_string());
    let config = format!(
        "[log]\nfilter = \"trace\"\n[server.auth]\napi_key_file = {}\ntoken_file = {}\n{}",
        path(&keys),
        path(&tokens),
        known_issuer(&jwks)
    );
    let options = Options::new(config)
        .token("the-right-bearer-token")
        .env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint());
    let mut cluster = Cluster::start(options).await.unwrap();

    let wrong_key = format!("{}{}", &right_key[..right_key.len() - 8], "wrongkey");
    let stranger = issuer().0;
    let shown = [
        right_key.clone(),
        wrong_key,
        "the-right-bearer-token".to_owned(),
        "a-wrong-bearer-token".to_owned(),
        token(&signer, "acme", &["agent", "operator"]),
        token(&stranger, "acme", &["agent"]),
    ];
    let mut answers = String::new();
    for secret in &shown {
        let clients = cluster.clients().with_token(secret).unwrap();
        let mut other = cluster.clients().surfaces();
        let list = v1::ListToolsRequest::default();
        match clients.surfaces().list_tools(list.clone()).await {
            Ok(_) => {
                register(&clients, tools::examples().unwrap()).await;
                surface(&clients).await;
            }
            Err(status) => answers.push_str(&format!("{status:?}\n")),
        }
        // The same as an API key, and as what it is not: the id of a tool.
        let mut request = tonic::Request::new(list);
        request.metadata_mut().insert("x-api-key", secret.parse().unwrap());
        answers.push_str(&format!("{:?}\n", other.list_tools(request).await.map(drop)));
    }
    std::fs::write(&keys, format!("secret = \"{right_key}\"\n")).unwrap();
    toolplane_wait::pause(
        std::time::Duration::from_millis(2500),
        "a change that does nothing is seen by nobody: two looks at the file pass",
    )
    .await;
    cluster.stop().await.unwrap();

    let log = std::fs::read_to_string(cluster.log_file()).unwrap();
    assert!(log.contains("the changed file cannot be used"), "the broken file was noticed");
    assert!(log.contains("TRACE"), "everything is logged");
    let spans = format!("{:?}", receiver.spans());
    assert!(spans.contains("ListTools"), "calls were traced");
    for secret in &shown {
        // Of a key and a token also the part that matters alone.
        let part = &secret[secret.len().saturating_sub(20)..];
        for (place, text) in [("the log", &log), ("the spans", &spans), ("the answers", &answers)] {
            if let Some(at) = text.find(part) {
                let line = text[..at].rsplit('\n').next().unwrap_or_default();
                panic!("{place} holds a credential after: {line}");
            }
        }
    }
}
