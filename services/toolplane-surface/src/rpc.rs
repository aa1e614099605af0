//! The gRPC face of the role: handlers decode, call one method, and encode.

mod api;
mod discovery;
mod encode;
mod events;
mod export;
mod providers;
mod scope;
mod search;
mod selection;
mod shown;
mod surfaces;
mod sync;
mod synonyms;
mod tools;
mod watch;

use std::pin::Pin;

use futures_util::Stream;
use tonic::{Request, Response, Status, Streaming};
use toolplane_proto::v1;
use toolplane_proto::v1::provider_service_server::ProviderService;
use toolplane_proto::v1::surface_service_server::SurfaceService;

pub(crate) use api::SurfaceApi;

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl SurfaceService for SurfaceApi {
    type WatchSurfaceStream = Pin<Box<dyn Stream<Item = Result<v1::WatchSurfaceResponse, Status>> + Send>>;
    type SyncCatalogStream = Pin<Box<dyn Stream<Item = Result<v1::SyncCatalogResponse, Status>> + Send>>;

    async fn register_tools(&self, request: Request<v1::RegisterToolsRequest>) -> Answer<v1::RegisterToolsResponse> {
        Ok(tools::register(self.current().await?, request).await.map(Response::new)?)
    }

    async fn get_tool(&self, request: Request<v1::GetToolRequest>) -> Answer<v1::GetToolResponse> {
        Ok(tools::get(self.current().await?, request).map(Response::new)?)
    }

    async fn list_tools(&self, request: Request<v1::ListToolsRequest>) -> Answer<v1::ListToolsResponse> {
        Ok(tools::list(self.current().await?, request).map(Response::new)?)
    }

    async fn retire_tool(&self, request: Request<v1::RetireToolRequest>) -> Answer<v1::RetireToolResponse> {
        Ok(tools::retire(self.current().await?, request).await.map(Response::new)?)
    }

    async fn create_surface(&self, request: Request<v1::CreateSurfaceRequest>) -> Answer<v1::CreateSurfaceResponse> {
        Ok(surfaces::create(self.current().await?, request).await.map(Response::new)?)
    }

    async fn get_surface(&self, request: Request<v1::GetSurfaceRequest>) -> Answer<v1::GetSurfaceResponse> {
        Ok(surfaces::get(self.current().await?, request).await.map(Response::new)?)
    }

    async fn extend_surface(&self, request: Request<v1::ExtendSurfaceRequest>) -> Answer<v1::ExtendSurfaceResponse> {
        Ok(surfaces::extend(self.current().await?, request).await.map(Response::new)?)
    }

    async fn delete_surface(&self, request: Request<v1::DeleteSurfaceRequest>) -> Answer<v1::DeleteSurfaceResponse> {
        Ok(surfaces::delete(self.current().await?, request).await.map(Response::new)?)
    }

    async fn list_surface_tools(
        &self,
        request: Request<v1::ListSurfaceToolsRequest>,
    ) -> Answer<v1::ListSurfaceToolsResponse> {
        Ok(shown::list(self.current().await?, request).await.map(Response::new)?)
    }

    async fn watch_surface(&self, request: Request<v1::WatchSurfaceRequest>) -> Answer<Self::WatchSurfaceStream> {
        Ok(watch::watch(self.current().await?, request).await.map(Response::new)?)
    }

    async fn list_surfaces(&self, request: Request<v1::ListSurfacesRequest>) -> Answer<v1::ListSurfacesResponse> {
        Ok(surfaces::list(self.settled().await, request).await.map(Response::new)?)
    }

    async fn search_tools(&self, request: Request<v1::SearchToolsRequest>) -> Answer<v1::SearchToolsResponse> {
        Ok(search::search(self.current().await?, request).await.map(Response::new)?)
    }

    async fn list_synonyms(&self, request: Request<v1::ListSynonymsRequest>) -> Answer<v1::ListSynonymsResponse> {
        Ok(synonyms::list(self.current().await?, request).map(Response::new)?)
    }

    async fn add_synonyms(&self, request: Request<v1::AddSynonymsRequest>) -> Answer<v1::AddSynonymsResponse> {
        Ok(synonyms::add(self.current().await?, request).await.map(Response::new)?)
    }

    async fn remove_synonyms(&self, request: Request<v1::RemoveSynonymsRequest>) -> Answer<v1::RemoveSynonymsResponse> {
        Ok(synonyms::remove(self.current().await?, request).await.map(Response::new)?)
    }

    async fn forget_use(&self, request: Request<v1::ForgetUseRequest>) -> Answer<v1::ForgetUseResponse> {
        Ok(synonyms::forget_use(self.current().await?, request).await.map(Response::new)?)
    }

    async fn load_tools(&self, request: Request<v1::LoadToolsRequest>) -> Answer<v1::LoadToolsResponse> {
        Ok(discovery::load(self.current().await?, request).await.map(Response::new)?)
    }

    async fn unload_tools(&self, request: Request<v1::UnloadToolsRequest>) -> Answer<v1::UnloadToolsResponse> {
        Ok(discovery::unload(self.current().await?, request).await.map(Response::new)?)
    }

    async fn export_surface(&self, request: Request<v1::ExportSurfaceRequest>) -> Answer<v1::ExportSurfaceResponse> {
        Ok(export::surface(self.current().await?, request).await.map(Response::new)?)
    }

    async fn map_calls(&self, request: Request<v1::MapCallsRequest>) -> Answer<v1::MapCallsResponse> {
        Ok(export::map_calls(self.current().await?, request).await.map(Response::new)?)
    }

    async fn list_tool_cards(&self, request: Request<v1::ListToolCardsRequest>) -> Answer<v1::ListToolCardsResponse> {
        Ok(export::tool_cards(self.current().await?, request).await.map(Response::new)?)
    }

    async fn list_events(&self, request: Request<v1::ListEventsRequest>) -> Answer<v1::ListEventsResponse> {
        Ok(events::list(self, request).await.map(Response::new)?)
    }

    async fn resolve_tool(&self, request: Request<v1::ResolveToolRequest>) -> Answer<v1::ResolveToolResponse> {
        Ok(discovery::resolve(self, request).await.map(Response::new)?)
    }

    async fn sync_catalog(
        &self,
        request: Request<Streaming<v1::SyncCatalogRequest>>,
    ) -> Answer<Self::SyncCatalogStream> {
        Ok(sync::sync(self, request).await.map(Response::new)?)
    }
}

