//! Looking at what providers have: one look at a time for each, bounded in number and in time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;
use toolplane_providers::health::Policy;
use toolplane_records::ids::{ProviderId, TenantId};
use toolplane_records::provider::{FaultReport, Provider};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::ProviderFault;
use toolplane_runtime::ApiError;

use super::change::Change;
use super::held::{Held, Shelf};
use super::look::{Fault, Look, Said};
use super::take_in::{Taken, take_in};
use super::{HiddenTools, Providers};
use crate::options::ProviderOptions;

/// Asks a provider what it has.
pub(crate) trait Discover: Send + Sync {
    /// What it says, or why it says nothing; workers know it by `name`. Dropped when it takes too long.
    fn ask<'a>(&'a self, provider: &'a Provider, name: &'a str) -> BoxFuture<'a, Result<Said, Fault>>;
}

/// The moment by which it is decided who is due, by the store's clock.
pub(crate) type Clock = Arc<dyn Fn() -> BoxFuture<'static, Result<Timestamp, ApiError>> + Send + Sync>;

/// Looks at providers. Cheap to clone; clones share the bounds.
#[derive(Clone)]
pub(crate) struct Looks {
    pub(super) providers: Providers,
    pub(super) shelf: Arc<Shelf>,
    /// For providers that are only tried.
    pub(super) hidden: HiddenTools,
    discover: Arc<dyn Discover>,
    pub(super) options: ProviderOptions,
    pub(super) clock: Clock,
    /// For looks somebody waits for: providers that hang keep nobody from asking others.
    pub(super) wanted: Arc<Semaphore>,
}

impl fmt::Debug for Looks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Looks").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Looks {
    pub(crate) fn new(
        clock: Clock,
        providers: Providers,
        hidden: HiddenTools,
        discover: Arc<dyn Discover>,
        options: ProviderOptions,
    ) -> Self {
        let wanted = Arc::new(Semaphore::new(options.at_once.max(1)));
        let shelf = Arc::clone(providers.shelf());
        Self { providers, shelf, hidden, discover, options, clock, wanted }
    }

    /// A look somebody waits for. With `dry_run`, only says what would change.
    pub(crate) async fn look(&self, tenant: &TenantId, id: &ProviderId, dry_run: bool) -> Result<Taken, ApiError> {
        // A closed semaphore would let everybody pass; it is never closed.
        let _permit = self.wanted.acquire().await;
        let asking = self.shelf.asking(tenant, id);
        let _asking = asking.lock().await;
        self.looked(tenant, id, dry_run).await
    }

    /// Asks a provider, and changes nothing; with what went wrong.
    pub(crate) async fn test(
        &self,
        tenant: &TenantId,
        id: &ProviderId,
    ) -> Result<(Look, Option<FaultReport>), ApiError> {
        let _permit = self.wanted.acquire().await;
        let asking = self.shelf.asking(tenant, id);
        let _asking = asking.lock().await;
        let look = self.asked(&self.held(tenant, id)?, id.as_str()).await?;
        let at = (self.clock)().await?;
        let fault = look.fault().map(|fault| FaultReport { code: fault.code, message: fault.message.clone(), at });
        Ok((look, fault))
    }

    /// A look at a provider that is due, when nobody else has looked meanwhile.
    pub(super) async fn look_when_due(&self, tenant: &TenantId, id: &ProviderId) -> Result<(), ApiError> {
        let asking = self.shelf.asking(tenant, id);
        let _asking = asking.lock().await;
        if !self.claimed(tenant, id).await? {
            return Ok(());
        }
        self.looked(tenant, id, false).await.map(drop)
    }

    async fn looked(&self, tenant: &TenantId, id: &ProviderId, dry_run: bool) -> Result<Taken, ApiError> {
        let policy = &self.options.policy;
        let held = self.held(tenant, id)?;
        let mut look = self.asked(&held, id.as_str()).await?;
        if look.listing().is_some() && !dry_run {
            let would = self.taken(&held, &look, policy, true).await?;
            if would.difference.as_ref().is_some_and(|difference| difference.empties()) {
                // A server that is not ready yet says that it has nothing: it is asked once more before it is believed.
                look = self.asked(&held, id.as_str()).await?;
            }
        }
        self.taken(&held, &look, policy, dry_run).await
    }

    async fn taken(&self, held: &Held, look: &Look, policy: &Policy, dry_run: bool) -> Result<Taken, ApiError> {
        let Provider { tenant, provider_id, .. } = &held.provider;
        let now = (self.clock)().await?;
        take_in(&self.providers, (tenant, provider_id), look.clone(), policy.clone(), now, dry_run).await
    }

    /// Asks a provider that workers know by `name`, and whose definitions are made of what it is now.
    pub(super) async fn asked(&self, held: &Arc<Held>, name: &str) -> Result<Look, ApiError> {
        let asked = tokio::time::timeout(self.options.patience, self.discover.ask(&held.provider, name)).await;
        let said = asked.unwrap_or_else(|_| {
            let waited = Duration::as_secs(&self.options.patience);
            Err(Fault::new(ProviderFault::TimedOut, format!("it said nothing for {waited} s")))
        });
        match said {
            Ok(said) => Look::of(held.provider.clone(), said, self.providers.known(held)).await,
            Err(fault) => Ok(Look::failed(fault)),
        }
    }

    fn held(&self, tenant: &TenantId, id: &ProviderId) -> Result<Arc<Held>, ApiError> {
        let held = self.shelf.get(tenant, id).filter(|held| !held.is_retired());
        held.ok_or_else(|| ApiError::not_found("provider", id.as_str()))
    }

    /// Says that this process asks a provider that is due; false when it is not due any more, or another process does.
    async fn claimed(&self, tenant: &TenantId, id: &ProviderId) -> Result<bool, ApiError> {
        let turn = self.shelf.turn(tenant, id);
        let _turn = turn.lock().await;
        let Ok(held) = self.held(tenant, id) else { return Ok(false) };
        let now = (self.clock)().await?;
        if !toolplane_providers::health::is_due(&held.status, now) {
            return Ok(false);
        }
        let longest = i64::try_from(self.options.patience.as_millis()).unwrap_or(i64::MAX / 4);
        let mut status = held.status.clone();
        status.last_try_at = Some(now);
        // When this process dies meanwhile, another one asks after that.
        status.next_try_at = Some(now.plus_millis(longest.saturating_mul(2)));
        let provider = held.provider.clone();
        let change = Change { provider, status, tools: Vec::new(), facts: Vec::new(), is_told: false };
        Ok(self.providers.change(Some(&held), change, now).await?.is_some())
    }
}
