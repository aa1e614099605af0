//! A scheduler's stream of changes.

use std::pin::Pin;
use toolplane_records::codes;

use futures_util::{Stream, stream};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Status, Streaming};
use toolplane_proto::v1;
use toolplane_proto::v1::catalog_change::Subject as Wire;
use toolplane_runtime::ApiError;

use super::SurfaceApi;
use crate::sync::{Subject, Subscription, Update};

type Updates = Pin<Box<dyn Stream<Item = Result<v1::SyncCatalogResponse, Status>> + Send>>;

pub(super) async fn sync(
    api: &SurfaceApi,
    request: Request<Streaming<v1::SyncCatalogRequest>>,
) -> Result<Updates, Status> {
    let mut acknowledgements = request.into_inner();
    let Some(first) = acknowledgements.message().await? else {
        return Err(ApiError::invalid_argument("subscriber", "is required: the stream ended without a message").into());
    };
    let link = Link {
        subscription: api.registry.0.hub.subscribe(&first.subscriber),
        acknowledgements,
        stopping: api.stopping.clone(),
    };
    Ok(Box::pin(stream::try_unfold(
        link,
        |mut link| async move { Ok(link.next().await?.map(|update| (update, link))) },
    )))
}

struct Link {
    subscription: Subscription,
    acknowledgements: Streaming<v1::SyncCatalogRequest>,
    stopping: CancellationToken,
}

impl Link {
    /// The next message to the scheduler; nothing when it leaves or the role stops.
    async fn next(&mut self) -> Result<Option<v1::SyncCatalogResponse>, Status> {
        loop {
            tokio::select! {
                acknowledged = self.acknowledgements.message() => match acknowledged? {
                    Some(message) => self.subscription.acknowledge(message.acknowledged_revision),
                    None => return Ok(None),
                },
                update = self.subscription.next() => return match update {
                    Some(update) => Ok(Some(encode(update))),
                    None => Err(ApiError::unavailable(codes::NOT_ACKNOWLEDGED, "a change was not acknowledged in time").into()),
                },
                () = self.stopping.cancelled() => return Ok(None),
            }
        }
    }
}

fn encode(update: Update) -> v1::SyncCatalogResponse {
    let changes = update.changes.into_iter().map(|subject| match subject {
        Subject::Tool(tenant, id) => change(tenant.to_string(), Wire::ToolId(id.to_string())),
        Subject::Surface(tenant, id) => change(tenant.to_string(), Wire::SurfaceId(id.to_string())),
    });
    v1::SyncCatalogResponse { changes: changes.collect(), catalog_revision: update.revision, reset: update.reset }
}

fn change(tenant: String, subject: Wire) -> v1::CatalogChange {
    v1::CatalogChange { tenant, subject: Some(subject) }
}
