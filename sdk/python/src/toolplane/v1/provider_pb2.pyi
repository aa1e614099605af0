import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from toolplane.v1 import credential_pb2 as _credential_pb2
from toolplane.v1 import mcp_binding_pb2 as _mcp_binding_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ProviderState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROVIDER_STATE_UNSPECIFIED: _ClassVar[ProviderState]
    PROVIDER_STATE_PENDING: _ClassVar[ProviderState]
    PROVIDER_STATE_READY: _ClassVar[ProviderState]
    PROVIDER_STATE_DEGRADED: _ClassVar[ProviderState]
    PROVIDER_STATE_FAILED: _ClassVar[ProviderState]
    PROVIDER_STATE_RETIRED: _ClassVar[ProviderState]

class ProviderTrust(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROVIDER_TRUST_UNSPECIFIED: _ClassVar[ProviderTrust]
    PROVIDER_TRUST_UNTRUSTED: _ClassVar[ProviderTrust]
    PROVIDER_TRUST_NEW_TOOLS: _ClassVar[ProviderTrust]
    PROVIDER_TRUST_ALL_TOOLS: _ClassVar[ProviderTrust]

class SessionSharing(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_SHARING_UNSPECIFIED: _ClassVar[SessionSharing]
    SESSION_SHARING_NONE: _ClassVar[SessionSharing]
    SESSION_SHARING_SESSION: _ClassVar[SessionSharing]
    SESSION_SHARING_TENANT: _ClassVar[SessionSharing]

class CircuitState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CIRCUIT_STATE_UNSPECIFIED: _ClassVar[CircuitState]
    CIRCUIT_STATE_CLOSED: _ClassVar[CircuitState]
    CIRCUIT_STATE_OPEN: _ClassVar[CircuitState]
    CIRCUIT_STATE_HALF_OPEN: _ClassVar[CircuitState]

class ProviderFault(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROVIDER_FAULT_UNSPECIFIED: _ClassVar[ProviderFault]
    PROVIDER_FAULT_UNREACHABLE: _ClassVar[ProviderFault]
    PROVIDER_FAULT_TIMED_OUT: _ClassVar[ProviderFault]
    PROVIDER_FAULT_EXITED: _ClassVar[ProviderFault]
    PROVIDER_FAULT_PROTOCOL_ERROR: _ClassVar[ProviderFault]
    PROVIDER_FAULT_UNAUTHORIZED: _ClassVar[ProviderFault]
    PROVIDER_FAULT_CREDENTIAL_MISSING: _ClassVar[ProviderFault]
    PROVIDER_FAULT_NOT_ALLOWED: _ClassVar[ProviderFault]
    PROVIDER_FAULT_MISCONFIGURED: _ClassVar[ProviderFault]
    PROVIDER_FAULT_OVERLOADED: _ClassVar[ProviderFault]
    PROVIDER_FAULT_FLOODED: _ClassVar[ProviderFault]
    PROVIDER_FAULT_LIED: _ClassVar[ProviderFault]
    PROVIDER_FAULT_INTERNAL: _ClassVar[ProviderFault]

class ReviewState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REVIEW_STATE_UNSPECIFIED: _ClassVar[ReviewState]
    REVIEW_STATE_NEW: _ClassVar[ReviewState]
    REVIEW_STATE_APPROVED: _ClassVar[ReviewState]
    REVIEW_STATE_CHANGED: _ClassVar[ReviewState]
    REVIEW_STATE_REJECTED: _ClassVar[ReviewState]
    REVIEW_STATE_REFUSED: _ClassVar[ReviewState]
    REVIEW_STATE_WITHDRAWN: _ClassVar[ReviewState]

class ReviewBasis(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REVIEW_BASIS_UNSPECIFIED: _ClassVar[ReviewBasis]
    REVIEW_BASIS_PERSON: _ClassVar[ReviewBasis]
    REVIEW_BASIS_TRUST: _ClassVar[ReviewBasis]

class RefusalCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REFUSAL_CODE_UNSPECIFIED: _ClassVar[RefusalCode]
    REFUSAL_CODE_UNSUPPORTED: _ClassVar[RefusalCode]
    REFUSAL_CODE_INVALID_DEFINITION: _ClassVar[RefusalCode]
    REFUSAL_CODE_INVALID_NAME: _ClassVar[RefusalCode]
    REFUSAL_CODE_NAME_TAKEN: _ClassVar[RefusalCode]
    REFUSAL_CODE_LISTED_TWICE: _ClassVar[RefusalCode]
    REFUSAL_CODE_TOO_MANY: _ClassVar[RefusalCode]
    REFUSAL_CODE_WRONG_IDENTITY: _ClassVar[RefusalCode]
PROVIDER_STATE_UNSPECIFIED: ProviderState
PROVIDER_STATE_PENDING: ProviderState
PROVIDER_STATE_READY: ProviderState
PROVIDER_STATE_DEGRADED: ProviderState
PROVIDER_STATE_FAILED: ProviderState
PROVIDER_STATE_RETIRED: ProviderState
PROVIDER_TRUST_UNSPECIFIED: ProviderTrust
PROVIDER_TRUST_UNTRUSTED: ProviderTrust
PROVIDER_TRUST_NEW_TOOLS: ProviderTrust
PROVIDER_TRUST_ALL_TOOLS: ProviderTrust
SESSION_SHARING_UNSPECIFIED: SessionSharing
SESSION_SHARING_NONE: SessionSharing
SESSION_SHARING_SESSION: SessionSharing
SESSION_SHARING_TENANT: SessionSharing
CIRCUIT_STATE_UNSPECIFIED: CircuitState
CIRCUIT_STATE_CLOSED: CircuitState
CIRCUIT_STATE_OPEN: CircuitState
CIRCUIT_STATE_HALF_OPEN: CircuitState
PROVIDER_FAULT_UNSPECIFIED: ProviderFault
PROVIDER_FAULT_UNREACHABLE: ProviderFault
PROVIDER_FAULT_TIMED_OUT: ProviderFault
PROVIDER_FAULT_EXITED: ProviderFault
PROVIDER_FAULT_PROTOCOL_ERROR: ProviderFault
PROVIDER_FAULT_UNAUTHORIZED: ProviderFault
PROVIDER_FAULT_CREDENTIAL_MISSING: ProviderFault
PROVIDER_FAULT_NOT_ALLOWED: ProviderFault
PROVIDER_FAULT_MISCONFIGURED: ProviderFault
PROVIDER_FAULT_OVERLOADED: ProviderFault
PROVIDER_FAULT_FLOODED: ProviderFault
PROVIDER_FAULT_LIED: ProviderFault
PROVIDER_FAULT_INTERNAL: ProviderFault
REVIEW_STATE_UNSPECIFIED: ReviewState
REVIEW_STATE_NEW: ReviewState
REVIEW_STATE_APPROVED: ReviewState
REVIEW_STATE_CHANGED: ReviewState
REVIEW_STATE_REJECTED: ReviewState
REVIEW_STATE_REFUSED: ReviewState
REVIEW_STATE_WITHDRAWN: ReviewState
REVIEW_BASIS_UNSPECIFIED: ReviewBasis
REVIEW_BASIS_PERSON: ReviewBasis
REVIEW_BASIS_TRUST: ReviewBasis
REFUSAL_CODE_UNSPECIFIED: RefusalCode
REFUSAL_CODE_UNSUPPORTED: RefusalCode
REFUSAL_CODE_INVALID_DEFINITION: RefusalCode
REFUSAL_CODE_INVALID_NAME: RefusalCode
REFUSAL_CODE_NAME_TAKEN: RefusalCode
REFUSAL_CODE_LISTED_TWICE: RefusalCode
REFUSAL_CODE_TOO_MANY: RefusalCode
REFUSAL_CODE_WRONG_IDENTITY: RefusalCode

class Provider(_message.Message):
    __slots__ = ("schema_version", "provider_id", "tenant", "namespace", "title", "mcp_stdio", "mcp_http", "openapi", "worker", "file", "reach", "credentials", "trust", "sessions", "refresh_interval_ms", "created_by", "created_at", "changed_by", "changed_at", "revision", "scheme_credentials")
    class SchemeCredentialsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    MCP_STDIO_FIELD_NUMBER: _ClassVar[int]
    MCP_HTTP_FIELD_NUMBER: _ClassVar[int]
    OPENAPI_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    REACH_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    REFRESH_INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CHANGED_BY_FIELD_NUMBER: _ClassVar[int]
    CHANGED_AT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SCHEME_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    provider_id: str
    tenant: str
    namespace: str
    title: str
    mcp_stdio: McpStdioSource
    mcp_http: McpHttpSource
    openapi: OpenapiSource
    worker: WorkerSource
    file: FileSource
    reach: Reach
    credentials: _containers.RepeatedCompositeFieldContainer[_credential_pb2.CredentialUse]
    trust: ProviderTrust
    sessions: SessionSharing
    refresh_interval_ms: int
    created_by: str
    created_at: _timestamp_pb2.Timestamp
    changed_by: str
    changed_at: _timestamp_pb2.Timestamp
    revision: int
    scheme_credentials: _containers.ScalarMap[str, str]
    def __init__(self, schema_version: _Optional[str] = ..., provider_id: _Optional[str] = ..., tenant: _Optional[str] = ..., namespace: _Optional[str] = ..., title: _Optional[str] = ..., mcp_stdio: _Optional[_Union[McpStdioSource, _Mapping]] = ..., mcp_http: _Optional[_Union[McpHttpSource, _Mapping]] = ..., openapi: _Optional[_Union[OpenapiSource, _Mapping]] = ..., worker: _Optional[_Union[WorkerSource, _Mapping]] = ..., file: _Optional[_Union[FileSource, _Mapping]] = ..., reach: _Optional[_Union[Reach, _Mapping]] = ..., credentials: _Optional[_Iterable[_Union[_credential_pb2.CredentialUse, _Mapping]]] = ..., trust: _Optional[_Union[ProviderTrust, str]] = ..., sessions: _Optional[_Union[SessionSharing, str]] = ..., refresh_interval_ms: _Optional[int] = ..., created_by: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., changed_by: _Optional[str] = ..., changed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revision: _Optional[int] = ..., scheme_credentials: _Optional[_Mapping[str, str]] = ...) -> None: ...

class McpStdioSource(_message.Message):
    __slots__ = ("argv", "env", "pass_env", "read_only_paths", "workspace")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ARGV_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    PASS_ENV_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_PATHS_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    argv: _containers.RepeatedScalarFieldContainer[str]
    env: _containers.ScalarMap[str, str]
    pass_env: _containers.RepeatedScalarFieldContainer[str]
    read_only_paths: _containers.RepeatedScalarFieldContainer[str]
    workspace: _mcp_binding_pb2.McpWorkspace
    def __init__(self, argv: _Optional[_Iterable[str]] = ..., env: _Optional[_Mapping[str, str]] = ..., pass_env: _Optional[_Iterable[str]] = ..., read_only_paths: _Optional[_Iterable[str]] = ..., workspace: _Optional[_Union[_mcp_binding_pb2.McpWorkspace, str]] = ...) -> None: ...

class McpHttpSource(_message.Message):
    __slots__ = ("url", "headers")
    class HeadersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    URL_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    url: str
    headers: _containers.ScalarMap[str, str]
    def __init__(self, url: _Optional[str] = ..., headers: _Optional[_Mapping[str, str]] = ...) -> None: ...

class OpenapiSource(_message.Message):
    __slots__ = ("url", "uploaded", "selection", "server_url", "server_variables")
    class ServerVariablesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    URL_FIELD_NUMBER: _ClassVar[int]
    UPLOADED_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    SERVER_URL_FIELD_NUMBER: _ClassVar[int]
    SERVER_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    url: str
    uploaded: str
    selection: OperationSelection
    server_url: str
    server_variables: _containers.ScalarMap[str, str]
    def __init__(self, url: _Optional[str] = ..., uploaded: _Optional[str] = ..., selection: _Optional[_Union[OperationSelection, _Mapping]] = ..., server_url: _Optional[str] = ..., server_variables: _Optional[_Mapping[str, str]] = ...) -> None: ...

class WorkerSource(_message.Message):
    __slots__ = ("native_prefix",)
    NATIVE_PREFIX_FIELD_NUMBER: _ClassVar[int]
    native_prefix: str
    def __init__(self, native_prefix: _Optional[str] = ...) -> None: ...

class FileSource(_message.Message):
    __slots__ = ("path",)
    PATH_FIELD_NUMBER: _ClassVar[int]
    path: str
    def __init__(self, path: _Optional[str] = ...) -> None: ...

class OperationSelection(_message.Message):
    __slots__ = ("operations", "tags", "methods")
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    METHODS_FIELD_NUMBER: _ClassVar[int]
    EXCEPT_FIELD_NUMBER: _ClassVar[int]
    operations: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    methods: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, operations: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., methods: _Optional[_Iterable[str]] = ..., **kwargs) -> None: ...

class Reach(_message.Message):
    __slots__ = ("hosts", "ports")
    HOSTS_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    hosts: _containers.RepeatedScalarFieldContainer[str]
    ports: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, hosts: _Optional[_Iterable[str]] = ..., ports: _Optional[_Iterable[int]] = ...) -> None: ...

class ProviderStatus(_message.Message):
    __slots__ = ("schema_version", "provider_id", "tenant", "state", "fault", "circuit", "circuit_until", "times_opened", "last_success_at", "last_try_at", "next_try_at", "consecutive_failures", "call_failures", "tools", "server_name", "server_version", "protocol_version", "list_digest")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    FAULT_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_UNTIL_FIELD_NUMBER: _ClassVar[int]
    TIMES_OPENED_FIELD_NUMBER: _ClassVar[int]
    LAST_SUCCESS_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_TRY_AT_FIELD_NUMBER: _ClassVar[int]
    NEXT_TRY_AT_FIELD_NUMBER: _ClassVar[int]
    CONSECUTIVE_FAILURES_FIELD_NUMBER: _ClassVar[int]
    CALL_FAILURES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    SERVER_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    LIST_DIGEST_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    provider_id: str
    tenant: str
    state: ProviderState
    fault: FaultReport
    circuit: CircuitState
    circuit_until: _timestamp_pb2.Timestamp
    times_opened: int
    last_success_at: _timestamp_pb2.Timestamp
    last_try_at: _timestamp_pb2.Timestamp
    next_try_at: _timestamp_pb2.Timestamp
    consecutive_failures: int
    call_failures: int
    tools: ToolCounts
    server_name: str
    server_version: str
    protocol_version: str
    list_digest: str
    def __init__(self, schema_version: _Optional[str] = ..., provider_id: _Optional[str] = ..., tenant: _Optional[str] = ..., state: _Optional[_Union[ProviderState, str]] = ..., fault: _Optional[_Union[FaultReport, _Mapping]] = ..., circuit: _Optional[_Union[CircuitState, str]] = ..., circuit_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., times_opened: _Optional[int] = ..., last_success_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_try_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., next_try_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., consecutive_failures: _Optional[int] = ..., call_failures: _Optional[int] = ..., tools: _Optional[_Union[ToolCounts, _Mapping]] = ..., server_name: _Optional[str] = ..., server_version: _Optional[str] = ..., protocol_version: _Optional[str] = ..., list_digest: _Optional[str] = ...) -> None: ...

class FaultReport(_message.Message):
    __slots__ = ("code", "message", "at")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    code: ProviderFault
    message: str
    at: _timestamp_pb2.Timestamp
    def __init__(self, code: _Optional[_Union[ProviderFault, str]] = ..., message: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ToolCounts(_message.Message):
    __slots__ = ("found", "imported", "waiting", "rejected", "refused", "withdrawn")
    FOUND_FIELD_NUMBER: _ClassVar[int]
    IMPORTED_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    REJECTED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    WITHDRAWN_FIELD_NUMBER: _ClassVar[int]
    found: int
    imported: int
    waiting: int
    rejected: int
    refused: int
    withdrawn: int
    def __init__(self, found: _Optional[int] = ..., imported: _Optional[int] = ..., waiting: _Optional[int] = ..., rejected: _Optional[int] = ..., refused: _Optional[int] = ..., withdrawn: _Optional[int] = ...) -> None: ...

class ProvidedTool(_message.Message):
    __slots__ = ("schema_version", "provider_id", "tenant", "tool_id", "native_id", "digest", "state", "approved", "rejected", "refusal", "first_seen_at", "changed_at", "notes")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    NATIVE_ID_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    APPROVED_FIELD_NUMBER: _ClassVar[int]
    REJECTED_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    FIRST_SEEN_AT_FIELD_NUMBER: _ClassVar[int]
    CHANGED_AT_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    provider_id: str
    tenant: str
    tool_id: str
    native_id: str
    digest: str
    state: ReviewState
    approved: ToolReview
    rejected: ToolReview
    refusal: ToolRefusal
    first_seen_at: _timestamp_pb2.Timestamp
    changed_at: _timestamp_pb2.Timestamp
    notes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, schema_version: _Optional[str] = ..., provider_id: _Optional[str] = ..., tenant: _Optional[str] = ..., tool_id: _Optional[str] = ..., native_id: _Optional[str] = ..., digest: _Optional[str] = ..., state: _Optional[_Union[ReviewState, str]] = ..., approved: _Optional[_Union[ToolReview, _Mapping]] = ..., rejected: _Optional[_Union[ToolReview, _Mapping]] = ..., refusal: _Optional[_Union[ToolRefusal, _Mapping]] = ..., first_seen_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., changed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., notes: _Optional[_Iterable[str]] = ...) -> None: ...

class ToolReview(_message.Message):
    __slots__ = ("digest", "basis", "by", "at", "comment")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    BASIS_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    digest: str
    basis: ReviewBasis
    by: str
    at: _timestamp_pb2.Timestamp
    comment: str
    def __init__(self, digest: _Optional[str] = ..., basis: _Optional[_Union[ReviewBasis, str]] = ..., by: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., comment: _Optional[str] = ...) -> None: ...

class ToolRefusal(_message.Message):
    __slots__ = ("code", "reason")
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    code: RefusalCode
    reason: str
    def __init__(self, code: _Optional[_Union[RefusalCode, str]] = ..., reason: _Optional[str] = ...) -> None: ...
