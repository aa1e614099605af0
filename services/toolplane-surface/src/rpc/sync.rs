//! A scheduler's stream of changes.

use std::pin::Pin;
use toolplane_records::codes;

use futures_util::{Stream, stream};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Status, Streaming};
use toolplane_proto::v1;
use toolplane_proto::v1::catalog_change::Subject as Wire;
use toolplane_runtime::ApiError;

use super::api::SurfaceApi;
use crate::registry::Registry;
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
    // A scheduler that comes from another process must not learn less here than it knew.
    api.parts.registry.current_at(first.acknowledged_revision).await?;
    api.parts.registry.trusted_for()?;
    let link = Link {
        subscription: api.parts.registry.subscribe(&first.subscriber),
        acknowledgements,
        registry: api.parts.registry.clone(),
        beat: first.beat,
        told: 0,
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
    registry: Registry,
    /// The newest question for how long the cache may be used that has no answer yet; 0 without one.
    beat: u64,
    /// The revision that was told last.
    told: u64,
    stopping: CancellationToken,
}

impl Link {
    /// The next message to the scheduler; nothing when it leaves or the role stops.
    async fn next(&mut self) -> Result<Option<v1::SyncCatalogResponse>, Status> {
        loop {
            tokio::select! {
                acknowledged = self.acknowledgements.message() => match acknowledged? {
                    Some(message) => {
                        self.subscription.acknowledge(message.acknowledged_revision);
                        if message.beat > 0 {
                            self.beat = message.beat;
                            let nothing = Update { changes: Vec::new(), revision: self.told, reset: false };
                            return self.tell(self.subscription.waiting().unwrap_or(nothing)).map(Some);
                        }
                    }
                    None => {
                        self.subscription.trust_no_longer();
                        return Ok(None);
                    }
                },
                update = self.subscription.next() => return match update {
                    Some(update) => self.tell(update).map(Some),
                    None => Err(ApiError::unavailable(codes::NOT_ACKNOWLEDGED, "a change was not acknowledged in time").into()),
                },
                () = self.stopping.cancelled() => return Ok(None),
            }
        }
    }

    /// An update as a message, which also answers what was asked by a beat.
    fn tell(&mut self, update: Update) -> Result<v1::SyncCatalogResponse, Status> {
        let beat = std::mem::take(&mut self.beat);
        let trusted_for = if beat > 0 { self.registry.trusted_for()? } else { None };
        if let Some(time) = trusted_for {
            self.subscription.trust(time);
        }
        self.told = update.revision;
        let changes = update.changes.into_iter().filter_map(|subject| {
            let (tenant, subject) = match subject {
                Subject::Tool(tenant, id) => (tenant, Wire::ToolId(id.to_string())),
                Subject::Surface(tenant, id) => (tenant, Wire::SurfaceId(id.to_string())),
                Subject::Provider(tenant, id) => (tenant, Wire::ProviderId(id.to_string())),
                Subject::Synonyms(_) | Subject::Use(_) => return None,
            };
            Some(v1::CatalogChange { tenant: tenant.to_string(), subject: Some(subject) })
        });
        Ok(v1::SyncCatalogResponse {
            changes: changes.collect(),
            catalog_revision: update.revision,
            reset: update.reset,
            beat,
            trusted_for_ms: trusted_for.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        })
    }
}
