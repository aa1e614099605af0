//! Deleting a surface, with everything that is kept of it.

use toolplane_backend::let_others_through;
use toolplane_catalog::IndexedSurface;
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::vocabulary::SurfaceScope;
use toolplane_runtime::ApiError;
use toolplane_store::{Commit, Expect, IndexOp, RecordKey, Write};
use uuid::Uuid;

use super::{ATTEMPTS, Surfaces};
use crate::changes::Made;
use crate::error::lost;
use crate::keys;
use crate::registry::to_the_end;
use crate::sync::Subject;

impl Surfaces {
    /// Deletes a surface with its log; its last revision. Answered when no process and no scheduler goes by it any more.
    pub(crate) async fn delete(&self, tenant: TenantId, id: SurfaceId) -> Result<u64, ApiError> {
        if id.is_default() {
            let rule = "is the default surface, which nobody made and nobody deletes";
            return Err(ApiError::invalid_argument("surface_id", rule));
        }
        let deleted = self.delete_made(tenant, id, None).await?;
        deleted.ok_or_else(lost)
    }

    /// Deletes a surface whose use was noted last by that version of the note; whether it did, which it does not where somebody used it
    /// since.
    pub(crate) async fn delete_used_at(&self, tenant: TenantId, id: SurfaceId, note: u64) -> Result<bool, ApiError> {
        Ok(self.delete_made(tenant, id, Some(note)).await?.is_some())
    }

    /// Deletes a surface, as long as its use was noted last by that version of the note, if one is given; its last revision.
    async fn delete_made(&self, tenant: TenantId, id: SurfaceId, note: Option<u64>) -> Result<Option<u64>, ApiError> {
        let surfaces = self.clone();
        let registry = self.registry.clone();
        to_the_end(async move {
            for tries in 1..=ATTEMPTS {
                let held = surfaces.held_even_orphaned(&tenant, &id).await?;
                let turn = held.turn.lock().await;
                let view = held.view();
                let (scope, last) = surfaces.scope_and_revision(&tenant, view.indexed());
                let mut commit = deletion(&tenant, &id, scope, view.version());
                commit.compare.extend(note.map(|note| (keys::surface_use(&tenant, &id), Expect::Version(note))));
                let changed = [Subject::Surface(tenant.clone(), id.clone())];
                let made = registry.make_change(commit, &changed).await?;
                // Out of memory before schedulers are told: what they ask then is not answered by what was.
                surfaces.refresh(&tenant, &id).await?;
                let Made::At(head) = made else {
                    drop(turn);
                    if note.is_some() {
                        return Ok(None);
                    }
                    let_others_through(tries).await;
                    continue;
                };
                let revision = registry.take_in(head, &changed, || ()).await?;
                drop(turn);
                registry.settled(revision).await;
                return Ok(Some(last));
            }
            Ok(None)
        })
        .await
    }

    fn scope_and_revision(&self, tenant: &TenantId, surface: &IndexedSurface) -> (SurfaceScope, u64) {
        let owner = self.registry.tenant(tenant);
        let catalog = owner.catalog.read();
        (surface.scope(), surface.revision(&catalog))
    }
}

/// The deletion of a surface as a commit, which applies only to the surface as it was.
fn deletion(tenant: &TenantId, id: &SurfaceId, scope: SurfaceScope, version: u64) -> Commit {
    let (key, lists) = (keys::surface(tenant, id), [None, Some(scope)].map(|scope| keys::surfaces(tenant, scope)));
    let deleted = creation(tenant, id).into_iter().chain([keys::surface_use(tenant, id), key.clone()]);
    let deleted = deleted.map(|key| Write::Delete { key });
    Commit {
        compare: vec![(key, Expect::Version(version))],
        writes: deleted.collect(),
        index: lists.map(|index| IndexOp::Remove { index, member: id.to_string() }).into(),
        forget: vec![keys::surface_stream(tenant, id)],
        essential: true,
        ..Commit::default()
    }
}

/// What is remembered of the request that made the surface, if one that can be repeated did: the surface is called by its id.
fn creation(tenant: &TenantId, id: &SurfaceId) -> Option<RecordKey> {
    let request = id.as_str().strip_prefix("surf_").and_then(|request| Uuid::try_parse(request).ok())?;
    Some(keys::creation(tenant, &request.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_found_by_the_surface_it_made() {
        let (tenant, request) = (TenantId::from_trusted("acme"), Uuid::now_v7().to_string());
        assert_eq!(creation(&tenant, &SurfaceId::of_request(&request)), Some(keys::creation(&tenant, &request)));
        assert_eq!(creation(&tenant, &SurfaceId::from_trusted("surf_mine")), None);
    }
}
