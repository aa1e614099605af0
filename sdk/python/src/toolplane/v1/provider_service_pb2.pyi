from toolplane.v1 import error_pb2 as _error_pb2
from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import provider_pb2 as _provider_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TellProvidersRequest(_message.Message):
    __slots__ = ("news",)
    NEWS_FIELD_NUMBER: _ClassVar[int]
    news: _containers.RepeatedCompositeFieldContainer[ProviderNews]
    def __init__(self, news: _Optional[_Iterable[_Union[ProviderNews, _Mapping]]] = ...) -> None: ...

class ProviderNews(_message.Message):
    __slots__ = ("tenant", "provider_id", "calls", "tools_changed")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_CHANGED_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    provider_id: str
    calls: _containers.RepeatedCompositeFieldContainer[ProviderCall]
    tools_changed: bool
    def __init__(self, tenant: _Optional[str] = ..., provider_id: _Optional[str] = ..., calls: _Optional[_Iterable[_Union[ProviderCall, _Mapping]]] = ..., tools_changed: bool = ...) -> None: ...

class ProviderCall(_message.Message):
    __slots__ = ("invocation_id", "error")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    error: _error_pb2.ToolError
    def __init__(self, invocation_id: _Optional[str] = ..., error: _Optional[_Union[_error_pb2.ToolError, _Mapping]] = ...) -> None: ...

class TellProvidersResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PutProviderRequest(_message.Message):
    __slots__ = ("provider", "dry_run", "by", "preview")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    provider: _provider_pb2.Provider
    dry_run: bool
    by: str
    preview: bool
    def __init__(self, provider: _Optional[_Union[_provider_pb2.Provider, _Mapping]] = ..., dry_run: bool = ..., by: _Optional[str] = ..., preview: bool = ...) -> None: ...

class PutProviderResponse(_message.Message):
    __slots__ = ("provider", "status", "change", "preview")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    provider: _provider_pb2.Provider
    status: _provider_pb2.ProviderStatus
    change: str
    preview: RefreshProviderResponse
    def __init__(self, provider: _Optional[_Union[_provider_pb2.Provider, _Mapping]] = ..., status: _Optional[_Union[_provider_pb2.ProviderStatus, _Mapping]] = ..., change: _Optional[str] = ..., preview: _Optional[_Union[RefreshProviderResponse, _Mapping]] = ...) -> None: ...

class UploadDocumentRequest(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class UploadDocumentResponse(_message.Message):
    __slots__ = ("digest", "size_bytes")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    digest: str
    size_bytes: int
    def __init__(self, digest: _Optional[str] = ..., size_bytes: _Optional[int] = ...) -> None: ...

class GetProviderRequest(_message.Message):
    __slots__ = ("provider_id",)
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    provider_id: str
    def __init__(self, provider_id: _Optional[str] = ...) -> None: ...

class GetProviderResponse(_message.Message):
    __slots__ = ("provider", "status", "line")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    provider: _provider_pb2.Provider
    status: _provider_pb2.ProviderStatus
    line: str
    def __init__(self, provider: _Optional[_Union[_provider_pb2.Provider, _Mapping]] = ..., status: _Optional[_Union[_provider_pb2.ProviderStatus, _Mapping]] = ..., line: _Optional[str] = ...) -> None: ...

class ListProvidersRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "include_retired")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_RETIRED_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    include_retired: bool
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., include_retired: bool = ...) -> None: ...

