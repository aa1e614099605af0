//! Clusters that ask who calls: keys made by the command line, one for each role and tenant.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use toolplane_testkit::clients::Clients;
use toolplane_testkit::{Cluster, Options, binary};

use crate::bed::RULES;

/// The roles of the table, in its order.
pub(crate) const ROLES: [&str; 6] = ["agent", "approver", "operator", "worker", "auditor", "peer"];

/// A cluster with a key file.
pub(crate) struct Callers {
    pub(crate) cluster: Cluster,
    pub(crate) keys: PathBuf,
    _folder: Arc<tempfile::TempDir>,
}

impl Callers {
    /// A cluster that knows callers by API key only, and further configuration.
    pub(crate) async fn start(config: &str) -> Self {
        Self::with_options(config, |options| options).await
    }

    /// The same, and it answers HTTP.
    pub(crate) async fn over_http(config: &str) -> Self {
        Self::with_options(config, Options::http).await
    }

    async fn with_options(config: &str, change: impl Fn(Options) -> Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path().join("keys.toml");
        let watcher = new_key(&keys, "watcher", "ops", &["operator"]);
        let auth = format!("{RULES}\n{config}\n[server.auth]\napi_key_file = {:?}\n", keys.display().to_string());
        let cluster = Cluster::start(change(Options::new(auth).token(watcher))).await.unwrap();
        Self { cluster, keys, _folder: Arc::new(folder) }
    }

    /// Clients that show this credential.
    pub(crate) fn with(&self, token: &str) -> Clients {
        Clients::of(&self.cluster.endpoint()).unwrap().with_token(token).unwrap()
    }

    /// A new key that the running cluster knows.
    pub(crate) async fn key(&self, id: &str, tenant: &str, roles: &[&str]) -> String {
        let key = new_key(&self.keys, id, tenant, roles);
        let mut reflection = self.with(&key);
        known(&mut reflection).await;
        key
    }
}

/// Waits until a credential is let in: the file of keys is looked at every second.
async fn known(clients: &mut Clients) {
    let start = std::time::Instant::now();
    loop {
        let answer = clients.invocations().list_workers(toolplane_proto::v1::ListWorkersRequest::default()).await;
        match answer {
            Err(status) if status.code() == tonic::Code::Unauthenticated => {}
            _ => return,
        }
        assert!(start.elapsed() < crate::bed::PATIENCE, "the new key is not known");
        toolplane_wait::look_again().await;
    }
}

/// Makes a key with the command line, as an operator does.
pub(crate) fn new_key(file: &Path, id: &str, tenant: &str, roles: &[&str]) -> String {
    let mut command = Command::new(binary::toolplane().unwrap());
    command.args(["keys", "new", "--id", id, "--tenant", tenant, "--actor", &format!("{id}@{tenant}")]);
    for role in roles {
        command.args(["--role", role]);
    }
    let output = command.arg("--file").arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let key = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let text = std::fs::read_to_string(file).unwrap();
    assert!(key.starts_with(&format!("tpk_{id}_")) && !text.contains(&key[key.len() - 20..]), "only a digest is kept");
    key
}
