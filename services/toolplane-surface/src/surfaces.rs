//! Making, reading and listing surfaces.

mod default;
mod discover;
mod offered;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use toolplane_catalog::{SurfaceRequest, select};
use toolplane_records::codes;
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::surface::ToolSurface;
use toolplane_records::vocabulary::{EventClass, SurfaceScope};
use toolplane_runtime::{ApiError, page};
use toolplane_store::{Commit, CommitOutcome, Expect, IndexOp, ScoreRange, Write};
use uuid::Uuid;

pub(crate) use default::DefaultSurface;
pub(crate) use discover::{Meaning, Refusal, RefusalKind, Resolved};
pub(crate) use offered::{Called, LeftOut, Offered};

use crate::error::{lost, of_store, of_violations, unreadable};
use crate::events::{Log, facts};
use crate::keys;
use crate::records::Creation;
use crate::registry::Registry;

/// How many surfaces are read at once for a list.
const CHUNK: usize = 4;
/// A page takes no further surfaces once their records are this large together: one of many tools is a megabyte.
const FULL_BYTES: usize = page::FULL_BYTES;

/// A surface to be made.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// What it is decided from.
    pub(crate) request: SurfaceRequest,
    /// Kept in the record exactly as given.
    pub(crate) model_capabilities: Option<JsonPayload>,
    /// The request's id, and the digest of the rest of it.
    pub(crate) repeatable: Option<(String, Digest)>,
}

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) surfaces: Vec<ToolSurface>,
    /// Surfaces of this page that are damaged, by id.
    pub(crate) damaged: Vec<String>,
    /// Where to go on when there are more.
    pub(crate) next: Option<Place>,
}

/// A place in a list: after this surface.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) created_at: u64,
    pub(crate) surface_id: String,
}

impl Registry {
    /// Makes a surface, or finds the one made by the same request before.
    pub(crate) async fn create_surface(&self, wanted: &Wanted) -> Result<ToolSurface, ApiError> {
        if let Some(made) = self.made_before(wanted).await? {
            return Ok(made);
        }
        let now = self.now().await?;
        let tenant = &wanted.request.tenant;
        let id = match &wanted.repeatable {
            Some((request_id, _)) => SurfaceId::of_request(request_id),
            None => SurfaceId::from_trusted(format!("surf_{}", Uuid::now_v7().simple())),
        };
        let owner = self.tenant(tenant);
        let (selected, names) = {
            let catalog = owner.catalog.read();
            (select(&catalog, &wanted.request, id.clone(), now), Arc::clone(catalog.similar()))
        };
        let surface = selected.map_err(|misnamed| of_violations(misnamed.violations(&names)))?;
        let created = json!({
            "revision": surface.revision,
            "loaded": surface.loaded_tools.len(),
            "deferred": surface.deferred_tools.len(),
            "blocked": surface.blocked_tools.len(),
            "excluded": surface.excluded_tools.len(),
        });
        let model_capabilities = wanted.model_capabilities.clone().or(surface.model_capabilities);
        let surface = ToolSurface { model_capabilities, ..surface };
        let log = Log::Surface(tenant.clone(), id.clone());
        let mut commit = Commit {
            events: vec![log.append(1, now, vec![(EventClass::SurfaceCreated, facts(&created))])?],
            ..Commit::default()
        };
        put_new(&mut commit, keys::surface(tenant, &id), &surface)?;
        if let Some((request_id, body)) = &wanted.repeatable {
            let creation = Creation { body: *body, surface_id: id.clone() };
            put_new(&mut commit, keys::creation(tenant, request_id), &creation)?;
        }
        for scope in [None, Some(surface.scope)] {
            let (index, score) = (keys::surfaces(tenant, scope), keys::score(now));
            commit.index.push(IndexOp::Put { index, score, member: id.to_string() });
        }
        match self.store().commit(commit).await.map_err(of_store)? {
            CommitOutcome::Applied | CommitOutcome::Replayed => Ok(surface),
            // The same request, sent twice at once: the other one was faster.
            CommitOutcome::Lost { .. } | CommitOutcome::Full { .. } => self.made_before(wanted).await?.ok_or_else(lost),
        }
    }

