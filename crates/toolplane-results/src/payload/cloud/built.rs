//! Stores of clouds as `object_store` opens them.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::signer::{Method, Signer};
use object_store::{ClientOptions, ObjectStore, RetryConfig};

use super::super::link::Signs;
use super::super::location::Opened;

/// How long a request is tried again before the store counts as away.
const RETRY: Duration = Duration::from_secs(10);
/// Longest time for one request; the largest one carries one part of an upload.
const REQUEST: Duration = Duration::from_secs(60);
/// Longest time until a connection is there.
const CONNECT: Duration = Duration::from_secs(5);

fn retries() -> RetryConfig {
    RetryConfig { max_retries: 3, retry_timeout: RETRY, ..RetryConfig::default() }
}

fn client() -> ClientOptions {
    ClientOptions::new().with_timeout(REQUEST).with_connect_timeout(CONNECT)
}

#[cfg(feature = "s3")]
pub(super) fn s3(bucket: &str, prefix: &str) -> Result<Opened, String> {
    use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retries());
    // Endpoints without TLS have to be asked for, in the environment.
    let plain = builder.get_config_value(&AmazonS3ConfigKey::Client(object_store::ClientConfigKey::AllowHttp));
    builder = builder.with_client_options(client().with_allow_http(plain.as_deref() == Some("true")));
    builder.build().map(|store| opened(store, prefix)).map_err(|error| error.to_string())
}

#[cfg(feature = "gcs")]
pub(super) fn gcs(bucket: &str, prefix: &str) -> Result<Opened, String> {
    use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
    let mut builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_retry(retries());
    let plain = builder.get_config_value(&GoogleConfigKey::Client(object_store::ClientConfigKey::AllowHttp));
    builder = builder.with_client_options(client().with_allow_http(plain.as_deref() == Some("true")));
    builder.build().map(|store| opened(store, prefix)).map_err(|error| error.to_string())
}

#[cfg(feature = "azure")]
pub(super) fn azure(container: &str, prefix: &str) -> Result<Opened, String> {
    use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
    let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(container).with_retry(retries());
    let plain = builder.get_config_value(&AzureConfigKey::Client(object_store::ClientConfigKey::AllowHttp));
    let emulator = builder.get_config_value(&AzureConfigKey::UseEmulator);
    let plain = [plain, emulator].iter().any(|said| said.as_deref() == Some("true"));
    builder = builder.with_client_options(client().with_allow_http(plain));
    builder.build().map(|store| opened(store, prefix)).map_err(|error| error.to_string())
}

fn opened<S: ObjectStore + Signer>(store: S, prefix: &str) -> Opened {
    let store = Arc::new(PrefixStore::new(store, prefix));
    Opened { objects: store.clone(), signer: Some(Arc::new(CloudSigner(store))), keeps_attributes: true }
}

#[derive(Debug)]
struct CloudSigner<S: Signer>(Arc<PrefixStore<S>>);

impl<S: ObjectStore + Signer> Signs for CloudSigner<S> {
    fn sign<'a>(&'a self, path: &'a Path, expires: Duration) -> BoxFuture<'a, Result<String, object_store::Error>> {
        async move { Ok(self.0.signed_url(Method::GET, path, expires).await?.to_string()) }.boxed()
    }
}
