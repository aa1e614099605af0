from toolplane.v1 import contract_pb2 as _contract_pb2
from toolplane.v1 import external_mapping_pb2 as _external_mapping_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolDeclaration(_message.Message):
    __slots__ = ("schema_version", "tool_id", "namespace", "name", "aliases", "search_hint", "title", "description", "lifecycle", "tool_kind", "tool_kind_code", "capability_refs", "input_contract", "output_contract", "interface_ref", "execution_profile_ref", "permission_profile_ref", "external_mappings", "annotations", "search_examples", "tags")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    SEARCH_HINT_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    LIFECYCLE_FIELD_NUMBER: _ClassVar[int]
    TOOL_KIND_FIELD_NUMBER: _ClassVar[int]
    TOOL_KIND_CODE_FIELD_NUMBER: _ClassVar[int]
    CAPABILITY_REFS_FIELD_NUMBER: _ClassVar[int]
    INPUT_CONTRACT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_CONTRACT_FIELD_NUMBER: _ClassVar[int]
    INTERFACE_REF_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_PROFILE_REF_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_PROFILE_REF_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_MAPPINGS_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    SEARCH_EXAMPLES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    tool_id: str
    namespace: str
    name: str
    aliases: _containers.RepeatedScalarFieldContainer[str]
    search_hint: str
    title: str
    description: str
    lifecycle: _vocabulary_pb2.ToolLifecycle
    tool_kind: str
    tool_kind_code: _vocabulary_pb2.ToolKind
    capability_refs: _containers.RepeatedScalarFieldContainer[str]
    input_contract: _contract_pb2.InputContract
    output_contract: _contract_pb2.OutputContract
    interface_ref: str
    execution_profile_ref: str
    permission_profile_ref: str
    external_mappings: _containers.RepeatedCompositeFieldContainer[_external_mapping_pb2.ExternalMapping]
    annotations: _payload_pb2.JsonPayload
    search_examples: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, schema_version: _Optional[str] = ..., tool_id: _Optional[str] = ..., namespace: _Optional[str] = ..., name: _Optional[str] = ..., aliases: _Optional[_Iterable[str]] = ..., search_hint: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., lifecycle: _Optional[_Union[_vocabulary_pb2.ToolLifecycle, str]] = ..., tool_kind: _Optional[str] = ..., tool_kind_code: _Optional[_Union[_vocabulary_pb2.ToolKind, str]] = ..., capability_refs: _Optional[_Iterable[str]] = ..., input_contract: _Optional[_Union[_contract_pb2.InputContract, _Mapping]] = ..., output_contract: _Optional[_Union[_contract_pb2.OutputContract, _Mapping]] = ..., interface_ref: _Optional[str] = ..., execution_profile_ref: _Optional[str] = ..., permission_profile_ref: _Optional[str] = ..., external_mappings: _Optional[_Iterable[_Union[_external_mapping_pb2.ExternalMapping, _Mapping]]] = ..., annotations: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., search_examples: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...
