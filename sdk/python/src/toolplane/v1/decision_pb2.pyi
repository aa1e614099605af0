import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PermissionDecision(_message.Message):
    __slots__ = ("schema_version", "decision_id", "invocation_id", "behavior", "mode", "source", "source_code", "reason", "rule_refs", "policy_refs", "updated_input", "updated_input_ref", "user_modified", "suggested_updates", "pending_classifier_check", "blocked_path", "content_blocks", "accept_feedback", "decided_at", "expires_at", "approval_request_ref", "policy_digest", "denied_paths", "reused_from")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RULE_REFS_FIELD_NUMBER: _ClassVar[int]
    POLICY_REFS_FIELD_NUMBER: _ClassVar[int]
    UPDATED_INPUT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_INPUT_REF_FIELD_NUMBER: _ClassVar[int]
    USER_MODIFIED_FIELD_NUMBER: _ClassVar[int]
    SUGGESTED_UPDATES_FIELD_NUMBER: _ClassVar[int]
    PENDING_CLASSIFIER_CHECK_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_PATH_FIELD_NUMBER: _ClassVar[int]
    CONTENT_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_FEEDBACK_FIELD_NUMBER: _ClassVar[int]
    DECIDED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_REQUEST_REF_FIELD_NUMBER: _ClassVar[int]
    POLICY_DIGEST_FIELD_NUMBER: _ClassVar[int]
    DENIED_PATHS_FIELD_NUMBER: _ClassVar[int]
    REUSED_FROM_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    decision_id: str
    invocation_id: str
    behavior: _vocabulary_pb2.Behavior
    mode: str
    source: str
    source_code: _vocabulary_pb2.RuleSource
    reason: DecisionReason
    rule_refs: _containers.RepeatedScalarFieldContainer[str]
    policy_refs: _containers.RepeatedScalarFieldContainer[str]
    updated_input: _payload_pb2.JsonPayload
    updated_input_ref: str
    user_modified: bool
    suggested_updates: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    pending_classifier_check: _payload_pb2.JsonPayload
    blocked_path: str
    content_blocks: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    accept_feedback: str
    decided_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    approval_request_ref: str
    policy_digest: str
    denied_paths: DeniedPaths
    reused_from: str
    def __init__(self, schema_version: _Optional[str] = ..., decision_id: _Optional[str] = ..., invocation_id: _Optional[str] = ..., behavior: _Optional[_Union[_vocabulary_pb2.Behavior, str]] = ..., mode: _Optional[str] = ..., source: _Optional[str] = ..., source_code: _Optional[_Union[_vocabulary_pb2.RuleSource, str]] = ..., reason: _Optional[_Union[DecisionReason, _Mapping]] = ..., rule_refs: _Optional[_Iterable[str]] = ..., policy_refs: _Optional[_Iterable[str]] = ..., updated_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., updated_input_ref: _Optional[str] = ..., user_modified: bool = ..., suggested_updates: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ..., pending_classifier_check: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., blocked_path: _Optional[str] = ..., content_blocks: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ..., accept_feedback: _Optional[str] = ..., decided_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., approval_request_ref: _Optional[str] = ..., policy_digest: _Optional[str] = ..., denied_paths: _Optional[_Union[DeniedPaths, _Mapping]] = ..., reused_from: _Optional[str] = ...) -> None: ...

class DeniedPaths(_message.Message):
    __slots__ = ("read", "write")
    READ_FIELD_NUMBER: _ClassVar[int]
    WRITE_FIELD_NUMBER: _ClassVar[int]
    read: _containers.RepeatedScalarFieldContainer[str]
    write: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, read: _Optional[_Iterable[str]] = ..., write: _Optional[_Iterable[str]] = ...) -> None: ...

class DecisionReason(_message.Message):
    __slots__ = ("type", "type_code", "rule_ref", "message")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    TYPE_CODE_FIELD_NUMBER: _ClassVar[int]
    RULE_REF_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    type: str
    type_code: _vocabulary_pb2.ReasonType
    rule_ref: str
    message: str
    def __init__(self, type: _Optional[str] = ..., type_code: _Optional[_Union[_vocabulary_pb2.ReasonType, str]] = ..., rule_ref: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...
