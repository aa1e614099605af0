//! Providers as the store keeps them: a record for the provider and how it is, and one for each tool.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolplane_catalog::Registration;
use toolplane_providers::Record;
use toolplane_records::ids::{ProviderId, TenantId, ToolId};
use toolplane_records::payload::Digest;
use toolplane_records::provider::{ProvidedTool, Provider, ProviderStatus};
use toolplane_store::{RecordKey, ScoreRange, Store, StoreError, Versioned};

use super::held::{Held, HeldTool, Shelf};
use crate::keys;

/// How many records are read at once.
const READ_PAGE: usize = 500;

/// A provider and how it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KeptProvider {
    pub(super) provider: Provider,
    pub(super) status: ProviderStatus,
}

/// A tool of a provider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KeptTool {
    pub(super) tool: ProvidedTool,
    /// Digest of the exact registration in the catalogue that was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) registered: Option<Digest>,
    /// What its provider says of it, as long as that is not in the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) definition: Option<Registration>,
}

impl Shelf {
    /// Reads the providers of all tenants anew.
    pub(crate) async fn read(&self, store: &dyn Store) -> Result<(), StoreError> {
        let mut all = Vec::new();
        let mut range = ScoreRange::all();
        loop {
            let page = store.scan(keys::PROVIDERS, range.clone(), READ_PAGE).await?;
            let Some(last) = page.last() else { break };
            range = range.after(last);
            for (tenant, id) in page.iter().filter_map(|entry| keys::provider_of(&entry.member)) {
                all.extend(read(store, &tenant, &id).await?);
            }
        }
        self.replace(all);
        Ok(())
    }

    /// Reads one provider anew, and shows it as it is stored.
    pub(crate) async fn read_one(
        &self,
        store: &dyn Store,
        tenant: &TenantId,
        id: &ProviderId,
    ) -> Result<(), StoreError> {
        match read(store, tenant, id).await? {
            Some(held) => self.show(Arc::new(held)),
            None => self.forget(tenant, id),
        }
        Ok(())
    }
}

/// The provider as it is stored; nothing when it is not there, or cannot be read. None of its tools can be called then.
async fn read(store: &dyn Store, tenant: &TenantId, id: &ProviderId) -> Result<Option<Held>, StoreError> {
    let unreadable = |why: String| tracing::error!(%tenant, provider_id = %id, why, "a provider cannot be read; its tools cannot be called");
    let found = match store.get(&keys::provider(tenant, id)).await {
        Err(StoreError::Damaged(damage)) => {
            unreadable(damage.to_string());
            return Ok(None);
        }
        found => found?,
    };
    let Some(found) = found else { return Ok(None) };
    match serde_json::from_slice::<KeptProvider>(&found.bytes) {
        Ok(KeptProvider { provider, status }) => {
            let tools = tools(store, tenant, id).await?;
            Ok(Some(Held { provider, status, version: found.version, tools }))
        }
        Err(error) => {
            unreadable(error.to_string());
            Ok(None)
        }
    }
}

async fn tools(
    store: &dyn Store,
    tenant: &TenantId,
    id: &ProviderId,
) -> Result<BTreeMap<ToolId, Arc<HeldTool>>, StoreError> {
    let (index, mut range) = (keys::provided_by(tenant, id), ScoreRange::all());
    let mut tools = BTreeMap::new();
    loop {
        let page = store.scan(&index, range.clone(), READ_PAGE).await?;
        let Some(last) = page.last() else { return Ok(tools) };
        range = range.after(last);
        let ids: Vec<ToolId> = page.iter().filter_map(|entry| ToolId::parse(&entry.member).ok()).collect();
        let wanted: Vec<RecordKey> = ids.iter().map(|id| keys::provided(tenant, id)).collect();
        for (tool_id, found) in ids.into_iter().zip(store.get_each(&wanted).await?) {
            let tool = match found {
                Ok(None) => continue,
                Ok(Some(found)) => held_tool(&found),
                Err(_) => None,
            };
            let lost = HeldTool { record: Record::Unreadable, version: None, registered: None, definition: None };
            tools.insert(tool_id, Arc::new(tool.unwrap_or(lost)));
        }
    }
}

fn held_tool(found: &Versioned) -> Option<HeldTool> {
    let KeptTool { tool, registered, definition } = serde_json::from_slice(&found.bytes).ok()?;
    let definition = definition.map(Arc::new);
    Some(HeldTool { record: tool.into(), version: Some(found.version), registered, definition })
}
