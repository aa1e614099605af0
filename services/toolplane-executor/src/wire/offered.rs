//! An offered call, from the message to what runs.

use std::time::Duration;

use toolplane_execution::{self as execution, CallAttempt, CallLimits, CallOrigin, CallPlace};
use toolplane_proto::convert::payload::ingest;
use toolplane_proto::convert::{ConvertError, field};
use toolplane_proto::v1;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::InvocationId;
use toolplane_records::json::JsonLimits;
use toolplane_records::payload::JsonPayload;
use toolplane_records::tool_facts::ToolFacts;
use toolplane_runtime::telemetry::CarriedContext;

use super::fields::ReadBounds;
use crate::messages::{Call, CallTraits, OfferedCall, OutputBounds};

/// Wall time of a call whose offer names none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// A call that is read when it is to run.
pub(super) fn offered(dispatch: v1::Dispatch, bounds: ReadBounds) -> OfferedCall {
    let traits = CallTraits {
        idempotent: !dispatch.requires_start_grant,
        supports_cancel: dispatch.supports_cancel,
        exclusive_lock: dispatch.exclusive_lock,
    };
    OfferedCall::new(traits, move || read(dispatch, bounds))
}

/// Reads what an offer asks for. A call that cannot be read has not run, and the error says so.
fn read(dispatch: v1::Dispatch, bounds: ReadBounds) -> Result<Call, Box<ToolError>> {
    let origin = origin(&dispatch).map_err(unreadable)?;
    let timeout = match dispatch.timeout_ms {
        0 => DEFAULT_TIMEOUT,
        millis => Duration::from_millis(millis),
    };
    let limits = dispatch.output_limits.unwrap_or_default();
    let input = input("call_input", dispatch.call_input, bounds.max_input_bytes)?;
    let shown = match dispatch.observable_input {
        Some(observable) if bounds.shown => self::input("observable_input", Some(observable), bounds.max_input_bytes)?,
        _ => input.clone(),
    };
    Ok(Call {
        tool: execution::Call {
            invocation_id: field::id::<InvocationId>("invocation_id", &dispatch.invocation_id).map_err(unreadable)?,
            origin,
            tool_name: dispatch.tool_name,
            binding: field::required("binding", dispatch.binding).map_err(unreadable)?,
            input,
            context_modifiers: dispatch.supports_context_modifiers,
            expected_files: if dispatch.supports_artifacts { dispatch.artifact_expectations } else { Vec::new() },
            partial_results: dispatch.supports_partial_results && !dispatch.hooks_follow,
            limits: CallLimits { timeout: Some(timeout), max_output_bytes: limits.max_output_bytes },
            place: CallPlace {
                sandbox_profile: Some(dispatch.sandbox_profile).filter(|name| !name.is_empty()),
                workspace: None,
                denied: dispatch.denied_paths.unwrap_or_default().into(),
                session_ref: Some(dispatch.session_ref).filter(|session| !session.is_empty()),
            },
            attempt: CallAttempt {
                number: dispatch.attempt,
                idempotency_key: dispatch.idempotency_key,
                fence: dispatch.fence,
                lock_fence: dispatch.lock_fence,
            },
        },
        timeout,
        tenant: dispatch.tenant,
        tool_id: field::id("tool_id", &dispatch.tool_id).map_err(unreadable)?,
        native_call_id: dispatch.native_call_id,
        sandboxed: dispatch.sandboxed,
        shown,
        hooks_follow: dispatch.hooks_follow,
        bounds: OutputBounds { max_inline_chars: limits.max_inline_chars, max_inline_bytes: limits.max_inline_bytes },
        queued_in: CarriedContext { traceparent: dispatch.traceparent, tracestate: dispatch.tracestate },
    })
}

/// Whose call it is, and of which tool. Facts that are not told open nothing that asks for them.
fn origin(dispatch: &v1::Dispatch) -> Result<CallOrigin, ConvertError> {
    let name = &dispatch.tool_name;
    let own = name.rsplit_once('.').map_or("", |(namespace, _)| namespace);
    let namespace = Some(dispatch.tool_namespace.as_str()).filter(|told| !told.is_empty()).unwrap_or(own);
    let mut tool = ToolFacts::named(field::id("tool_id", &dispatch.tool_id)?, name, namespace);
    tool.aliases.clone_from(&dispatch.aliases);
    tool.kind = dispatch.tool_kind.parse().ok();
    let actor = Some(dispatch.actor_ref.clone()).filter(|actor| !actor.is_empty());
    Ok(CallOrigin { tenant: dispatch.tenant.clone(), actor, tool })
}

/// The scheduler has checked the input; its digest is checked again because the bytes have travelled.
fn input(
    field: &'static str,
    message: Option<v1::JsonPayload>,
    max_bytes: usize,
) -> Result<JsonPayload, Box<ToolError>> {
    let message = message.ok_or_else(|| unreadable(format!("`{field}` is required")))?;
    ingest(message, &limits_of(max_bytes)).map_err(|error| unreadable(error.within(field)))
}

/// A value of the platform's own checking is bounded in bytes only.
pub(super) fn limits_of(max_bytes: usize) -> JsonLimits {
    JsonLimits { max_bytes, max_nodes: usize::MAX, ..JsonLimits::default() }
}

fn unreadable(rule: impl std::fmt::Display) -> Box<ToolError> {
    let message = format!("the worker cannot read this call: {rule}");
    let error = ToolError::of(codes::DISPATCH_UNREADABLE, message);
    Box::new(ToolError { side_effects: Some("none".to_owned()), ..error })
}
