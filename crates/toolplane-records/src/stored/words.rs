//! The texts that the stored form writes as numbers: names of fields and words of the vocabularies.
//!
//! A number is for ever: words are added at the end, and none is changed or removed. The first ones take a single byte.

/// Texts by their number.
#[rustfmt::skip]
pub(super) const WORDS: &[&str] = &[
    "schema_version", "invocation_id", "tenant", "default", "tool_id", "tool_name", "surface_id", "status", "running",
    "queue_state", "executing", "inputs", "model", "uri", "media_type", "digest", "size_bytes", "observable",
    "permission", "call", "actor_ref", "permission_decision_refs", "status_transitions", "seq", "to", "planned", "at",
    "cause", "submitted", "attempt", "from", "selected", "resolve_tool", "arguments_ready", "validate_values",
    "approved", "queued", "schedule", "execute", "created_at", "started_at", "safety", "is_read_only",
    "is_concurrency_safe", "is_destructive", "is_open_world", "is_idempotent", "dispatch", "pool", "plan_digest",
    "timeout_ms", "supports_cancel", "interrupt_behavior", "cancel", "max_attempts", "request_digest", "lease",
    "lease_no", "lease_id", "fence", "worker_id", "incarnation", "expires_at", "confirmed", "worker_losses",
    "last_seq", "progress_seq", "succeeded", "completed", "ended_at", "result_id", "result", "is_error", "content",
    "type", "empty", "model_facing_content", "ui_facing_summary", "persistence_refs", "summary", "persistence",
    "decision_id", "strategy", "inline", "original_size_bytes", "reason", "result_within_inline_limit", "behavior",
    "allow", "mode", "source", "project_settings", "rule", "rule_ref", "message", "rule_refs", "decided_at",
    "policy_digest", "class", "tool.invocation.planned", "tool.invocation.selected",
    "tool.invocation.arguments_ready", "tool.permission.requested", "tool.permission.decided",
    "tool.invocation.queued", "tool.invocation.started", "tool.result.created", "tool.invocation.succeeded",
    "application/json", "0.2.0", "text/plain", "permits", "last_fence", "trace_id", "span_id", "telemetry_refs",
    "session_ref", "idempotency_key", "deadline_at", "caller_ref", "native_call_id", "tool_call_id",
    "structured_content", "text", "no output", "error", "error_class", "error_code", "recoverability",
    "persisted_ref", "preview_size_bytes", "permission_mode", "band", "runtime_refs", "policy_refs", "quarantine_key",
    "decisions_left_out", "hook_refs", "hooks_left_out", "evidence_refs", "artifact_refs", "artifact_id", "version",
    "relation", "approval_request_ref", "scheduler_policy_ref", "requires_exclusive_context", "start_guard",
    "retry_on_timeout", "context_modifier_policy", "permit_until", "denied_paths", "read", "write", "requested_at",
    "requested_by", "abort_reason", "acknowledged_at", "failed", "resource_locks", "key", "lock_domain", "lock_fence",
    "batch", "batch_id", "index", "holds", "yield_seq", "pending_input", "input_id", "prompt", "schema", "answer",
    "input", "provided_by", "expired", "answered_at", "clock_stopped_at", "clock_paused_ms", "post_hooks", "due_at",
    "tries", "lost_workers", "late_reports", "assurance", "confidence", "verdict", "missing_evidence", "taints",
    "caller_actor", "stream", "payload", "resource", "resource_id", "access", "artifact", "resource_refs",
    "redaction_state", "retry_after_ms", "native_error_ref", "side_effects", "blocked_path", "field_violations",
    "field", "description", "context_modifiers", "cwd", "updated_input", "path", "updated_input_ref", "user_modified",
    "suggested_updates", "add", "pending_classifier_check", "classifier", "content_blocks", "accept_feedback",
    "schema_parse_failed", "validation_failed", "pre_hooks_running", "awaiting_approval", "denied", "needs_input",
    "partial_result", "post_hooks_running", "yielded", "canceled", "timed_out", "blocked", "discarded",
    "preserve_terminal_order", "allow_unordered", "serial", "progress_immediate_results_ordered", "all_ordered",
    "unordered_streaming", "block", "ignore", "cancel_siblings", "cancel_dependent", "allow_serial_only",
    "defer_until_batch_complete", "forbid", "user_interruption", "sibling_error", "timeout", "fallback",
    "runtime_shutdown", "started", "waiting_for_permission", "waiting_for_input", "backgrounded", "interactive",
    "normal", "background", "shared", "exclusive", "locks", "tool.declared", "tool.surface.created",
    "tool.surface.updated", "tool.deferred.discovered", "tool.deferred.loaded", "tool.invocation.validation_failed",
    "tool.hook.pre.started", "tool.hook.pre.completed", "tool.invocation.progress", "tool.invocation.partial_result",
    "tool.hook.post.started", "tool.hook.post.completed", "tool.result.persisted", "tool.invocation.yielded",
    "tool.invocation.failed", "tool.invocation.canceled", "tool.invocation.timed_out", "tool.result.redacted",
    "ext.tool.retired", "ext.invocation.schema_parse_failed", "ext.invocation.awaiting_approval",
    "ext.invocation.approved", "ext.invocation.denied", "ext.invocation.blocked", "ext.invocation.needs_input",
    "ext.invocation.requeued", "ext.invocation.discarded", "ext.invocation.lease_granted",
    "ext.invocation.late_report", "ext.invocation.cancel_requested", "ext.invocation.cancel_acknowledged",
    "ext.invocation.cancel_failed", "ext.input.mutated", "ext.invocation.held", "ext.invocation.lock_granted",
    "ext.invocation.input_provided", "partial_succeeded", "rejected", "redacted", "too_large", "synthetic_error",
    "unknown_tool", "invalid_arguments", "schema_validation_failed", "schema_not_loaded", "permission_denied",
    "approval_rejected", "policy_blocked", "hook_blocked", "capability_gap", "setup_required", "credential_missing",
    "sandbox_violation", "rate_limited", "dependency_unavailable", "execution_failed", "partial_failure",
    "result_too_large", "result_redacted", "sibling_canceled", "streaming_fallback_discarded", "not_retryable",
    "retry_safe", "retry_later", "change_arguments", "change_arguments_or_policy", "discover_tool_first",
    "request_approval_again", "complete_setup", "verify_before_retry", "preview_and_persist", "ref_only", "redact",
    "drop_with_reason", "never_persist", "none", "unavailable", "ask", "deny", "passthrough", "policy", "hook",
    "working_dir", "sandbox_override", "safety_check", "permission_prompt_tool", "async_agent", "subcommand_results",
    "other", "user_settings", "local_settings", "flag_settings", "policy_settings", "cli_arg", "command", "session",
    "low", "medium", "high", "critical", "file_read", "file_write", "network", "browser", "credential", "payment",
    "external_send", "code_execution", "local_draft", "local_persistent", "remote_mutation", "irreversible",
    "pre_tool_use", "post_tool_use", "post_tool_use_failure", "permission_request", "permission_decision",
    "result_persistence", "permission_prompt", "adapter", "migration", "runtime", "pending", "withdrawn",
    "allow_once", "allow_always", "reject_once", "reject_always", "approve", "recommend", "yes", "maybe",
    "not_declared", "yield", "discard", "refuse", "placement", "no", "lease_expired", "reject", "unknown",
    "threshold", "max_inline_chars", "max_inline_bytes", "reused_from",
    // Of providers.
    "provider_id", "namespace", "native_id", "state", "fault", "code", "circuit", "circuit_until", "times_opened",
    "last_success_at", "last_try_at", "next_try_at", "consecutive_failures", "call_failures", "tools", "found",
    "imported", "waiting", "refused", "server_name", "server_version", "protocol_version", "list_digest",
    "basis", "by", "comment", "refusal", "first_seen_at", "changed_at", "notes", "ready", "degraded", "retired",
    "closed", "open", "half_open", "changed", "new", "person", "trust",
    "partial_seq", "resume_token", "ui_facing_rendering", "transcript_search_text", "kind", "title", "hints",
    "recovery_suggestion", "next_steps", "can_retry", "partial_id", "append", "progress_id", "sequence", "task_id",
    "timestamp", "elapsed_ms", "partial_result_refs", "terminal", "json",
    // Of executions.
    "evidence_id", "tool", "declaration_digest", "execution_kind", "sandboxed", "sandbox_profile", "site",
    "worker_version", "image", "sandbox", "backend", "available", "held", "missing", "posture_digest", "duration_ms",
    "reported_at", "native_ids", "json_rpc_id", "mcp_session_id", "a2a_task_id", "a2a_context_id", "a2a_message_id",
    "http_request_id", "detail", "detail_left_out",
    "inherited_taints", "output_taints", "label", "invocation_ids", "since", "output",
    // Of how long calls are kept.
    "keeping", "risk_level", "data_sensitivity", "retention_hint", "removed",
    "outputs_removed_at",
    // Layers of a sandbox, as workers of ours name them.
    "namespaces", "no_network", "no_host_sockets", "read_only_system", "host_files_hidden", "no_terminal",
    "no_capabilities", "no_new_privileges", "seccomp", "no_lent_rights", "plain_user", "environment_empty",
    "no_descriptors", "open_files_bound", "pids_bound", "memory_bound", "memory_bound_of_tree", "violations_recorded",
    "tree_killed", "workspace",
    "surface_moment",
    // An execution within the record of its call.
    "last_execution",
];

