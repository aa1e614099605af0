import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import approval_pb2 as _approval_pb2
from toolplane.v1 import assurance_pb2 as _assurance_pb2
from toolplane.v1 import decision_pb2 as _decision_pb2
from toolplane.v1 import form_pb2 as _form_pb2
from toolplane.v1 import hook_pb2 as _hook_pb2
from toolplane.v1 import interface_pb2 as _interface_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import permission_profile_pb2 as _permission_profile_pb2
from toolplane.v1 import rule_pb2 as _rule_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DecideRequest(_message.Message):
    __slots__ = ("invocation_id", "tenant", "actor_ref", "tool_id", "tool_name", "namespace", "tool_kind", "tool_kind_code", "declaration_digest", "surface_id", "permission_input", "permission_profile", "safety", "unknown_facts", "trusted_facts", "can_ask", "mode", "request_time", "deadline_at", "aliases", "permission_matcher", "call_input_digest", "caller_roles", "session_ref", "caller_ref", "hook_verdicts", "classifier", "assurance", "redacted_fields", "dry_run", "approval_ref", "tool_registration", "known_taints", "surface_policy_refs")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    ACTOR_REF_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    TOOL_KIND_FIELD_NUMBER: _ClassVar[int]
    TOOL_KIND_CODE_FIELD_NUMBER: _ClassVar[int]
    DECLARATION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_INPUT_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_PROFILE_FIELD_NUMBER: _ClassVar[int]
    SAFETY_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FACTS_FIELD_NUMBER: _ClassVar[int]
    TRUSTED_FACTS_FIELD_NUMBER: _ClassVar[int]
    CAN_ASK_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_TIME_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_AT_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_MATCHER_FIELD_NUMBER: _ClassVar[int]
    CALL_INPUT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    CALLER_ROLES_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    CALLER_REF_FIELD_NUMBER: _ClassVar[int]
    HOOK_VERDICTS_FIELD_NUMBER: _ClassVar[int]
    CLASSIFIER_FIELD_NUMBER: _ClassVar[int]
    ASSURANCE_FIELD_NUMBER: _ClassVar[int]
    REDACTED_FIELDS_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_REF_FIELD_NUMBER: _ClassVar[int]
    TOOL_REGISTRATION_FIELD_NUMBER: _ClassVar[int]
    KNOWN_TAINTS_FIELD_NUMBER: _ClassVar[int]
    SURFACE_POLICY_REFS_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    tenant: str
    actor_ref: str
    tool_id: str
    tool_name: str
    namespace: str
    tool_kind: str
    tool_kind_code: _vocabulary_pb2.ToolKind
    declaration_digest: str
    surface_id: str
    permission_input: _payload_pb2.JsonPayload
    permission_profile: _permission_profile_pb2.PermissionProfile
    safety: _interface_pb2.InputSafety
    unknown_facts: _containers.RepeatedScalarFieldContainer[str]
    trusted_facts: _containers.RepeatedScalarFieldContainer[str]
    can_ask: bool
    mode: str
    request_time: _timestamp_pb2.Timestamp
    deadline_at: _timestamp_pb2.Timestamp
    aliases: _containers.RepeatedScalarFieldContainer[str]
    permission_matcher: str
    call_input_digest: str
    caller_roles: _containers.RepeatedScalarFieldContainer[str]
    session_ref: str
    caller_ref: str
    hook_verdicts: _containers.RepeatedCompositeFieldContainer[_rule_pb2.HookVerdict]
    classifier: _rule_pb2.ClassifierCheck
    assurance: _assurance_pb2.CallAssurance
    redacted_fields: _containers.RepeatedScalarFieldContainer[str]
    dry_run: bool
    approval_ref: str
    tool_registration: _payload_pb2.JsonPayload
    known_taints: _assurance_pb2.KnownTaints
    surface_policy_refs: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, invocation_id: _Optional[str] = ..., tenant: _Optional[str] = ..., actor_ref: _Optional[str] = ..., tool_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., namespace: _Optional[str] = ..., tool_kind: _Optional[str] = ..., tool_kind_code: _Optional[_Union[_vocabulary_pb2.ToolKind, str]] = ..., declaration_digest: _Optional[str] = ..., surface_id: _Optional[str] = ..., permission_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., permission_profile: _Optional[_Union[_permission_profile_pb2.PermissionProfile, _Mapping]] = ..., safety: _Optional[_Union[_interface_pb2.InputSafety, _Mapping]] = ..., unknown_facts: _Optional[_Iterable[str]] = ..., trusted_facts: _Optional[_Iterable[str]] = ..., can_ask: bool = ..., mode: _Optional[str] = ..., request_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., deadline_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., aliases: _Optional[_Iterable[str]] = ..., permission_matcher: _Optional[str] = ..., call_input_digest: _Optional[str] = ..., caller_roles: _Optional[_Iterable[str]] = ..., session_ref: _Optional[str] = ..., caller_ref: _Optional[str] = ..., hook_verdicts: _Optional[_Iterable[_Union[_rule_pb2.HookVerdict, _Mapping]]] = ..., classifier: _Optional[_Union[_rule_pb2.ClassifierCheck, _Mapping]] = ..., assurance: _Optional[_Union[_assurance_pb2.CallAssurance, _Mapping]] = ..., redacted_fields: _Optional[_Iterable[str]] = ..., dry_run: bool = ..., approval_ref: _Optional[str] = ..., tool_registration: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., known_taints: _Optional[_Union[_assurance_pb2.KnownTaints, _Mapping]] = ..., surface_policy_refs: _Optional[_Iterable[str]] = ...) -> None: ...

