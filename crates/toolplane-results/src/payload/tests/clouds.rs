//! The same of buckets, on servers that `cargo xtask clouds` starts. Each test needs a build with its cloud, and a bucket in the
//! environment; the clients read the rest there, too.

use crate::payload::conformance::{self, options, origin};
use crate::payload::{Location, PayloadStore};

/// A store in the bucket that this variable names, with a prefix of its own; nothing where it names none.
async fn bucket(variable: &str) -> Option<PayloadStore> {
    let Ok(url) = std::env::var(variable) else {
        eprintln!("{variable} names no bucket: `cargo xtask clouds` runs this test with one");
        return None;
    };
    let url = format!("{url}/{}", uuid::Uuid::new_v4().simple());
    let location: Location = url.parse().expect("the URL of a bucket");
    Some(PayloadStore::open(&location, options()).expect("a build with this cloud"))
}

async fn conforms(variable: &str) {
    let Some(store) = bucket(variable).await else { return };
    conformance::run_all(&store).await;
    let kept = store.put(&origin("acme", "inv_9"), bytes::Bytes::from("linked")).await.expect("put");
    let hour = std::time::Duration::from_secs(3600);
    let link = store.link(&kept.uri.parse().expect("an address"), hour).await.expect("a link");
    assert!(link.starts_with("http") && link.contains(&kept.digest.hex()), "{link}");
    // Who has the link needs nothing else.
    let given = std::process::Command::new("curl").args(["--silent", "--fail", link.as_str()]).output().expect("curl");
    assert_eq!(String::from_utf8_lossy(&given.stdout), "linked", "{link}");
}

#[tokio::test]
async fn an_s3_bucket_does_what_is_asked_of_every_store() {
    conforms("TOOLPLANE_TEST_S3").await;
}

#[tokio::test]
async fn an_azure_container_does_what_is_asked_of_every_store() {
    conforms("TOOLPLANE_TEST_AZURE").await;
}

#[tokio::test]
async fn a_gcs_bucket_does_what_is_asked_of_every_store() {
    conforms("TOOLPLANE_TEST_GCS").await;
}
