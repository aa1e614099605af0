//! Providers over gRPC: making them, asking them, reading and reviewing what they have.

mod encode;
mod tools;

use tonic::{Request, Streaming};
use toolplane_proto::convert::{ConvertError, field};
use toolplane_proto::v1;
use toolplane_records::error::ToolError;
use toolplane_records::ids::ProviderId;
use toolplane_records::provider::{Provider, ProviderSource};
use toolplane_runtime::{ApiError, Caller, page};

use super::api::SurfaceApi;
use crate::error::of_field;
use crate::providers::{Heard, HeardCall, Uploading};

pub(super) use tools::{review, show, tools};

/// Longest reason, comment or name of a person, in characters.
const MAX_TEXT_CHARS: usize = 1_000;
/// Largest part of a document, in bytes.
const MAX_PART_BYTES: usize = 1024 * 1024;
/// Most providers of which news is told at once.
const MAX_NEWS: usize = 1_000;

pub(super) async fn put(
    api: &SurfaceApi,
    request: Request<v1::PutProviderRequest>,
) -> Result<v1::PutProviderResponse, ApiError> {
    let caller = Caller::of(&request);
    let request = request.into_inner();
    bounded("by", &request.by)?;
    let mut provider = request.provider.ok_or_else(|| ApiError::invalid_argument("provider", "is required"))?;
    provider.tenant = caller.tenant_named(&provider.tenant)?.to_string();
    if provider.namespace.is_empty() {
        provider.namespace.clone_from(&provider.provider_id);
    }
    let provider = Provider::try_from(provider).map_err(|error: ConvertError| of_field(error.within("provider")))?;
    if caller.authenticated && matches!(provider.source, ProviderSource::File { .. }) {
        let rule = "is a file of the server: only its operator names one, in the configuration (`[[providers]]`)";
        return Err(ApiError::invalid_argument("provider.file", rule));
    }
    let by = caller.doer(&request.by).to_owned();
    let (provider, status, putting) = api.parts.providers.put(provider, by, request.dry_run).await?;
    let mut preview = None;
    if request.dry_run && request.preview {
        let taken = api.looks.preview(provider.clone(), status.clone()).await?;
        preview = Some(encode::taken(&taken, api.parts.registry.now().await?));
    }
    Ok(v1::PutProviderResponse {
        preview,
        provider: Some((&provider).into()),
        status: Some((&status).into()),
        change: putting.as_str().to_owned(),
    })
}

pub(super) async fn upload(
    api: &SurfaceApi,
    request: Request<Streaming<v1::UploadDocumentRequest>>,
) -> Result<v1::UploadDocumentResponse, tonic::Status> {
    let tenant = Caller::of(&request).tenant.clone();
    let mut parts = request.into_inner();
    let mut uploading = Uploading::default();
    while let Some(part) = parts.message().await? {
        if part.data.len() > MAX_PART_BYTES {
            return Err(ApiError::invalid_argument("data", format!("has more than {MAX_PART_BYTES} bytes")).into());
        }
        uploading.add(&part.data)?;
    }
    let document = uploading.whole();
    if document.is_empty() {
        return Err(ApiError::invalid_argument("data", "is required").into());
    }
    let digest = api.parts.documents.keep(&tenant, &document).await?;
    Ok(v1::UploadDocumentResponse { digest: digest.to_string(), size_bytes: document.len() as u64 })
}

pub(super) async fn get(
    api: &SurfaceApi,
    request: Request<v1::GetProviderRequest>,
) -> Result<v1::GetProviderResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let id = provider_id(&request.get_ref().provider_id)?;
    let held = api.parts.providers.shelf().get(&tenant, &id);
    let held = held.ok_or_else(|| ApiError::not_found("provider", id.as_str()))?;
    Ok(encode::provider(&held, api.parts.registry.now().await?))
}

