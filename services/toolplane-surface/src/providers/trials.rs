//! Providers that are asked what they have before they are made: nothing of them is stored.

use std::sync::Arc;

use dashmap::DashMap;
use toolplane_records::ids::TenantId;
use toolplane_records::provider::{Provider, ProviderStatus};
use toolplane_runtime::ApiError;

use super::held::Held;
use super::looks::Looks;
use super::take_in::{Taken, would_take_in};

/// Providers on trial, by the names workers ask by. Known to this process alone: where there are several, a scheduler may ask another.
#[derive(Debug, Default)]
pub(super) struct Trials(DashMap<(TenantId, String), Arc<Provider>>);

impl Trials {
    /// The provider on trial of that name.
    pub(super) fn get(&self, tenant: &TenantId, name: &str) -> Option<Arc<Provider>> {
        Some(Arc::clone(self.0.get(&(tenant.clone(), name.to_owned()))?.value()))
    }

    pub(super) fn begin(&self, provider: &Provider) -> Trial<'_> {
        let name = format!("trial-{}", uuid::Uuid::new_v4().simple());
        let key = (provider.tenant.clone(), name);
        self.0.insert(key.clone(), Arc::new(provider.clone()));
        Trial { trials: self, key }
    }
}

/// A provider on trial, until this is dropped.
pub(super) struct Trial<'a> {
    trials: &'a Trials,
    key: (TenantId, String),
}

impl Trial<'_> {
    /// The name workers know the provider by.
    fn name(&self) -> &str {
        &self.key.1
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        self.trials.0.remove(&self.key);
    }
}

impl Looks {
    /// What `provider` would say it has, and what that would change, if it were put.
    pub(crate) async fn preview(&self, provider: Provider, status: ProviderStatus) -> Result<Taken, ApiError> {
        let _permit = self.wanted.acquire().await;
        let before = self.shelf.get(&provider.tenant, &provider.provider_id);
        let tools = before.map(|before| before.tools.clone()).unwrap_or_default();
        let held = Arc::new(Held { provider, status, version: 0, tools });
        let trial = self.hidden.on_trial(&held.provider);
        let look = self.asked(&held, trial.name()).await?;
        Ok(would_take_in(&self.providers, held, &look, &self.options.policy, (self.clock)().await?))
    }
}