#[tonic::async_trait]
impl ProviderService for SurfaceApi {
    async fn put_provider(&self, request: Request<v1::PutProviderRequest>) -> Answer<v1::PutProviderResponse> {
        Ok(providers::put(self.current().await?, request).await.map(Response::new)?)
    }

    async fn upload_document(
        &self,
        request: Request<Streaming<v1::UploadDocumentRequest>>,
    ) -> Answer<v1::UploadDocumentResponse> {
        Ok(providers::upload(self, request).await.map(Response::new)?)
    }

    async fn get_provider(&self, request: Request<v1::GetProviderRequest>) -> Answer<v1::GetProviderResponse> {
        Ok(providers::get(self.current().await?, request).await.map(Response::new)?)
    }

    async fn list_providers(&self, request: Request<v1::ListProvidersRequest>) -> Answer<v1::ListProvidersResponse> {
        Ok(providers::list(self.current().await?, request).await.map(Response::new)?)
    }

    async fn remove_provider(&self, request: Request<v1::RemoveProviderRequest>) -> Answer<v1::RemoveProviderResponse> {
        Ok(providers::remove(self.current().await?, request).await.map(Response::new)?)
    }

    async fn refresh_provider(
        &self,
        request: Request<v1::RefreshProviderRequest>,
    ) -> Answer<v1::RefreshProviderResponse> {
        Ok(providers::refresh(self.current().await?, request).await.map(Response::new)?)
    }

    async fn test_provider(&self, request: Request<v1::TestProviderRequest>) -> Answer<v1::TestProviderResponse> {
        Ok(providers::test(self.current().await?, request).await.map(Response::new)?)
    }

    async fn list_provided_tools(
        &self,
        request: Request<v1::ListProvidedToolsRequest>,
    ) -> Answer<v1::ListProvidedToolsResponse> {
        Ok(providers::tools(self.current().await?, request).map(Response::new)?)
    }

    async fn show_tool(&self, request: Request<v1::ShowToolRequest>) -> Answer<v1::ShowToolResponse> {
        Ok(providers::show(self.current().await?, request).map(Response::new)?)
    }

    async fn review_tools(&self, request: Request<v1::ReviewToolsRequest>) -> Answer<v1::ReviewToolsResponse> {
        Ok(providers::review(self.current().await?, request).await.map(Response::new)?)
    }

    async fn tell_providers(&self, request: Request<v1::TellProvidersRequest>) -> Answer<v1::TellProvidersResponse> {
        Ok(providers::tell(self, request).await.map(Response::new)?)
    }
}
