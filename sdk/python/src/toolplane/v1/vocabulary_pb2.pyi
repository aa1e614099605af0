from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class ToolLifecycle(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_LIFECYCLE_UNSPECIFIED: _ClassVar[ToolLifecycle]
    TOOL_LIFECYCLE_DRAFT: _ClassVar[ToolLifecycle]
    TOOL_LIFECYCLE_AVAILABLE: _ClassVar[ToolLifecycle]
    TOOL_LIFECYCLE_DISABLED: _ClassVar[ToolLifecycle]
    TOOL_LIFECYCLE_REQUIRES_SETUP: _ClassVar[ToolLifecycle]
    TOOL_LIFECYCLE_DEFERRED: _ClassVar[ToolLifecycle]
    TOOL_LIFECYCLE_DEPRECATED: _ClassVar[ToolLifecycle]
    TOOL_LIFECYCLE_RETIRED: _ClassVar[ToolLifecycle]

class ToolKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_KIND_UNSPECIFIED: _ClassVar[ToolKind]
    TOOL_KIND_FUNCTION: _ClassVar[ToolKind]
    TOOL_KIND_MCP_TOOL: _ClassVar[ToolKind]
    TOOL_KIND_OPENAPI_OPERATION: _ClassVar[ToolKind]
    TOOL_KIND_NATIVE_TOOL: _ClassVar[ToolKind]
    TOOL_KIND_BROWSER_ACTION: _ClassVar[ToolKind]
    TOOL_KIND_SHELL_COMMAND: _ClassVar[ToolKind]
    TOOL_KIND_CODE_EXECUTION: _ClassVar[ToolKind]
    TOOL_KIND_FILE_OPERATION: _ClassVar[ToolKind]
    TOOL_KIND_WEB_SEARCH: _ClassVar[ToolKind]
    TOOL_KIND_RETRIEVAL: _ClassVar[ToolKind]
    TOOL_KIND_MODEL_TASK: _ClassVar[ToolKind]
    TOOL_KIND_SKILL_TOOL: _ClassVar[ToolKind]
    TOOL_KIND_PEER_AGENT_TOOL: _ClassVar[ToolKind]
    TOOL_KIND_POLICY_CHECK: _ClassVar[ToolKind]
    TOOL_KIND_ARTIFACT_OPERATION: _ClassVar[ToolKind]
    TOOL_KIND_EVIDENCE_EXPORT: _ClassVar[ToolKind]
    TOOL_KIND_CUSTOM: _ClassVar[ToolKind]

class ExecutionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EXECUTION_KIND_UNSPECIFIED: _ClassVar[ExecutionKind]
    EXECUTION_KIND_MCP_SERVER: _ClassVar[ExecutionKind]
    EXECUTION_KIND_HTTP_API: _ClassVar[ExecutionKind]
    EXECUTION_KIND_NATIVE_APP: _ClassVar[ExecutionKind]
    EXECUTION_KIND_LOCAL_PROCESS: _ClassVar[ExecutionKind]
    EXECUTION_KIND_SHELL: _ClassVar[ExecutionKind]
    EXECUTION_KIND_BROWSER: _ClassVar[ExecutionKind]
    EXECUTION_KIND_MODEL_SERVICE: _ClassVar[ExecutionKind]
    EXECUTION_KIND_PEER_AGENT: _ClassVar[ExecutionKind]
    EXECUTION_KIND_EMBEDDED_RUNTIME: _ClassVar[ExecutionKind]
    EXECUTION_KIND_HYBRID: _ClassVar[ExecutionKind]

class ArgumentMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ARGUMENT_MODE_UNSPECIFIED: _ClassVar[ArgumentMode]
    ARGUMENT_MODE_JSON: _ClassVar[ArgumentMode]
    ARGUMENT_MODE_TEXT: _ClassVar[ArgumentMode]
    ARGUMENT_MODE_FILE: _ClassVar[ArgumentMode]
    ARGUMENT_MODE_MULTIPART: _ClassVar[ArgumentMode]
    ARGUMENT_MODE_STREAM: _ClassVar[ArgumentMode]
    ARGUMENT_MODE_CUSTOM: _ClassVar[ArgumentMode]

class SurfaceScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SURFACE_SCOPE_UNSPECIFIED: _ClassVar[SurfaceScope]
    SURFACE_SCOPE_TURN: _ClassVar[SurfaceScope]
    SURFACE_SCOPE_TASK: _ClassVar[SurfaceScope]
    SURFACE_SCOPE_SESSION: _ClassVar[SurfaceScope]
    SURFACE_SCOPE_TENANT: _ClassVar[SurfaceScope]
    SURFACE_SCOPE_SKILL: _ClassVar[SurfaceScope]
    SURFACE_SCOPE_PEER_AGENT: _ClassVar[SurfaceScope]
    SURFACE_SCOPE_WORKSPACE: _ClassVar[SurfaceScope]
    SURFACE_SCOPE_ROLE: _ClassVar[SurfaceScope]
    SURFACE_SCOPE_MODEL_REQUEST: _ClassVar[SurfaceScope]

class SchemaVisibility(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCHEMA_VISIBILITY_UNSPECIFIED: _ClassVar[SchemaVisibility]
    SCHEMA_VISIBILITY_LOADED: _ClassVar[SchemaVisibility]
    SCHEMA_VISIBILITY_DEFERRED: _ClassVar[SchemaVisibility]
    SCHEMA_VISIBILITY_INTERNAL: _ClassVar[SchemaVisibility]
    SCHEMA_VISIBILITY_NATIVE_REF: _ClassVar[SchemaVisibility]

class LoadingState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOADING_STATE_UNSPECIFIED: _ClassVar[LoadingState]
    LOADING_STATE_LOADED: _ClassVar[LoadingState]
    LOADING_STATE_DEFERRED: _ClassVar[LoadingState]
    LOADING_STATE_DISCOVERABLE: _ClassVar[LoadingState]
    LOADING_STATE_PENDING_PROVIDER: _ClassVar[LoadingState]
    LOADING_STATE_UNAVAILABLE: _ClassVar[LoadingState]

class HiddenReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HIDDEN_REASON_UNSPECIFIED: _ClassVar[HiddenReason]
    HIDDEN_REASON_POLICY_BLOCKED: _ClassVar[HiddenReason]
    HIDDEN_REASON_CREDENTIAL_MISSING: _ClassVar[HiddenReason]
    HIDDEN_REASON_SETUP_REQUIRED: _ClassVar[HiddenReason]
    HIDDEN_REASON_MODEL_UNSUPPORTED: _ClassVar[HiddenReason]
    HIDDEN_REASON_RECURSIVE_TOOL_FORBIDDEN: _ClassVar[HiddenReason]
    HIDDEN_REASON_ROLE_NOT_ALLOWED: _ClassVar[HiddenReason]
    HIDDEN_REASON_FEATURE_DISABLED: _ClassVar[HiddenReason]
    HIDDEN_REASON_DEFERRED_UNTIL_DISCOVERED: _ClassVar[HiddenReason]
    HIDDEN_REASON_RETIRED: _ClassVar[HiddenReason]
    HIDDEN_REASON_NOT_SELECTED: _ClassVar[HiddenReason]
    HIDDEN_REASON_CAPABILITY_MISSING: _ClassVar[HiddenReason]

class InvocationStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INVOCATION_STATUS_UNSPECIFIED: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_PLANNED: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_SELECTED: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_SCHEMA_PARSE_FAILED: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_ARGUMENTS_READY: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_VALIDATION_FAILED: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_PRE_HOOKS_RUNNING: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_AWAITING_APPROVAL: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_APPROVED: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_DENIED: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_QUEUED: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_RUNNING: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_NEEDS_INPUT: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_PARTIAL_RESULT: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_POST_HOOKS_RUNNING: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_YIELDED: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_SUCCEEDED: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_FAILED: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_CANCELED: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_TIMED_OUT: _ClassVar[InvocationStatus]
    INVOCATION_STATUS_BLOCKED: _ClassVar[InvocationStatus]

class QueueState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUEUE_STATE_UNSPECIFIED: _ClassVar[QueueState]
    QUEUE_STATE_QUEUED: _ClassVar[QueueState]
    QUEUE_STATE_EXECUTING: _ClassVar[QueueState]
    QUEUE_STATE_COMPLETED: _ClassVar[QueueState]
    QUEUE_STATE_YIELDED: _ClassVar[QueueState]
    QUEUE_STATE_DISCARDED: _ClassVar[QueueState]

class ResultStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESULT_STATUS_UNSPECIFIED: _ClassVar[ResultStatus]
    RESULT_STATUS_SUCCEEDED: _ClassVar[ResultStatus]
    RESULT_STATUS_PARTIAL_SUCCEEDED: _ClassVar[ResultStatus]
    RESULT_STATUS_FAILED: _ClassVar[ResultStatus]
    RESULT_STATUS_DENIED: _ClassVar[ResultStatus]
    RESULT_STATUS_REJECTED: _ClassVar[ResultStatus]
    RESULT_STATUS_REDACTED: _ClassVar[ResultStatus]
    RESULT_STATUS_TOO_LARGE: _ClassVar[ResultStatus]
    RESULT_STATUS_CANCELED: _ClassVar[ResultStatus]
    RESULT_STATUS_TIMED_OUT: _ClassVar[ResultStatus]
    RESULT_STATUS_SYNTHETIC_ERROR: _ClassVar[ResultStatus]
    RESULT_STATUS_DISCARDED: _ClassVar[ResultStatus]

class ErrorClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_CLASS_UNSPECIFIED: _ClassVar[ErrorClass]
    ERROR_CLASS_UNKNOWN_TOOL: _ClassVar[ErrorClass]
    ERROR_CLASS_INVALID_ARGUMENTS: _ClassVar[ErrorClass]
    ERROR_CLASS_SCHEMA_VALIDATION_FAILED: _ClassVar[ErrorClass]
    ERROR_CLASS_SCHEMA_NOT_LOADED: _ClassVar[ErrorClass]
    ERROR_CLASS_PERMISSION_DENIED: _ClassVar[ErrorClass]
    ERROR_CLASS_APPROVAL_REJECTED: _ClassVar[ErrorClass]
    ERROR_CLASS_POLICY_BLOCKED: _ClassVar[ErrorClass]
    ERROR_CLASS_HOOK_BLOCKED: _ClassVar[ErrorClass]
    ERROR_CLASS_CAPABILITY_GAP: _ClassVar[ErrorClass]
    ERROR_CLASS_SETUP_REQUIRED: _ClassVar[ErrorClass]
    ERROR_CLASS_CREDENTIAL_MISSING: _ClassVar[ErrorClass]
    ERROR_CLASS_SANDBOX_VIOLATION: _ClassVar[ErrorClass]
    ERROR_CLASS_TIMEOUT: _ClassVar[ErrorClass]
    ERROR_CLASS_RATE_LIMITED: _ClassVar[ErrorClass]
    ERROR_CLASS_DEPENDENCY_UNAVAILABLE: _ClassVar[ErrorClass]
    ERROR_CLASS_EXECUTION_FAILED: _ClassVar[ErrorClass]
    ERROR_CLASS_PARTIAL_FAILURE: _ClassVar[ErrorClass]
    ERROR_CLASS_RESULT_TOO_LARGE: _ClassVar[ErrorClass]
    ERROR_CLASS_RESULT_REDACTED: _ClassVar[ErrorClass]
    ERROR_CLASS_SIBLING_CANCELED: _ClassVar[ErrorClass]
    ERROR_CLASS_STREAMING_FALLBACK_DISCARDED: _ClassVar[ErrorClass]
    ERROR_CLASS_CANCELED: _ClassVar[ErrorClass]

class Recoverability(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RECOVERABILITY_UNSPECIFIED: _ClassVar[Recoverability]
    RECOVERABILITY_NOT_RETRYABLE: _ClassVar[Recoverability]
    RECOVERABILITY_RETRY_SAFE: _ClassVar[Recoverability]
    RECOVERABILITY_RETRY_LATER: _ClassVar[Recoverability]
    RECOVERABILITY_CHANGE_ARGUMENTS: _ClassVar[Recoverability]
    RECOVERABILITY_CHANGE_ARGUMENTS_OR_POLICY: _ClassVar[Recoverability]
    RECOVERABILITY_DISCOVER_TOOL_FIRST: _ClassVar[Recoverability]
    RECOVERABILITY_REQUEST_APPROVAL_AGAIN: _ClassVar[Recoverability]
    RECOVERABILITY_COMPLETE_SETUP: _ClassVar[Recoverability]
    RECOVERABILITY_VERIFY_BEFORE_RETRY: _ClassVar[Recoverability]

class Behavior(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BEHAVIOR_UNSPECIFIED: _ClassVar[Behavior]
    BEHAVIOR_ALLOW: _ClassVar[Behavior]
    BEHAVIOR_ASK: _ClassVar[Behavior]
    BEHAVIOR_DENY: _ClassVar[Behavior]
    BEHAVIOR_PASSTHROUGH: _ClassVar[Behavior]

class ReasonType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REASON_TYPE_UNSPECIFIED: _ClassVar[ReasonType]
    REASON_TYPE_RULE: _ClassVar[ReasonType]
    REASON_TYPE_MODE: _ClassVar[ReasonType]
    REASON_TYPE_POLICY: _ClassVar[ReasonType]
    REASON_TYPE_HOOK: _ClassVar[ReasonType]
    REASON_TYPE_CLASSIFIER: _ClassVar[ReasonType]
    REASON_TYPE_WORKING_DIR: _ClassVar[ReasonType]
    REASON_TYPE_SANDBOX_OVERRIDE: _ClassVar[ReasonType]
    REASON_TYPE_SAFETY_CHECK: _ClassVar[ReasonType]
    REASON_TYPE_PERMISSION_PROMPT_TOOL: _ClassVar[ReasonType]
    REASON_TYPE_ASYNC_AGENT: _ClassVar[ReasonType]
    REASON_TYPE_SUBCOMMAND_RESULTS: _ClassVar[ReasonType]
    REASON_TYPE_OTHER: _ClassVar[ReasonType]

class RuleSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RULE_SOURCE_UNSPECIFIED: _ClassVar[RuleSource]
    RULE_SOURCE_USER_SETTINGS: _ClassVar[RuleSource]
    RULE_SOURCE_PROJECT_SETTINGS: _ClassVar[RuleSource]
    RULE_SOURCE_LOCAL_SETTINGS: _ClassVar[RuleSource]
    RULE_SOURCE_FLAG_SETTINGS: _ClassVar[RuleSource]
    RULE_SOURCE_POLICY_SETTINGS: _ClassVar[RuleSource]
    RULE_SOURCE_CLI_ARG: _ClassVar[RuleSource]
    RULE_SOURCE_COMMAND: _ClassVar[RuleSource]
    RULE_SOURCE_SESSION: _ClassVar[RuleSource]

class RiskLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RISK_LEVEL_UNSPECIFIED: _ClassVar[RiskLevel]
    RISK_LEVEL_LOW: _ClassVar[RiskLevel]
    RISK_LEVEL_MEDIUM: _ClassVar[RiskLevel]
    RISK_LEVEL_HIGH: _ClassVar[RiskLevel]
    RISK_LEVEL_CRITICAL: _ClassVar[RiskLevel]

class AccessKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACCESS_KIND_UNSPECIFIED: _ClassVar[AccessKind]
    ACCESS_KIND_FILE_READ: _ClassVar[AccessKind]
    ACCESS_KIND_FILE_WRITE: _ClassVar[AccessKind]
    ACCESS_KIND_NETWORK: _ClassVar[AccessKind]
    ACCESS_KIND_BROWSER: _ClassVar[AccessKind]
    ACCESS_KIND_CREDENTIAL: _ClassVar[AccessKind]
    ACCESS_KIND_PAYMENT: _ClassVar[AccessKind]
    ACCESS_KIND_EXTERNAL_SEND: _ClassVar[AccessKind]
    ACCESS_KIND_CODE_EXECUTION: _ClassVar[AccessKind]

class WriteEffect(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WRITE_EFFECT_UNSPECIFIED: _ClassVar[WriteEffect]
    WRITE_EFFECT_NONE: _ClassVar[WriteEffect]
    WRITE_EFFECT_LOCAL_DRAFT: _ClassVar[WriteEffect]
    WRITE_EFFECT_LOCAL_PERSISTENT: _ClassVar[WriteEffect]
    WRITE_EFFECT_REMOTE_MUTATION: _ClassVar[WriteEffect]
    WRITE_EFFECT_IRREVERSIBLE: _ClassVar[WriteEffect]

class HookEvent(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOOK_EVENT_UNSPECIFIED: _ClassVar[HookEvent]
    HOOK_EVENT_PRE_TOOL_USE: _ClassVar[HookEvent]
    HOOK_EVENT_POST_TOOL_USE: _ClassVar[HookEvent]
    HOOK_EVENT_POST_TOOL_USE_FAILURE: _ClassVar[HookEvent]
    HOOK_EVENT_PERMISSION_REQUEST: _ClassVar[HookEvent]
    HOOK_EVENT_PERMISSION_DECISION: _ClassVar[HookEvent]
    HOOK_EVENT_RESULT_PERSISTENCE: _ClassVar[HookEvent]

class MutationSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MUTATION_SOURCE_UNSPECIFIED: _ClassVar[MutationSource]
    MUTATION_SOURCE_HOOK: _ClassVar[MutationSource]
    MUTATION_SOURCE_PERMISSION_PROMPT: _ClassVar[MutationSource]
    MUTATION_SOURCE_ADAPTER: _ClassVar[MutationSource]
    MUTATION_SOURCE_MIGRATION: _ClassVar[MutationSource]
    MUTATION_SOURCE_RUNTIME: _ClassVar[MutationSource]

class OrderingPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ORDERING_POLICY_UNSPECIFIED: _ClassVar[OrderingPolicy]
    ORDERING_POLICY_PRESERVE_TERMINAL_ORDER: _ClassVar[OrderingPolicy]
    ORDERING_POLICY_ALLOW_UNORDERED: _ClassVar[OrderingPolicy]
    ORDERING_POLICY_SERIAL: _ClassVar[OrderingPolicy]

class YieldPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    YIELD_POLICY_UNSPECIFIED: _ClassVar[YieldPolicy]
    YIELD_POLICY_PROGRESS_IMMEDIATE_RESULTS_ORDERED: _ClassVar[YieldPolicy]
    YIELD_POLICY_ALL_ORDERED: _ClassVar[YieldPolicy]
    YIELD_POLICY_UNORDERED_STREAMING: _ClassVar[YieldPolicy]

class InterruptBehavior(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INTERRUPT_BEHAVIOR_UNSPECIFIED: _ClassVar[InterruptBehavior]
    INTERRUPT_BEHAVIOR_CANCEL: _ClassVar[InterruptBehavior]
    INTERRUPT_BEHAVIOR_BLOCK: _ClassVar[InterruptBehavior]

class SiblingFailurePolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SIBLING_FAILURE_POLICY_UNSPECIFIED: _ClassVar[SiblingFailurePolicy]
    SIBLING_FAILURE_POLICY_IGNORE: _ClassVar[SiblingFailurePolicy]
    SIBLING_FAILURE_POLICY_CANCEL_SIBLINGS: _ClassVar[SiblingFailurePolicy]
    SIBLING_FAILURE_POLICY_CANCEL_DEPENDENT: _ClassVar[SiblingFailurePolicy]

class ContextModifierPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTEXT_MODIFIER_POLICY_UNSPECIFIED: _ClassVar[ContextModifierPolicy]
    CONTEXT_MODIFIER_POLICY_ALLOW_SERIAL_ONLY: _ClassVar[ContextModifierPolicy]
    CONTEXT_MODIFIER_POLICY_DEFER_UNTIL_BATCH_COMPLETE: _ClassVar[ContextModifierPolicy]
    CONTEXT_MODIFIER_POLICY_FORBID: _ClassVar[ContextModifierPolicy]

class AbortReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ABORT_REASON_UNSPECIFIED: _ClassVar[AbortReason]
    ABORT_REASON_USER_INTERRUPTION: _ClassVar[AbortReason]
    ABORT_REASON_SIBLING_ERROR: _ClassVar[AbortReason]
    ABORT_REASON_TIMEOUT: _ClassVar[AbortReason]
    ABORT_REASON_FALLBACK: _ClassVar[AbortReason]
    ABORT_REASON_RUNTIME_SHUTDOWN: _ClassVar[AbortReason]

class ProgressStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROGRESS_STATUS_UNSPECIFIED: _ClassVar[ProgressStatus]
    PROGRESS_STATUS_QUEUED: _ClassVar[ProgressStatus]
    PROGRESS_STATUS_STARTED: _ClassVar[ProgressStatus]
    PROGRESS_STATUS_RUNNING: _ClassVar[ProgressStatus]
    PROGRESS_STATUS_WAITING_FOR_PERMISSION: _ClassVar[ProgressStatus]
    PROGRESS_STATUS_WAITING_FOR_INPUT: _ClassVar[ProgressStatus]
    PROGRESS_STATUS_BACKGROUNDED: _ClassVar[ProgressStatus]
    PROGRESS_STATUS_PARTIAL_RESULT: _ClassVar[ProgressStatus]
    PROGRESS_STATUS_COMPLETED: _ClassVar[ProgressStatus]
    PROGRESS_STATUS_FAILED: _ClassVar[ProgressStatus]
    PROGRESS_STATUS_CANCELED: _ClassVar[ProgressStatus]

class PersistenceStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PERSISTENCE_STRATEGY_UNSPECIFIED: _ClassVar[PersistenceStrategy]
    PERSISTENCE_STRATEGY_INLINE: _ClassVar[PersistenceStrategy]
    PERSISTENCE_STRATEGY_PREVIEW_AND_PERSIST: _ClassVar[PersistenceStrategy]
    PERSISTENCE_STRATEGY_REF_ONLY: _ClassVar[PersistenceStrategy]
    PERSISTENCE_STRATEGY_REDACT: _ClassVar[PersistenceStrategy]
    PERSISTENCE_STRATEGY_DROP_WITH_REASON: _ClassVar[PersistenceStrategy]
    PERSISTENCE_STRATEGY_NEVER_PERSIST: _ClassVar[PersistenceStrategy]

class RedactionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REDACTION_STATE_UNSPECIFIED: _ClassVar[RedactionState]
    REDACTION_STATE_NONE: _ClassVar[RedactionState]
    REDACTION_STATE_REDACTED: _ClassVar[RedactionState]
    REDACTION_STATE_UNAVAILABLE: _ClassVar[RedactionState]

class ApprovalState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    APPROVAL_STATE_UNSPECIFIED: _ClassVar[ApprovalState]
    APPROVAL_STATE_PENDING: _ClassVar[ApprovalState]
    APPROVAL_STATE_APPROVED: _ClassVar[ApprovalState]
    APPROVAL_STATE_REJECTED: _ClassVar[ApprovalState]
    APPROVAL_STATE_EXPIRED: _ClassVar[ApprovalState]
    APPROVAL_STATE_WITHDRAWN: _ClassVar[ApprovalState]

class PermissionOption(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PERMISSION_OPTION_UNSPECIFIED: _ClassVar[PermissionOption]
    PERMISSION_OPTION_ALLOW_ONCE: _ClassVar[PermissionOption]
    PERMISSION_OPTION_ALLOW_ALWAYS: _ClassVar[PermissionOption]
    PERMISSION_OPTION_REJECT_ONCE: _ClassVar[PermissionOption]
    PERMISSION_OPTION_REJECT_ALWAYS: _ClassVar[PermissionOption]

class ClassifierAuthority(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CLASSIFIER_AUTHORITY_UNSPECIFIED: _ClassVar[ClassifierAuthority]
    CLASSIFIER_AUTHORITY_APPROVE: _ClassVar[ClassifierAuthority]
    CLASSIFIER_AUTHORITY_DENY: _ClassVar[ClassifierAuthority]
    CLASSIFIER_AUTHORITY_RECOMMEND: _ClassVar[ClassifierAuthority]

class RuleFit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RULE_FIT_UNSPECIFIED: _ClassVar[RuleFit]
    RULE_FIT_YES: _ClassVar[RuleFit]
    RULE_FIT_MAYBE: _ClassVar[RuleFit]

class EventClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_CLASS_UNSPECIFIED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_DECLARED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_SURFACE_CREATED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_SURFACE_UPDATED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_DEFERRED_DISCOVERED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_DEFERRED_LOADED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_PLANNED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_SELECTED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_ARGUMENTS_READY: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_VALIDATION_FAILED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_HOOK_PRE_STARTED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_HOOK_PRE_COMPLETED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_PERMISSION_REQUESTED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_PERMISSION_DECIDED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_QUEUED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_STARTED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_PROGRESS: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_PARTIAL_RESULT: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_HOOK_POST_STARTED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_HOOK_POST_COMPLETED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_RESULT_PERSISTED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_YIELDED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_SUCCEEDED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_FAILED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_CANCELED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_INVOCATION_TIMED_OUT: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_RESULT_CREATED: _ClassVar[EventClass]
    EVENT_CLASS_TOOL_RESULT_REDACTED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_TOOL_RETIRED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_SCHEMA_PARSE_FAILED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_AWAITING_APPROVAL: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_APPROVED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_DENIED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_BLOCKED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_NEEDS_INPUT: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_REQUEUED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_DISCARDED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_LEASE_GRANTED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_LATE_REPORT: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_CANCEL_REQUESTED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_CANCEL_ACKNOWLEDGED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_CANCEL_FAILED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INPUT_MUTATED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_HELD: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_LOCK_GRANTED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_INVOCATION_INPUT_PROVIDED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_PROVIDER_CHANGED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_PROVIDER_LISTED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_PROVIDER_STATE: _ClassVar[EventClass]
    EVENT_CLASS_EXT_PROVIDER_REVIEWED: _ClassVar[EventClass]
    EVENT_CLASS_EXT_RESULT_ORIGINAL_READ: _ClassVar[EventClass]

class Band(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BAND_UNSPECIFIED: _ClassVar[Band]
    BAND_INTERACTIVE: _ClassVar[Band]
    BAND_NORMAL: _ClassVar[Band]
    BAND_BACKGROUND: _ClassVar[Band]

class LockMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOCK_MODE_UNSPECIFIED: _ClassVar[LockMode]
    LOCK_MODE_SHARED: _ClassVar[LockMode]
    LOCK_MODE_EXCLUSIVE: _ClassVar[LockMode]

class Hold(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOLD_UNSPECIFIED: _ClassVar[Hold]
    HOLD_BATCH: _ClassVar[Hold]
    HOLD_LOCKS: _ClassVar[Hold]

class StartGuard(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    START_GUARD_UNSPECIFIED: _ClassVar[StartGuard]
    START_GUARD_STORE: _ClassVar[StartGuard]
    START_GUARD_OBJECT: _ClassVar[StartGuard]

class Durability(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DURABILITY_UNSPECIFIED: _ClassVar[Durability]
    DURABILITY_BUFFERED: _ClassVar[Durability]
    DURABILITY_FSYNCED: _ClassVar[Durability]
    DURABILITY_FSYNCED_REPLICATED: _ClassVar[Durability]

class RecordView(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RECORD_VIEW_UNSPECIFIED: _ClassVar[RecordView]
    RECORD_VIEW_BASIC: _ClassVar[RecordView]
    RECORD_VIEW_JSON: _ClassVar[RecordView]
TOOL_LIFECYCLE_UNSPECIFIED: ToolLifecycle
TOOL_LIFECYCLE_DRAFT: ToolLifecycle
TOOL_LIFECYCLE_AVAILABLE: ToolLifecycle
TOOL_LIFECYCLE_DISABLED: ToolLifecycle
TOOL_LIFECYCLE_REQUIRES_SETUP: ToolLifecycle
TOOL_LIFECYCLE_DEFERRED: ToolLifecycle
TOOL_LIFECYCLE_DEPRECATED: ToolLifecycle
TOOL_LIFECYCLE_RETIRED: ToolLifecycle
TOOL_KIND_UNSPECIFIED: ToolKind
TOOL_KIND_FUNCTION: ToolKind
TOOL_KIND_MCP_TOOL: ToolKind
TOOL_KIND_OPENAPI_OPERATION: ToolKind
TOOL_KIND_NATIVE_TOOL: ToolKind
TOOL_KIND_BROWSER_ACTION: ToolKind
TOOL_KIND_SHELL_COMMAND: ToolKind
TOOL_KIND_CODE_EXECUTION: ToolKind
TOOL_KIND_FILE_OPERATION: ToolKind
TOOL_KIND_WEB_SEARCH: ToolKind
TOOL_KIND_RETRIEVAL: ToolKind
TOOL_KIND_MODEL_TASK: ToolKind
TOOL_KIND_SKILL_TOOL: ToolKind
TOOL_KIND_PEER_AGENT_TOOL: ToolKind
TOOL_KIND_POLICY_CHECK: ToolKind
TOOL_KIND_ARTIFACT_OPERATION: ToolKind
TOOL_KIND_EVIDENCE_EXPORT: ToolKind
TOOL_KIND_CUSTOM: ToolKind
EXECUTION_KIND_UNSPECIFIED: ExecutionKind
EXECUTION_KIND_MCP_SERVER: ExecutionKind
EXECUTION_KIND_HTTP_API: ExecutionKind
EXECUTION_KIND_NATIVE_APP: ExecutionKind
EXECUTION_KIND_LOCAL_PROCESS: ExecutionKind
EXECUTION_KIND_SHELL: ExecutionKind
EXECUTION_KIND_BROWSER: ExecutionKind
EXECUTION_KIND_MODEL_SERVICE: ExecutionKind
EXECUTION_KIND_PEER_AGENT: ExecutionKind
EXECUTION_KIND_EMBEDDED_RUNTIME: ExecutionKind
EXECUTION_KIND_HYBRID: ExecutionKind
ARGUMENT_MODE_UNSPECIFIED: ArgumentMode
ARGUMENT_MODE_JSON: ArgumentMode
ARGUMENT_MODE_TEXT: ArgumentMode
ARGUMENT_MODE_FILE: ArgumentMode
ARGUMENT_MODE_MULTIPART: ArgumentMode
ARGUMENT_MODE_STREAM: ArgumentMode
ARGUMENT_MODE_CUSTOM: ArgumentMode
SURFACE_SCOPE_UNSPECIFIED: SurfaceScope
SURFACE_SCOPE_TURN: SurfaceScope
SURFACE_SCOPE_TASK: SurfaceScope
SURFACE_SCOPE_SESSION: SurfaceScope
SURFACE_SCOPE_TENANT: SurfaceScope
SURFACE_SCOPE_SKILL: SurfaceScope
SURFACE_SCOPE_PEER_AGENT: SurfaceScope
SURFACE_SCOPE_WORKSPACE: SurfaceScope
SURFACE_SCOPE_ROLE: SurfaceScope
SURFACE_SCOPE_MODEL_REQUEST: SurfaceScope
SCHEMA_VISIBILITY_UNSPECIFIED: SchemaVisibility
SCHEMA_VISIBILITY_LOADED: SchemaVisibility
SCHEMA_VISIBILITY_DEFERRED: SchemaVisibility
SCHEMA_VISIBILITY_INTERNAL: SchemaVisibility
SCHEMA_VISIBILITY_NATIVE_REF: SchemaVisibility
LOADING_STATE_UNSPECIFIED: LoadingState
LOADING_STATE_LOADED: LoadingState
LOADING_STATE_DEFERRED: LoadingState
LOADING_STATE_DISCOVERABLE: LoadingState
LOADING_STATE_PENDING_PROVIDER: LoadingState
LOADING_STATE_UNAVAILABLE: LoadingState
HIDDEN_REASON_UNSPECIFIED: HiddenReason
HIDDEN_REASON_POLICY_BLOCKED: HiddenReason
HIDDEN_REASON_CREDENTIAL_MISSING: HiddenReason
HIDDEN_REASON_SETUP_REQUIRED: HiddenReason
HIDDEN_REASON_MODEL_UNSUPPORTED: HiddenReason
HIDDEN_REASON_RECURSIVE_TOOL_FORBIDDEN: HiddenReason
HIDDEN_REASON_ROLE_NOT_ALLOWED: HiddenReason
HIDDEN_REASON_FEATURE_DISABLED: HiddenReason
HIDDEN_REASON_DEFERRED_UNTIL_DISCOVERED: HiddenReason
HIDDEN_REASON_RETIRED: HiddenReason
HIDDEN_REASON_NOT_SELECTED: HiddenReason
HIDDEN_REASON_CAPABILITY_MISSING: HiddenReason
INVOCATION_STATUS_UNSPECIFIED: InvocationStatus
INVOCATION_STATUS_PLANNED: InvocationStatus
INVOCATION_STATUS_SELECTED: InvocationStatus
INVOCATION_STATUS_SCHEMA_PARSE_FAILED: InvocationStatus
INVOCATION_STATUS_ARGUMENTS_READY: InvocationStatus
INVOCATION_STATUS_VALIDATION_FAILED: InvocationStatus
INVOCATION_STATUS_PRE_HOOKS_RUNNING: InvocationStatus
INVOCATION_STATUS_AWAITING_APPROVAL: InvocationStatus
INVOCATION_STATUS_APPROVED: InvocationStatus
INVOCATION_STATUS_DENIED: InvocationStatus
INVOCATION_STATUS_QUEUED: InvocationStatus
INVOCATION_STATUS_RUNNING: InvocationStatus
INVOCATION_STATUS_NEEDS_INPUT: InvocationStatus
INVOCATION_STATUS_PARTIAL_RESULT: InvocationStatus
INVOCATION_STATUS_POST_HOOKS_RUNNING: InvocationStatus
INVOCATION_STATUS_YIELDED: InvocationStatus
INVOCATION_STATUS_SUCCEEDED: InvocationStatus
INVOCATION_STATUS_FAILED: InvocationStatus
INVOCATION_STATUS_CANCELED: InvocationStatus
INVOCATION_STATUS_TIMED_OUT: InvocationStatus
INVOCATION_STATUS_BLOCKED: InvocationStatus
QUEUE_STATE_UNSPECIFIED: QueueState
QUEUE_STATE_QUEUED: QueueState
QUEUE_STATE_EXECUTING: QueueState
QUEUE_STATE_COMPLETED: QueueState
QUEUE_STATE_YIELDED: QueueState
QUEUE_STATE_DISCARDED: QueueState
RESULT_STATUS_UNSPECIFIED: ResultStatus
RESULT_STATUS_SUCCEEDED: ResultStatus
RESULT_STATUS_PARTIAL_SUCCEEDED: ResultStatus
RESULT_STATUS_FAILED: ResultStatus
RESULT_STATUS_DENIED: ResultStatus
RESULT_STATUS_REJECTED: ResultStatus
RESULT_STATUS_REDACTED: ResultStatus
RESULT_STATUS_TOO_LARGE: ResultStatus
RESULT_STATUS_CANCELED: ResultStatus
RESULT_STATUS_TIMED_OUT: ResultStatus
RESULT_STATUS_SYNTHETIC_ERROR: ResultStatus
RESULT_STATUS_DISCARDED: ResultStatus
ERROR_CLASS_UNSPECIFIED: ErrorClass
ERROR_CLASS_UNKNOWN_TOOL: ErrorClass
ERROR_CLASS_INVALID_ARGUMENTS: ErrorClass
ERROR_CLASS_SCHEMA_VALIDATION_FAILED: ErrorClass
ERROR_CLASS_SCHEMA_NOT_LOADED: ErrorClass
ERROR_CLASS_PERMISSION_DENIED: ErrorClass
ERROR_CLASS_APPROVAL_REJECTED: ErrorClass
ERROR_CLASS_POLICY_BLOCKED: ErrorClass
ERROR_CLASS_HOOK_BLOCKED: ErrorClass
ERROR_CLASS_CAPABILITY_GAP: ErrorClass
ERROR_CLASS_SETUP_REQUIRED: ErrorClass
ERROR_CLASS_CREDENTIAL_MISSING: ErrorClass
ERROR_CLASS_SANDBOX_VIOLATION: ErrorClass
ERROR_CLASS_TIMEOUT: ErrorClass
ERROR_CLASS_RATE_LIMITED: ErrorClass
ERROR_CLASS_DEPENDENCY_UNAVAILABLE: ErrorClass
ERROR_CLASS_EXECUTION_FAILED: ErrorClass
ERROR_CLASS_PARTIAL_FAILURE: ErrorClass
ERROR_CLASS_RESULT_TOO_LARGE: ErrorClass
ERROR_CLASS_RESULT_REDACTED: ErrorClass
ERROR_CLASS_SIBLING_CANCELED: ErrorClass
ERROR_CLASS_STREAMING_FALLBACK_DISCARDED: ErrorClass
ERROR_CLASS_CANCELED: ErrorClass
RECOVERABILITY_UNSPECIFIED: Recoverability
RECOVERABILITY_NOT_RETRYABLE: Recoverability
RECOVERABILITY_RETRY_SAFE: Recoverability
RECOVERABILITY_RETRY_LATER: Recoverability
RECOVERABILITY_CHANGE_ARGUMENTS: Recoverability
RECOVERABILITY_CHANGE_ARGUMENTS_OR_POLICY: Recoverability
RECOVERABILITY_DISCOVER_TOOL_FIRST: Recoverability
RECOVERABILITY_REQUEST_APPROVAL_AGAIN: Recoverability
RECOVERABILITY_COMPLETE_SETUP: Recoverability
RECOVERABILITY_VERIFY_BEFORE_RETRY: Recoverability
BEHAVIOR_UNSPECIFIED: Behavior
BEHAVIOR_ALLOW: Behavior
BEHAVIOR_ASK: Behavior
BEHAVIOR_DENY: Behavior
BEHAVIOR_PASSTHROUGH: Behavior
REASON_TYPE_UNSPECIFIED: ReasonType
REASON_TYPE_RULE: ReasonType
REASON_TYPE_MODE: ReasonType
REASON_TYPE_POLICY: ReasonType
REASON_TYPE_HOOK: ReasonType
REASON_TYPE_CLASSIFIER: ReasonType
REASON_TYPE_WORKING_DIR: ReasonType
REASON_TYPE_SANDBOX_OVERRIDE: ReasonType
REASON_TYPE_SAFETY_CHECK: ReasonType
REASON_TYPE_PERMISSION_PROMPT_TOOL: ReasonType
REASON_TYPE_ASYNC_AGENT: ReasonType
REASON_TYPE_SUBCOMMAND_RESULTS: ReasonType
REASON_TYPE_OTHER: ReasonType
RULE_SOURCE_UNSPECIFIED: RuleSource
RULE_SOURCE_USER_SETTINGS: RuleSource
RULE_SOURCE_PROJECT_SETTINGS: RuleSource
RULE_SOURCE_LOCAL_SETTINGS: RuleSource
RULE_SOURCE_FLAG_SETTINGS: RuleSource
RULE_SOURCE_POLICY_SETTINGS: RuleSource
RULE_SOURCE_CLI_ARG: RuleSource
RULE_SOURCE_COMMAND: RuleSource
RULE_SOURCE_SESSION: RuleSource
RISK_LEVEL_UNSPECIFIED: RiskLevel
RISK_LEVEL_LOW: RiskLevel
RISK_LEVEL_MEDIUM: RiskLevel
RISK_LEVEL_HIGH: RiskLevel
RISK_LEVEL_CRITICAL: RiskLevel
ACCESS_KIND_UNSPECIFIED: AccessKind
ACCESS_KIND_FILE_READ: AccessKind
ACCESS_KIND_FILE_WRITE: AccessKind
ACCESS_KIND_NETWORK: AccessKind
ACCESS_KIND_BROWSER: AccessKind
ACCESS_KIND_CREDENTIAL: AccessKind
ACCESS_KIND_PAYMENT: AccessKind
ACCESS_KIND_EXTERNAL_SEND: AccessKind
ACCESS_KIND_CODE_EXECUTION: AccessKind
WRITE_EFFECT_UNSPECIFIED: WriteEffect
WRITE_EFFECT_NONE: WriteEffect
WRITE_EFFECT_LOCAL_DRAFT: WriteEffect
WRITE_EFFECT_LOCAL_PERSISTENT: WriteEffect
WRITE_EFFECT_REMOTE_MUTATION: WriteEffect
WRITE_EFFECT_IRREVERSIBLE: WriteEffect
HOOK_EVENT_UNSPECIFIED: HookEvent
HOOK_EVENT_PRE_TOOL_USE: HookEvent
HOOK_EVENT_POST_TOOL_USE: HookEvent
HOOK_EVENT_POST_TOOL_USE_FAILURE: HookEvent
HOOK_EVENT_PERMISSION_REQUEST: HookEvent
HOOK_EVENT_PERMISSION_DECISION: HookEvent
HOOK_EVENT_RESULT_PERSISTENCE: HookEvent
MUTATION_SOURCE_UNSPECIFIED: MutationSource
MUTATION_SOURCE_HOOK: MutationSource
MUTATION_SOURCE_PERMISSION_PROMPT: MutationSource
MUTATION_SOURCE_ADAPTER: MutationSource
MUTATION_SOURCE_MIGRATION: MutationSource
MUTATION_SOURCE_RUNTIME: MutationSource
ORDERING_POLICY_UNSPECIFIED: OrderingPolicy
ORDERING_POLICY_PRESERVE_TERMINAL_ORDER: OrderingPolicy
ORDERING_POLICY_ALLOW_UNORDERED: OrderingPolicy
ORDERING_POLICY_SERIAL: OrderingPolicy
YIELD_POLICY_UNSPECIFIED: YieldPolicy
YIELD_POLICY_PROGRESS_IMMEDIATE_RESULTS_ORDERED: YieldPolicy
YIELD_POLICY_ALL_ORDERED: YieldPolicy
YIELD_POLICY_UNORDERED_STREAMING: YieldPolicy
INTERRUPT_BEHAVIOR_UNSPECIFIED: InterruptBehavior
INTERRUPT_BEHAVIOR_CANCEL: InterruptBehavior
INTERRUPT_BEHAVIOR_BLOCK: InterruptBehavior
SIBLING_FAILURE_POLICY_UNSPECIFIED: SiblingFailurePolicy
SIBLING_FAILURE_POLICY_IGNORE: SiblingFailurePolicy
SIBLING_FAILURE_POLICY_CANCEL_SIBLINGS: SiblingFailurePolicy
SIBLING_FAILURE_POLICY_CANCEL_DEPENDENT: SiblingFailurePolicy
CONTEXT_MODIFIER_POLICY_UNSPECIFIED: ContextModifierPolicy
CONTEXT_MODIFIER_POLICY_ALLOW_SERIAL_ONLY: ContextModifierPolicy
CONTEXT_MODIFIER_POLICY_DEFER_UNTIL_BATCH_COMPLETE: ContextModifierPolicy
CONTEXT_MODIFIER_POLICY_FORBID: ContextModifierPolicy
ABORT_REASON_UNSPECIFIED: AbortReason
ABORT_REASON_USER_INTERRUPTION: AbortReason
ABORT_REASON_SIBLING_ERROR: AbortReason
ABORT_REASON_TIMEOUT: AbortReason
ABORT_REASON_FALLBACK: AbortReason
ABORT_REASON_RUNTIME_SHUTDOWN: AbortReason
PROGRESS_STATUS_UNSPECIFIED: ProgressStatus
PROGRESS_STATUS_QUEUED: ProgressStatus
PROGRESS_STATUS_STARTED: ProgressStatus
PROGRESS_STATUS_RUNNING: ProgressStatus
PROGRESS_STATUS_WAITING_FOR_PERMISSION: ProgressStatus
PROGRESS_STATUS_WAITING_FOR_INPUT: ProgressStatus
PROGRESS_STATUS_BACKGROUNDED: ProgressStatus
PROGRESS_STATUS_PARTIAL_RESULT: ProgressStatus
PROGRESS_STATUS_COMPLETED: ProgressStatus
PROGRESS_STATUS_FAILED: ProgressStatus
PROGRESS_STATUS_CANCELED: ProgressStatus
PERSISTENCE_STRATEGY_UNSPECIFIED: PersistenceStrategy
PERSISTENCE_STRATEGY_INLINE: PersistenceStrategy
PERSISTENCE_STRATEGY_PREVIEW_AND_PERSIST: PersistenceStrategy
PERSISTENCE_STRATEGY_REF_ONLY: PersistenceStrategy
PERSISTENCE_STRATEGY_REDACT: PersistenceStrategy
PERSISTENCE_STRATEGY_DROP_WITH_REASON: PersistenceStrategy
PERSISTENCE_STRATEGY_NEVER_PERSIST: PersistenceStrategy
REDACTION_STATE_UNSPECIFIED: RedactionState
REDACTION_STATE_NONE: RedactionState
REDACTION_STATE_REDACTED: RedactionState
REDACTION_STATE_UNAVAILABLE: RedactionState
APPROVAL_STATE_UNSPECIFIED: ApprovalState
APPROVAL_STATE_PENDING: ApprovalState
APPROVAL_STATE_APPROVED: ApprovalState
APPROVAL_STATE_REJECTED: ApprovalState
APPROVAL_STATE_EXPIRED: ApprovalState
APPROVAL_STATE_WITHDRAWN: ApprovalState
PERMISSION_OPTION_UNSPECIFIED: PermissionOption
PERMISSION_OPTION_ALLOW_ONCE: PermissionOption
PERMISSION_OPTION_ALLOW_ALWAYS: PermissionOption
PERMISSION_OPTION_REJECT_ONCE: PermissionOption
PERMISSION_OPTION_REJECT_ALWAYS: PermissionOption
CLASSIFIER_AUTHORITY_UNSPECIFIED: ClassifierAuthority
CLASSIFIER_AUTHORITY_APPROVE: ClassifierAuthority
CLASSIFIER_AUTHORITY_DENY: ClassifierAuthority
CLASSIFIER_AUTHORITY_RECOMMEND: ClassifierAuthority
RULE_FIT_UNSPECIFIED: RuleFit
RULE_FIT_YES: RuleFit
RULE_FIT_MAYBE: RuleFit
EVENT_CLASS_UNSPECIFIED: EventClass
EVENT_CLASS_TOOL_DECLARED: EventClass
EVENT_CLASS_TOOL_SURFACE_CREATED: EventClass
EVENT_CLASS_TOOL_SURFACE_UPDATED: EventClass
EVENT_CLASS_TOOL_DEFERRED_DISCOVERED: EventClass
EVENT_CLASS_TOOL_DEFERRED_LOADED: EventClass
EVENT_CLASS_TOOL_INVOCATION_PLANNED: EventClass
EVENT_CLASS_TOOL_INVOCATION_SELECTED: EventClass
EVENT_CLASS_TOOL_INVOCATION_ARGUMENTS_READY: EventClass
EVENT_CLASS_TOOL_INVOCATION_VALIDATION_FAILED: EventClass
EVENT_CLASS_TOOL_HOOK_PRE_STARTED: EventClass
EVENT_CLASS_TOOL_HOOK_PRE_COMPLETED: EventClass
EVENT_CLASS_TOOL_PERMISSION_REQUESTED: EventClass
EVENT_CLASS_TOOL_PERMISSION_DECIDED: EventClass
EVENT_CLASS_TOOL_INVOCATION_QUEUED: EventClass
EVENT_CLASS_TOOL_INVOCATION_STARTED: EventClass
EVENT_CLASS_TOOL_INVOCATION_PROGRESS: EventClass
EVENT_CLASS_TOOL_INVOCATION_PARTIAL_RESULT: EventClass
EVENT_CLASS_TOOL_HOOK_POST_STARTED: EventClass
EVENT_CLASS_TOOL_HOOK_POST_COMPLETED: EventClass
EVENT_CLASS_TOOL_RESULT_PERSISTED: EventClass
EVENT_CLASS_TOOL_INVOCATION_YIELDED: EventClass
EVENT_CLASS_TOOL_INVOCATION_SUCCEEDED: EventClass
EVENT_CLASS_TOOL_INVOCATION_FAILED: EventClass
EVENT_CLASS_TOOL_INVOCATION_CANCELED: EventClass
EVENT_CLASS_TOOL_INVOCATION_TIMED_OUT: EventClass
EVENT_CLASS_TOOL_RESULT_CREATED: EventClass
EVENT_CLASS_TOOL_RESULT_REDACTED: EventClass
EVENT_CLASS_EXT_TOOL_RETIRED: EventClass
EVENT_CLASS_EXT_INVOCATION_SCHEMA_PARSE_FAILED: EventClass
EVENT_CLASS_EXT_INVOCATION_AWAITING_APPROVAL: EventClass
EVENT_CLASS_EXT_INVOCATION_APPROVED: EventClass
EVENT_CLASS_EXT_INVOCATION_DENIED: EventClass
EVENT_CLASS_EXT_INVOCATION_BLOCKED: EventClass
EVENT_CLASS_EXT_INVOCATION_NEEDS_INPUT: EventClass
EVENT_CLASS_EXT_INVOCATION_REQUEUED: EventClass
EVENT_CLASS_EXT_INVOCATION_DISCARDED: EventClass
EVENT_CLASS_EXT_INVOCATION_LEASE_GRANTED: EventClass
EVENT_CLASS_EXT_INVOCATION_LATE_REPORT: EventClass
EVENT_CLASS_EXT_INVOCATION_CANCEL_REQUESTED: EventClass
EVENT_CLASS_EXT_INVOCATION_CANCEL_ACKNOWLEDGED: EventClass
EVENT_CLASS_EXT_INVOCATION_CANCEL_FAILED: EventClass
EVENT_CLASS_EXT_INPUT_MUTATED: EventClass
EVENT_CLASS_EXT_INVOCATION_HELD: EventClass
EVENT_CLASS_EXT_INVOCATION_LOCK_GRANTED: EventClass
EVENT_CLASS_EXT_INVOCATION_INPUT_PROVIDED: EventClass
EVENT_CLASS_EXT_PROVIDER_CHANGED: EventClass
EVENT_CLASS_EXT_PROVIDER_LISTED: EventClass
EVENT_CLASS_EXT_PROVIDER_STATE: EventClass
EVENT_CLASS_EXT_PROVIDER_REVIEWED: EventClass
EVENT_CLASS_EXT_RESULT_ORIGINAL_READ: EventClass
BAND_UNSPECIFIED: Band
BAND_INTERACTIVE: Band
BAND_NORMAL: Band
BAND_BACKGROUND: Band
LOCK_MODE_UNSPECIFIED: LockMode
LOCK_MODE_SHARED: LockMode
LOCK_MODE_EXCLUSIVE: LockMode
HOLD_UNSPECIFIED: Hold
HOLD_BATCH: Hold
HOLD_LOCKS: Hold
START_GUARD_UNSPECIFIED: StartGuard
START_GUARD_STORE: StartGuard
START_GUARD_OBJECT: StartGuard
DURABILITY_UNSPECIFIED: Durability
DURABILITY_BUFFERED: Durability
DURABILITY_FSYNCED: Durability
DURABILITY_FSYNCED_REPLICATED: Durability
RECORD_VIEW_UNSPECIFIED: RecordView
RECORD_VIEW_BASIC: RecordView
RECORD_VIEW_JSON: RecordView
