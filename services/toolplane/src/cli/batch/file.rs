//! Batches in files: calls, and the policy that applies to them.

use std::io::Read as _;
use std::path::Path;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolplane_proto::convert::word;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::json::{self, JsonLimits, JsonRefusal};
use toolplane_records::scheduling::{ResourceLock, SchedulerPolicy};
use toolplane_records::vocabulary::{
    ContextModifierPolicy, InterruptBehavior, OrderingPolicy, SiblingFailurePolicy, YieldPolicy,
};

use crate::cli::connection::PRODUCER;
use crate::cli::failure::Failure;

/// Largest file read.
const LIMITS: JsonLimits = JsonLimits { max_bytes: 16 * 1024 * 1024, max_depth: 128, max_nodes: 1_000_000 };

/// Most calls of a batch, as schedulers take it. Told here as well, because a surface for the calls is looked for before.
const MAX_CALLS: usize = 64;

/// A batch as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchFile {
    #[serde(default)]
    policy: BatchPolicy,
    #[serde(default)]
    session: String,
    #[serde(default)]
    lock_domain: String,
    calls: Vec<CallInFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallInFile {
    tool: String,
    input: Option<Box<RawValue>>,
    #[serde(default)]
    depends_on: Vec<u32>,
    sibling_failure_policy: Option<SiblingFailurePolicy>,
    #[serde(default)]
    resource_locks: Vec<ResourceLock>,
    #[serde(default)]
    timeout_ms: u64,
    #[serde(default)]
    priority: String,
}

/// The standard's scheduler policy, every part of it optional.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchPolicy {
    #[serde(default)]
    scheduler_policy_id: String,
    #[serde(default)]
    scope: String,
    max_parallel: Option<u32>,
    ordering_policy: Option<OrderingPolicy>,
    yield_policy: Option<YieldPolicy>,
    interrupt_behavior: Option<InterruptBehavior>,
    sibling_failure_policy: Option<SiblingFailurePolicy>,
    context_modifier_policy: Option<ContextModifierPolicy>,
    #[serde(default)]
    resource_locks: Vec<ResourceLock>,
}

impl From<BatchPolicy> for v1::SchedulerPolicy {
    fn from(policy: BatchPolicy) -> Self {
        Self::from(&SchedulerPolicy {
            schema_version: toolplane_records::schema_version(),
            scheduler_policy_id: policy.scheduler_policy_id,
            scope: policy.scope,
            max_parallel: policy.max_parallel,
            ordering_policy: policy.ordering_policy,
            yield_policy: policy.yield_policy,
            interrupt_behavior: policy.interrupt_behavior,
            sibling_failure_policy: policy.sibling_failure_policy,
            context_modifier_policy: policy.context_modifier_policy,
            resource_locks: policy.resource_locks,
        })
    }
}

/// Reads a batch: an object with `calls`, or a list of calls.
pub(super) fn read(file: &Path) -> Result<v1::BatchSpec, Failure> {
    let text = match file.to_str() {
        Some("-") => {
            let mut text = String::new();
            let limit = LIMITS.max_bytes as u64 + 1;
            std::io::stdin()
                .lock()
                .take(limit)
                .read_to_string(&mut text)
                .map_err(|error| Failure::Local(format!("cannot read standard input: {error}")))?;
            text
        }
        _ => std::fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?,
    };
    parse(&text).map_err(|rule| Failure::Usage(format!("`{}`: {rule}", file.display())))
}