pub(super) async fn list(
    api: &SurfaceApi,
    request: Request<v1::ListProvidersRequest>,
) -> Result<v1::ListProvidersResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let size = page::size(request.page_size)?;
    let scope = ("ListProviders", &tenant, request.include_retired);
    let after = page::position(&scope, &request.page_token)?;
    let now = api.parts.registry.now().await?;
    let mut all = api.parts.providers.shelf().of(&tenant);
    all.retain(|held| {
        let is_later = after.as_deref().is_none_or(|after| held.provider.provider_id.as_str() > after);
        is_later && (request.include_retired || !held.is_retired())
    });
    let shown = all.iter().map(|held| encode::provider(held, now));
    let shown = page::fill(shown, size, prost::Message::encoded_len);
    let last = all.get(shown.len().saturating_sub(1)).filter(|_| shown.len() < all.len());
    let next_page_token = last.map(|held| page::token(&scope, held.provider.provider_id.as_str())).unwrap_or_default();
    Ok(v1::ListProvidersResponse { providers: shown, next_page_token })
}

pub(super) async fn remove(
    api: &SurfaceApi,
    request: Request<v1::RemoveProviderRequest>,
) -> Result<v1::RemoveProviderResponse, ApiError> {
    let caller = Caller::of(&request);
    let request = request.into_inner();
    bounded("reason", &request.reason)?;
    bounded("by", &request.by)?;
    let (id, by) = (provider_id(&request.provider_id)?, caller.doer(&request.by).to_owned());
    let held = api.parts.providers.remove(caller.tenant.clone(), id, by, request.reason).await?;
    Ok(v1::RemoveProviderResponse { provider: Some((&held.provider).into()), status: Some((&held.status).into()) })
}

pub(super) async fn refresh(
    api: &SurfaceApi,
    request: Request<v1::RefreshProviderRequest>,
) -> Result<v1::RefreshProviderResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let taken = api.looks.look(&tenant, &provider_id(&request.provider_id)?, request.dry_run).await?;
    Ok(encode::taken(&taken, api.parts.registry.now().await?))
}

pub(super) async fn test(
    api: &SurfaceApi,
    request: Request<v1::TestProviderRequest>,
) -> Result<v1::TestProviderResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let id = provider_id(&request.get_ref().provider_id)?;
    let began = tokio::time::Instant::now();
    let (look, fault) = api.looks.test(&tenant, &id).await?;
    let server = look.server();
    Ok(v1::TestProviderResponse {
        ok: fault.is_none(),
        fault: fault.as_ref().map(Into::into),
        found: look.listing().map_or(0, |listing| number(listing.len())),
        refused: look.listing().map_or(0, |listing| number(listing.refused())),
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        server_name: server.name,
        server_version: server.version,
    })
}

/// Takes in what a scheduler heard. What cannot be read of it is passed over: nobody could mend it.
pub(super) async fn tell(
    api: &SurfaceApi,
    request: Request<v1::TellProvidersRequest>,
) -> Result<v1::TellProvidersResponse, ApiError> {
    let caller = Caller::of(&request);
    let news = request.into_inner().news;
    if news.len() > MAX_NEWS {
        return Err(ApiError::invalid_argument("news", format!("has more than {MAX_NEWS} entries")));
    }
    for one in news {
        let tenant = caller.tenant_named(&one.tenant)?;
        let Ok(id) = provider_id(&one.provider_id) else { continue };
        let calls = one.calls.into_iter().map(|call| HeardCall {
            invocation_id: call.invocation_id,
            error: call.error.and_then(|error| ToolError::try_from(error).ok()),
        });
        let heard = Heard { calls: calls.collect(), tools_changed: one.tools_changed };
        api.looks.hear(&tenant, &id, heard).await?;
    }
    Ok(v1::TellProvidersResponse {})
}

fn provider_id(text: &str) -> Result<ProviderId, ApiError> {
    field::id("provider_id", text).map_err(of_field)
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn bounded(name: &str, text: &str) -> Result<(), ApiError> {
    match text.chars().nth(MAX_TEXT_CHARS) {
        Some(_) => Err(ApiError::invalid_argument(name, format!("may have at most {MAX_TEXT_CHARS} characters"))),
        None => Ok(()),
    }
}
