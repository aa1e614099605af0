//! Scheduler policies and resource locks (contracts/concurrency-and-scheduling).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::vocabulary::{
    ContextModifierPolicy, InterruptBehavior, LockMode, OrderingPolicy, SiblingFailurePolicy, YieldPolicy,
};

/// A lock a call needs before it may run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResourceLock {
    /// What is locked.
    pub key: String,
    /// Shared or exclusive.
    #[serde(default)]
    pub mode: LockMode,
}

/// Concurrency, ordering, interruption and sibling policy of a set of invocations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchedulerPolicy {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier of the policy.
    pub scheduler_policy_id: String,
    /// Where it applies.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// Most calls at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_parallel: Option<u32>,
    /// Order of terminal results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordering_policy: Option<OrderingPolicy>,
    /// When results are released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yield_policy: Option<YieldPolicy>,
    /// What the agent's runtime does about running calls when its user interrupts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt_behavior: Option<InterruptBehavior>,
    /// What a failed sibling does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sibling_failure_policy: Option<SiblingFailurePolicy>,
    /// Whether context modifiers are honoured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_modifier_policy: Option<ContextModifierPolicy>,
    /// Locks every call of the set takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource_locks: Vec<ResourceLock>,
}
