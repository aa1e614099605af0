//! Following which rules are in force.

use std::sync::Arc;

use futures_util::stream;
use tonic::Request;
use toolplane_policy::Rule;
use toolplane_proto::v1;
use toolplane_runtime::typed::{self, Ask, Messages};

use super::api::PermissionApi;
use crate::rules::{Active, Policy};

/// Most rules that are told to who asks which tools are denied whatever the call.
const MAX_DENIED: usize = 1_000;

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
    let rules = request.get_ref().denied_tools.then(|| Arc::clone(&api.rules));
    Box::pin(stream::unfold((policy, stopping, rules), |(mut policy, stopping, rules)| async move {
        // The rule book outlives its watchers, so this only ends with a change.
        stopping.run_until_cancelled(policy.changed()).await?.ok()?;
        let Policy { digest: policy_digest, revision } = policy.borrow_and_update().clone();
        let denied_tools = rules.iter().flat_map(|rules| denied_tools(&rules.active())).collect();
        Some((Ok(v1::WatchPolicyResponse { policy_digest, revision, denied_tools }), (policy, stopping, rules)))
    }))
}

/// The rules by which tools are denied whatever the call. Where there are very many, tools of the rest are told only when they are called.
fn denied_tools(active: &Active) -> Vec<v1::DeniedTools> {
    let told = |rule: &Rule| v1::DeniedTools {
        rule_id: rule.id().to_owned(),
        tools: rule.matcher().to_string(),
        tenant: rule.scope().tenant.clone(),
        namespace: rule.scope().namespace.clone(),
        reason: rule.record().reason.clone(),
    };
    active.policy().rules.denied_outright().take(MAX_DENIED).map(told).collect()
}