/// Why a text is no batch.
#[derive(Debug, thiserror::Error)]
enum BatchFileError {
    #[error(transparent)]
    Json(#[from] JsonRefusal),
    #[error(transparent)]
    Form(#[from] serde_json::Error),
    #[error("`calls` must have 1 to {MAX_CALLS} entries")]
    Calls,
}

fn parse(text: &str) -> Result<v1::BatchSpec, BatchFileError> {
    json::check(text.as_bytes(), &LIMITS)?;
    let batch = match text.trim_start().starts_with('[') {
        true => BatchFile {
            policy: BatchPolicy::default(),
            session: String::new(),
            lock_domain: String::new(),
            calls: serde_json::from_str(text)?,
        },
        false => serde_json::from_str(text)?,
    };
    if batch.calls.is_empty() || batch.calls.len() > MAX_CALLS {
        return Err(BatchFileError::Calls);
    }
    Ok(v1::BatchSpec {
        calls: batch.calls.into_iter().map(call).collect(),
        policy: Some(batch.policy.into()),
        session_ref: batch.session,
        lock_domain: batch.lock_domain,
        ..Default::default()
    })
}

fn call(call: CallInFile) -> v1::BatchCall {
    let input = call.input.map_or_else(|| Bytes::from_static(b"{}"), |input| Bytes::from(input.get().to_owned()));
    v1::BatchCall {
        spec: Some(v1::InvocationSpec {
            tool_name: call.tool,
            model_input: Some(v1::JsonPayload { body: Some(Body::Inline(input)), ..Default::default() }),
            actor_ref: PRODUCER.to_owned(),
            timeout_ms: call.timeout_ms,
            priority: call.priority,
            resource_locks: call.resource_locks.iter().map(Into::into).collect(),
            ..Default::default()
        }),
        depends_on: call.depends_on,
        sibling_failure_policy: word::optional_number(call.sibling_failure_policy),
    }
}

/// Uses what was typed in place of the file's policy: all of it, or what a failed call does to the others.
pub(super) fn override_policy(batch: &mut v1::BatchSpec, given: &str) -> Result<(), Failure> {
    if let Ok(word) = given.parse::<SiblingFailurePolicy>() {
        let policy = batch.policy.get_or_insert_default();
        policy.sibling_failure_policy = word::optional_number(Some(word));
        return Ok(());
    }
    let text = match given.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file).map_err(|error| Failure::file(Path::new(file), &error))?,
        None => given.to_owned(),
    };
    let policy: BatchPolicy = serde_json::from_str(&text).map_err(|error| {
        Failure::Usage(format!(
            "--policy {error}; give `ignore`, `cancel_siblings`, `cancel_dependent`, or a scheduler policy as JSON"
        ))
    })?;
    batch.policy = Some(policy.into());
    Ok(())
}

/// The names of the calls' tools, in order.
pub(super) fn names(batch: &v1::BatchSpec) -> Vec<String> {
    batch.calls.iter().filter_map(|call| Some(call.spec.as_ref()?.tool_name.clone())).collect()
}

/// Names the surface all calls are made in.
pub(super) fn finish(batch: &mut v1::BatchSpec, surface_id: &str) {
    for spec in batch.calls.iter_mut().filter_map(|call| call.spec.as_mut()) {
        surface_id.clone_into(&mut spec.surface_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_keep_their_bytes_and_their_order() {
        let batch = parse(r#"[{"tool":"a","input":{ "n": 1.0 }},{"tool":"b","depends_on":[0]}]"#).unwrap();
        assert_eq!(names(&batch), ["a", "b"]);
        let input = batch.calls[0].spec.as_ref().unwrap().model_input.clone().unwrap();
        assert_eq!(input.body, Some(Body::Inline(Bytes::from_static(br#"{ "n": 1.0 }"#))));
        assert_eq!(batch.calls[1].depends_on, [0]);
    }

    #[test]
    fn mistakes_are_explained() {
        let said = |text: &str| parse(text).unwrap_err().to_string();
        assert!(said(r#"{"calls":[],"policy":{"ordering_policy":"random"}}"#).contains("preserve_terminal_order"));
        assert!(said(r#"{"calls":[{"tol":"a"}]}"#).contains("tol"));
        for calls in [0, 65] {
            let list = vec![r#"{"tool":"a"}"#; calls].join(",");
            assert_eq!(said(&format!(r#"{{"calls":[{list}]}}"#)), "`calls` must have 1 to 64 entries");
        }
        let mut batch = parse(r#"[{"tool":"a"}]"#).unwrap();
        assert!(override_policy(&mut batch, "explode").unwrap_err().to_string().contains("cancel_siblings"));
        override_policy(&mut batch, "cancel_dependent").unwrap();
        assert_eq!(batch.policy.unwrap().sibling_failure_policy(), v1::SiblingFailurePolicy::CancelDependent);
    }
}