class ListProvidersResponse(_message.Message):
    __slots__ = ("providers", "next_page_token")
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    providers: _containers.RepeatedCompositeFieldContainer[GetProviderResponse]
    next_page_token: str
    def __init__(self, providers: _Optional[_Iterable[_Union[GetProviderResponse, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RemoveProviderRequest(_message.Message):
    __slots__ = ("provider_id", "reason", "by")
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    provider_id: str
    reason: str
    by: str
    def __init__(self, provider_id: _Optional[str] = ..., reason: _Optional[str] = ..., by: _Optional[str] = ...) -> None: ...

class RemoveProviderResponse(_message.Message):
    __slots__ = ("provider", "status")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    provider: _provider_pb2.Provider
    status: _provider_pb2.ProviderStatus
    def __init__(self, provider: _Optional[_Union[_provider_pb2.Provider, _Mapping]] = ..., status: _Optional[_Union[_provider_pb2.ProviderStatus, _Mapping]] = ...) -> None: ...

class RefreshProviderRequest(_message.Message):
    __slots__ = ("provider_id", "dry_run")
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    provider_id: str
    dry_run: bool
    def __init__(self, provider_id: _Optional[str] = ..., dry_run: bool = ...) -> None: ...

class RefreshProviderResponse(_message.Message):
    __slots__ = ("status", "difference", "line")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    status: _provider_pb2.ProviderStatus
    difference: ToolDifference
    line: str
    def __init__(self, status: _Optional[_Union[_provider_pb2.ProviderStatus, _Mapping]] = ..., difference: _Optional[_Union[ToolDifference, _Mapping]] = ..., line: _Optional[str] = ...) -> None: ...

class ToolDifference(_message.Message):
    __slots__ = ("added", "added_count", "changed", "changed_count", "withdrawn", "withdrawn_count", "refused", "refused_count", "unchanged_count")
    ADDED_FIELD_NUMBER: _ClassVar[int]
    ADDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    CHANGED_COUNT_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN_COUNT_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_COUNT_FIELD_NUMBER: _ClassVar[int]
    UNCHANGED_COUNT_FIELD_NUMBER: _ClassVar[int]
    added: _containers.RepeatedCompositeFieldContainer[DifferentTool]
    added_count: int
    changed: _containers.RepeatedCompositeFieldContainer[DifferentTool]
    changed_count: int
    withdrawn: _containers.RepeatedScalarFieldContainer[str]
    withdrawn_count: int
    refused: _containers.RepeatedCompositeFieldContainer[RefusedTool]
    refused_count: int
    unchanged_count: int
    def __init__(self, added: _Optional[_Iterable[_Union[DifferentTool, _Mapping]]] = ..., added_count: _Optional[int] = ..., changed: _Optional[_Iterable[_Union[DifferentTool, _Mapping]]] = ..., changed_count: _Optional[int] = ..., withdrawn: _Optional[_Iterable[str]] = ..., withdrawn_count: _Optional[int] = ..., refused: _Optional[_Iterable[_Union[RefusedTool, _Mapping]]] = ..., refused_count: _Optional[int] = ..., unchanged_count: _Optional[int] = ...) -> None: ...

class DifferentTool(_message.Message):
    __slots__ = ("tool_id", "native_id", "digest", "state", "changes")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NATIVE_ID_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    native_id: str
    digest: str
    state: _provider_pb2.ReviewState
    changes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tool_id: _Optional[str] = ..., native_id: _Optional[str] = ..., digest: _Optional[str] = ..., state: _Optional[_Union[_provider_pb2.ReviewState, str]] = ..., changes: _Optional[_Iterable[str]] = ...) -> None: ...

class RefusedTool(_message.Message):
    __slots__ = ("tool_id", "native_id", "refusal")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NATIVE_ID_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    native_id: str
    refusal: _provider_pb2.ToolRefusal
    def __init__(self, tool_id: _Optional[str] = ..., native_id: _Optional[str] = ..., refusal: _Optional[_Union[_provider_pb2.ToolRefusal, _Mapping]] = ...) -> None: ...

class TestProviderRequest(_message.Message):
    __slots__ = ("provider_id",)
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    provider_id: str
    def __init__(self, provider_id: _Optional[str] = ...) -> None: ...

class TestProviderResponse(_message.Message):
    __slots__ = ("ok", "fault", "found", "refused", "took_ms", "server_name", "server_version")
    OK_FIELD_NUMBER: _ClassVar[int]
    FAULT_FIELD_NUMBER: _ClassVar[int]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    TOOK_MS_FIELD_NUMBER: _ClassVar[int]
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    SERVER_VERSION_FIELD_NUMBER: _ClassVar[int]
    ok: bool
    fault: _provider_pb2.FaultReport
    found: int
    refused: int
    took_ms: int
    server_name: str
    server_version: str
    def __init__(self, ok: bool = ..., fault: _Optional[_Union[_provider_pb2.FaultReport, _Mapping]] = ..., found: _Optional[int] = ..., refused: _Optional[int] = ..., took_ms: _Optional[int] = ..., server_name: _Optional[str] = ..., server_version: _Optional[str] = ...) -> None: ...

class ListProvidedToolsRequest(_message.Message):
    __slots__ = ("provider_id", "states", "page_size", "page_token")
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    provider_id: str
    states: _containers.RepeatedScalarFieldContainer[_provider_pb2.ReviewState]
    page_size: int
    page_token: str
    def __init__(self, provider_id: _Optional[str] = ..., states: _Optional[_Iterable[_Union[_provider_pb2.ReviewState, str]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListProvidedToolsResponse(_message.Message):
    __slots__ = ("tools", "next_page_token")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[ListedTool]
    next_page_token: str
    def __init__(self, tools: _Optional[_Iterable[_Union[ListedTool, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListedTool(_message.Message):
    __slots__ = ("tool", "tool_id", "callable", "error_code")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    CALLABLE_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    tool: _provider_pb2.ProvidedTool
    tool_id: str
    callable: bool
    error_code: str
    def __init__(self, tool: _Optional[_Union[_provider_pb2.ProvidedTool, _Mapping]] = ..., tool_id: _Optional[str] = ..., callable: bool = ..., error_code: _Optional[str] = ...) -> None: ...

class ShowToolRequest(_message.Message):
    __slots__ = ("tool_id",)
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    def __init__(self, tool_id: _Optional[str] = ...) -> None: ...

class ShowToolResponse(_message.Message):
    __slots__ = ("tool", "digest", "texts", "rendered", "changed", "changes", "registration")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    RENDERED_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    REGISTRATION_FIELD_NUMBER: _ClassVar[int]
    tool: _provider_pb2.ProvidedTool
    digest: str
    texts: _containers.RepeatedCompositeFieldContainer[ShownText]
    rendered: str
    changed: bool
    changes: _containers.RepeatedScalarFieldContainer[str]
    registration: _payload_pb2.JsonPayload
    def __init__(self, tool: _Optional[_Union[_provider_pb2.ProvidedTool, _Mapping]] = ..., digest: _Optional[str] = ..., texts: _Optional[_Iterable[_Union[ShownText, _Mapping]]] = ..., rendered: _Optional[str] = ..., changed: bool = ..., changes: _Optional[_Iterable[str]] = ..., registration: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ...) -> None: ...

class ShownText(_message.Message):
    __slots__ = ("kind", "lines", "spelled_out", "look_alikes")
    KIND_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    SPELLED_OUT_FIELD_NUMBER: _ClassVar[int]
    LOOK_ALIKES_FIELD_NUMBER: _ClassVar[int]
    kind: str
    lines: _containers.RepeatedScalarFieldContainer[str]
    spelled_out: int
    look_alikes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, kind: _Optional[str] = ..., lines: _Optional[_Iterable[str]] = ..., spelled_out: _Optional[int] = ..., look_alikes: _Optional[_Iterable[str]] = ...) -> None: ...

class ReviewToolsRequest(_message.Message):
    __slots__ = ("provider_id", "approve", "tools", "comment", "by")
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    APPROVE_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    provider_id: str
    approve: bool
    tools: _containers.RepeatedCompositeFieldContainer[ReviewedTool]
    comment: str
    by: str
    def __init__(self, provider_id: _Optional[str] = ..., approve: bool = ..., tools: _Optional[_Iterable[_Union[ReviewedTool, _Mapping]]] = ..., comment: _Optional[str] = ..., by: _Optional[str] = ...) -> None: ...

class ReviewedTool(_message.Message):
    __slots__ = ("tool_id", "digest")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    digest: str
    def __init__(self, tool_id: _Optional[str] = ..., digest: _Optional[str] = ...) -> None: ...

class ReviewToolsResponse(_message.Message):
    __slots__ = ("outcomes",)
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[ReviewOutcome]
    def __init__(self, outcomes: _Optional[_Iterable[_Union[ReviewOutcome, _Mapping]]] = ...) -> None: ...

class ReviewOutcome(_message.Message):
    __slots__ = ("tool_id", "tool", "error_code", "message")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    tool: _provider_pb2.ProvidedTool
    error_code: str
    message: str
    def __init__(self, tool_id: _Optional[str] = ..., tool: _Optional[_Union[_provider_pb2.ProvidedTool, _Mapping]] = ..., error_code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...
