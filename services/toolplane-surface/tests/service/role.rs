//! A running role, and tools to register.

use std::path::Path;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolplane_backend::Backend;
use toolplane_catalog::Budget;
use toolplane_proto::v1::provider_service_client::ProviderServiceClient;
use toolplane_proto::v1::surface_service_client::SurfaceServiceClient;
use toolplane_proto::{FILE_DESCRIPTOR_SET, v1};
use toolplane_records::payload::JsonPayload;
use toolplane_runtime::client::{Peer, PeerSettings, connect, own_url};
use toolplane_runtime::server::{Server, ServerSettings, Services, bind};
use toolplane_runtime::{Config, Shutdown, Tasks};
use toolplane_surface::{LearningOptions, ProviderOptions, SurfaceOptions, SurfaceRole};

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Role {
    pub(crate) client: SurfaceServiceClient<Peer>,
    peer: Peer,
    service: SurfaceRole,
    shutdown: Shutdown,
    serving: JoinHandle<()>,
    tasks: Tasks,
}

pub(crate) fn options() -> SurfaceOptions {
    SurfaceOptions {
        defer_threshold: 20,
        budget: Budget::default(),
        declarations: Vec::new(),
        sync_patience: Duration::from_millis(500),
        max_message_bytes: 4 * 1024 * 1024,
        providers: ProviderOptions::default(),
        synonyms: Vec::new(),
        starter_synonyms: true,
        learning: LearningOptions { enabled: true, half_life_days: 30, every: Duration::from_millis(20) },
        unused_after: None,
        meaning: None,
        reranker: None,
        denials: None,
    }
}

impl Role {
    pub(crate) async fn start(dir: &Path) -> Self {
        Self::start_with(dir, options()).await
    }

    pub(crate) async fn start_with(dir: &Path, options: SurfaceOptions) -> Self {
        Self::start_on(Backend::in_directory(&dir.join("surface"), 1024 * 1024).unwrap(), options).await
    }

    pub(crate) async fn start_on(backend: Backend, options: SurfaceOptions) -> Self {
        let shutdown = Shutdown::new();
        let tasks = Tasks::new(shutdown.clone());
        let service = SurfaceRole::open(options, backend, &tasks).await.unwrap();
        Self::serve(service, shutdown, tasks).await
    }

    /// As a process with this configuration has it.
    pub(crate) async fn configured(config: &Config) -> Self {
        let shutdown = Shutdown::new();
        let tasks = Tasks::new(shutdown.clone());
        let service = toolplane_surface::start(config, &tasks).await.unwrap();
        Self::serve(service, shutdown, tasks).await
    }

    async fn serve(service: SurfaceRole, shutdown: Shutdown, tasks: Tasks) -> Self {
        let bound = bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let url = own_url(bound.address(), false);
        let services = service.add_to(Services::new(FILE_DESCRIPTOR_SET).unwrap());
        let running = Server::new(bound, services, ServerSettings::default()).unwrap().run(shutdown.clone());
        let serving = tokio::spawn(async move {
            running.await.unwrap();
        });
        let peer = connect(&url, &PeerSettings::default()).unwrap();
        let client = SurfaceServiceClient::new(peer.clone());
        Self { client, peer, service, shutdown, serving, tasks }
    }

    pub(crate) fn providers(&self) -> ProviderServiceClient<Peer> {
        ProviderServiceClient::new(self.peer.clone())
    }

    pub(crate) async fn stop(self) {
        self.shutdown.request();
        timeout(PATIENCE, self.serving).await.unwrap().unwrap();
        self.tasks.join(PATIENCE).await.unwrap();
        self.service.close().await.unwrap();
    }

    pub(crate) async fn register(
        &self,
        tools: Vec<v1::ToolRegistration>,
    ) -> Result<v1::RegisterToolsResponse, tonic::Status> {
        let request = v1::RegisterToolsRequest { tools, validate_only: false };
        self.client.clone().register_tools(request).await.map(tonic::Response::into_inner)
    }

    pub(crate) async fn surface(&self, request: v1::CreateSurfaceRequest) -> v1::ToolSurface {
        self.client.clone().create_surface(request).await.unwrap().into_inner().surface.unwrap()
    }

    pub(crate) async fn get(&self, surface: &str) -> v1::GetSurfaceResponse {
        let request = v1::GetSurfaceRequest { surface_id: surface.to_owned(), view: v1::RecordView::Json.into() };
        self.client.clone().get_surface(request).await.unwrap().into_inner()
    }

    pub(crate) async fn extend(&self, request: v1::ExtendSurfaceRequest) -> Result<v1::ToolSurface, tonic::Status> {
        let answer = self.client.clone().extend_surface(request).await?;
        Ok(answer.into_inner().surface.unwrap())
    }