    async fn made_before(&self, wanted: &Wanted) -> Result<Option<ToolSurface>, ApiError> {
        let Some((request_id, body)) = &wanted.repeatable else { return Ok(None) };
        let tenant = &wanted.request.tenant;
        let found = self.store().get(&keys::creation(tenant, request_id)).await.map_err(of_store)?;
        let Some(found) = found else { return Ok(None) };
        let creation: Creation = serde_json::from_slice(&found.bytes).map_err(unreadable)?;
        if creation.body != *body {
            let message = format!("request id `{request_id}` was used before with another body");
            return Err(ApiError::AlreadyExists { reason: codes::REQUEST_ID_REUSED, message });
        }
        self.surface(tenant, &creation.surface_id).await.map(Some)
    }

    /// The surface as it is stored.
    async fn surface(&self, tenant: &TenantId, id: &SurfaceId) -> Result<ToolSurface, ApiError> {
        let held = self.held(tenant, id).await?;
        Ok(held.view().surface().clone())
    }

    /// The surface as its tools are declared now.
    pub(crate) async fn surface_now(&self, tenant: &TenantId, id: &SurfaceId) -> Result<ToolSurface, ApiError> {
        let view = self.held(tenant, id).await?.view();
        let mut surface = {
            let owner = self.tenant(tenant);
            let catalog = owner.catalog.read();
            view.indexed().now(&catalog)
        };
        self.hide_without_credential(tenant, &mut surface);
        self.mark(tenant, &mut surface.deferred_tools, self.now().await?);
        Ok(surface)
    }

    /// At most `limit` surfaces, newest first. Large ones make the page shorter.
    pub(crate) async fn surfaces(
        &self,
        tenant: &TenantId,
        scope: Option<SurfaceScope>,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Listed, ApiError> {
        let mut range = ScoreRange::all().reversed();
        range.after = after.map(|place| (place.created_at, place.surface_id));
        let index = keys::surfaces(tenant, scope);
        let entries = self.store().scan(&index, range, limit.saturating_add(1)).await.map_err(of_store)?;
        let (mut surfaces, mut damaged, mut bytes, mut read) = (Vec::new(), Vec::new(), 0, 0);
        for chunk in entries[..entries.len().min(limit)].chunks(CHUNK) {
            if bytes >= FULL_BYTES {
                break;
            }
            let ids = chunk.iter().map(|entry| SurfaceId::from_trusted(entry.member.as_str()));
            let wanted: Vec<_> = ids.map(|id| keys::surface(tenant, &id)).collect();
            for (entry, found) in chunk.iter().zip(self.store().get_each(&wanted).await.map_err(of_store)?) {
                let surface = match found {
                    Ok(None) => continue,
                    Ok(Some(found)) => {
                        bytes += found.bytes.len();
                        serde_json::from_slice(&found.bytes).ok()
                    }
                    Err(_) => None,
                };
                match surface {
                    Some(surface) => surfaces.push(surface),
                    None => damaged.push(entry.member.clone()),
                }
            }
            read += chunk.len();
        }
        let last = entries[..read].last().filter(|_| read < entries.len());
        let next = last.map(|entry| Place { created_at: entry.score, surface_id: entry.member.clone() });
        Ok(Listed { surfaces, damaged, next })
    }
}

fn put_new(
    commit: &mut Commit,
    key: toolplane_store::RecordKey,
    record: &impl serde::Serialize,
) -> Result<(), ApiError> {
    let bytes = Bytes::from(serde_json::to_vec(record).map_err(unreadable)?);
    commit.compare.push((key.clone(), Expect::Absent));
    commit.writes.push(Write::Put { key, bytes });
    Ok(())
}