class DecideResponse(_message.Message):
    __slots__ = ("decision", "approval", "explanation", "hooks", "reach")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    HOOKS_FIELD_NUMBER: _ClassVar[int]
    REACH_FIELD_NUMBER: _ClassVar[int]
    decision: _decision_pb2.PermissionDecision
    approval: _approval_pb2.Approval
    explanation: _rule_pb2.DecisionExplanation
    hooks: _containers.RepeatedCompositeFieldContainer[_hook_pb2.ToolHook]
    reach: DecisionReach
    def __init__(self, decision: _Optional[_Union[_decision_pb2.PermissionDecision, _Mapping]] = ..., approval: _Optional[_Union[_approval_pb2.Approval, _Mapping]] = ..., explanation: _Optional[_Union[_rule_pb2.DecisionExplanation, _Mapping]] = ..., hooks: _Optional[_Iterable[_Union[_hook_pb2.ToolHook, _Mapping]]] = ..., reach: _Optional[_Union[DecisionReach, _Mapping]] = ...) -> None: ...

class DecisionReach(_message.Message):
    __slots__ = ("input", "session", "surface")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SURFACE_FIELD_NUMBER: _ClassVar[int]
    input: bool
    session: bool
    surface: bool
    def __init__(self, input: bool = ..., session: bool = ..., surface: bool = ...) -> None: ...

class ListRulesRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "source", "tenant", "include_ended")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ENDED_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    source: str
    tenant: str
    include_ended: bool
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., source: _Optional[str] = ..., tenant: _Optional[str] = ..., include_ended: bool = ...) -> None: ...