    pub(crate) async fn delete(&self, surface: &str) -> Result<v1::DeleteSurfaceResponse, tonic::Status> {
        let request = v1::DeleteSurfaceRequest { surface_id: surface.to_owned() };
        self.client.clone().delete_surface(request).await.map(tonic::Response::into_inner)
    }

    pub(crate) async fn search(&self, surface: &str, query: &str) -> v1::SearchResult {
        let request =
            v1::SearchToolsRequest { surface_id: surface.to_owned(), query: query.to_owned(), ..Default::default() };
        self.client.clone().search_tools(request).await.unwrap().into_inner().result.unwrap()
    }

    pub(crate) async fn load(&self, surface: &str, names: &[&str]) -> v1::LoadToolsResponse {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let request = v1::LoadToolsRequest { surface_id: surface.to_owned(), names, ..Default::default() };
        self.client.clone().load_tools(request).await.unwrap().into_inner()
    }

    pub(crate) async fn unload(&self, surface: &str, names: &[&str]) -> Result<v1::UnloadToolsResponse, tonic::Status> {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let request = v1::UnloadToolsRequest { surface_id: surface.to_owned(), names, ..Default::default() };
        self.client.clone().unload_tools(request).await.map(tonic::Response::into_inner)
    }

    pub(crate) async fn resolve(&self, surface: &str, name: &str) -> v1::ResolveToolResponse {
        self.resolve_by(surface, name, "").await
    }

    /// As a caller that goes by the declaration `known`.
    pub(crate) async fn resolve_by(&self, surface: &str, name: &str, known: &str) -> v1::ResolveToolResponse {
        let request = v1::ResolveToolRequest {
            surface_id: surface.to_owned(),
            name: name.to_owned(),
            known_digest: known.to_owned(),
            ..Default::default()
        };
        self.client.clone().resolve_tool(request).await.unwrap().into_inner()
    }

    /// As a caller that goes by a moment of the surface: the full name and digest of the tool, or why not.
    pub(crate) async fn resolve_at(
        &self,
        surface: &str,
        name: &str,
        moment: &str,
    ) -> Result<v1::resolve_tool_response::Resolution, tonic::Status> {
        let request = v1::ResolveToolRequest {
            surface_id: surface.to_owned(),
            name: name.to_owned(),
            surface_moment: moment.to_owned(),
            ..Default::default()
        };
        Ok(self.client.clone().resolve_tool(request).await?.into_inner().resolution.unwrap())
    }

    pub(crate) async fn refusal(&self, surface: &str, name: &str) -> v1::NotCallable {
        match self.resolve(surface, name).await.resolution.unwrap() {
            v1::resolve_tool_response::Resolution::NotCallable(refusal) => refusal,
            other => panic!("`{name}` can be called: {other:?}"),
        }
    }

    pub(crate) async fn resolved(&self, surface: &str, name: &str) -> v1::ResolvedTool {
        match self.resolve(surface, name).await.resolution.unwrap() {
            v1::resolve_tool_response::Resolution::Resolved(tool) => tool,
            other => panic!("`{name}` cannot be called: {other:?}"),
        }
    }

    pub(crate) async fn retire(&self, tool_id: &str) -> Result<v1::RetireToolResponse, tonic::Status> {
        let request = v1::RetireToolRequest { tool_id: tool_id.to_owned(), reason: "replaced".to_owned() };
        self.client.clone().retire_tool(request).await.map(tonic::Response::into_inner)
    }

    pub(crate) async fn events(&self, subject: v1::list_events_request::Subject) -> Vec<v1::Event> {
        let request = v1::ListEventsRequest { subject: Some(subject), ..Default::default() };
        self.client.clone().list_events(request).await.unwrap().into_inner().events
    }
}

pub(crate) fn tool(namespace: &str, name: &str) -> v1::ToolRegistration {
    let schema = JsonPayload::from_checked(
        r#"{"type":"object","properties":{"path":{"type":"string"},"max":{"maximum":9007199254740993}}}"#,
    );
    v1::ToolRegistration {
        declaration: Some(v1::ToolDeclaration {
            tool_id: format!("tool_{namespace}_{name}"),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            search_hint: format!("{name} something in {namespace}"),
            description: format!("Use it to {name} in {namespace}."),
            lifecycle: v1::ToolLifecycle::Available.into(),
            tool_kind: "function".to_owned(),
            input_contract: Some(v1::InputContract {
                model_input_schema: Some((&schema).into()),
                ..Default::default()
            }),
            ..Default::default()
        }),
        ..Default::default()
    }
}

pub(crate) fn changed(
    mut tool: v1::ToolRegistration,
    change: impl FnOnce(&mut v1::ToolDeclaration),
) -> v1::ToolRegistration {
    change(tool.declaration.as_mut().unwrap());
    tool
}
