//! Declaring, retiring, reading and listing tools.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use serde_json::json;
use toolplane_catalog::catalog::CatalogEntry;
use toolplane_catalog::{CatalogChange, ChangeKind, Lookup, Registration, RetireRefusal};
use toolplane_records::codes;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{EventClass, ToolLifecycle};
use toolplane_runtime::ApiError;
use toolplane_store::{Commit, Write};

use super::follow::behind;
use super::{Registry, Tenant, to_the_end};
use crate::changes::{Head, Made};
use crate::error::{lost, of_store, of_violations, unreadable};
use crate::events::{Log, facts};
use crate::keys;
use crate::records::StoredTool;
use crate::sync::Subject;

/// How often a change is planned anew when others get in between.
const ATTEMPTS: usize = 16;

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
        let (registry, registrations) = (self.clone(), Arc::new(registrations));
        to_the_end(async move {
            let owner = registry.tenant(&tenant);
            let turn = owner.turn.lock().await;
            for _ in 0..ATTEMPTS {
                let (generation, basis) = registry.basis(&owner);
                let changes = plan(Arc::clone(&owner), Arc::clone(&registrations)).await?;
                let new: Vec<CatalogChange> =
                    changes.iter().filter(|change| change.kind != ChangeKind::Unchanged).cloned().collect();
                if validate_only || new.is_empty() {
                    return Ok(changes);
                }
                let planned = Planned { tenant: &tenant, owner: &owner, generation, basis };
                if let Some(revision) = registry.make(planned, new, "").await? {
                    drop(turn);
                    registry.settled(revision).await;
                    return Ok(changes);
                }
            }
            Err(lost())
        })
        .await
    }

    /// Takes a tool out of use for good; once more changes nothing. Answered when schedulers know.
    pub(crate) async fn retire(&self, tenant: TenantId, id: ToolId, reason: String) -> Result<CatalogEntry, ApiError> {
        let registry = self.clone();
        to_the_end(async move {
            let owner = registry.tenant(&tenant);
            let turn = owner.turn.lock().await;
            for _ in 0..ATTEMPTS {
                let (generation, basis) = registry.basis(&owner);
                let planned = owner.catalog.read().plan_retire(&id);
                let change = match planned {
                    Ok(change) => change,
                    Err(RetireRefusal::Unknown) => return Err(ApiError::not_found("tool", id.as_str())),
                    Err(RetireRefusal::AlreadyRetired) => return registry.tool(&tenant, &id),
                };
                let planned = Planned { tenant: &tenant, owner: &owner, generation, basis };
                if let Some(revision) = registry.make(planned, vec![change], &reason).await? {
                    drop(turn);
                    registry.settled(revision).await;
                    return registry.tool(&tenant, &id);
                }
            }
            Err(lost())
        })
        .await
    }

    /// What a plan is made from. Taken before the plan is made.
    fn basis(&self, owner: &Tenant) -> (u64, Head) {
        // The head first: what the catalog holds is then at least as new.
        let basis = *self.0.applied.lock();
        (owner.generation.load(Ordering::Acquire), basis)
    }

    /// Makes planned changes durable and takes them in; the revision they have. Nothing when the plan was overtaken: newer
    /// changes are taken in then, and it has to be made again.
    async fn make(
        &self,
        planned: Planned<'_>,
        changes: Vec<CatalogChange>,
        reason: &str,
    ) -> Result<Option<u64>, ApiError> {
        let Planned { tenant, owner, generation, mut basis } = planned;
        let commit = commit_of(tenant, &changes, reason, self.now().await?)?;
        let id_of = |change: &CatalogChange| change.tool.registration().declaration.tool_id.clone();
        let subjects: Vec<_> = changes.iter().map(|change| Subject::Tool(tenant.clone(), id_of(change))).collect();
        for _ in 0..ATTEMPTS {
            match self.0.changes.make(commit.clone(), &subjects, Some(basis)).await.map_err(of_store)? {
                Made::At(head) => return self.take_in(head, &subjects, || owner.apply(changes)).await.map(Some),
                // What is in memory is not what is stored: something was taken out of the store by hand.
                Made::Lost => {
                    self.read_again().await.map_err(behind)?;
                    return Ok(None);
                }
                Made::Behind => self.catch_up().await.map_err(behind)?,
            }
            // Changes of other tenants, and of surfaces, do not touch the plan.
            let newer = self.basis(owner);
            if newer.0 != generation {
                return Ok(None);
            }
            basis = newer.1;
        }
        Err(lost())
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
        // A copy of all entries is quickly made; reading through their texts is not, so no request has to wait for
        // that.
        let mut found: Vec<CatalogEntry> = self.tenant(tenant).catalog.read().entries().cloned().collect();
        found.retain(wanted);
        found.sort_by(|a, b| a.tool.full_name().cmp(b.tool.full_name()));
        let more = found.len() > limit;
        found.truncate(limit);
        (found, more)
    }
}

/// Changes of one tenant's tools, and what they were planned from.
struct Planned<'a> {
    tenant: &'a TenantId,
    owner: &'a Tenant,
    generation: u64,
    basis: Head,
}

/// Changes, each with its event, as one commit. A log has one entry for each revision, so a revision is given once.
fn commit_of(tenant: &TenantId, changes: &[CatalogChange], reason: &str, now: Timestamp) -> Result<Commit, ApiError> {
    let mut commit = Commit::default();
    for change in changes {
        let declaration = &change.tool.registration().declaration;
        let key = keys::tool(tenant, &declaration.tool_id);
        let bytes = Bytes::from(serde_json::to_vec(&StoredTool::after(change, now)).map_err(unreadable)?);
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
    Ok(commit)
}

/// Checks registrations away from the threads that serve calls: a thousand schemas take their time.
async fn plan(owner: Arc<Tenant>, registrations: Arc<Vec<Registration>>) -> Result<Vec<CatalogChange>, ApiError> {
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
