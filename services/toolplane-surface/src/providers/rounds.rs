//! Asking providers by themselves whenever they are due.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio_util::sync::CancellationToken;
use toolplane_providers::health::is_due;
use toolplane_records::ids::{ProviderId, TenantId};
use toolplane_records::time::Timestamp;

use super::looks::Looks;

/// Longest time without a look at who is due: another process may have changed something unheard.
const LONGEST: Duration = Duration::from_secs(10);
/// Shortest time between two looks at who is due.
const SHORTEST: Duration = Duration::from_millis(50);

/// Wait after what a provider said could not be taken in.
const AFTER_AN_ERROR: Duration = Duration::from_secs(1);

type Name = (TenantId, ProviderId);

impl Looks {
    /// Looks at every provider that is due, until `stop`. What one of them does is waited for by nobody but itself: it has a place of
    /// its own and a time, and no tenant has all places.
    pub(crate) async fn rounds(self, stop: CancellationToken) {
        stop.run_until_cancelled(self.always()).await;
    }

    async fn always(&self) {
        let mut going = FuturesUnordered::new();
        let mut names: Vec<Name> = Vec::new();
        loop {
            let changed = self.shelf.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let wait = match (self.clock)().await {
                Ok(now) => {
                    for name in self.next(&names, now) {
                        names.push(name.clone());
                        going.push(self.one(name));
                    }
                    self.until_next(&names, now)
                }
                Err(error) => {
                    tracing::warn!(%error, "it cannot be told now which providers are due");
                    LONGEST
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = &mut changed => tokio::time::sleep(SHORTEST).await,
                Some(done) = going.next() => {
                    names.retain(|name| *name != done);
                    tokio::time::sleep(SHORTEST).await;
                }
            }
        }
    }

    async fn one(&self, name: Name) -> Name {
        if let Err(error) = self.look_when_due(&name.0, &name.1).await {
            tracing::warn!(tenant = %name.0, provider_id = %name.1, %error, "what a provider has cannot be taken in now");
            tokio::time::sleep(AFTER_AN_ERROR).await;
        }
        name
    }

    /// Who is asked next, within the bounds; those that are due for longest first.
    fn next(&self, going: &[Name], now: Timestamp) -> Vec<Name> {
        let mut of_tenants: HashMap<&TenantId, usize> = HashMap::new();
        going.iter().for_each(|(tenant, _)| *of_tenants.entry(tenant).or_default() += 1);
        let all = self.shelf.all();
        let mut due: Vec<_> = all.iter().filter(|held| is_due(&held.status, now)).collect();
        due.sort_by_key(|held| held.status.next_try_at);
        let mut next: Vec<Name> = Vec::new();
        for held in due {
            let name = (held.provider.tenant.clone(), held.provider.provider_id.clone());
            let of_tenant = of_tenants.entry(&held.provider.tenant).or_default();
            let has_place = going.len() + next.len() < self.options.at_once;
            if has_place && *of_tenant < self.options.of_one_tenant && !going.contains(&name) {
                *of_tenant += 1;
                next.push(name);
            }
        }
        next
    }

    /// How long nobody else becomes due.
    fn until_next(&self, going: &[Name], now: Timestamp) -> Duration {
        let all = self.shelf.all();
        let others = all.iter().filter(|held| {
            !going.iter().any(|(tenant, id)| *tenant == held.provider.tenant && *id == held.provider.provider_id)
        });
        let next = others.filter_map(|held| held.status.next_try_at).filter(|at| *at > now).min();
        let wait = next.and_then(|at| u64::try_from(at.since_millis(now)).ok()).map(Duration::from_millis);
        wait.unwrap_or(LONGEST).clamp(SHORTEST, LONGEST)
    }
}
