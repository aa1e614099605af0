from toolplane.v1 import declaration_pb2 as _declaration_pb2
from toolplane.v1 import error_pb2 as _error_pb2
from toolplane.v1 import event_pb2 as _event_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import registration_pb2 as _registration_pb2
from toolplane.v1 import search_pb2 as _search_pb2
from toolplane.v1 import surface_pb2 as _surface_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RegistrationOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REGISTRATION_OUTCOME_UNSPECIFIED: _ClassVar[RegistrationOutcome]
    REGISTRATION_OUTCOME_CREATED: _ClassVar[RegistrationOutcome]
    REGISTRATION_OUTCOME_UPDATED: _ClassVar[RegistrationOutcome]
    REGISTRATION_OUTCOME_UNCHANGED: _ClassVar[RegistrationOutcome]

class DeferPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DEFER_POLICY_UNSPECIFIED: _ClassVar[DeferPolicy]
    DEFER_POLICY_AUTO: _ClassVar[DeferPolicy]
    DEFER_POLICY_ALL: _ClassVar[DeferPolicy]
    DEFER_POLICY_NONE: _ClassVar[DeferPolicy]

class InteractionMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INTERACTION_MODE_UNSPECIFIED: _ClassVar[InteractionMode]
    INTERACTION_MODE_INTERACTIVE: _ClassVar[InteractionMode]
    INTERACTION_MODE_NON_INTERACTIVE: _ClassVar[InteractionMode]

class SurfaceToolChangeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SURFACE_TOOL_CHANGE_KIND_UNSPECIFIED: _ClassVar[SurfaceToolChangeKind]
    SURFACE_TOOL_CHANGE_KIND_ADDED: _ClassVar[SurfaceToolChangeKind]
    SURFACE_TOOL_CHANGE_KIND_REMOVED: _ClassVar[SurfaceToolChangeKind]
    SURFACE_TOOL_CHANGE_KIND_CHANGED: _ClassVar[SurfaceToolChangeKind]

class SurfaceToolState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SURFACE_TOOL_STATE_UNSPECIFIED: _ClassVar[SurfaceToolState]
    SURFACE_TOOL_STATE_LOADED: _ClassVar[SurfaceToolState]
    SURFACE_TOOL_STATE_DEFERRED: _ClassVar[SurfaceToolState]

class NotCallableKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NOT_CALLABLE_KIND_UNSPECIFIED: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_UNKNOWN: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_NOT_LOADED: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_BLOCKED: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_EXCLUDED: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_RETIRED: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_CHANGED: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_PROVIDER: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_RENAMED: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_LATER: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_NO_CALLS: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_NOT_CHOSEN: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_NO_MOMENT: _ClassVar[NotCallableKind]
    NOT_CALLABLE_KIND_PARENT_GONE: _ClassVar[NotCallableKind]
REGISTRATION_OUTCOME_UNSPECIFIED: RegistrationOutcome
REGISTRATION_OUTCOME_CREATED: RegistrationOutcome
REGISTRATION_OUTCOME_UPDATED: RegistrationOutcome
REGISTRATION_OUTCOME_UNCHANGED: RegistrationOutcome
DEFER_POLICY_UNSPECIFIED: DeferPolicy
DEFER_POLICY_AUTO: DeferPolicy
DEFER_POLICY_ALL: DeferPolicy
DEFER_POLICY_NONE: DeferPolicy
INTERACTION_MODE_UNSPECIFIED: InteractionMode
INTERACTION_MODE_INTERACTIVE: InteractionMode
INTERACTION_MODE_NON_INTERACTIVE: InteractionMode
SURFACE_TOOL_CHANGE_KIND_UNSPECIFIED: SurfaceToolChangeKind
SURFACE_TOOL_CHANGE_KIND_ADDED: SurfaceToolChangeKind
SURFACE_TOOL_CHANGE_KIND_REMOVED: SurfaceToolChangeKind
SURFACE_TOOL_CHANGE_KIND_CHANGED: SurfaceToolChangeKind
SURFACE_TOOL_STATE_UNSPECIFIED: SurfaceToolState
SURFACE_TOOL_STATE_LOADED: SurfaceToolState
SURFACE_TOOL_STATE_DEFERRED: SurfaceToolState
NOT_CALLABLE_KIND_UNSPECIFIED: NotCallableKind
NOT_CALLABLE_KIND_UNKNOWN: NotCallableKind
NOT_CALLABLE_KIND_NOT_LOADED: NotCallableKind
NOT_CALLABLE_KIND_BLOCKED: NotCallableKind
NOT_CALLABLE_KIND_EXCLUDED: NotCallableKind
NOT_CALLABLE_KIND_RETIRED: NotCallableKind
NOT_CALLABLE_KIND_CHANGED: NotCallableKind
NOT_CALLABLE_KIND_PROVIDER: NotCallableKind
NOT_CALLABLE_KIND_RENAMED: NotCallableKind
NOT_CALLABLE_KIND_LATER: NotCallableKind
NOT_CALLABLE_KIND_NO_CALLS: NotCallableKind
NOT_CALLABLE_KIND_NOT_CHOSEN: NotCallableKind
NOT_CALLABLE_KIND_NO_MOMENT: NotCallableKind
NOT_CALLABLE_KIND_PARENT_GONE: NotCallableKind

class RegisterToolsRequest(_message.Message):
    __slots__ = ("tools", "validate_only")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[_registration_pb2.ToolRegistration]
    validate_only: bool
    def __init__(self, tools: _Optional[_Iterable[_Union[_registration_pb2.ToolRegistration, _Mapping]]] = ..., validate_only: bool = ...) -> None: ...

