from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class InputContract(_message.Message):
    __slots__ = ("model_input_schema", "runtime_input_schema", "strict", "defaults", "examples", "sensitive_fields", "internal_only_fields", "argument_mode", "argument_mode_code", "mutation_policy")
    MODEL_INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    DEFAULTS_FIELD_NUMBER: _ClassVar[int]
    EXAMPLES_FIELD_NUMBER: _ClassVar[int]
    SENSITIVE_FIELDS_FIELD_NUMBER: _ClassVar[int]
    INTERNAL_ONLY_FIELDS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENT_MODE_FIELD_NUMBER: _ClassVar[int]
    ARGUMENT_MODE_CODE_FIELD_NUMBER: _ClassVar[int]
    MUTATION_POLICY_FIELD_NUMBER: _ClassVar[int]
    model_input_schema: _payload_pb2.JsonPayload
    runtime_input_schema: _payload_pb2.JsonPayload
    strict: bool
    defaults: _payload_pb2.JsonPayload
    examples: _containers.RepeatedCompositeFieldContainer[_payload_pb2.JsonPayload]
    sensitive_fields: _containers.RepeatedScalarFieldContainer[str]
    internal_only_fields: _containers.RepeatedScalarFieldContainer[str]
    argument_mode: str
    argument_mode_code: _vocabulary_pb2.ArgumentMode
    mutation_policy: str
    def __init__(self, model_input_schema: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., runtime_input_schema: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., strict: bool = ..., defaults: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., examples: _Optional[_Iterable[_Union[_payload_pb2.JsonPayload, _Mapping]]] = ..., sensitive_fields: _Optional[_Iterable[str]] = ..., internal_only_fields: _Optional[_Iterable[str]] = ..., argument_mode: _Optional[str] = ..., argument_mode_code: _Optional[_Union[_vocabulary_pb2.ArgumentMode, str]] = ..., mutation_policy: _Optional[str] = ...) -> None: ...

class OutputContract(_message.Message):
    __slots__ = ("structured_schema", "content_types", "artifact_expectations", "max_inline_bytes", "max_inline_chars", "persistence_policy_ref", "rendering_boundary", "redaction_rules", "fallback_summary")
    STRUCTURED_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPES_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_EXPECTATIONS_FIELD_NUMBER: _ClassVar[int]
    MAX_INLINE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_INLINE_CHARS_FIELD_NUMBER: _ClassVar[int]
    PERSISTENCE_POLICY_REF_FIELD_NUMBER: _ClassVar[int]
    RENDERING_BOUNDARY_FIELD_NUMBER: _ClassVar[int]
    REDACTION_RULES_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    structured_schema: _payload_pb2.JsonPayload
    content_types: _containers.RepeatedScalarFieldContainer[str]
    artifact_expectations: _containers.RepeatedScalarFieldContainer[str]
    max_inline_bytes: int
    max_inline_chars: int
    persistence_policy_ref: str
    rendering_boundary: _payload_pb2.JsonPayload
    redaction_rules: _containers.RepeatedScalarFieldContainer[str]
    fallback_summary: str
    def __init__(self, structured_schema: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., content_types: _Optional[_Iterable[str]] = ..., artifact_expectations: _Optional[_Iterable[str]] = ..., max_inline_bytes: _Optional[int] = ..., max_inline_chars: _Optional[int] = ..., persistence_policy_ref: _Optional[str] = ..., rendering_boundary: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., redaction_rules: _Optional[_Iterable[str]] = ..., fallback_summary: _Optional[str] = ...) -> None: ...
