//! Encryption, either version of HTTP, and certificates that are callers.

use std::path::Path;
use std::process::Command;

use reqwest::{Certificate, Identity, Version};
use serde_json::json;
use toolplane_testkit::process::Process;
use toolplane_testkit::{binary, ports};

use crate::bed::PATIENCE;

fn toolplane(folder: &Path, words: &str) {
    let output =
        Command::new(binary::toolplane().unwrap()).current_dir(folder).args(words.split(' ')).output().unwrap();
    assert!(output.status.success(), "{words}: {output:?}");
}

/// A client that trusts the authority of the test, and shows a certificate where it has one.
fn client(folder: &Path, shown: Option<&str>, old: bool) -> reqwest::Client {
    let read = |name: &str| std::fs::read(folder.join("tls").join(name)).unwrap();
    let mut builder = reqwest::Client::builder().no_proxy().timeout(PATIENCE);
    builder = builder.tls_certs_only([Certificate::from_pem(&read("ca.pem")).unwrap()]);
    if old {
        builder = builder.http1_only();
    }
    if let Some(name) = shown {
        let pem = [read(&format!("{name}.pem")), read(&format!("{name}.key"))].concat();
        builder = builder.identity(Identity::from_pem(&pem).unwrap());
    }
    builder.build().unwrap()
}

#[tokio::test]
async fn callers_are_known_by_certificate_over_either_version() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    toolplane(folder, "keys tls tls");
    toolplane(folder, "keys tls tls --client ann");
    let [port, http] = [ports::free(), ports::free()];
    let config = format!(
        r#"
[server]
listen = "127.0.0.1:{port}"
[server.tls]
cert_file = "tls/server.pem"
key_file = "tls/server.key"
client_ca_file = "tls/ca.pem"
[[server.auth.mtls]]
subject = "CN=ann"
tenant = "acme"
actor = "ann"
roles = ["agent"]
[[server.auth.mtls]]
subject = "CN=client"
tenant = "default"
actor = "cluster"
roles = ["peer", "worker"]
[gateway]
listen = "127.0.0.1:{http}"
[peers]
ca_file = "tls/ca.pem"
"#
    );
    std::fs::write(folder.join("toolplane.toml"), config).unwrap();
    let mut command = Command::new(binary::toolplane().unwrap());
    command.current_dir(folder).args(["serve", "--config", "toolplane.toml"]);
    let mut process = Process::start("the cluster", &mut command, &folder.join("log")).unwrap();
    let url = format!("https://localhost:{http}/v1/list-tools");
    for (old, version) in [(true, Version::HTTP_11), (false, Version::HTTP_2)] {
        let ann = client(folder, Some("ann"), old);
        let answer = toolplane_wait::eventually("the listener", PATIENCE, async || {
            process.expect_running().unwrap();
            ann.post(&url).send().await.ok()
        })
        .await;
        assert_eq!((answer.status().as_u16(), answer.version()), (200, version));
        assert_eq!(answer.text().await.unwrap(), "{}");
        let refused =
            ann.post(url.replace("list-tools", "list-rules")).body(json!({}).to_string()).send().await.unwrap();
        assert_eq!(refused.status().as_u16(), 403, "an agent reads no rules");
        let stranger = client(folder, None, old).post(&url).send().await;
        assert!(stranger.is_err(), "a client without a certificate is not let in: {stranger:?}");
    }
    let plain = reqwest::Client::builder().no_proxy().build().unwrap();
    assert!(plain.post(url.replace("https", "http")).send().await.is_err());
}
