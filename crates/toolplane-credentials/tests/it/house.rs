//! A broker in a folder of its own, with a clock that the test turns and variables that it sets.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Deserialize;
use tempfile::TempDir;
use toolplane_credentials::{
    Broker, BrokerOptions, Clock, Credential, CredentialConfig, CredentialError, HttpTokens, Request,
};
use toolplane_matching::ToolFacts;
use toolplane_records::credential::CredentialPlacement;
use toolplane_records::ids::ToolId;

static TOOL: LazyLock<ToolFacts> = LazyLock::new(|| tool("web.fetch", "web"));

pub(crate) fn tool(full_name: &str, namespace: &str) -> ToolFacts {
    ToolFacts::named(ToolId::from_trusted(format!("tool:{full_name}")), full_name, namespace)
}

pub(crate) struct House {
    folder: TempDir,
    seconds: Arc<AtomicU64>,
    pub(crate) variables: Arc<Mutex<BTreeMap<String, OsString>>>,
}

#[derive(Deserialize)]
struct File {
    credentials: Vec<CredentialConfig>,
}

impl House {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), seconds: Arc::default(), variables: Arc::default() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file that only its owner can read, and gives its path as text.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        self.mode(name, 0o600);
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn mode(&self, name: &str, mode: u32) {
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn later(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    /// A broker of this configuration.
    pub(crate) fn broker(&self, config: &str) -> Broker {
        let file: File = toml::from_str(config).unwrap();
        let tokens = HttpTokens::new(reqwest::Client::builder().no_proxy(), |_| true).unwrap();
        let mut options = BrokerOptions::new(file.credentials, Arc::new(tokens));
        let (seconds, start) = (Arc::clone(&self.seconds), Instant::now());
        options.clock = Clock::new(move || start + Duration::from_secs(seconds.load(Ordering::SeqCst)));
        let variables = Arc::clone(&self.variables);
        options.environment = Arc::new(move |name| variables.lock().get(name).cloned());
        Broker::new(options).unwrap()
    }
}

pub(crate) fn request(name: &str) -> Request<'_> {
    Request { name, provider: None, tool: &TOOL, tenant: "default", actor: None }
}

pub(crate) async fn get(broker: &Broker, name: &str) -> Result<Credential, CredentialError> {
    broker.credential(&request(name)).await
}

/// What the credential is, as a variable would hold it.
pub(crate) fn value(credential: &Credential) -> String {
    let placement = CredentialPlacement::Env { name: "X".to_owned() };
    match credential.place(&placement, None).unwrap() {
        toolplane_credentials::Injection::Env { value, .. } => value.reveal_text().unwrap().to_owned(),
        other => panic!("{other:?}"),
    }
}

/// The value of the credential, or the code of why there is none.
pub(crate) async fn look(broker: &Broker, name: &str) -> String {
    match get(broker, name).await {
        Ok(credential) => value(&credential),
        Err(error) => {
            let told = error.to_tool_error();
            assert!(!told.message.contains('/') && told.message.len() < 250, "{}", told.message);
            assert_eq!(told.side_effects.as_deref(), Some("none"));
            told.error_code
        }
    }
}
