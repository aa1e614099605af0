//! Declaring, retiring, reading and listing tools.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use toolplane_catalog::catalog::CatalogEntry;
use toolplane_catalog::{CatalogChange, ChangeKind, Lookup, Registration, RetireRefusal};
use toolplane_records::codes;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::vocabulary::{EventClass, ToolLifecycle};
use toolplane_runtime::ApiError;
use toolplane_store::{Commit, CommitOutcome, Expect, Write};

use crate::error::{lost, of_store, of_violations, unreadable};
use crate::events::{Log, facts};
use crate::keys;
use crate::records::StoredTool;
use crate::registry::{Registry, Tenant, to_the_end};
use crate::sync::{Published, Subject};

/// Which tools a list holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolFilter {
    /// Only this namespace; every one when empty.
    pub(crate) namespace: String,
    pub(crate) lifecycle: Option<ToolLifecycle>,
    /// Only tools whose name, title, hint or description holds this text; every one when empty.
    pub(crate) text: String,
}

impl Registry {
    /// Registers tools, all or none, and says what each registration changes. Answered when schedulers know.
    pub(crate) async fn register(
        &self,
        tenant: TenantId,
        registrations: Vec<Registration>,
        validate_only: bool,
    ) -> Result<Vec<CatalogChange>, ApiError> {
        let registry = self.clone();
        to_the_end(async move {
            let owner = registry.tenant(&tenant);
            let turn = owner.turn.lock().await;
            let changes = plan(Arc::clone(&owner), registrations).await?;
            let new: Vec<CatalogChange> =
                changes.iter().filter(|change| change.kind != ChangeKind::Unchanged).cloned().collect();
            if validate_only || new.is_empty() {
                return Ok(changes);
            }
            registry.write(&tenant, &new, "").await?;
            let published = registry.apply(&tenant, &owner, new);
            drop(turn);
            published.acknowledged().await;
            Ok(changes)
        })
        .await
    }

    /// Takes a tool out of use for good; once more changes nothing. Answered when schedulers know.
    pub(crate) async fn retire(&self, tenant: TenantId, id: ToolId, reason: String) -> Result<CatalogEntry, ApiError> {
        let registry = self.clone();
        to_the_end(async move {
            let owner = registry.tenant(&tenant);
            let turn = owner.turn.lock().await;
            let planned = owner.catalog.read().plan_retire(&id);
            let change = match planned {
                Ok(change) => change,
                Err(RetireRefusal::Unknown) => return Err(ApiError::not_found("tool", id.as_str())),
                Err(RetireRefusal::AlreadyRetired) => return registry.tool(&tenant, &id),
            };
            registry.write(&tenant, std::slice::from_ref(&change), &reason).await?;
            let published = registry.apply(&tenant, &owner, vec![change]);
            drop(turn);
            published.acknowledged().await;
            registry.tool(&tenant, &id)
        })
        .await
    }

    /// The tool with that id.
    pub(crate) fn tool(&self, tenant: &TenantId, id: &ToolId) -> Result<CatalogEntry, ApiError> {
        let found = self.tenant(tenant).catalog.read().get(id).cloned();
        found.ok_or_else(|| ApiError::not_found("tool", id.as_str()))
    }

    /// The one tool a name leads to.
    pub(crate) fn tool_named(&self, tenant: &TenantId, name: &str) -> Result<CatalogEntry, ApiError> {
        let tenant = self.tenant(tenant);
        let catalog = tenant.catalog.read();
        match catalog.find(name) {
            Lookup::One(entry) => Ok(entry.clone()),
            Lookup::Unknown => Err(ApiError::not_found("tool", name)),
            Lookup::Ambiguous(sharing) => {
                Err(ApiError::invalid_argument("name", format!("could be any of {}", sharing.some_names())))
            }
        }
    }

