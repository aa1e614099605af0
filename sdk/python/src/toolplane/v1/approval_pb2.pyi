import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import decision_pb2 as _decision_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Approval(_message.Message):
    __slots__ = ("schema_version", "approval_id", "tenant", "invocation_id", "tool_id", "tool_name", "declaration_digest", "input_digest", "permission_input", "actor_ref", "request", "state", "resolution", "resolved_by", "feedback", "created_at", "expires_at", "resolved_at", "call_input_digest", "options", "queue", "session_ref", "surface_id", "caller_ref", "risk_level", "chosen_option", "updated_input", "tool_registration", "outdated_rule", "definition_changes")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    DECLARATION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    INPUT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_INPUT_FIELD_NUMBER: _ClassVar[int]
    ACTOR_REF_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    RESOLUTION_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_BY_FIELD_NUMBER: _ClassVar[int]
    FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_AT_FIELD_NUMBER: _ClassVar[int]
    CALL_INPUT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    SESSION_REF_FIELD_NUMBER: _ClassVar[int]
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    CALLER_REF_FIELD_NUMBER: _ClassVar[int]
    RISK_LEVEL_FIELD_NUMBER: _ClassVar[int]
    CHOSEN_OPTION_FIELD_NUMBER: _ClassVar[int]
    UPDATED_INPUT_FIELD_NUMBER: _ClassVar[int]
    TOOL_REGISTRATION_FIELD_NUMBER: _ClassVar[int]
    OUTDATED_RULE_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_CHANGES_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    approval_id: str
    tenant: str
    invocation_id: str
    tool_id: str
    tool_name: str
    declaration_digest: str
    input_digest: str
    permission_input: _payload_pb2.JsonPayload
    actor_ref: str
    request: _decision_pb2.PermissionDecision
    state: _vocabulary_pb2.ApprovalState
    resolution: _decision_pb2.PermissionDecision
    resolved_by: str
    feedback: str
    created_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    resolved_at: _timestamp_pb2.Timestamp
    call_input_digest: str
    options: _containers.RepeatedCompositeFieldContainer[ApprovalOption]
    queue: str
    session_ref: str
    surface_id: str
    caller_ref: str
    risk_level: _vocabulary_pb2.RiskLevel
    chosen_option: _vocabulary_pb2.PermissionOption
    updated_input: _payload_pb2.JsonPayload
    tool_registration: _payload_pb2.JsonPayload
    outdated_rule: str
    definition_changes: _containers.RepeatedCompositeFieldContainer[DefinitionChange]
    def __init__(self, schema_version: _Optional[str] = ..., approval_id: _Optional[str] = ..., tenant: _Optional[str] = ..., invocation_id: _Optional[str] = ..., tool_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., declaration_digest: _Optional[str] = ..., input_digest: _Optional[str] = ..., permission_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., actor_ref: _Optional[str] = ..., request: _Optional[_Union[_decision_pb2.PermissionDecision, _Mapping]] = ..., state: _Optional[_Union[_vocabulary_pb2.ApprovalState, str]] = ..., resolution: _Optional[_Union[_decision_pb2.PermissionDecision, _Mapping]] = ..., resolved_by: _Optional[str] = ..., feedback: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., resolved_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., call_input_digest: _Optional[str] = ..., options: _Optional[_Iterable[_Union[ApprovalOption, _Mapping]]] = ..., queue: _Optional[str] = ..., session_ref: _Optional[str] = ..., surface_id: _Optional[str] = ..., caller_ref: _Optional[str] = ..., risk_level: _Optional[_Union[_vocabulary_pb2.RiskLevel, str]] = ..., chosen_option: _Optional[_Union[_vocabulary_pb2.PermissionOption, str]] = ..., updated_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., tool_registration: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., outdated_rule: _Optional[str] = ..., definition_changes: _Optional[_Iterable[_Union[DefinitionChange, _Mapping]]] = ...) -> None: ...

class DefinitionChange(_message.Message):
    __slots__ = ("field", "before", "after")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    field: str
    before: str
    after: str
    def __init__(self, field: _Optional[str] = ..., before: _Optional[str] = ..., after: _Optional[str] = ...) -> None: ...

class ApprovalOption(_message.Message):
    __slots__ = ("option_id", "name", "kind", "suggestion_id")
    OPTION_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SUGGESTION_ID_FIELD_NUMBER: _ClassVar[int]
    option_id: str
    name: str
    kind: _vocabulary_pb2.PermissionOption
    suggestion_id: str
    def __init__(self, option_id: _Optional[str] = ..., name: _Optional[str] = ..., kind: _Optional[_Union[_vocabulary_pb2.PermissionOption, str]] = ..., suggestion_id: _Optional[str] = ...) -> None: ...
