//! Who speaks as a worker: what a request says of itself, compared with who is connected under that id.
//!
//! A hello, a heartbeat beside the stream and an upload all come this way, so that no credential speaks for the worker of another.

use toolplane_lifecycle::Holder;
use toolplane_proto::convert::field;
use toolplane_runtime::Caller;

use crate::dispatch::Fleet;
use crate::error::CallError;

/// What a request says of the worker it comes from.
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    /// What the names of its fields begin with, e.g. `header.`.
    pub(super) within: &'static str,
    pub(super) worker_id: &'a str,
    /// Empty where the worker is of a version that does not say it: then it may be any start of it.
    pub(super) incarnation: &'a str,
    /// The secret of a lease that was told to its holder alone: names the worker where nothing else does.
    pub(super) lease_id: Option<&'a str>,
    /// Nothing of its earlier starts is left: it speaks for their leases too.
    pub(super) for_earlier: bool,
}

impl Said<'_> {
    /// For whom the request speaks; refused when it does not say, or when the worker is another credential's.
    pub(super) async fn holder(self, fleet: &Fleet, caller: &Caller) -> Result<Holder, CallError> {
        let Said { within, worker_id, incarnation, lease_id, for_earlier } = self;
        let field = format!("{within}worker_id");
        let worker_id = match lease_id.filter(|_| worker_id.is_empty()) {
            Some(lease_id) => fleet.here().holder_of(lease_id).ok_or_else(|| {
                CallError::invalid(&field, "must be given: the lease is of no worker that is connected here")
            })?,
            None => field::id(&field, worker_id).map_err(CallError::of_field)?,
        };
        let bound = fleet.actor_of(&worker_id).await?;
        if bound.is_some() && bound != actor(caller) {
            tracing::warn!(%worker_id, caller = caller.caller_ref, "a credential speaks for the worker of another one");
            return Err(CallError::ForeignWorker { worker_id: worker_id.to_string() });
        }
        let told = !for_earlier && !incarnation.is_empty();
        Ok(Holder { worker_id, incarnation: told.then(|| incarnation.into()) })
    }
}

/// The owner of the worker that `caller` connects; absent without authentication.
pub(super) fn actor(caller: &Caller) -> Option<String> {
    caller.authenticated.then(|| format!("{}/{}", caller.tenant, caller.doer("")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::mpsc;
    use toolplane_records::ids::{TenantId, WorkerId};
    use toolplane_results::PayloadStore;
    use toolplane_runtime::caller::RoleSet;
    use toolplane_store::MemoryStore;

    use super::*;
    use crate::dispatch::{WorkerInfo, WorkerLink};
    use crate::parts::Parts;

    fn caller(credential: &str, actor: Option<&str>) -> Caller {
        Caller {
            tenant: TenantId::from_trusted("acme"),
            actor: actor.map(str::to_owned),
            caller_ref: credential.to_owned(),
            roles: RoleSet::ALL,
            authenticated: true,
        }
    }

    fn said(incarnation: &str) -> Said<'_> {
        Said { within: "header.", worker_id: "w1", incarnation, lease_id: None, for_earlier: false }
    }

    #[tokio::test]
    async fn a_credential_does_not_speak_for_the_worker_of_another_one() {
        let store = Arc::new(MemoryStore::default());
        let objects = PayloadStore::in_memory(Default::default());
        let Parts { fleet, calls, .. } = Parts::over(store, objects).await;
        let owner = caller("key:1", Some("pool-a"));
        let info = WorkerInfo {
            image: String::new(),
            credentials: None,
            worker_id: WorkerId::from_trusted("w1"),
            incarnation: "first".into(),
            version: String::new(),
            slots: 1,
            pools: vec![],
            native_tools: vec![],
            gaps: vec![],
            posture: None,
            connected_at: calls.now().await.unwrap(),
            actor: actor(&owner),
        };
        let (sender, receiver) = mpsc::unbounded_channel();
        fleet.connect(&Arc::new(WorkerLink::new(info, sender))).await;

        let holder = said("first").holder(&fleet, &owner).await.unwrap();
        assert_eq!((holder.worker_id.as_str(), holder.incarnation.as_deref()), ("w1", Some("first")));
        // Another key of the same actor is the same actor, and a later start is too.
        said("second").holder(&fleet, &caller("key:2", Some("pool-a"))).await.unwrap();
        for foreign in
            [caller("key:3", Some("pool-b")), caller("key:4", None), Caller::clone(&Caller::unauthenticated())]
        {
            let refused = said("first").holder(&fleet, &foreign).await.unwrap_err();
            assert!(matches!(refused, CallError::ForeignWorker { .. }), "{refused:?}");
        }
        // No credential connects it any more.
        drop(receiver);
        said("first").holder(&fleet, &caller("key:3", Some("pool-b"))).await.unwrap();
    }

    #[tokio::test]
    async fn a_lease_alone_names_only_a_worker_that_is_connected() {
        let store = Arc::new(MemoryStore::default());
        let objects = PayloadStore::in_memory(Default::default());
        let fleet = Parts::over(store, objects).await.fleet;
        for said in
            [Said { worker_id: "", ..said("first") }, Said { worker_id: "", lease_id: Some("l"), ..said("first") }]
        {
            let CallError::Invalid(faults) = said.holder(&fleet, &Caller::unauthenticated()).await.unwrap_err() else {
                panic!("{:?}", said.lease_id)
            };
            assert_eq!(faults[0].field, "header.worker_id");
        }
    }
}
