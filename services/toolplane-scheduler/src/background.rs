//! What runs beside the services of the scheduler.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use toolplane_backend::Backend;
use toolplane_records::ids::InvocationKey;
use toolplane_results::PayloadStore;
use toolplane_runtime::Tasks;
use toolplane_runtime::client::Peer;

use crate::calls::Calls;
use crate::ending::Endings;
use crate::intake::{PermissionPeer, SurfacePeer, follow_catalog};
use crate::keeping::Stays;
use crate::kept::{self, Orphans};
use crate::parts::Loops;
use crate::provider_news::ProviderNews;
use crate::recheck::{Approvals, DecisionsInForce, RecheckLoop};

/// How often expired payloads are looked for.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// What runs beside the services, once.
pub(crate) struct Background {
    pub(crate) loops: Loops,
    pub(crate) hooks_overdue: mpsc::UnboundedReceiver<InvocationKey>,
    pub(crate) endings: Endings,
    pub(crate) approvals: Approvals,
    pub(crate) permission: PermissionPeer,
    pub(crate) in_force: Arc<DecisionsInForce>,
    pub(crate) rechecks: RecheckLoop,
    pub(crate) surface: SurfacePeer,
    /// What is heard of providers, and who is told.
    pub(crate) news: (ProviderNews, Peer),
    pub(crate) payloads: PayloadStore,
    pub(crate) orphans: Orphans,
    pub(crate) stays: Stays,
    pub(crate) calls: Calls,
    pub(crate) backend: Backend,
}

impl Background {
    /// Starts dispatch, timers and the streams to the other roles.
    pub(crate) fn start(self, tasks: &Tasks) {
        let stop = tasks.shutdown().token();
        let until = stop.clone();
        tasks.spawn("scheduler loops", async move { self.loops.run(until.cancelled()).await });
        tasks.spawn("scheduler endings", self.endings.run(self.hooks_overdue, stop.clone()));
        let approvals = self.approvals.clone();
        tasks.spawn("scheduler approvals", self.approvals.follow(stop.clone()));
        let strays = approvals.remove_strays(self.stays, self.permission.clone(), stop.clone());
        tasks.spawn("scheduler strays", strays);
        tasks.spawn("scheduler policy", self.in_force.follow(self.permission, stop.clone()));
        tasks.spawn("scheduler rechecks", self.rechecks.run(stop.clone()));
        let name = format!("scheduler-{}", uuid::Uuid::now_v7().simple());
        tasks.spawn("scheduler catalog", follow_catalog(self.surface, name, stop.clone()));
        let (news, surface) = self.news;
        tasks.spawn("scheduler provider news", news.tell(surface, stop.clone()));
        let (payloads, spooled, calls, until) = (self.payloads.clone(), self.payloads, self.calls, stop.clone());
        tasks.spawn("scheduler retention", async move {
            until.run_until_cancelled(expire_payloads(payloads, calls)).await;
        });
        let (orphans, until) = (self.orphans, stop.clone());
        tasks.spawn("scheduler orphans", async move {
            until.run_until_cancelled(orphans.run()).await;
        });
        let until = stop.clone();
        tasks.spawn("scheduler spool", async move {
            until.run_until_cancelled(kept::move_spooled(spooled)).await;
        });
        let failed = self.backend.failed();
        tasks.spawn_fallible("scheduler store", async move {
            // After a failed write nothing may be acknowledged any more: the process ends and recovers.
            stop.run_until_cancelled(failed).await.map_or(Ok(()), Err)
        });
    }
}

/// Removes payloads past their retention, and what interrupted uploads left behind.
async fn expire_payloads(payloads: PayloadStore, calls: Calls) {
    let mut tick = tokio::time::interval(EXPIRY_INTERVAL);
    loop {
        tick.tick().await;
        let Ok(now) = calls.now().await else { continue };
        match payloads.remove_expired(now).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "expired payloads were removed"),
            Err(error) => tracing::warn!(%error, "expired payloads could not be removed; trying again later"),
        }
    }
}