class RegisterToolsResponse(_message.Message):
    __slots__ = ("tools",)
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[RegisteredTool]
    def __init__(self, tools: _Optional[_Iterable[_Union[RegisteredTool, _Mapping]]] = ...) -> None: ...

class RegisteredTool(_message.Message):
    __slots__ = ("tool_id", "digest", "revision", "outcome")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    digest: str
    revision: int
    outcome: RegistrationOutcome
    def __init__(self, tool_id: _Optional[str] = ..., digest: _Optional[str] = ..., revision: _Optional[int] = ..., outcome: _Optional[_Union[RegistrationOutcome, str]] = ...) -> None: ...

class GetToolRequest(_message.Message):
    __slots__ = ("tool_id", "name", "view")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    name: str
    view: _vocabulary_pb2.RecordView
    def __init__(self, tool_id: _Optional[str] = ..., name: _Optional[str] = ..., view: _Optional[_Union[_vocabulary_pb2.RecordView, str]] = ...) -> None: ...

class GetToolResponse(_message.Message):
    __slots__ = ("registration", "digest", "revision", "declaration_json", "interface_json", "execution_profile_json", "permission_profile_json")
    REGISTRATION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    DECLARATION_JSON_FIELD_NUMBER: _ClassVar[int]
    INTERFACE_JSON_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_PROFILE_JSON_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_PROFILE_JSON_FIELD_NUMBER: _ClassVar[int]
    registration: _registration_pb2.ToolRegistration
    digest: str
    revision: int
    declaration_json: _payload_pb2.JsonPayload
    interface_json: _payload_pb2.JsonPayload
    execution_profile_json: _payload_pb2.JsonPayload
    permission_profile_json: _payload_pb2.JsonPayload
    def __init__(self, registration: _Optional[_Union[_registration_pb2.ToolRegistration, _Mapping]] = ..., digest: _Optional[str] = ..., revision: _Optional[int] = ..., declaration_json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., interface_json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., execution_profile_json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., permission_profile_json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ...) -> None: ...

