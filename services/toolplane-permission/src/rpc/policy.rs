//! Following which rules are in force.

use std::pin::Pin;

use futures_util::{Stream, stream};
use tonic::Status;
use toolplane_proto::v1;

use super::api::PermissionApi;
use crate::rules::Policy;

type Updates = Pin<Box<dyn Stream<Item = Result<v1::WatchPolicyResponse, Status>> + Send>>;

/// The present set at once, then every change until the role stops. A watcher that is slow is told of the newest set only.
pub(super) fn watch(api: &PermissionApi) -> Updates {
    let mut policy = api.rules.follow_policy();
    policy.mark_changed();
    let stopping = api.stopping.clone();
    Box::pin(stream::unfold((policy, stopping), |(mut policy, stopping)| async move {
        // The rule book outlives its watchers, so this only ends with a change.
        stopping.run_until_cancelled(policy.changed()).await?.ok()?;
        let Policy { digest, revision } = policy.borrow_and_update().clone();
        Some((Ok(v1::WatchPolicyResponse { policy_digest: digest, revision }), (policy, stopping)))
    }))
}
