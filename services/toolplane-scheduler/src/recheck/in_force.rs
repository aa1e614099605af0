//! Which decisions hold: what this scheduler has heard of the rules and of the tools since they were made.

use std::sync::Arc;
use std::time::Duration;

use crate::hash::DashSet;
use futures_util::future::BoxFuture;
use parking_lot::RwLock;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;

use crate::calls::Moment;
use crate::dispatch::Decisions;
use crate::intake::{KnownRules, PermissionPeer, RulesInForce, RulesNow, SurfacePeer, ToolAddress};
use crate::plan::DispatchPlan;

/// How long a decision is fresh enough to start a call while changes cannot be heard.
const FRESH: Duration = Duration::from_secs(5);
/// Pause before a broken stream is opened again.
const REOPEN: Duration = Duration::from_millis(200);

/// What was heard, and who is to be looked at again.
///
/// A decision holds when it was made after everything that was heard, or under exactly the rule set and the declaration
/// that are in force. While the streams of changes are down nothing is known to be in force: then only a decision just
/// made counts, and all other calls wait.
#[derive(Debug)]
pub(crate) struct DecisionsInForce {
    policy: RwLock<Heard>,
    surface: SurfacePeer,
    wanted: mpsc::UnboundedSender<InvocationKey>,
    /// Those that are being looked at.
    asked: DashSet<InvocationKey>,
}

#[derive(Debug, Default)]
struct Heard {
    /// The rule set in force; absent while changes cannot be heard.
    digest: Option<Arc<str>>,
    changes: u64,
    /// Which one it is at any moment, where the permission service is in this process.
    now: Option<RulesNow>,
}

impl DecisionsInForce {
    /// Hears of tools through `surface`. What comes back are the calls that have to be decided about again.
    pub(crate) fn new(surface: SurfacePeer) -> (Arc<Self>, mpsc::UnboundedReceiver<InvocationKey>) {
        let (wanted, asked) = mpsc::unbounded_channel();
        let decisions = Self { policy: RwLock::default(), surface, wanted, asked: DashSet::default() };
        (Arc::new(decisions), asked)
    }

    /// The rule set `digest` is in force from now on; `None`: not known.
    pub(crate) fn hear(&self, digest: Option<String>) {
        let mut heard = self.policy.write();
        heard.changes += 1;
        heard.digest = digest.map(Into::into);
    }

    /// Follows the rule set in force until `stop`, over every break of the stream.
    pub(crate) async fn follow(self: Arc<Self>, permission: PermissionPeer, stop: CancellationToken) {
        let follow = async {
            loop {
                if let Err(status) = self.follow_once(&permission).await {
                    tracing::debug!(code = ?status.code(), "the policy stream broke; opening it again");
                }
                self.hear(None);
                self.policy.write().now = None;
                tokio::time::sleep(REOPEN).await;
            }
        };
        stop.run_until_cancelled(follow).await;
    }

    async fn follow_once(&self, permission: &PermissionPeer) -> Result<(), tonic::Status> {
        let (mut changes, now) = permission.watch_policy().await?;
        self.policy.write().now = now;
        while let Some(change) = changes.message().await? {
            self.hear(Some(change.policy_digest));
        }
        Ok(())
    }

    /// Whether `record` was decided under the rule set in force, for a time that is not over.
    pub(crate) fn in_force(&self, record: &Invocation, now: Timestamp) -> bool {
        let Some(dispatch) = &record.dispatch else { return false };
        in_time(record, now)
            && !dispatch.policy_digest.is_empty()
            && self.policy.read().digest.as_deref() == Some(&*dispatch.policy_digest)
    }

    /// No task looks at the call any more; it may be asked for again.
    pub(crate) fn looked(&self, id: &InvocationKey) {
        self.asked.remove(id);
    }
}

impl KnownRules for DecisionsInForce {
    fn rules(&self) -> BoxFuture<'_, Option<RulesInForce>> {
        Box::pin(async {
            let (digest, changes, now) = {
                let heard = self.policy.read();
                (heard.digest.clone()?, heard.changes, heard.now.clone()?)
            };
            // Whoever changed them is answered before the change is heard here.
            let newest = now.ask().await?;
            (*newest == *digest).then_some(RulesInForce { digest, changes })
        })
    }
}

impl Decisions for DecisionsInForce {
    fn moment(&self) -> Moment {
        Moment { policy: self.policy.read().changes, catalog: self.surface.heard().0, at: Instant::now() }
    }

    fn hold(&self, record: &Invocation, plan: Option<&DispatchPlan>, decided: Option<Moment>, now: Timestamp) -> bool {
        if !in_time(record, now) {
            return false;
        }
        if let Some(decided) = decided {
            let (catalog, live) = self.surface.heard();
            let heard = self.policy.read();
            let newest = decided.policy == heard.changes && decided.catalog == catalog;
            let heard_all = heard.digest.is_some() && live;
            if newest && (heard_all || decided.at.elapsed() < FRESH) {
                return true;
            }
        }
        let declared = || {
            let known = self.surface.known(&ToolAddress::of(record)?)?;
            plan.filter(|plan| plan.tool.declaration_digest == known.digest)
        };
        self.in_force(record, now) && declared().is_some()
    }

    fn recheck(&self, id: &InvocationKey) {
        if self.asked.insert(id.clone()) {
            // Closed only when the scheduler stops; then nothing starts any more.
            let _ = self.wanted.send(id.clone());
        }
    }
}

/// Whether the permission of `record` has not run out.
fn in_time(record: &Invocation, now: Timestamp) -> bool {
    let until = record.dispatch.as_ref().and_then(|dispatch| dispatch.permit_until);
    until.is_none_or(|until| now < until)
}