class ListToolsRequest(_message.Message):
    __slots__ = ("namespace", "lifecycle", "text", "page_size", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    LIFECYCLE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    lifecycle: _vocabulary_pb2.ToolLifecycle
    text: str
    page_size: int
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., lifecycle: _Optional[_Union[_vocabulary_pb2.ToolLifecycle, str]] = ..., text: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListToolsResponse(_message.Message):
    __slots__ = ("tools", "next_page_token")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[ToolSummary]
    next_page_token: str
    def __init__(self, tools: _Optional[_Iterable[_Union[ToolSummary, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ToolSummary(_message.Message):
    __slots__ = ("tool_id", "full_name", "aliases", "title", "search_hint", "description", "lifecycle", "tool_kind", "tool_kind_code", "execution_kind", "execution_kind_code", "risk_level", "digest", "revision")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SEARCH_HINT_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    LIFECYCLE_FIELD_NUMBER: _ClassVar[int]
    TOOL_KIND_FIELD_NUMBER: _ClassVar[int]
    TOOL_KIND_CODE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_KIND_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_KIND_CODE_FIELD_NUMBER: _ClassVar[int]
    RISK_LEVEL_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    full_name: str
    aliases: _containers.RepeatedScalarFieldContainer[str]
    title: str
    search_hint: str
    description: str
    lifecycle: _vocabulary_pb2.ToolLifecycle
    tool_kind: str
    tool_kind_code: _vocabulary_pb2.ToolKind
    execution_kind: str
    execution_kind_code: _vocabulary_pb2.ExecutionKind
    risk_level: _vocabulary_pb2.RiskLevel
    digest: str
    revision: int
    def __init__(self, tool_id: _Optional[str] = ..., full_name: _Optional[str] = ..., aliases: _Optional[_Iterable[str]] = ..., title: _Optional[str] = ..., search_hint: _Optional[str] = ..., description: _Optional[str] = ..., lifecycle: _Optional[_Union[_vocabulary_pb2.ToolLifecycle, str]] = ..., tool_kind: _Optional[str] = ..., tool_kind_code: _Optional[_Union[_vocabulary_pb2.ToolKind, str]] = ..., execution_kind: _Optional[str] = ..., execution_kind_code: _Optional[_Union[_vocabulary_pb2.ExecutionKind, str]] = ..., risk_level: _Optional[_Union[_vocabulary_pb2.RiskLevel, str]] = ..., digest: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class RetireToolRequest(_message.Message):
    __slots__ = ("tool_id", "reason")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    reason: str
    def __init__(self, tool_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RetireToolResponse(_message.Message):
    __slots__ = ("declaration", "revision")
    DECLARATION_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    declaration: _declaration_pb2.ToolDeclaration
    revision: int
    def __init__(self, declaration: _Optional[_Union[_declaration_pb2.ToolDeclaration, _Mapping]] = ..., revision: _Optional[int] = ...) -> None: ...

class BlockedName(_message.Message):
    __slots__ = ("name", "message")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    name: str
    message: str
    def __init__(self, name: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class CreateSurfaceRequest(_message.Message):
    __slots__ = ("request_id", "scope", "scope_code", "tool_refs", "namespaces", "load", "defer_policy", "defer_threshold", "blocked", "role", "interaction_mode", "model_capabilities", "capability_requirements", "credential_refs", "feature_gate_refs", "selection_policy", "default_tool_choice", "runtime_refs", "policy_refs", "producer", "surface_reason", "pinned", "tags", "capabilities", "providers", "risk_levels", "kinds", "budget", "parent_surface_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_CODE_FIELD_NUMBER: _ClassVar[int]
    TOOL_REFS_FIELD_NUMBER: _ClassVar[int]
    NAMESPACES_FIELD_NUMBER: _ClassVar[int]
    LOAD_FIELD_NUMBER: _ClassVar[int]
    DEFER_POLICY_FIELD_NUMBER: _ClassVar[int]
    DEFER_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    INTERACTION_MODE_FIELD_NUMBER: _ClassVar[int]
    MODEL_CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    CAPABILITY_REQUIREMENTS_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_REFS_FIELD_NUMBER: _ClassVar[int]
    FEATURE_GATE_REFS_FIELD_NUMBER: _ClassVar[int]
    SELECTION_POLICY_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_TOOL_CHOICE_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_REFS_FIELD_NUMBER: _ClassVar[int]
    POLICY_REFS_FIELD_NUMBER: _ClassVar[int]
    PRODUCER_FIELD_NUMBER: _ClassVar[int]
    SURFACE_REASON_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    RISK_LEVELS_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    PARENT_SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    scope: str
    scope_code: _vocabulary_pb2.SurfaceScope
    tool_refs: _containers.RepeatedScalarFieldContainer[str]
    namespaces: _containers.RepeatedScalarFieldContainer[str]
    load: _containers.RepeatedScalarFieldContainer[str]
    defer_policy: DeferPolicy
    defer_threshold: int
    blocked: _containers.RepeatedCompositeFieldContainer[BlockedName]
    role: str
    interaction_mode: InteractionMode
    model_capabilities: _payload_pb2.JsonPayload
    capability_requirements: _containers.RepeatedScalarFieldContainer[str]
    credential_refs: _containers.RepeatedScalarFieldContainer[str]
    feature_gate_refs: _containers.RepeatedScalarFieldContainer[str]
    selection_policy: _payload_pb2.JsonPayload
    default_tool_choice: _payload_pb2.JsonPayload
    runtime_refs: _containers.RepeatedScalarFieldContainer[str]
    policy_refs: _containers.RepeatedScalarFieldContainer[str]
    producer: str
    surface_reason: str
    pinned: bool
    tags: _containers.RepeatedScalarFieldContainer[str]
    capabilities: _containers.RepeatedScalarFieldContainer[str]
    providers: _containers.RepeatedScalarFieldContainer[str]
    risk_levels: _containers.RepeatedScalarFieldContainer[str]
    kinds: _containers.RepeatedScalarFieldContainer[str]
    budget: _surface_pb2.SurfaceBudget
    parent_surface_id: str
    def __init__(self, request_id: _Optional[str] = ..., scope: _Optional[str] = ..., scope_code: _Optional[_Union[_vocabulary_pb2.SurfaceScope, str]] = ..., tool_refs: _Optional[_Iterable[str]] = ..., namespaces: _Optional[_Iterable[str]] = ..., load: _Optional[_Iterable[str]] = ..., defer_policy: _Optional[_Union[DeferPolicy, str]] = ..., defer_threshold: _Optional[int] = ..., blocked: _Optional[_Iterable[_Union[BlockedName, _Mapping]]] = ..., role: _Optional[str] = ..., interaction_mode: _Optional[_Union[InteractionMode, str]] = ..., model_capabilities: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., capability_requirements: _Optional[_Iterable[str]] = ..., credential_refs: _Optional[_Iterable[str]] = ..., feature_gate_refs: _Optional[_Iterable[str]] = ..., selection_policy: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., default_tool_choice: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., runtime_refs: _Optional[_Iterable[str]] = ..., policy_refs: _Optional[_Iterable[str]] = ..., producer: _Optional[str] = ..., surface_reason: _Optional[str] = ..., pinned: bool = ..., tags: _Optional[_Iterable[str]] = ..., capabilities: _Optional[_Iterable[str]] = ..., providers: _Optional[_Iterable[str]] = ..., risk_levels: _Optional[_Iterable[str]] = ..., kinds: _Optional[_Iterable[str]] = ..., budget: _Optional[_Union[_surface_pb2.SurfaceBudget, _Mapping]] = ..., parent_surface_id: _Optional[str] = ...) -> None: ...

class CreateSurfaceResponse(_message.Message):
    __slots__ = ("surface", "warnings")
    SURFACE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    surface: _surface_pb2.ToolSurface
    warnings: _containers.RepeatedCompositeFieldContainer[SelectionWarning]
    def __init__(self, surface: _Optional[_Union[_surface_pb2.ToolSurface, _Mapping]] = ..., warnings: _Optional[_Iterable[_Union[SelectionWarning, _Mapping]]] = ...) -> None: ...

class SelectionWarning(_message.Message):
    __slots__ = ("field", "message", "similar")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SIMILAR_FIELD_NUMBER: _ClassVar[int]
    field: str
    message: str
    similar: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, field: _Optional[str] = ..., message: _Optional[str] = ..., similar: _Optional[_Iterable[str]] = ...) -> None: ...

class GetSurfaceRequest(_message.Message):
    __slots__ = ("surface_id", "view")
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    view: _vocabulary_pb2.RecordView
    def __init__(self, surface_id: _Optional[str] = ..., view: _Optional[_Union[_vocabulary_pb2.RecordView, str]] = ...) -> None: ...

class GetSurfaceResponse(_message.Message):
    __slots__ = ("surface", "json")
    SURFACE_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    surface: _surface_pb2.ToolSurface
    json: _payload_pb2.JsonPayload
    def __init__(self, surface: _Optional[_Union[_surface_pb2.ToolSurface, _Mapping]] = ..., json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ...) -> None: ...

class ExtendSurfaceRequest(_message.Message):
    __slots__ = ("surface_id", "tool_refs", "namespaces", "load", "tags", "capabilities", "providers", "risk_levels", "kinds", "budget")
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_REFS_FIELD_NUMBER: _ClassVar[int]
    NAMESPACES_FIELD_NUMBER: _ClassVar[int]
    LOAD_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    RISK_LEVELS_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    tool_refs: _containers.RepeatedScalarFieldContainer[str]
    namespaces: _containers.RepeatedScalarFieldContainer[str]
    load: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    capabilities: _containers.RepeatedScalarFieldContainer[str]
    providers: _containers.RepeatedScalarFieldContainer[str]
    risk_levels: _containers.RepeatedScalarFieldContainer[str]
    kinds: _containers.RepeatedScalarFieldContainer[str]
    budget: _surface_pb2.SurfaceBudget
    def __init__(self, surface_id: _Optional[str] = ..., tool_refs: _Optional[_Iterable[str]] = ..., namespaces: _Optional[_Iterable[str]] = ..., load: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., capabilities: _Optional[_Iterable[str]] = ..., providers: _Optional[_Iterable[str]] = ..., risk_levels: _Optional[_Iterable[str]] = ..., kinds: _Optional[_Iterable[str]] = ..., budget: _Optional[_Union[_surface_pb2.SurfaceBudget, _Mapping]] = ...) -> None: ...

class ExtendSurfaceResponse(_message.Message):
    __slots__ = ("surface", "warnings", "not_loaded", "unloaded")
    SURFACE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    NOT_LOADED_FIELD_NUMBER: _ClassVar[int]
    UNLOADED_FIELD_NUMBER: _ClassVar[int]
    surface: _surface_pb2.ToolSurface
    warnings: _containers.RepeatedCompositeFieldContainer[SelectionWarning]
    not_loaded: _containers.RepeatedCompositeFieldContainer[LoadOutcome]
    unloaded: _containers.RepeatedCompositeFieldContainer[UnloadedTool]
    def __init__(self, surface: _Optional[_Union[_surface_pb2.ToolSurface, _Mapping]] = ..., warnings: _Optional[_Iterable[_Union[SelectionWarning, _Mapping]]] = ..., not_loaded: _Optional[_Iterable[_Union[LoadOutcome, _Mapping]]] = ..., unloaded: _Optional[_Iterable[_Union[UnloadedTool, _Mapping]]] = ...) -> None: ...

class DeleteSurfaceRequest(_message.Message):
    __slots__ = ("surface_id",)
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    def __init__(self, surface_id: _Optional[str] = ...) -> None: ...

class DeleteSurfaceResponse(_message.Message):
    __slots__ = ("revision",)
    REVISION_FIELD_NUMBER: _ClassVar[int]
    revision: int
    def __init__(self, revision: _Optional[int] = ...) -> None: ...

class ListSurfaceToolsRequest(_message.Message):
    __slots__ = ("surface_id", "page_size", "page_token")
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    page_size: int
    page_token: str
    def __init__(self, surface_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSurfaceToolsResponse(_message.Message):
    __slots__ = ("tools", "next_page_token", "revision", "moment")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    MOMENT_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[_surface_pb2.SurfaceTool]
    next_page_token: str
    revision: int
    moment: str
    def __init__(self, tools: _Optional[_Iterable[_Union[_surface_pb2.SurfaceTool, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., revision: _Optional[int] = ..., moment: _Optional[str] = ...) -> None: ...

class WatchSurfaceRequest(_message.Message):
    __slots__ = ("surface_id", "from_moment", "from_revision")
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_MOMENT_FIELD_NUMBER: _ClassVar[int]
    FROM_REVISION_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    from_moment: str
    from_revision: int
    def __init__(self, surface_id: _Optional[str] = ..., from_moment: _Optional[str] = ..., from_revision: _Optional[int] = ...) -> None: ...

class WatchSurfaceResponse(_message.Message):
    __slots__ = ("anew", "changes", "moment", "revision", "ended")
    ANEW_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    MOMENT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    anew: bool
    changes: _containers.RepeatedCompositeFieldContainer[SurfaceToolChange]
    moment: str
    revision: int
    ended: str
    def __init__(self, anew: bool = ..., changes: _Optional[_Iterable[_Union[SurfaceToolChange, _Mapping]]] = ..., moment: _Optional[str] = ..., revision: _Optional[int] = ..., ended: _Optional[str] = ...) -> None: ...

class SurfaceToolChange(_message.Message):
    __slots__ = ("tool_id", "name", "kind", "state", "state_before", "digest", "digest_before", "name_before", "changed", "reason", "reason_code", "message")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_BEFORE_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    DIGEST_BEFORE_FIELD_NUMBER: _ClassVar[int]
    NAME_BEFORE_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REASON_CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    name: str
    kind: SurfaceToolChangeKind
    state: SurfaceToolState
    state_before: SurfaceToolState
    digest: str
    digest_before: str
    name_before: str
    changed: str
    reason: str
    reason_code: _vocabulary_pb2.HiddenReason
    message: str
    def __init__(self, tool_id: _Optional[str] = ..., name: _Optional[str] = ..., kind: _Optional[_Union[SurfaceToolChangeKind, str]] = ..., state: _Optional[_Union[SurfaceToolState, str]] = ..., state_before: _Optional[_Union[SurfaceToolState, str]] = ..., digest: _Optional[str] = ..., digest_before: _Optional[str] = ..., name_before: _Optional[str] = ..., changed: _Optional[str] = ..., reason: _Optional[str] = ..., reason_code: _Optional[_Union[_vocabulary_pb2.HiddenReason, str]] = ..., message: _Optional[str] = ...) -> None: ...

class ListSurfacesRequest(_message.Message):
    __slots__ = ("scope", "scope_code", "page_size", "page_token")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_CODE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    scope: str
    scope_code: _vocabulary_pb2.SurfaceScope
    page_size: int
    page_token: str
    def __init__(self, scope: _Optional[str] = ..., scope_code: _Optional[_Union[_vocabulary_pb2.SurfaceScope, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSurfacesResponse(_message.Message):
    __slots__ = ("surfaces", "next_page_token", "damaged_ids")
    SURFACES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    DAMAGED_IDS_FIELD_NUMBER: _ClassVar[int]
    surfaces: _containers.RepeatedCompositeFieldContainer[_surface_pb2.ToolSurface]
    next_page_token: str
    damaged_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, surfaces: _Optional[_Iterable[_Union[_surface_pb2.ToolSurface, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., damaged_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class SearchToolsRequest(_message.Message):
    __slots__ = ("surface_id", "query", "limit", "view", "page_token", "namespaces", "kinds", "risk_levels", "providers", "without_use", "tags", "capabilities", "runtime_refs")
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NAMESPACES_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    RISK_LEVELS_FIELD_NUMBER: _ClassVar[int]
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_USE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_REFS_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    query: str
    limit: int
    view: _vocabulary_pb2.RecordView
    page_token: str
    namespaces: _containers.RepeatedScalarFieldContainer[str]
    kinds: _containers.RepeatedScalarFieldContainer[str]
    risk_levels: _containers.RepeatedScalarFieldContainer[str]
    providers: _containers.RepeatedScalarFieldContainer[str]
    without_use: bool
    tags: _containers.RepeatedScalarFieldContainer[str]
    capabilities: _containers.RepeatedScalarFieldContainer[str]
    runtime_refs: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, surface_id: _Optional[str] = ..., query: _Optional[str] = ..., limit: _Optional[int] = ..., view: _Optional[_Union[_vocabulary_pb2.RecordView, str]] = ..., page_token: _Optional[str] = ..., namespaces: _Optional[_Iterable[str]] = ..., kinds: _Optional[_Iterable[str]] = ..., risk_levels: _Optional[_Iterable[str]] = ..., providers: _Optional[_Iterable[str]] = ..., without_use: bool = ..., tags: _Optional[_Iterable[str]] = ..., capabilities: _Optional[_Iterable[str]] = ..., runtime_refs: _Optional[_Iterable[str]] = ...) -> None: ...

class SearchToolsResponse(_message.Message):
    __slots__ = ("result", "json")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    result: _search_pb2.SearchResult
    json: _payload_pb2.JsonPayload
    def __init__(self, result: _Optional[_Union[_search_pb2.SearchResult, _Mapping]] = ..., json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ...) -> None: ...

class ListSynonymsRequest(_message.Message):
    __slots__ = ("word", "page_size", "page_token")
    WORD_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    word: str
    page_size: int
    page_token: str
    def __init__(self, word: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSynonymsResponse(_message.Message):
    __slots__ = ("groups", "next_page_token", "starter_set")
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STARTER_SET_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[_search_pb2.SynonymGroup]
    next_page_token: str
    starter_set: bool
    def __init__(self, groups: _Optional[_Iterable[_Union[_search_pb2.SynonymGroup, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., starter_set: bool = ...) -> None: ...

class AddSynonymsRequest(_message.Message):
    __slots__ = ("groups", "by")
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[_search_pb2.SynonymGroup]
    by: str
    def __init__(self, groups: _Optional[_Iterable[_Union[_search_pb2.SynonymGroup, _Mapping]]] = ..., by: _Optional[str] = ...) -> None: ...

class AddSynonymsResponse(_message.Message):
    __slots__ = ("added",)
    ADDED_FIELD_NUMBER: _ClassVar[int]
    added: _containers.RepeatedCompositeFieldContainer[_search_pb2.SynonymGroup]
    def __init__(self, added: _Optional[_Iterable[_Union[_search_pb2.SynonymGroup, _Mapping]]] = ...) -> None: ...

class RemoveSynonymsRequest(_message.Message):
    __slots__ = ("words",)
    WORDS_FIELD_NUMBER: _ClassVar[int]
    words: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, words: _Optional[_Iterable[str]] = ...) -> None: ...

class RemoveSynonymsResponse(_message.Message):
    __slots__ = ("before", "after")
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    before: _containers.RepeatedCompositeFieldContainer[_search_pb2.SynonymGroup]
    after: _containers.RepeatedCompositeFieldContainer[_search_pb2.SynonymGroup]
    def __init__(self, before: _Optional[_Iterable[_Union[_search_pb2.SynonymGroup, _Mapping]]] = ..., after: _Optional[_Iterable[_Union[_search_pb2.SynonymGroup, _Mapping]]] = ...) -> None: ...

class ForgetUseRequest(_message.Message):
    __slots__ = ("tool_id", "name", "everything")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    EVERYTHING_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    name: str
    everything: bool
    def __init__(self, tool_id: _Optional[str] = ..., name: _Optional[str] = ..., everything: bool = ...) -> None: ...

class ForgetUseResponse(_message.Message):
    __slots__ = ("tools", "words")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    tools: int
    words: int
    def __init__(self, tools: _Optional[int] = ..., words: _Optional[int] = ...) -> None: ...

class LoadToolsRequest(_message.Message):
    __slots__ = ("surface_id", "names", "runtime_refs")
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_REFS_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    names: _containers.RepeatedScalarFieldContainer[str]
    runtime_refs: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, surface_id: _Optional[str] = ..., names: _Optional[_Iterable[str]] = ..., runtime_refs: _Optional[_Iterable[str]] = ...) -> None: ...

class LoadToolsResponse(_message.Message):
    __slots__ = ("outcomes", "surface_revision", "moment", "unloaded")
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    SURFACE_REVISION_FIELD_NUMBER: _ClassVar[int]
    MOMENT_FIELD_NUMBER: _ClassVar[int]
    UNLOADED_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[LoadOutcome]
    surface_revision: int
    moment: str
    unloaded: _containers.RepeatedCompositeFieldContainer[UnloadedTool]
    def __init__(self, outcomes: _Optional[_Iterable[_Union[LoadOutcome, _Mapping]]] = ..., surface_revision: _Optional[int] = ..., moment: _Optional[str] = ..., unloaded: _Optional[_Iterable[_Union[UnloadedTool, _Mapping]]] = ...) -> None: ...

class UnloadedTool(_message.Message):
    __slots__ = ("tool_id", "name", "reason", "schema_tokens", "schema_bytes")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_BYTES_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    name: str
    reason: str
    schema_tokens: int
    schema_bytes: int
    def __init__(self, tool_id: _Optional[str] = ..., name: _Optional[str] = ..., reason: _Optional[str] = ..., schema_tokens: _Optional[int] = ..., schema_bytes: _Optional[int] = ...) -> None: ...

class BudgetShortage(_message.Message):
    __slots__ = ("field", "need", "free", "budget")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    NEED_FIELD_NUMBER: _ClassVar[int]
    FREE_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    field: str
    need: int
    free: int
    budget: int
    def __init__(self, field: _Optional[str] = ..., need: _Optional[int] = ..., free: _Optional[int] = ..., budget: _Optional[int] = ...) -> None: ...

class LoadOutcome(_message.Message):
    __slots__ = ("name", "loaded", "failure")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LOADED_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    name: str
    loaded: LoadedSchema
    failure: NotCallable
    def __init__(self, name: _Optional[str] = ..., loaded: _Optional[_Union[LoadedSchema, _Mapping]] = ..., failure: _Optional[_Union[NotCallable, _Mapping]] = ...) -> None: ...

class LoadedSchema(_message.Message):
    __slots__ = ("tool", "model_input_schema", "description", "digest", "alias")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    MODEL_INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    tool: _surface_pb2.LoadedTool
    model_input_schema: _payload_pb2.JsonPayload
    description: str
    digest: str
    alias: str
    def __init__(self, tool: _Optional[_Union[_surface_pb2.LoadedTool, _Mapping]] = ..., model_input_schema: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., description: _Optional[str] = ..., digest: _Optional[str] = ..., alias: _Optional[str] = ...) -> None: ...

class UnloadToolsRequest(_message.Message):
    __slots__ = ("surface_id", "names", "runtime_refs")
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_REFS_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    names: _containers.RepeatedScalarFieldContainer[str]
    runtime_refs: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, surface_id: _Optional[str] = ..., names: _Optional[_Iterable[str]] = ..., runtime_refs: _Optional[_Iterable[str]] = ...) -> None: ...

class UnloadToolsResponse(_message.Message):
    __slots__ = ("outcomes", "surface_revision")
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    SURFACE_REVISION_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[UnloadOutcome]
    surface_revision: int
    def __init__(self, outcomes: _Optional[_Iterable[_Union[UnloadOutcome, _Mapping]]] = ..., surface_revision: _Optional[int] = ...) -> None: ...

class UnloadOutcome(_message.Message):
    __slots__ = ("name", "deferred_tool_id", "failure")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    name: str
    deferred_tool_id: str
    failure: NotCallable
    def __init__(self, name: _Optional[str] = ..., deferred_tool_id: _Optional[str] = ..., failure: _Optional[_Union[NotCallable, _Mapping]] = ...) -> None: ...

class ExportSurfaceRequest(_message.Message):
    __slots__ = ("surface_id", "shape", "strict", "names", "max_tokens", "page_size", "page_token")
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    shape: str
    strict: bool
    names: _containers.RepeatedScalarFieldContainer[str]
    max_tokens: int
    page_size: int
    page_token: str
    def __init__(self, surface_id: _Optional[str] = ..., shape: _Optional[str] = ..., strict: bool = ..., names: _Optional[_Iterable[str]] = ..., max_tokens: _Optional[int] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ExportSurfaceResponse(_message.Message):
    __slots__ = ("tools_json", "tools", "revision", "next_page_token", "left_out", "left_out_count", "token_count")
    TOOLS_JSON_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    tools_json: _payload_pb2.JsonPayload
    tools: _containers.RepeatedCompositeFieldContainer[ExportedTool]
    revision: int
    next_page_token: str
    left_out: _containers.RepeatedCompositeFieldContainer[LeftOutTool]
    left_out_count: int
    token_count: str
    def __init__(self, tools_json: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., tools: _Optional[_Iterable[_Union[ExportedTool, _Mapping]]] = ..., revision: _Optional[int] = ..., next_page_token: _Optional[str] = ..., left_out: _Optional[_Iterable[_Union[LeftOutTool, _Mapping]]] = ..., left_out_count: _Optional[int] = ..., token_count: _Optional[str] = ...) -> None: ...

class ExportedTool(_message.Message):
    __slots__ = ("alias", "tool_id", "name", "digest", "strict", "losses", "more_losses", "tokens")
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    MORE_LOSSES_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    alias: str
    tool_id: str
    name: str
    digest: str
    strict: bool
    losses: _containers.RepeatedCompositeFieldContainer[SchemaLoss]
    more_losses: int
    tokens: int
    def __init__(self, alias: _Optional[str] = ..., tool_id: _Optional[str] = ..., name: _Optional[str] = ..., digest: _Optional[str] = ..., strict: bool = ..., losses: _Optional[_Iterable[_Union[SchemaLoss, _Mapping]]] = ..., more_losses: _Optional[int] = ..., tokens: _Optional[int] = ...) -> None: ...

class SchemaLoss(_message.Message):
    __slots__ = ("pointer", "rule", "done", "note")
    POINTER_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    pointer: str
    rule: str
    done: str
    note: str
    def __init__(self, pointer: _Optional[str] = ..., rule: _Optional[str] = ..., done: _Optional[str] = ..., note: _Optional[str] = ...) -> None: ...

class LeftOutTool(_message.Message):
    __slots__ = ("tool_id", "name", "reason", "message")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    name: str
    reason: str
    message: str
    def __init__(self, tool_id: _Optional[str] = ..., name: _Optional[str] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class MapCallsRequest(_message.Message):
    __slots__ = ("surface_id", "said", "strict", "known_digests")
    class KnownDigestsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    SAID_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_DIGESTS_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    said: _payload_pb2.JsonPayload
    strict: bool
    known_digests: _containers.ScalarMap[str, str]
    def __init__(self, surface_id: _Optional[str] = ..., said: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., strict: bool = ..., known_digests: _Optional[_Mapping[str, str]] = ...) -> None: ...

class MapCallsResponse(_message.Message):
    __slots__ = ("calls", "surface_revision")
    CALLS_FIELD_NUMBER: _ClassVar[int]
    SURFACE_REVISION_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[MappedCall]
    surface_revision: int
    def __init__(self, calls: _Optional[_Iterable[_Union[MappedCall, _Mapping]]] = ..., surface_revision: _Optional[int] = ...) -> None: ...

class MappedCall(_message.Message):
    __slots__ = ("shape", "alias", "call_id", "target", "refusal")
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    shape: str
    alias: str
    call_id: str
    target: CallTarget
    refusal: CallRefusal
    def __init__(self, shape: _Optional[str] = ..., alias: _Optional[str] = ..., call_id: _Optional[str] = ..., target: _Optional[_Union[CallTarget, _Mapping]] = ..., refusal: _Optional[_Union[CallRefusal, _Mapping]] = ...) -> None: ...

class CallTarget(_message.Message):
    __slots__ = ("tool_id", "name", "digest", "arguments", "alias", "left_out")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    name: str
    digest: str
    arguments: _payload_pb2.JsonPayload
    alias: str
    left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tool_id: _Optional[str] = ..., name: _Optional[str] = ..., digest: _Optional[str] = ..., arguments: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., alias: _Optional[str] = ..., left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class CallRefusal(_message.Message):
    __slots__ = ("code", "message", "similar_aliases", "not_callable")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SIMILAR_ALIASES_FIELD_NUMBER: _ClassVar[int]
    NOT_CALLABLE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    similar_aliases: _containers.RepeatedScalarFieldContainer[str]
    not_callable: NotCallable
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., similar_aliases: _Optional[_Iterable[str]] = ..., not_callable: _Optional[_Union[NotCallable, _Mapping]] = ...) -> None: ...

class ListToolCardsRequest(_message.Message):
    __slots__ = ("surface_id", "names", "max_tokens")
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    names: _containers.RepeatedScalarFieldContainer[str]
    max_tokens: int
    def __init__(self, surface_id: _Optional[str] = ..., names: _Optional[_Iterable[str]] = ..., max_tokens: _Optional[int] = ...) -> None: ...

class ListToolCardsResponse(_message.Message):
    __slots__ = ("cards", "tokens", "left_out", "left_out_count", "revision", "token_count")
    CARDS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    cards: _containers.RepeatedCompositeFieldContainer[ToolCard]
    tokens: int
    left_out: _containers.RepeatedCompositeFieldContainer[LeftOutTool]
    left_out_count: int
    revision: int
    token_count: str
    def __init__(self, cards: _Optional[_Iterable[_Union[ToolCard, _Mapping]]] = ..., tokens: _Optional[int] = ..., left_out: _Optional[_Iterable[_Union[LeftOutTool, _Mapping]]] = ..., left_out_count: _Optional[int] = ..., revision: _Optional[int] = ..., token_count: _Optional[str] = ...) -> None: ...

class ToolCard(_message.Message):
    __slots__ = ("alias", "tool_id", "name", "text", "tokens", "deferred")
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    DEFERRED_FIELD_NUMBER: _ClassVar[int]
    alias: str
    tool_id: str
    name: str
    text: str
    tokens: int
    deferred: bool
    def __init__(self, alias: _Optional[str] = ..., tool_id: _Optional[str] = ..., name: _Optional[str] = ..., text: _Optional[str] = ..., tokens: _Optional[int] = ..., deferred: bool = ...) -> None: ...

class NotCallable(_message.Message):
    __slots__ = ("kind", "reason", "reason_code", "message", "tool_id", "similar_names", "error", "shortage")
    KIND_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REASON_CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    SIMILAR_NAMES_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    SHORTAGE_FIELD_NUMBER: _ClassVar[int]
    kind: NotCallableKind
    reason: str
    reason_code: _vocabulary_pb2.HiddenReason
    message: str
    tool_id: str
    similar_names: _containers.RepeatedScalarFieldContainer[str]
    error: _error_pb2.ToolError
    shortage: BudgetShortage
    def __init__(self, kind: _Optional[_Union[NotCallableKind, str]] = ..., reason: _Optional[str] = ..., reason_code: _Optional[_Union[_vocabulary_pb2.HiddenReason, str]] = ..., message: _Optional[str] = ..., tool_id: _Optional[str] = ..., similar_names: _Optional[_Iterable[str]] = ..., error: _Optional[_Union[_error_pb2.ToolError, _Mapping]] = ..., shortage: _Optional[_Union[BudgetShortage, _Mapping]] = ...) -> None: ...

class ListEventsRequest(_message.Message):
    __slots__ = ("tool_id", "surface_id", "provider_id", "from_seq", "limit")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_SEQ_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    surface_id: str
    provider_id: str
    from_seq: int
    limit: int
    def __init__(self, tool_id: _Optional[str] = ..., surface_id: _Optional[str] = ..., provider_id: _Optional[str] = ..., from_seq: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ListEventsResponse(_message.Message):
    __slots__ = ("events", "head_seq")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    HEAD_SEQ_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    head_seq: int
    def __init__(self, events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ..., head_seq: _Optional[int] = ...) -> None: ...

class ResolveToolRequest(_message.Message):
    __slots__ = ("surface_id", "name", "tenant", "known_digest", "known_revision", "surface_moment")
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_DIGEST_FIELD_NUMBER: _ClassVar[int]
    KNOWN_REVISION_FIELD_NUMBER: _ClassVar[int]
    SURFACE_MOMENT_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    name: str
    tenant: str
    known_digest: str
    known_revision: int
    surface_moment: str
    def __init__(self, surface_id: _Optional[str] = ..., name: _Optional[str] = ..., tenant: _Optional[str] = ..., known_digest: _Optional[str] = ..., known_revision: _Optional[int] = ..., surface_moment: _Optional[str] = ...) -> None: ...

class ResolveToolResponse(_message.Message):
    __slots__ = ("resolved", "not_callable", "surface_revision", "catalog_revision")
    RESOLVED_FIELD_NUMBER: _ClassVar[int]
    NOT_CALLABLE_FIELD_NUMBER: _ClassVar[int]
    SURFACE_REVISION_FIELD_NUMBER: _ClassVar[int]
    CATALOG_REVISION_FIELD_NUMBER: _ClassVar[int]
    resolved: ResolvedTool
    not_callable: NotCallable
    surface_revision: int
    catalog_revision: int
    def __init__(self, resolved: _Optional[_Union[ResolvedTool, _Mapping]] = ..., not_callable: _Optional[_Union[NotCallable, _Mapping]] = ..., surface_revision: _Optional[int] = ..., catalog_revision: _Optional[int] = ...) -> None: ...

class ResolvedTool(_message.Message):
    __slots__ = ("registration", "digest", "revision", "once", "one_at_a_time", "policy_refs", "scope_refs", "scope_role", "above")
    REGISTRATION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ONCE_FIELD_NUMBER: _ClassVar[int]
    ONE_AT_A_TIME_FIELD_NUMBER: _ClassVar[int]
    POLICY_REFS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_REFS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ROLE_FIELD_NUMBER: _ClassVar[int]
    ABOVE_FIELD_NUMBER: _ClassVar[int]
    registration: _registration_pb2.ToolRegistration
    digest: str
    revision: int
    once: bool
    one_at_a_time: bool
    policy_refs: _containers.RepeatedScalarFieldContainer[str]
    scope_refs: _containers.RepeatedScalarFieldContainer[str]
    scope_role: str
    above: _containers.RepeatedCompositeFieldContainer[SurfaceAbove]
    def __init__(self, registration: _Optional[_Union[_registration_pb2.ToolRegistration, _Mapping]] = ..., digest: _Optional[str] = ..., revision: _Optional[int] = ..., once: bool = ..., one_at_a_time: bool = ..., policy_refs: _Optional[_Iterable[str]] = ..., scope_refs: _Optional[_Iterable[str]] = ..., scope_role: _Optional[str] = ..., above: _Optional[_Iterable[_Union[SurfaceAbove, _Mapping]]] = ...) -> None: ...

class SurfaceAbove(_message.Message):
    __slots__ = ("surface_id", "scope_refs", "scope_role")
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_REFS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_ROLE_FIELD_NUMBER: _ClassVar[int]
    surface_id: str
    scope_refs: _containers.RepeatedScalarFieldContainer[str]
    scope_role: str
    def __init__(self, surface_id: _Optional[str] = ..., scope_refs: _Optional[_Iterable[str]] = ..., scope_role: _Optional[str] = ...) -> None: ...

class SyncCatalogRequest(_message.Message):
    __slots__ = ("subscriber", "acknowledged_revision", "beat")
    SUBSCRIBER_FIELD_NUMBER: _ClassVar[int]
    ACKNOWLEDGED_REVISION_FIELD_NUMBER: _ClassVar[int]
    BEAT_FIELD_NUMBER: _ClassVar[int]
    subscriber: str
    acknowledged_revision: int
    beat: int
    def __init__(self, subscriber: _Optional[str] = ..., acknowledged_revision: _Optional[int] = ..., beat: _Optional[int] = ...) -> None: ...

class SyncCatalogResponse(_message.Message):
    __slots__ = ("changes", "catalog_revision", "reset", "beat", "trusted_for_ms")
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    CATALOG_REVISION_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    BEAT_FIELD_NUMBER: _ClassVar[int]
    TRUSTED_FOR_MS_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[CatalogChange]
    catalog_revision: int
    reset: bool
    beat: int
    trusted_for_ms: int
    def __init__(self, changes: _Optional[_Iterable[_Union[CatalogChange, _Mapping]]] = ..., catalog_revision: _Optional[int] = ..., reset: bool = ..., beat: _Optional[int] = ..., trusted_for_ms: _Optional[int] = ...) -> None: ...

class CatalogChange(_message.Message):
    __slots__ = ("tenant", "tool_id", "surface_id", "provider_id")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    SURFACE_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    tool_id: str
    surface_id: str
    provider_id: str
    def __init__(self, tenant: _Optional[str] = ..., tool_id: _Optional[str] = ..., surface_id: _Optional[str] = ..., provider_id: _Optional[str] = ...) -> None: ...
