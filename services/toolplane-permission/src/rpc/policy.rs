//! Following which rules are in force.

use std::sync::Arc;

use futures_util::stream;
use tonic::Request;
use toolplane_proto::v1;
use toolplane_runtime::typed::{self, Ask, Messages};

use super::api::PermissionApi;
use crate::rules::Policy;

type Updates = Messages<v1::WatchPolicyResponse>;

/// The present set at once, then every change until the role stops. A watcher that is slow is told of the newest set only. One in
/// this process may also ask which set is in force at any moment, as sure as a decision does.
pub(super) fn watch(api: &PermissionApi, request: &Request<v1::WatchPolicyRequest>) -> Updates {
    let mut policy = api.rules.follow_policy();
    if let Some((_, watcher)) = typed::take::<(), Ask<Option<String>>, _>(request) {
        let rules = Arc::clone(&api.rules);
        let now = Ask::new(move || {
            let rules = Arc::clone(&rules);
            async move { rules.current().await.ok().map(|active| active.digest().to_owned()) }
        });
        drop(watcher.say(Box::pin(stream::iter([Ok(now)]))));
    }
    policy.mark_changed();
    let stopping = api.stopping.clone();
    Box::pin(stream::unfold((policy, stopping), |(mut policy, stopping)| async move {
        // The rule book outlives its watchers, so this only ends with a change.
        stopping.run_until_cancelled(policy.changed()).await?.ok()?;
        let Policy { digest, revision } = policy.borrow_and_update().clone();
        Some((Ok(v1::WatchPolicyResponse { policy_digest: digest, revision }), (policy, stopping)))
    }))
}
