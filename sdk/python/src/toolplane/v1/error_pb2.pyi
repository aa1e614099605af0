from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolError(_message.Message):
    __slots__ = ("error_code", "error_class", "error_class_code", "message", "recoverability", "recoverability_code", "retry_after_ms", "native_error_ref", "policy_refs", "evidence_refs", "abort_reason", "abort_reason_code", "side_effects", "blocked_path", "field_violations", "recovery_suggestion", "next_steps", "can_retry")
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    ERROR_CLASS_FIELD_NUMBER: _ClassVar[int]
    ERROR_CLASS_CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RECOVERABILITY_FIELD_NUMBER: _ClassVar[int]
    RECOVERABILITY_CODE_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    NATIVE_ERROR_REF_FIELD_NUMBER: _ClassVar[int]
    POLICY_REFS_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_REFS_FIELD_NUMBER: _ClassVar[int]
    ABORT_REASON_FIELD_NUMBER: _ClassVar[int]
    ABORT_REASON_CODE_FIELD_NUMBER: _ClassVar[int]
    SIDE_EFFECTS_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_PATH_FIELD_NUMBER: _ClassVar[int]
    FIELD_VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    RECOVERY_SUGGESTION_FIELD_NUMBER: _ClassVar[int]
    NEXT_STEPS_FIELD_NUMBER: _ClassVar[int]
    CAN_RETRY_FIELD_NUMBER: _ClassVar[int]
    error_code: str
    error_class: str
    error_class_code: _vocabulary_pb2.ErrorClass
    message: str
    recoverability: str
    recoverability_code: _vocabulary_pb2.Recoverability
    retry_after_ms: int
    native_error_ref: str
    policy_refs: _containers.RepeatedScalarFieldContainer[str]
    evidence_refs: _containers.RepeatedScalarFieldContainer[str]
    abort_reason: str
    abort_reason_code: _vocabulary_pb2.AbortReason
    side_effects: str
    blocked_path: str
    field_violations: _containers.RepeatedCompositeFieldContainer[FieldViolation]
    recovery_suggestion: str
    next_steps: _containers.RepeatedScalarFieldContainer[str]
    can_retry: bool
    def __init__(self, error_code: _Optional[str] = ..., error_class: _Optional[str] = ..., error_class_code: _Optional[_Union[_vocabulary_pb2.ErrorClass, str]] = ..., message: _Optional[str] = ..., recoverability: _Optional[str] = ..., recoverability_code: _Optional[_Union[_vocabulary_pb2.Recoverability, str]] = ..., retry_after_ms: _Optional[int] = ..., native_error_ref: _Optional[str] = ..., policy_refs: _Optional[_Iterable[str]] = ..., evidence_refs: _Optional[_Iterable[str]] = ..., abort_reason: _Optional[str] = ..., abort_reason_code: _Optional[_Union[_vocabulary_pb2.AbortReason, str]] = ..., side_effects: _Optional[str] = ..., blocked_path: _Optional[str] = ..., field_violations: _Optional[_Iterable[_Union[FieldViolation, _Mapping]]] = ..., recovery_suggestion: _Optional[str] = ..., next_steps: _Optional[_Iterable[str]] = ..., can_retry: bool = ...) -> None: ...

class FieldViolation(_message.Message):
    __slots__ = ("field", "description")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    field: str
    description: str
    def __init__(self, field: _Optional[str] = ..., description: _Optional[str] = ...) -> None: ...
