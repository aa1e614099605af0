//! A running role and a call to ask it about.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolplane_backend::{Backend, Keeper};
use toolplane_hooks::Hooks;
use toolplane_permission::{HOOK_EVENTS, PermissionOptions, PermissionRole};
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_proto::{FILE_DESCRIPTOR_SET, v1};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_runtime::client::{Peer, PeerSettings, connect, own_url};
use toolplane_runtime::config::{RedisConfig, StoreBackend};
use toolplane_runtime::server::{Auth, Server, ServerSettings, Services, bind};
use toolplane_runtime::{Config, Shutdown, Tasks};
use toolplane_testkit::redis::RedisServer;

pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

const RULES: &str = r#"
    [[permission.rules]]
    id = "reads"
    behavior = "allow"
    tool = "*"
    facts = ["read_only"]
    reason = "reading is fine"

    [[permission.rules]]
    id = "no_secrets"
    behavior = "deny"
    tool = "secrets.*"
    reason = "secrets stay secret"

    [[permission.rules]]
    id = "watched"
    behavior = "deny"
    tool = "files.*"
    shadow = true
"#;

/// Where a role keeps its state in a test, for as long as the test wants it.
pub(crate) struct Home {
    pub(crate) folder: TempDir,
    redis: Option<RedisServer>,
}

impl Home {
    pub(crate) fn embedded() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), redis: None }
    }

    /// One home of each kind that survives its process.
    pub(crate) async fn every() -> [Self; 2] {
        let redis = RedisServer::start(Default::default()).await.unwrap();
        [Self::embedded(), Self { folder: tempfile::tempdir().unwrap(), redis: Some(redis) }]
    }

    /// The configuration of a role at home here: the usual rules and `more`.
    pub(crate) fn config(&self, more: &str) -> Config {
        let file = self.folder.path().join("toolplane.toml");
        std::fs::write(&file, format!("{more}\n{RULES}")).unwrap();
        let mut config = Config::load(Some(&file), []).unwrap();
        config.server.data_dir = self.folder.path().to_owned();
        if let Some(server) = &self.redis {
            config.store.backend = StoreBackend::Redis;
            config.store.redis = RedisConfig { url: Some(server.url()), ..RedisConfig::default() };
        }
        config
    }

    pub(crate) async fn start(&self) -> Role {
        self.start_with("", None).await
    }

    pub(crate) async fn start_with(&self, more: &str, auth: Option<Auth>) -> Role {
        Role::start(&self.config(more), auth).await
    }
}

pub(crate) struct Role {
    service: PermissionRole,
    url: String,
    pub(crate) client: PermissionServiceClient<Peer>,
    pub(crate) shutdown: Shutdown,
    serving: JoinHandle<()>,
    tasks: Tasks,
}

impl Role {
    async fn start(config: &Config, auth: Option<Auth>) -> Self {
        let options = PermissionOptions {
            sweep_every: Duration::from_millis(50),
            look_every: Duration::from_millis(50),
            ..PermissionOptions::from_config(config).unwrap()
        };
        let shutdown = Shutdown::new();
        let tasks = Tasks::new(shutdown.clone());
        let backend = opened(config).await;
        let hooks = Hooks::open(config, &HOOK_EVENTS).await.unwrap();
        let service = PermissionRole::open(options, backend, hooks, &tasks).await.unwrap();
        let bound = bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let url = own_url(bound.address(), false);
        let services = service.add_to(Services::new(FILE_DESCRIPTOR_SET).unwrap());
        let settings = ServerSettings { auth: auth.map(Arc::new), ..ServerSettings::default() };
        let server = Server::new(bound, services, settings).unwrap();
        let running = server.run(shutdown.clone());
        let serving = tokio::spawn(async move {
            running.await.unwrap();
        });
        let client = PermissionServiceClient::new(connect(&url, &PeerSettings::default()).unwrap());
        Self { service, url, client, shutdown, serving, tasks }
    }

    /// A client that shows `key`.
    pub(crate) fn client_of(&self, key: &str) -> PermissionServiceClient<Peer> {
        let settings = PeerSettings { token: Some(key.to_owned()), ..PeerSettings::default() };
        PermissionServiceClient::new(connect(&self.url, &settings).unwrap())
    }

    pub(crate) async fn stop(self) {
        self.shutdown.request();
        timeout(PATIENCE, self.serving).await.unwrap().unwrap();
        self.tasks.join(PATIENCE).await.unwrap();
        self.service.close().await.unwrap();
    }

    /// Ends everything at once: nothing is drained, nothing is closed.
    pub(crate) async fn kill(self) {
        self.shutdown.force();
        self.serving.abort();
        let _ = self.serving.await;
        let _ = self.tasks.join(PATIENCE).await;
    }

    pub(crate) async fn decide(&self, request: v1::DecideRequest) -> v1::DecideResponse {
        self.client.clone().decide(request).await.unwrap().into_inner()
    }

    pub(crate) async fn ask(&self, call: &str) -> v1::Approval {
        self.decide(shell_call(call, "make push")).await.approval.unwrap()
    }

    pub(crate) async fn resolve(&self, id: &str, option: v1::PermissionOption) -> Result<v1::Approval, tonic::Status> {
        let request = v1::ResolveApprovalRequest {
            approval_id: id.to_owned(),
            option: option.into(),
            resolved_by: "ann".to_owned(),
            ..Default::default()
        };
        self.client.clone().resolve_approval(request).await.map(|answer| answer.into_inner().approval.unwrap())
    }

    pub(crate) async fn get(&self, id: &str) -> v1::GetApprovalResponse {
        let request = v1::GetApprovalRequest {
            approval_id: id.to_owned(),
            view: v1::RecordView::Json.into(),
            ..Default::default()
        };
        self.client.clone().get_approval(request).await.unwrap().into_inner()
    }
}

/// The store, as soon as the process killed before has let go of it.
async fn opened(config: &Config) -> Backend {
    let open = async {
        loop {
            match Backend::open(config, Keeper::Permission).await {
                Ok(backend) => return backend,
                Err(error) => assert!(error.to_string().contains("locked"), "{error}"),
            }
            toolplane_wait::look_again().await;
        }
    };
    timeout(PATIENCE, open).await.expect("the store is free")
}

pub(crate) fn call_of(tool: &str, call: &str, read_only: bool) -> v1::DecideRequest {
    let input = JsonPayload::from_checked(r#"{"path":"notes.txt"}"#);
    v1::DecideRequest {
        invocation_id: call.to_owned(),
        tool_id: format!("tool_{tool}"),
        tool_name: tool.to_owned(),
        namespace: tool.split('.').next().unwrap().to_owned(),
        declaration_digest: Digest::of(b"declaration").to_string(),
        call_input_digest: input.digest().to_string(),
        permission_input: Some((&input).into()),
        safety: Some(v1::InputSafety { is_read_only: read_only, ..Default::default() }),
        can_ask: true,
        ..Default::default()
    }
}

pub(crate) fn shell_call(call: &str, command: &str) -> v1::DecideRequest {
    let input = JsonPayload::of(&serde_json::json!({ "command": command }));
    v1::DecideRequest {
        tool_kind: "shell_command".to_owned(),
        permission_matcher: "shell_pattern".to_owned(),
        session_ref: "session_1".to_owned(),
        call_input_digest: input.digest().to_string(),
        permission_input: Some((&input).into()),
        ..call_of("local.exec", call, false)
    }
}

/// Writes a file beside the role's own.
pub(crate) fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file
}
