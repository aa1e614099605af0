//! Results, failures and how bytes are kept.

vocabulary! {
    /// What is kept of a call, by how long it may be kept (ours).
    RecordClass {
        /// The call as a whole; everything else goes with it at the latest.
        Calls = "calls",
        /// Its inputs by value; their digests stay with the call.
        Inputs = "inputs",
        /// Outputs that are kept beside its result.
        Outputs = "outputs",
        /// Its log.
        Events = "events",
        /// What was decided about it.
        Decisions = "decisions",
        /// What hooks did, and what is known of its executions.
        Evidence = "evidence",
        /// Questions people were asked about it, with their answers.
        Questions = "questions",
    }

    /// Status of a terminal result (result envelope, "Result status").
    ResultStatus {
        Succeeded = "succeeded",
        PartialSucceeded = "partial_succeeded",
        Failed = "failed",
        Denied = "denied",
        Rejected = "rejected",
        Redacted = "redacted",
        TooLarge = "too_large",
        Canceled = "canceled",
        TimedOut = "timed_out",
        SyntheticError = "synthetic_error",
        Discarded = "discarded",
    }

    /// The error classes of the standard.
    ErrorClass {
        UnknownTool = "unknown_tool",
        InvalidArguments = "invalid_arguments",
        SchemaValidationFailed = "schema_validation_failed",
        SchemaNotLoaded = "schema_not_loaded",
        PermissionDenied = "permission_denied",
        ApprovalRejected = "approval_rejected",
        PolicyBlocked = "policy_blocked",
        HookBlocked = "hook_blocked",
        CapabilityGap = "capability_gap",
        SetupRequired = "setup_required",
        CredentialMissing = "credential_missing",
        SandboxViolation = "sandbox_violation",
        Timeout = "timeout",
        RateLimited = "rate_limited",
        DependencyUnavailable = "dependency_unavailable",
        ExecutionFailed = "execution_failed",
        PartialFailure = "partial_failure",
        ResultTooLarge = "result_too_large",
        ResultRedacted = "result_redacted",
        SiblingCanceled = "sibling_canceled",
        StreamingFallbackDiscarded = "streaming_fallback_discarded",
        Canceled = "canceled",
    }

    /// What the caller has to change before a retry can help (errors and retries).
    Recoverability {
        NotRetryable = "not_retryable",
        RetrySafe = "retry_safe",
        RetryLater = "retry_later",
        ChangeArguments = "change_arguments",
        ChangeArgumentsOrPolicy = "change_arguments_or_policy",
        DiscoverToolFirst = "discover_tool_first",
        RequestApprovalAgain = "request_approval_again",
        CompleteSetup = "complete_setup",
        VerifyBeforeRetry = "verify_before_retry",
    }

    /// How result bytes are kept (result persistence, "Initial strategies").
    PersistenceStrategy {
        Inline = "inline",
        PreviewAndPersist = "preview_and_persist",
        RefOnly = "ref_only",
        Redact = "redact",
        DropWithReason = "drop_with_reason",
        NeverPersist = "never_persist",
    }

    /// Whether content was redacted before it was stored.
    RedactionState {
        None = "none",
        Redacted = "redacted",
        Unavailable = "unavailable",
    }
}
