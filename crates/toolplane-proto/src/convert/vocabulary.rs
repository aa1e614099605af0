//! The vocabularies of the records and their enums on the wire, word for word.

use toolplane_records::vocabulary;

use crate::convert::word::Word;
use crate::v1;

macro_rules! pairs {
    ($name:ident { $($record:ident => $message:ident),* $(,)? }) => {
        impl From<vocabulary::$name> for v1::$name {
            fn from(word: vocabulary::$name) -> Self {
                match word { $(vocabulary::$name::$record => Self::$message),* }
            }
        }

        impl Word for vocabulary::$name {
            fn number(self) -> i32 {
                v1::$name::from(self).into()
            }

            fn from_number(number: i32) -> Option<Self> {
                match v1::$name::try_from(number).ok()? {
                    v1::$name::Unspecified => None,
                    $(v1::$name::$message => Some(Self::$record)),*
                }
            }

            fn text(self) -> &'static str {
                self.as_str()
            }
        }
    };
}

macro_rules! words {
    ($($name:ident { $($word:ident),* $(,)? })*) => {
        $(pairs! { $name { $($word => $word),* } })*
    };
}

words! {
    ToolLifecycle { Draft, Available, Disabled, RequiresSetup, Deferred, Deprecated, Retired }
    ToolKind {
        Function, McpTool, OpenapiOperation, NativeTool, BrowserAction, ShellCommand, CodeExecution,
        FileOperation, WebSearch, Retrieval, ModelTask, SkillTool, PeerAgentTool, PolicyCheck,
        ArtifactOperation, EvidenceExport, Custom,
    }
    ExecutionKind {
        McpServer, HttpApi, NativeApp, LocalProcess, Shell, Browser, ModelService, PeerAgent, EmbeddedRuntime,
        Hybrid,
    }
    ArgumentMode { Json, Text, File, Multipart, Stream, Custom }
    SurfaceScope { Turn, Task, Session, Tenant, Skill, PeerAgent, Workspace, Role, ModelRequest }
    SchemaVisibility { Loaded, Deferred, Internal, NativeRef }
    LoadingState { Loaded, Deferred, Discoverable, PendingProvider, Unavailable }
    HiddenReason {
        PolicyBlocked, CredentialMissing, SetupRequired, ModelUnsupported, RecursiveToolForbidden,
        RoleNotAllowed, FeatureDisabled, DeferredUntilDiscovered, Retired, NotSelected, CapabilityMissing,
    }
    InvocationStatus {
        Planned, Selected, SchemaParseFailed, ArgumentsReady, ValidationFailed, PreHooksRunning,
        AwaitingApproval, Approved, Denied, Queued, Running, NeedsInput, PartialResult, PostHooksRunning,
        Yielded, Succeeded, Failed, Canceled, TimedOut, Blocked,
    }
    QueueState { Queued, Executing, Completed, Yielded, Discarded }
    ResultStatus {
        Succeeded, PartialSucceeded, Failed, Denied, Rejected, Redacted, TooLarge, Canceled, TimedOut,
        SyntheticError, Discarded,
    }
    ErrorClass {
        UnknownTool, InvalidArguments, SchemaValidationFailed, SchemaNotLoaded, PermissionDenied,
        ApprovalRejected, PolicyBlocked, HookBlocked, CapabilityGap, SetupRequired, CredentialMissing,
        SandboxViolation, Timeout, RateLimited, DependencyUnavailable, ExecutionFailed, PartialFailure,
        ResultTooLarge, ResultRedacted, SiblingCanceled, StreamingFallbackDiscarded, Canceled,
    }
    Recoverability {
        NotRetryable, RetrySafe, RetryLater, ChangeArguments, ChangeArgumentsOrPolicy, DiscoverToolFirst,
        RequestApprovalAgain, CompleteSetup, VerifyBeforeRetry,
    }
    Behavior { Allow, Ask, Deny, Passthrough }
    ReasonType {
        Rule, Mode, Policy, Hook, Classifier, WorkingDir, SandboxOverride, SafetyCheck, PermissionPromptTool,
        AsyncAgent, SubcommandResults, Other,
    }
    RuleSource {
        UserSettings, ProjectSettings, LocalSettings, FlagSettings, PolicySettings, CliArg, Command, Session,
    }
    RiskLevel { Low, Medium, High, Critical }
    AccessKind { FileRead, FileWrite, Network, Browser, Credential, Payment, ExternalSend, CodeExecution }
    WriteEffect { None, LocalDraft, LocalPersistent, RemoteMutation, Irreversible }
    HookEvent {
        PreToolUse, PostToolUse, PostToolUseFailure, PermissionRequest, PermissionDecision, ResultPersistence,
    }
    MutationSource { Hook, PermissionPrompt, Adapter, Migration, Runtime }
    OrderingPolicy { PreserveTerminalOrder, AllowUnordered, Serial }
    YieldPolicy { ProgressImmediateResultsOrdered, AllOrdered, UnorderedStreaming }
    InterruptBehavior { Cancel, Block }
    SiblingFailurePolicy { Ignore, CancelSiblings, CancelDependent }
    ContextModifierPolicy { AllowSerialOnly, DeferUntilBatchComplete, Forbid }
    AbortReason { UserInterruption, SiblingError, Timeout, Fallback, RuntimeShutdown }
    ProgressStatus {
        Queued, Started, Running, WaitingForPermission, WaitingForInput, Backgrounded, PartialResult,
        Completed, Failed, Canceled,
    }
    PersistenceStrategy { Inline, PreviewAndPersist, RefOnly, Redact, DropWithReason, NeverPersist }
    RedactionState { None, Redacted, Unavailable }
    ApprovalState { Pending, Approved, Rejected, Expired, Withdrawn }
    PermissionOption { AllowOnce, AllowAlways, RejectOnce, RejectAlways }
    ClassifierAuthority { Approve, Deny, Recommend }
    RuleFit { Yes, Maybe }
    Band { Interactive, Normal, Background }
    LockMode { Shared, Exclusive }
    Hold { Batch, Locks }
    StartGuard { Store, Object }
    ProviderState { Pending, Ready, Degraded, Failed, Retired }
    ProviderTrust { Untrusted, NewTools, AllTools }
    SessionSharing { None, Session, Tenant }
    CircuitState { Closed, Open, HalfOpen }
    ProviderFault {
        Unreachable, TimedOut, Exited, ProtocolError, Unauthorized, CredentialMissing, NotAllowed, Misconfigured,
        Overloaded, Flooded, Lied, Internal,
    }
    ReviewState { New, Approved, Changed, Rejected, Refused, Withdrawn }
    ReviewBasis { Person, Trust }
    RefusalCode { Unsupported, InvalidDefinition, InvalidName, NameTaken, ListedTwice, TooMany, WrongIdentity }
}

