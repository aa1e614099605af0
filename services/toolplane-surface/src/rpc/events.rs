//! Reading the log of a tool, of a surface or of a provider.

use prost::Message as _;
use tonic::Request;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::list_events_request::Subject;
use toolplane_runtime::ApiError;

use super::api::SurfaceApi;
use crate::error::of_field;
use crate::events::Log;
use toolplane_runtime::Caller;

const DEFAULT_EVENTS: usize = 100;
const MAX_EVENTS: usize = 1000;
/// An answer takes no further events once it is this large.
const FULL_BYTES: usize = toolplane_runtime::page::FULL_BYTES;

pub(super) async fn list(
    api: &SurfaceApi,
    request: Request<v1::ListEventsRequest>,
) -> Result<v1::ListEventsResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let log = match request.subject {
        Some(Subject::ToolId(id)) => Log::Tool(tenant, field::id("tool_id", &id).map_err(of_field)?),
        Some(Subject::SurfaceId(id)) => Log::Surface(tenant, field::id("surface_id", &id).map_err(of_field)?),
        Some(Subject::ProviderId(id)) => Log::Provider(tenant, field::id("provider_id", &id).map_err(of_field)?),
        None => return Err(ApiError::invalid_argument("tool_id", "is required, or `surface_id` or `provider_id`")),
    };
    let limit = match usize::try_from(request.limit) {
        Ok(0) => DEFAULT_EVENTS,
        Ok(limit) => limit.min(MAX_EVENTS),
        Err(_) => MAX_EVENTS,
    };
    if let Log::Surface(tenant, id) = &log {
        api.parts.finds.write_of(&(tenant.clone(), id.clone())).await?;
    }
    let entries = log.read(api.parts.registry.store(), request.from_seq, limit).await?;
    let (mut events, mut bytes) = (Vec::new(), 0);
    for event in &entries.events {
        if bytes >= FULL_BYTES {
            break;
        }
        let event = v1::Event::from(event);
        bytes += event.encoded_len();
        events.push(event);
    }
    Ok(v1::ListEventsResponse { events, head_seq: entries.head_seq })
}