/// Places of the table of numbers; few of them are taken, so that a look finds its word at once.
const PLACES: usize = 2048;
/// An empty place.
const NONE: u16 = u16::MAX;

/// The numbers of all words, each at the place its text says or soon after it.
static NUMBERS: [u16; PLACES] = {
    let mut numbers = [NONE; PLACES];
    let mut number = 0;
    while number < WORDS.len() {
        let mut place = place(WORDS[number].as_bytes());
        while numbers[place] != NONE {
            place = (place + 1) % PLACES;
        }
        numbers[place] = number as u16;
        number += 1;
    }
    numbers
};

/// Where a text is looked for first, by its length and what it begins and ends with: a few steps however long it is, and made
/// when the program is.
const fn place(text: &[u8]) -> usize {
    let ends = match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(23),
        _ => short(text),
    };
    ((ends ^ text.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES.ilog2())) as usize
}

/// A text of less than eight bytes as a number.
const fn short(text: &[u8]) -> u64 {
    let (mut number, mut at) = (0, 0);
    while at < text.len() {
        number = number << 8 | text[at] as u64;
        at += 1;
    }
    number
}

/// The number of a text that is a word.
pub(super) fn number(text: &str) -> Option<u16> {
    let mut place = place(text.as_bytes());
    loop {
        let number = NUMBERS[place];
        if number == NONE {
            return None;
        }
        if WORDS[usize::from(number)] == text {
            return Some(number);
        }
        place = (place + 1) % PLACES;
    }
}

/// The word of a number.
pub(super) fn word(number: u64) -> Option<&'static str> {
    WORDS.get(usize::try_from(number).ok()?).copied()
}