pairs! {
    EventClass {
        Declared => ToolDeclared,
        SurfaceCreated => ToolSurfaceCreated,
        SurfaceUpdated => ToolSurfaceUpdated,
        DeferredDiscovered => ToolDeferredDiscovered,
        DeferredLoaded => ToolDeferredLoaded,
        Planned => ToolInvocationPlanned,
        Selected => ToolInvocationSelected,
        ArgumentsReady => ToolInvocationArgumentsReady,
        ValidationFailed => ToolInvocationValidationFailed,
        HookPreStarted => ToolHookPreStarted,
        HookPreCompleted => ToolHookPreCompleted,
        PermissionRequested => ToolPermissionRequested,
        PermissionDecided => ToolPermissionDecided,
        Queued => ToolInvocationQueued,
        Started => ToolInvocationStarted,
        Progress => ToolInvocationProgress,
        PartialResult => ToolInvocationPartialResult,
        HookPostStarted => ToolHookPostStarted,
        HookPostCompleted => ToolHookPostCompleted,
        ResultPersisted => ToolResultPersisted,
        Yielded => ToolInvocationYielded,
        Succeeded => ToolInvocationSucceeded,
        Failed => ToolInvocationFailed,
        Canceled => ToolInvocationCanceled,
        TimedOut => ToolInvocationTimedOut,
        ResultCreated => ToolResultCreated,
        ResultRedacted => ToolResultRedacted,
        ExtRetired => ExtToolRetired,
        ExtSchemaParseFailed => ExtInvocationSchemaParseFailed,
        ExtAwaitingApproval => ExtInvocationAwaitingApproval,
        ExtApproved => ExtInvocationApproved,
        ExtDenied => ExtInvocationDenied,
        ExtBlocked => ExtInvocationBlocked,
        ExtNeedsInput => ExtInvocationNeedsInput,
        ExtRequeued => ExtInvocationRequeued,
        ExtDiscarded => ExtInvocationDiscarded,
        ExtLeaseGranted => ExtInvocationLeaseGranted,
        ExtLateReport => ExtInvocationLateReport,
        ExtCancelRequested => ExtInvocationCancelRequested,
        ExtCancelAcknowledged => ExtInvocationCancelAcknowledged,
        ExtCancelFailed => ExtInvocationCancelFailed,
        ExtInputMutated => ExtInputMutated,
        ExtHeld => ExtInvocationHeld,
        ExtLockGranted => ExtInvocationLockGranted,
        ExtInputProvided => ExtInvocationInputProvided,
        ExtProviderChanged => ExtProviderChanged,
        ExtProviderListed => ExtProviderListed,
        ExtProviderState => ExtProviderState,
        ExtProviderReviewed => ExtProviderReviewed,
        ExtOriginalRead => ExtResultOriginalRead,
    }
}
