//! What a scheduler policy says where it says nothing.

use toolplane_records::scheduling::SchedulerPolicy;
use toolplane_records::vocabulary::{OrderingPolicy, YieldPolicy};

/// Whether results of the batch are released as they come, instead of in the declared order.
pub fn is_unordered(policy: &SchedulerPolicy) -> bool {
    match policy.yield_policy {
        Some(YieldPolicy::UnorderedStreaming) => true,
        Some(_) => false,
        None => policy.ordering_policy == Some(OrderingPolicy::AllowUnordered),
    }
}

/// Most calls of the batch that may be released and not ended at once.
pub fn max_parallel(policy: &SchedulerPolicy) -> usize {
    match (policy.ordering_policy, policy.max_parallel) {
        (Some(OrderingPolicy::Serial), _) => 1,
        (_, Some(bound)) => usize::try_from(bound).unwrap_or(usize::MAX).max(1),
        (_, None) => usize::MAX,
    }
}
