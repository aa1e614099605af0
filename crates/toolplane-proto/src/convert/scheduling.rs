//! Scheduler policies.

use toolplane_records::scheduling as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::ResourceLock> for v1::ResourceLock {
    fn from(record: &records::ResourceLock) -> Self {
        Self { key: record.key.clone(), mode: record.mode.as_str().to_owned(), mode_code: record.mode.number() }
    }
}

impl TryFrom<v1::ResourceLock> for records::ResourceLock {
    type Error = ConvertError;

    fn try_from(message: v1::ResourceLock) -> Result<Self, ConvertError> {
        let mode = word::optional_open("mode", &message.mode, message.mode_code)?.unwrap_or_default();
        Ok(Self { key: message.key, mode })
    }
}

impl From<&records::SchedulerPolicy> for v1::SchedulerPolicy {
    fn from(record: &records::SchedulerPolicy) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            scheduler_policy_id: record.scheduler_policy_id.clone(),
            scope: record.scope.clone(),
            max_parallel: record.max_parallel,
            ordering_policy: word::optional_number(record.ordering_policy),
            yield_policy: word::optional_number(record.yield_policy),
            interrupt_behavior: word::optional_number(record.interrupt_behavior),
            sibling_failure_policy: word::optional_number(record.sibling_failure_policy),
            context_modifier_policy: word::optional_number(record.context_modifier_policy),
            resource_locks: field::outs(&record.resource_locks),
        }
    }
}

impl TryFrom<v1::SchedulerPolicy> for records::SchedulerPolicy {
    type Error = ConvertError;

    fn try_from(message: v1::SchedulerPolicy) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            scheduler_policy_id: message.scheduler_policy_id,
            scope: message.scope,
            max_parallel: message.max_parallel,
            ordering_policy: word::optional_closed("ordering_policy", message.ordering_policy)?,
            yield_policy: word::optional_closed("yield_policy", message.yield_policy)?,
            interrupt_behavior: word::optional_closed("interrupt_behavior", message.interrupt_behavior)?,
            sibling_failure_policy: word::optional_closed("sibling_failure_policy", message.sibling_failure_policy)?,
            context_modifier_policy: word::optional_closed("context_modifier_policy", message.context_modifier_policy)?,
            resource_locks: field::list("resource_locks", message.resource_locks)?,
        })
    }
}
