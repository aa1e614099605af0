//! The closed and open vocabularies of the standard, spelled exactly as it spells them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A word that is not in a closed vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not one of: {allowed}")]
pub struct UnknownWord {
    /// What was given, cut to 64 characters.
    pub word: String,
    /// The words that would have been accepted, comma separated.
    pub allowed: String,
}

macro_rules! vocabulary {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$vdoc])* #[doc = concat!("`", $text, "`")] $variant),*
        }

        impl $name {
            /// Every word, in the standard's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word as the standard spells it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;
            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                match text {
                    $($text => Ok(Self::$variant),)*
                    _ => Err(UnknownWord {
                        word: text.chars().take(64).collect(),
                        allowed: [$($text),*].join(", "),
                    }),
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

vocabulary! {
    /// Lifecycle of a declaration (specification, "Lifecycle").
    ToolLifecycle {
        Draft = "draft",
        Available = "available",
        Disabled = "disabled",
        RequiresSetup = "requires_setup",
        Deferred = "deferred",
        Deprecated = "deprecated",
        Retired = "retired",
    }

    /// What kind of capability a tool is (specification, "Tool kinds").
    ToolKind {
        Function = "function",
        McpTool = "mcp_tool",
        OpenapiOperation = "openapi_operation",
        NativeTool = "native_tool",
        BrowserAction = "browser_action",
        ShellCommand = "shell_command",
        CodeExecution = "code_execution",
        FileOperation = "file_operation",
        WebSearch = "web_search",
        Retrieval = "retrieval",
        ModelTask = "model_task",
        SkillTool = "skill_tool",
        PeerAgentTool = "peer_agent_tool",
        PolicyCheck = "policy_check",
        ArtifactOperation = "artifact_operation",
        EvidenceExport = "evidence_export",
        Custom = "custom",
    }

    /// How a tool is run (execution profile, "Execution kinds").
    ExecutionKind {
        McpServer = "mcp_server",
        HttpApi = "http_api",
        NativeApp = "native_app",
        LocalProcess = "local_process",
        Shell = "shell",
        Browser = "browser",
        ModelService = "model_service",
        PeerAgent = "peer_agent",
        EmbeddedRuntime = "embedded_runtime",
        Hybrid = "hybrid",
    }

    /// How arguments are given (input contract).
    ArgumentMode {
        Json = "json",
        Text = "text",
        File = "file",
        Multipart = "multipart",
        Stream = "stream",
        Custom = "custom",
    }

    /// Where a surface applies (tool surface, "scope").
    SurfaceScope {
        Turn = "turn",
        Task = "task",
        Session = "session",
        Tenant = "tenant",
        Skill = "skill",
        PeerAgent = "peer_agent",
        Workspace = "workspace",
        Role = "role",
        ModelRequest = "model_request",
    }

    /// Whether a tool's schema is visible (interface, deferred ref).
    SchemaVisibility {
        Loaded = "loaded",
        Deferred = "deferred",
        Internal = "internal",
        NativeRef = "native_ref",
    }

    /// How far a deferred tool is from being callable.
    LoadingState {
        Loaded = "loaded",
        Deferred = "deferred",
        Discoverable = "discoverable",
        PendingProvider = "pending_provider",
        Unavailable = "unavailable",
    }

    /// Machine-readable reason why a tool is hidden from a surface.
    HiddenReason {
        PolicyBlocked = "policy_blocked",
        CredentialMissing = "credential_missing",
        SetupRequired = "setup_required",
        ModelUnsupported = "model_unsupported",
        RecursiveToolForbidden = "recursive_tool_forbidden",
        RoleNotAllowed = "role_not_allowed",
        FeatureDisabled = "feature_disabled",
        DeferredUntilDiscovered = "deferred_until_discovered",
        Retired = "retired",
        NotSelected = "not_selected",
        CapabilityMissing = "capability_missing",
    }

    /// The 20 invocation states (specification, "Invocation lifecycle").
    InvocationStatus {
        Planned = "planned",
        Selected = "selected",
        SchemaParseFailed = "schema_parse_failed",
        ArgumentsReady = "arguments_ready",
        ValidationFailed = "validation_failed",
        PreHooksRunning = "pre_hooks_running",
        AwaitingApproval = "awaiting_approval",
        Approved = "approved",
        Denied = "denied",
        Queued = "queued",
        Running = "running",
        NeedsInput = "needs_input",
        PartialResult = "partial_result",
        PostHooksRunning = "post_hooks_running",
        Yielded = "yielded",
        Succeeded = "succeeded",
        Failed = "failed",
        Canceled = "canceled",
        TimedOut = "timed_out",
        Blocked = "blocked",
    }

    /// Where an invocation stands in its queue (concurrency and scheduling, "Queue states").
    QueueState {
        Queued = "queued",
        Executing = "executing",
        Completed = "completed",
        Yielded = "yielded",
        Discarded = "discarded",
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

    /// Outcome of a permission check.
    Behavior {
        Allow = "allow",
        Ask = "ask",
        Deny = "deny",
        Passthrough = "passthrough",
    }

    /// What decided (permission decision, "Decision reasons").
    ReasonType {
        Rule = "rule",
        Mode = "mode",
        Policy = "policy",
        Hook = "hook",
        Classifier = "classifier",
        WorkingDir = "working_dir",
        SandboxOverride = "sandbox_override",
        SafetyCheck = "safety_check",
        PermissionPromptTool = "permission_prompt_tool",
        AsyncAgent = "async_agent",
        SubcommandResults = "subcommand_results",
        Other = "other",
    }

    /// Where a permission rule came from (permission decision, "Rule sources").
    RuleSource {
        UserSettings = "user_settings",
        ProjectSettings = "project_settings",
        LocalSettings = "local_settings",
        FlagSettings = "flag_settings",
        PolicySettings = "policy_settings",
        CliArg = "cli_arg",
        Command = "command",
        Session = "session",
    }

    /// Risk of a tool (permission profile).
    RiskLevel {
        Low = "low",
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }

    /// What a tool touches (permission profile, "access kinds").
    AccessKind {
        FileRead = "file_read",
        FileWrite = "file_write",
        Network = "network",
        Browser = "browser",
        Credential = "credential",
        Payment = "payment",
        ExternalSend = "external_send",
        CodeExecution = "code_execution",
    }

    /// What a tool leaves behind (permission profile, "write effects").
    WriteEffect {
        None = "none",
        LocalDraft = "local_draft",
        LocalPersistent = "local_persistent",
        RemoteMutation = "remote_mutation",
        Irreversible = "irreversible",
    }

    /// Hook points (hooks and input mutation).
    HookEvent {
        PreToolUse = "pre_tool_use",
        PostToolUse = "post_tool_use",
        PostToolUseFailure = "post_tool_use_failure",
        PermissionRequest = "permission_request",
        PermissionDecision = "permission_decision",
        ResultPersistence = "result_persistence",
    }

    /// Who changed an input (hooks and input mutation).
    MutationSource {
        Hook = "hook",
        PermissionPrompt = "permission_prompt",
        Adapter = "adapter",
        Migration = "migration",
        Runtime = "runtime",
    }

    /// Order of terminal results in a batch.
    OrderingPolicy {
        PreserveTerminalOrder = "preserve_terminal_order",
        AllowUnordered = "allow_unordered",
        Serial = "serial",
    }

    /// When progress and results of a batch are released.
    YieldPolicy {
        ProgressImmediateResultsOrdered = "progress_immediate_results_ordered",
        AllOrdered = "all_ordered",
        UnorderedStreaming = "unordered_streaming",
    }

    /// What an interruption does to a running tool; `block` when omitted.
    InterruptBehavior {
        Cancel = "cancel",
        Block = "block",
    }

    /// What a failed sibling does to the others of its batch.
    SiblingFailurePolicy {
        Ignore = "ignore",
        CancelSiblings = "cancel_siblings",
        CancelDependent = "cancel_dependent",
    }

    /// Whether context modifiers of concurrent tools are honoured.
    ContextModifierPolicy {
        AllowSerialOnly = "allow_serial_only",
        DeferUntilBatchComplete = "defer_until_batch_complete",
        Forbid = "forbid",
    }

    /// Why an execution was aborted (progress and cancellation).
    AbortReason {
        UserInterruption = "user_interruption",
        SiblingError = "sibling_error",
        Timeout = "timeout",
        Fallback = "fallback",
        RuntimeShutdown = "runtime_shutdown",
    }

    /// Status of one progress record.
    ProgressStatus {
        Queued = "queued",
        Started = "started",
        Running = "running",
        WaitingForPermission = "waiting_for_permission",
        WaitingForInput = "waiting_for_input",
        Backgrounded = "backgrounded",
        PartialResult = "partial_result",
        Completed = "completed",
        Failed = "failed",
        Canceled = "canceled",
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

    /// Where a parked question stands.
    ApprovalState {
        Pending = "pending",
        Approved = "approved",
        Rejected = "rejected",
        Expired = "expired",
        Withdrawn = "withdrawn",
    }

    /// Event classes of the standard, and ours under `ext.` where it has none.
    EventClass {
        Declared = "tool.declared",
        SurfaceCreated = "tool.surface.created",
        SurfaceUpdated = "tool.surface.updated",
        DeferredDiscovered = "tool.deferred.discovered",
        DeferredLoaded = "tool.deferred.loaded",
        Planned = "tool.invocation.planned",
        Selected = "tool.invocation.selected",
        ArgumentsReady = "tool.invocation.arguments_ready",
        ValidationFailed = "tool.invocation.validation_failed",
        HookPreStarted = "tool.hook.pre.started",
        HookPreCompleted = "tool.hook.pre.completed",
        PermissionRequested = "tool.permission.requested",
        PermissionDecided = "tool.permission.decided",
        Queued = "tool.invocation.queued",
        Started = "tool.invocation.started",
        Progress = "tool.invocation.progress",
        PartialResult = "tool.invocation.partial_result",
        HookPostStarted = "tool.hook.post.started",
        HookPostCompleted = "tool.hook.post.completed",
        ResultPersisted = "tool.result.persisted",
        Yielded = "tool.invocation.yielded",
        Succeeded = "tool.invocation.succeeded",
        Failed = "tool.invocation.failed",
        Canceled = "tool.invocation.canceled",
        TimedOut = "tool.invocation.timed_out",
        ResultCreated = "tool.result.created",
        ResultRedacted = "tool.result.redacted",
        ExtRetired = "ext.tool.retired",
        ExtSchemaParseFailed = "ext.invocation.schema_parse_failed",
        ExtAwaitingApproval = "ext.invocation.awaiting_approval",
        ExtApproved = "ext.invocation.approved",
        ExtDenied = "ext.invocation.denied",
        ExtBlocked = "ext.invocation.blocked",
        ExtNeedsInput = "ext.invocation.needs_input",
        ExtRequeued = "ext.invocation.requeued",
        ExtDiscarded = "ext.invocation.discarded",
        ExtLeaseGranted = "ext.invocation.lease_granted",
        ExtLateReport = "ext.invocation.late_report",
        ExtCancelRequested = "ext.invocation.cancel_requested",
        ExtCancelAcknowledged = "ext.invocation.cancel_acknowledged",
        ExtCancelFailed = "ext.invocation.cancel_failed",
        ExtInputMutated = "ext.input.mutated",
    }
}

impl InvocationStatus {
    /// Whether the state is absorbing: nothing ever follows it (`reliability` §2.3).
    pub const fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::SchemaParseFailed
                | Self::ValidationFailed
                | Self::Denied
                | Self::Blocked
                | Self::Succeeded
                | Self::Failed
                | Self::Canceled
                | Self::TimedOut
        )
    }
}

impl ApprovalState {
    /// Whether the question has its one final answer.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Pending)
    }
}