    /// At most `limit` tools in the order of their full names, after the one named `after`; and whether there are more.
    pub(crate) fn tools(
        &self,
        tenant: &TenantId,
        filter: &ToolFilter,
        after: Option<&str>,
        limit: usize,
    ) -> (Vec<CatalogEntry>, bool) {
        let text = filter.text.to_lowercase();
        let wanted = |entry: &CatalogEntry| {
            let registration = entry.tool.registration();
            (filter.namespace.is_empty() || registration.declaration.namespace == filter.namespace)
                && filter.lifecycle.is_none_or(|lifecycle| lifecycle == registration.lifecycle())
                && after.is_none_or(|after| entry.tool.full_name() > after)
                && (text.is_empty() || mentions(registration, entry.tool.full_name(), &text))
        };
        // A copy of all entries is quickly made; reading through their texts is not, so nobody has to wait for that.
        let mut found: Vec<CatalogEntry> = self.tenant(tenant).catalog.read().entries().cloned().collect();
        found.retain(wanted);
        found.sort_by(|a, b| a.tool.full_name().cmp(b.tool.full_name()));
        let more = found.len() > limit;
        found.truncate(limit);
        (found, more)
    }

    /// Makes changes durable, each with its event, in one commit.
    async fn write(&self, tenant: &TenantId, changes: &[CatalogChange], reason: &str) -> Result<(), ApiError> {
        let now = self.now().await?;
        let mut commit = Commit::default();
        for change in changes {
            let declaration = &change.tool.registration().declaration;
            let key = keys::tool(tenant, &declaration.tool_id);
            // A record is written once per revision and never removed, so both count alike.
            let expected = match change.revision {
                1 => Expect::Absent,
                revision => Expect::Version(revision - 1),
            };
            let bytes = Bytes::from(serde_json::to_vec(&StoredTool::after(change, now)).map_err(unreadable)?);
            commit.compare.push((key.clone(), expected));
            commit.writes.push(Write::Put { key, bytes });
            let class = match declaration.lifecycle {
                ToolLifecycle::Retired => EventClass::ExtRetired,
                _ => EventClass::Declared,
            };
            let mut data = json!({
                "tool_id": declaration.tool_id,
                "name": change.tool.full_name(),
                "change": change.kind.as_str(),
                "revision": change.revision,
                "digest": change.tool.digest(),
                "lifecycle": declaration.lifecycle,
            });
            if !reason.is_empty() {
                data["reason"] = reason.into();
            }
            let log = Log::Tool(tenant.clone(), declaration.tool_id.clone());
            commit.events.push(log.append(change.revision, now, vec![(class, facts(&data))])?);
        }
        match self.store().commit(commit).await.map_err(of_store)? {
            CommitOutcome::Applied | CommitOutcome::Replayed => Ok(()),
            CommitOutcome::Lost { .. } | CommitOutcome::Full { .. } => Err(lost()),
        }
    }

    fn apply(&self, tenant: &TenantId, owner: &Tenant, changes: Vec<CatalogChange>) -> Published {
        let mut subjects = Vec::with_capacity(changes.len());
        let mut catalog = owner.catalog.write();
        for change in changes {
            let id = change.tool.registration().declaration.tool_id.clone();
            subjects.push(Subject::Tool(tenant.clone(), id));
            catalog.apply(change);
        }
        drop(catalog);
        self.0.hub.publish(&subjects)
    }
}

/// Checks registrations away from the threads that serve calls: a thousand schemas take their time.
async fn plan(owner: Arc<Tenant>, registrations: Vec<Registration>) -> Result<Vec<CatalogChange>, ApiError> {
    let planning = tokio::task::spawn_blocking(move || owner.catalog.read().plan_register(&registrations));
    let planned = planning.await.map_err(|error| ApiError::internal(codes::CHECK_FAILED, error))?;
    planned.map_err(of_violations)
}

fn mentions(registration: &Registration, full_name: &str, text: &str) -> bool {
    let declaration = &registration.declaration;
    [full_name, &declaration.title, registration.search_hint(), &declaration.description]
        .iter()
        .any(|field| field.to_lowercase().contains(text))
}
