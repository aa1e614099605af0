from toolplane.v1 import external_mapping_pb2 as _external_mapping_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SafetyFact(_message.Message):
    __slots__ = ("known", "rule")
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    known: bool
    rule: str
    def __init__(self, known: bool = ..., rule: _Optional[str] = ...) -> None: ...

class InputSafety(_message.Message):
    __slots__ = ("is_read_only", "is_concurrency_safe", "is_destructive", "is_open_world", "is_idempotent", "requires_exclusive_context")
    IS_READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    IS_CONCURRENCY_SAFE_FIELD_NUMBER: _ClassVar[int]
    IS_DESTRUCTIVE_FIELD_NUMBER: _ClassVar[int]
    IS_OPEN_WORLD_FIELD_NUMBER: _ClassVar[int]
    IS_IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_EXCLUSIVE_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    is_read_only: bool
    is_concurrency_safe: bool
    is_destructive: bool
    is_open_world: bool
    is_idempotent: bool
    requires_exclusive_context: bool
    def __init__(self, is_read_only: bool = ..., is_concurrency_safe: bool = ..., is_destructive: bool = ..., is_open_world: bool = ..., is_idempotent: bool = ..., requires_exclusive_context: bool = ...) -> None: ...

class ToolInterface(_message.Message):
    __slots__ = ("schema_version", "interface_id", "tool_id", "name", "aliases", "search_hint", "model_input_schema", "runtime_input_schema", "output_schema", "strict", "schema_visibility", "should_defer", "always_load", "is_enabled", "is_read_only", "is_concurrency_safe", "is_destructive", "is_open_world", "is_idempotent", "requires_user_interaction", "classifier_input", "permission_matcher", "execution_profile_ref", "permission_profile_ref", "persistence_policy_ref", "max_inline_chars", "interrupt_behavior", "required_credentials", "feature_gate_refs", "rendering", "external_mappings")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    INTERFACE_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    SEARCH_HINT_FIELD_NUMBER: _ClassVar[int]
    MODEL_INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    SHOULD_DEFER_FIELD_NUMBER: _ClassVar[int]
    ALWAYS_LOAD_FIELD_NUMBER: _ClassVar[int]
    IS_ENABLED_FIELD_NUMBER: _ClassVar[int]
    IS_READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    IS_CONCURRENCY_SAFE_FIELD_NUMBER: _ClassVar[int]
    IS_DESTRUCTIVE_FIELD_NUMBER: _ClassVar[int]
    IS_OPEN_WORLD_FIELD_NUMBER: _ClassVar[int]
    IS_IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_USER_INTERACTION_FIELD_NUMBER: _ClassVar[int]
    CLASSIFIER_INPUT_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_MATCHER_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_PROFILE_REF_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_PROFILE_REF_FIELD_NUMBER: _ClassVar[int]
    PERSISTENCE_POLICY_REF_FIELD_NUMBER: _ClassVar[int]
    MAX_INLINE_CHARS_FIELD_NUMBER: _ClassVar[int]
    INTERRUPT_BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATE_REFS_FIELD_NUMBER: _ClassVar[int]
    RENDERING_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_MAPPINGS_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    interface_id: str
    tool_id: str
    name: str
    aliases: _containers.RepeatedScalarFieldContainer[str]
    search_hint: str
    model_input_schema: _payload_pb2.JsonPayload
    runtime_input_schema: _payload_pb2.JsonPayload
    output_schema: _payload_pb2.JsonPayload
    strict: bool
    schema_visibility: _vocabulary_pb2.SchemaVisibility
    should_defer: bool
    always_load: bool
    is_enabled: SafetyFact
    is_read_only: SafetyFact
    is_concurrency_safe: SafetyFact
    is_destructive: SafetyFact
    is_open_world: SafetyFact
    is_idempotent: SafetyFact
    requires_user_interaction: bool
    classifier_input: _payload_pb2.JsonPayload
    permission_matcher: str
    execution_profile_ref: str
    permission_profile_ref: str
    persistence_policy_ref: str
    max_inline_chars: int
    interrupt_behavior: _vocabulary_pb2.InterruptBehavior
    required_credentials: _containers.RepeatedScalarFieldContainer[str]
    feature_gate_refs: _containers.RepeatedScalarFieldContainer[str]
    rendering: _payload_pb2.JsonPayload
    external_mappings: _containers.RepeatedCompositeFieldContainer[_external_mapping_pb2.ExternalMapping]
    def __init__(self, schema_version: _Optional[str] = ..., interface_id: _Optional[str] = ..., tool_id: _Optional[str] = ..., name: _Optional[str] = ..., aliases: _Optional[_Iterable[str]] = ..., search_hint: _Optional[str] = ..., model_input_schema: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., runtime_input_schema: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., output_schema: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., strict: bool = ..., schema_visibility: _Optional[_Union[_vocabulary_pb2.SchemaVisibility, str]] = ..., should_defer: bool = ..., always_load: bool = ..., is_enabled: _Optional[_Union[SafetyFact, _Mapping]] = ..., is_read_only: _Optional[_Union[SafetyFact, _Mapping]] = ..., is_concurrency_safe: _Optional[_Union[SafetyFact, _Mapping]] = ..., is_destructive: _Optional[_Union[SafetyFact, _Mapping]] = ..., is_open_world: _Optional[_Union[SafetyFact, _Mapping]] = ..., is_idempotent: _Optional[_Union[SafetyFact, _Mapping]] = ..., requires_user_interaction: bool = ..., classifier_input: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., permission_matcher: _Optional[str] = ..., execution_profile_ref: _Optional[str] = ..., permission_profile_ref: _Optional[str] = ..., persistence_policy_ref: _Optional[str] = ..., max_inline_chars: _Optional[int] = ..., interrupt_behavior: _Optional[_Union[_vocabulary_pb2.InterruptBehavior, str]] = ..., required_credentials: _Optional[_Iterable[str]] = ..., feature_gate_refs: _Optional[_Iterable[str]] = ..., rendering: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., external_mappings: _Optional[_Iterable[_Union[_external_mapping_pb2.ExternalMapping, _Mapping]]] = ...) -> None: ...