class ListRulesResponse(_message.Message):
    __slots__ = ("rules", "next_page_token", "policy_digest", "faults")
    RULES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    POLICY_DIGEST_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    rules: _containers.RepeatedCompositeFieldContainer[PermissionRule]
    next_page_token: str
    policy_digest: str
    faults: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, rules: _Optional[_Iterable[_Union[PermissionRule, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., policy_digest: _Optional[str] = ..., faults: _Optional[_Iterable[str]] = ...) -> None: ...

class PermissionRule(_message.Message):
    __slots__ = ("rule_id", "source", "source_code", "behavior", "matcher", "reason", "facts", "arguments", "scope", "author", "created_at", "expires_at", "match", "not_match", "shadow", "origin", "revoked_at", "revoked_by", "pin")
    RULE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_CODE_FIELD_NUMBER: _ClassVar[int]
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    MATCHER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    MATCH_FIELD_NUMBER: _ClassVar[int]
    NOT_MATCH_FIELD_NUMBER: _ClassVar[int]
    SHADOW_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    REVOKED_AT_FIELD_NUMBER: _ClassVar[int]
    REVOKED_BY_FIELD_NUMBER: _ClassVar[int]
    PIN_FIELD_NUMBER: _ClassVar[int]
    rule_id: str
    source: str
    source_code: _vocabulary_pb2.RuleSource
    behavior: _vocabulary_pb2.Behavior
    matcher: str
    reason: str
    facts: _containers.RepeatedScalarFieldContainer[str]
    arguments: _containers.RepeatedCompositeFieldContainer[_rule_pb2.ArgumentCondition]
    scope: _rule_pb2.RuleScope
    author: str
    created_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    match: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    not_match: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    shadow: bool
    origin: str
    revoked_at: _timestamp_pb2.Timestamp
    revoked_by: str
    pin: RulePin
    def __init__(self, rule_id: _Optional[str] = ..., source: _Optional[str] = ..., source_code: _Optional[_Union[_vocabulary_pb2.RuleSource, str]] = ..., behavior: _Optional[_Union[_vocabulary_pb2.Behavior, str]] = ..., matcher: _Optional[str] = ..., reason: _Optional[str] = ..., facts: _Optional[_Iterable[str]] = ..., arguments: _Optional[_Iterable[_Union[_rule_pb2.ArgumentCondition, _Mapping]]] = ..., scope: _Optional[_Union[_rule_pb2.RuleScope, _Mapping]] = ..., author: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., match: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ..., not_match: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ..., shadow: bool = ..., origin: _Optional[str] = ..., revoked_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revoked_by: _Optional[str] = ..., pin: _Optional[_Union[RulePin, _Mapping]] = ...) -> None: ...

class RulePin(_message.Message):
    __slots__ = ("declaration_digest", "registration")
    DECLARATION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    REGISTRATION_FIELD_NUMBER: _ClassVar[int]
    declaration_digest: str
    registration: _payload_pb2.JsonPayload
    def __init__(self, declaration_digest: _Optional[str] = ..., registration: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ...) -> None: ...

class ListApprovalsRequest(_message.Message):
    __slots__ = ("state", "tenant", "page_size", "page_token", "queue")
    STATE_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    state: _vocabulary_pb2.ApprovalState
    tenant: str
    page_size: int
    page_token: str
    queue: str
    def __init__(self, state: _Optional[_Union[_vocabulary_pb2.ApprovalState, str]] = ..., tenant: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., queue: _Optional[str] = ...) -> None: ...

class ListApprovalsResponse(_message.Message):
    __slots__ = ("approvals", "next_page_token", "damaged_ids")
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    DAMAGED_IDS_FIELD_NUMBER: _ClassVar[int]
    approvals: _containers.RepeatedCompositeFieldContainer[_approval_pb2.Approval]
    next_page_token: str
    damaged_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, approvals: _Optional[_Iterable[_Union[_approval_pb2.Approval, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., damaged_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetApprovalRequest(_message.Message):
    __slots__ = ("approval_id", "view", "form")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    view: _vocabulary_pb2.RecordView
    form: _form_pb2.FormSpec
    def __init__(self, approval_id: _Optional[str] = ..., view: _Optional[_Union[_vocabulary_pb2.RecordView, str]] = ..., form: _Optional[_Union[_form_pb2.FormSpec, _Mapping]] = ...) -> None: ...

class GetApprovalResponse(_message.Message):
    __slots__ = ("approval", "json", "formed")
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    FORMED_FIELD_NUMBER: _ClassVar[int]
    approval: _approval_pb2.Approval
    json: _payload_pb2.JsonPayload
    formed: _form_pb2.Formed
    def __init__(self, approval: _Optional[_Union[_approval_pb2.Approval, _Mapping]] = ..., json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., formed: _Optional[_Union[_form_pb2.Formed, _Mapping]] = ...) -> None: ...

class ResolveApprovalRequest(_message.Message):
    __slots__ = ("approval_id", "request_id", "behavior", "feedback", "resolved_by", "option", "updated_input", "suggestion_id", "content_blocks", "acp_outcome")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_BY_FIELD_NUMBER: _ClassVar[int]
    OPTION_FIELD_NUMBER: _ClassVar[int]
    UPDATED_INPUT_FIELD_NUMBER: _ClassVar[int]
    SUGGESTION_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    ACP_OUTCOME_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    request_id: str
    behavior: _vocabulary_pb2.Behavior
    feedback: str
    resolved_by: str
    option: _vocabulary_pb2.PermissionOption
    updated_input: _payload_pb2.JsonPayload
    suggestion_id: str
    content_blocks: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    acp_outcome: _payload_pb2.JsonPayload
    def __init__(self, approval_id: _Optional[str] = ..., request_id: _Optional[str] = ..., behavior: _Optional[_Union[_vocabulary_pb2.Behavior, str]] = ..., feedback: _Optional[str] = ..., resolved_by: _Optional[str] = ..., option: _Optional[_Union[_vocabulary_pb2.PermissionOption, str]] = ..., updated_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., suggestion_id: _Optional[str] = ..., content_blocks: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ..., acp_outcome: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ...) -> None: ...

class ResolveApprovalResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: _approval_pb2.Approval
    def __init__(self, approval: _Optional[_Union[_approval_pb2.Approval, _Mapping]] = ...) -> None: ...

class WithdrawApprovalRequest(_message.Message):
    __slots__ = ("approval_id", "reason")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    reason: str
    def __init__(self, approval_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class WithdrawApprovalResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: _approval_pb2.Approval
    def __init__(self, approval: _Optional[_Union[_approval_pb2.Approval, _Mapping]] = ...) -> None: ...

class DeleteApprovalsRequest(_message.Message):
    __slots__ = ("invocation_ids", "approval_ids")
    INVOCATION_IDS_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_IDS_FIELD_NUMBER: _ClassVar[int]
    invocation_ids: _containers.RepeatedScalarFieldContainer[str]
    approval_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, invocation_ids: _Optional[_Iterable[str]] = ..., approval_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class DeleteApprovalsResponse(_message.Message):
    __slots__ = ("deleted",)
    DELETED_FIELD_NUMBER: _ClassVar[int]
    deleted: int
    def __init__(self, deleted: _Optional[int] = ...) -> None: ...

class WatchApprovalsRequest(_message.Message):
    __slots__ = ("from_revision", "tenant")
    FROM_REVISION_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    from_revision: int
    tenant: str
    def __init__(self, from_revision: _Optional[int] = ..., tenant: _Optional[str] = ...) -> None: ...

class WatchApprovalsResponse(_message.Message):
    __slots__ = ("changes", "revision")
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[ApprovalChange]
    revision: int
    def __init__(self, changes: _Optional[_Iterable[_Union[ApprovalChange, _Mapping]]] = ..., revision: _Optional[int] = ...) -> None: ...

class ApprovalChange(_message.Message):
    __slots__ = ("approval", "revision")
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    approval: _approval_pb2.Approval
    revision: int
    def __init__(self, approval: _Optional[_Union[_approval_pb2.Approval, _Mapping]] = ..., revision: _Optional[int] = ...) -> None: ...

class AddRulesRequest(_message.Message):
    __slots__ = ("rules", "validate_only", "request_id")
    RULES_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    rules: _containers.RepeatedCompositeFieldContainer[PermissionRule]
    validate_only: bool
    request_id: str
    def __init__(self, rules: _Optional[_Iterable[_Union[PermissionRule, _Mapping]]] = ..., validate_only: bool = ..., request_id: _Optional[str] = ...) -> None: ...

class AddRulesResponse(_message.Message):
    __slots__ = ("rules", "policy_digest")
    RULES_FIELD_NUMBER: _ClassVar[int]
    POLICY_DIGEST_FIELD_NUMBER: _ClassVar[int]
    rules: _containers.RepeatedCompositeFieldContainer[PermissionRule]
    policy_digest: str
    def __init__(self, rules: _Optional[_Iterable[_Union[PermissionRule, _Mapping]]] = ..., policy_digest: _Optional[str] = ...) -> None: ...

class RevokeRuleRequest(_message.Message):
    __slots__ = ("rule_id", "reason")
    RULE_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    rule_id: str
    reason: str
    def __init__(self, rule_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RevokeRuleResponse(_message.Message):
    __slots__ = ("rule", "policy_digest")
    RULE_FIELD_NUMBER: _ClassVar[int]
    POLICY_DIGEST_FIELD_NUMBER: _ClassVar[int]
    rule: PermissionRule
    policy_digest: str
    def __init__(self, rule: _Optional[_Union[PermissionRule, _Mapping]] = ..., policy_digest: _Optional[str] = ...) -> None: ...

class ReloadRulesRequest(_message.Message):
    __slots__ = ("validate_only",)
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    validate_only: bool
    def __init__(self, validate_only: bool = ...) -> None: ...

class ReloadRulesResponse(_message.Message):
    __slots__ = ("policy_digest", "rules")
    POLICY_DIGEST_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    policy_digest: str
    rules: int
    def __init__(self, policy_digest: _Optional[str] = ..., rules: _Optional[int] = ...) -> None: ...

class WatchPolicyRequest(_message.Message):
    __slots__ = ("denied_tools",)
    DENIED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    denied_tools: bool
    def __init__(self, denied_tools: bool = ...) -> None: ...

class WatchPolicyResponse(_message.Message):
    __slots__ = ("policy_digest", "revision", "denied_tools")
    POLICY_DIGEST_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    DENIED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    policy_digest: str
    revision: int
    denied_tools: _containers.RepeatedCompositeFieldContainer[DeniedTools]
    def __init__(self, policy_digest: _Optional[str] = ..., revision: _Optional[int] = ..., denied_tools: _Optional[_Iterable[_Union[DeniedTools, _Mapping]]] = ...) -> None: ...

class DeniedTools(_message.Message):
    __slots__ = ("rule_id", "tools", "tenant", "namespace", "reason")
    RULE_ID_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    rule_id: str
    tools: str
    tenant: str
    namespace: str
    reason: str
    def __init__(self, rule_id: _Optional[str] = ..., tools: _Optional[str] = ..., tenant: _Optional[str] = ..., namespace: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...
