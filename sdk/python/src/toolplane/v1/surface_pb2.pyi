import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import deferred_tool_pb2 as _deferred_tool_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LoadedTool(_message.Message):
    __slots__ = ("tool_id", "name", "loaded_at", "digest", "changed", "uncallable", "message")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    LOADED_AT_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    UNCALLABLE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    name: str
    loaded_at: _timestamp_pb2.Timestamp
    digest: str
    changed: str
    uncallable: str
    message: str
    def __init__(self, tool_id: _Optional[str] = ..., name: _Optional[str] = ..., loaded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., digest: _Optional[str] = ..., changed: _Optional[str] = ..., uncallable: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class HiddenTool(_message.Message):
    __slots__ = ("tool_id", "name", "reason", "reason_code", "message")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REASON_CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    name: str
    reason: str
    reason_code: _vocabulary_pb2.HiddenReason
    message: str
    def __init__(self, tool_id: _Optional[str] = ..., name: _Optional[str] = ..., reason: _Optional[str] = ..., reason_code: _Optional[_Union[_vocabulary_pb2.HiddenReason, str]] = ..., message: _Optional[str] = ...) -> None: ...

class ToolSurface(_message.Message):
    __slots__ = ("schema_version", "surface_id", "scope", "scope_code", "created_at", "producer", "tool_refs", "loaded_tools", "deferred_tools", "blocked_tools", "excluded_tools", "selection_policy", "default_tool_choice", "capability_requirements", "model_capabilities", "role_constraints", "surface_reason", "policy_refs", "runtime_refs", "tenant", "revision", "counts", "next_tools_token", "moment", "pinned", "outdated", "budget", "parent_surface_id")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_CODE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_FIELD_NUMBER: _ClassVar[int]
    TOOL_REFS_FIELD_NUMBER: _ClassVar[int]
    LOADED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    SELECTION_POLICY_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_TOOL_CHOICE_FIELD_NUMBER: _ClassVar[int]
    CAPABILITY_REQUIREMENTS_FIELD_NUMBER: _ClassVar[int]
    MODEL_CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    ROLE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    SURFACE_REASON_FIELD_NUMBER: _ClassVar[int]
    POLICY_REFS_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_REFS_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_TOOLS_TOKEN_FIELD_NUMBER: _ClassVar[int]
    MOMENT_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    OUTDATED_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    PARENT_SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    surface_id: str
    scope: str
    scope_code: _vocabulary_pb2.SurfaceScope
    created_at: _timestamp_pb2.Timestamp
    producer: str
    tool_refs: _containers.RepeatedScalarFieldContainer[str]
    loaded_tools: _containers.RepeatedCompositeFieldContainer[LoadedTool]
    deferred_tools: _containers.RepeatedCompositeFieldContainer[_deferred_tool_pb2.DeferredToolRef]
    blocked_tools: _containers.RepeatedCompositeFieldContainer[HiddenTool]
    excluded_tools: _containers.RepeatedCompositeFieldContainer[HiddenTool]
    selection_policy: _payload_pb2.JsonPayload
    default_tool_choice: _payload_pb2.JsonPayload
    capability_requirements: _containers.RepeatedScalarFieldContainer[str]
    model_capabilities: _payload_pb2.JsonPayload
    role_constraints: _payload_pb2.JsonPayload
    surface_reason: str
    policy_refs: _containers.RepeatedScalarFieldContainer[str]
    runtime_refs: _containers.RepeatedScalarFieldContainer[str]
    tenant: str
    revision: int
    counts: SurfaceCounts
    next_tools_token: str
    moment: str
    pinned: bool
    outdated: SurfaceOutdated
    budget: SurfaceBudgetUse
    parent_surface_id: str
    def __init__(self, schema_version: _Optional[str] = ..., surface_id: _Optional[str] = ..., scope: _Optional[str] = ..., scope_code: _Optional[_Union[_vocabulary_pb2.SurfaceScope, str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., producer: _Optional[str] = ..., tool_refs: _Optional[_Iterable[str]] = ..., loaded_tools: _Optional[_Iterable[_Union[LoadedTool, _Mapping]]] = ..., deferred_tools: _Optional[_Iterable[_Union[_deferred_tool_pb2.DeferredToolRef, _Mapping]]] = ..., blocked_tools: _Optional[_Iterable[_Union[HiddenTool, _Mapping]]] = ..., excluded_tools: _Optional[_Iterable[_Union[HiddenTool, _Mapping]]] = ..., selection_policy: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., default_tool_choice: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., capability_requirements: _Optional[_Iterable[str]] = ..., model_capabilities: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., role_constraints: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., surface_reason: _Optional[str] = ..., policy_refs: _Optional[_Iterable[str]] = ..., runtime_refs: _Optional[_Iterable[str]] = ..., tenant: _Optional[str] = ..., revision: _Optional[int] = ..., counts: _Optional[_Union[SurfaceCounts, _Mapping]] = ..., next_tools_token: _Optional[str] = ..., moment: _Optional[str] = ..., pinned: bool = ..., outdated: _Optional[_Union[SurfaceOutdated, _Mapping]] = ..., budget: _Optional[_Union[SurfaceBudgetUse, _Mapping]] = ..., parent_surface_id: _Optional[str] = ...) -> None: ...

class SurfaceBudget(_message.Message):
    __slots__ = ("max_tools", "max_schema_tokens", "max_schema_bytes")
    MAX_TOOLS_FIELD_NUMBER: _ClassVar[int]
    MAX_SCHEMA_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_SCHEMA_BYTES_FIELD_NUMBER: _ClassVar[int]
    max_tools: int
    max_schema_tokens: int
    max_schema_bytes: int
    def __init__(self, max_tools: _Optional[int] = ..., max_schema_tokens: _Optional[int] = ..., max_schema_bytes: _Optional[int] = ...) -> None: ...

class SurfaceBudgetUse(_message.Message):
    __slots__ = ("budget", "tools", "schema_tokens", "schema_bytes", "deferred", "deferred_tools")
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_BYTES_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    budget: SurfaceBudget
    tools: int
    schema_tokens: int
    schema_bytes: int
    deferred: int
    deferred_tools: _containers.RepeatedCompositeFieldContainer[BudgetTool]
    def __init__(self, budget: _Optional[_Union[SurfaceBudget, _Mapping]] = ..., tools: _Optional[int] = ..., schema_tokens: _Optional[int] = ..., schema_bytes: _Optional[int] = ..., deferred: _Optional[int] = ..., deferred_tools: _Optional[_Iterable[_Union[BudgetTool, _Mapping]]] = ...) -> None: ...

class BudgetTool(_message.Message):
    __slots__ = ("tool_id", "name")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    name: str
    def __init__(self, tool_id: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class SurfaceOutdated(_message.Message):
    __slots__ = ("added", "removed", "changed", "more", "tools")
    ADDED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    added: int
    removed: int
    changed: int
    more: bool
    tools: _containers.RepeatedCompositeFieldContainer[OutdatedTool]
    def __init__(self, added: _Optional[int] = ..., removed: _Optional[int] = ..., changed: _Optional[int] = ..., more: bool = ..., tools: _Optional[_Iterable[_Union[OutdatedTool, _Mapping]]] = ...) -> None: ...

class OutdatedTool(_message.Message):
    __slots__ = ("tool_id", "name", "change")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    name: str
    change: str
    def __init__(self, tool_id: _Optional[str] = ..., name: _Optional[str] = ..., change: _Optional[str] = ...) -> None: ...

class SurfaceCounts(_message.Message):
    __slots__ = ("loaded", "deferred", "blocked", "excluded")
    LOADED_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_FIELD_NUMBER: _ClassVar[int]
    loaded: int
    deferred: int
    blocked: int
    excluded: int
    def __init__(self, loaded: _Optional[int] = ..., deferred: _Optional[int] = ..., blocked: _Optional[int] = ..., excluded: _Optional[int] = ...) -> None: ...

class SurfaceTool(_message.Message):
    __slots__ = ("loaded", "deferred", "blocked", "excluded", "alias")
    LOADED_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_FIELD_NUMBER: _ClassVar[int]
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    loaded: LoadedTool
    deferred: _deferred_tool_pb2.DeferredToolRef
    blocked: HiddenTool
    excluded: HiddenTool
    alias: str
    def __init__(self, loaded: _Optional[_Union[LoadedTool, _Mapping]] = ..., deferred: _Optional[_Union[_deferred_tool_pb2.DeferredToolRef, _Mapping]] = ..., blocked: _Optional[_Union[HiddenTool, _Mapping]] = ..., excluded: _Optional[_Union[HiddenTool, _Mapping]] = ..., alias: _Optional[str] = ...) -> None: ...
