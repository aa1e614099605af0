//! Whether a tool of a provider may be called now. Asked wherever the catalogue says that a tool may be.

use std::sync::Arc;

use toolplane_catalog::catalog::CatalogEntry;
use toolplane_providers::health::{self, Admission};
use toolplane_providers::names::of_tool_id;
use toolplane_providers::review::standing;
use toolplane_providers::{Standing, names};
use toolplane_records::error::ToolError;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::time::Timestamp;
use toolplane_runtime::ApiError;

use super::change::Change;
use super::held::{Held, HeldTool, Shelf};
use super::{Providers, WorkerCredentials};
use crate::denied::Denied;
use crate::registry::Registry;

/// What the gate says of a tool.
#[derive(Debug)]
pub(crate) enum Passage {
    /// It may be called.
    Open,
    /// This one call may try whether its provider is back.
    Once,
    /// It may not.
    Shut(Box<ToolError>),
}

/// Says of tools whether they may be called now. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(super) registry: Registry,
    pub(super) shelf: Arc<Shelf>,
    /// Where it is noted that a call tries whether a provider is back.
    providers: Providers,
    credentials: WorkerCredentials,
    denied: Denied,
}

impl Gate {
    pub(crate) fn new(
        registry: Registry,
        providers: Providers,
        credentials: WorkerCredentials,
        denied: Denied,
    ) -> Self {
        let shelf = Arc::clone(providers.shelf());
        Self { registry, shelf, providers, credentials, denied }
    }

    /// Why a rule lets no call of the tool through.
    pub(crate) fn denial(&self, tenant: &TenantId, id: &ToolId) -> Option<ToolError> {
        self.denied.denial(tenant, id)
    }

    /// Whether a tool that the catalogue has may be called. A tool that is no provider's may.
    pub(crate) async fn passage(&self, tenant: &TenantId, entry: &CatalogEntry) -> Result<Passage, ApiError> {
        let Some(provided) = self.provided(tenant, entry) else { return Ok(Passage::Open) };
        let Provided { held, error } = provided;
        if let Some(error) = error {
            return Ok(Passage::Shut(Box::new(error)));
        }
        let Some(held) = held else { return Ok(Passage::Open) };
        let now = self.registry.now().await?;
        if let Some(away) = health::away(&held.status, now) {
            return Ok(Passage::Shut(Box::new(away)));
        }
        match health::admit(&held.status, now) {
            Admission::Pass => Ok(Passage::Open),
            _ => self.probe(tenant, &held, now).await,
        }
    }

    /// Why a tool cannot be called at this time: for searches, which no moment of a surface stands for. What lasts comes before what passes.
    pub(crate) fn obstacle(&self, tenant: &TenantId, entry: &CatalogEntry, now: Timestamp) -> Option<ToolError> {
        let provided = || {
            let Provided { held, error } = self.provided(tenant, entry)?;
            error.or_else(|| health::away(&held?.status, now))
        };
        self.denial(tenant, entry.tool_id()).or_else(provided)
    }

    /// A provider's tool: its provider, and why it cannot be called, whether that one is away or not. Nothing for other tools.
    fn provided(&self, tenant: &TenantId, entry: &CatalogEntry) -> Option<Provided> {
        let (tool_id, name) = (entry.tool_id(), entry.tool.full_name());
        let (provider_id, _) = of_tool_id(tool_id)?;
        let Some(held) = self.shelf.get(tenant, &provider_id) else {
            // What is not known of it cannot be read.
            return Some(Provided { held: None, error: Standing::Changed.error(name) });
        };
        let tool = held.tools.get(tool_id);
        let is_it = tool.is_some_and(|tool| tool.registered == Some(entry.tool.digest()));
        let error = match stands(&held, tool) {
            Standing::Callable if !is_it => Standing::Changed.error(name),
            standing => standing.error(name),
        };
        let error = error.or_else(|| self.credentials.lacks(entry.tool.registration()));
        Some(Provided { held: Some(held), error })
    }

    /// Why a tool that the catalogue does not have cannot be called, when a provider has it: nobody has looked at it yet.
    pub(crate) fn waiting(&self, tenant: &TenantId, name: &str) -> Option<(ToolId, ToolError)> {
        let own = self.shelf.of(tenant);
        own.iter().filter(|held| !held.is_retired()).find_map(|held| {
            let rest = name.strip_prefix(held.provider.namespace.as_str())?.trim_start_matches(['.', '_']);
            let by_id = names::tool_id(&held.provider.provider_id, rest).and_then(|id| held.tools.get_key_value(&id));
            let (tool_id, tool) = by_id.or_else(|| held.tools.iter().find(|(_, tool)| tool.is_called(rest)))?;
            let error = stands(held, Some(tool)).error(name)?;
            Some((tool_id.clone(), error))
        })
    }

    /// Lets one call try whether a provider is back, unless another one does.
    async fn probe(&self, tenant: &TenantId, held: &Held, now: Timestamp) -> Result<Passage, ApiError> {
        let turn = self.shelf.turn(tenant, &held.provider.provider_id);
        let _turn = turn.lock().await;
        let Some(held) = self.shelf.get(tenant, &held.provider.provider_id) else { return Ok(Passage::Open) };
        if let Some(away) = health::away(&held.status, now) {
            return Ok(Passage::Shut(Box::new(away)));
        }
        let status = health::Policy::default().probing(&held.status, now);
        let (provider, refused) = (held.provider.clone(), health::away(&status, now));
        let change = Change { provider, status, tools: Vec::new(), facts: Vec::new(), is_told: false };
        match (self.providers.change(Some(&held), change, now).await?, refused) {
            (None, Some(refused)) => Ok(Passage::Shut(Box::new(refused))),
            _ => Ok(Passage::Once),
        }
    }
}

/// A provider's tool, as far as it stands in the way of a call.
struct Provided {
    held: Option<Arc<Held>>,
    error: Option<ToolError>,
}

/// How a tool stands.
pub(crate) fn stands(held: &Held, tool: Option<&Arc<HeldTool>>) -> Standing {
    let record = tool.map(|tool| &tool.record);
    let digest = record.and_then(|record| record.read()).and_then(|tool| tool.digest);
    standing(record, digest.as_ref(), held.provider.trust)
}
