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

class NativeIds(_message.Message):
    __slots__ = ("json_rpc_id", "mcp_session_id", "a2a_task_id", "a2a_context_id", "a2a_message_id", "http_request_id")
    JSON_RPC_ID_FIELD_NUMBER: _ClassVar[int]
    MCP_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    A2A_TASK_ID_FIELD_NUMBER: _ClassVar[int]
    A2A_CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    A2A_MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    HTTP_REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    json_rpc_id: str
    mcp_session_id: str
    a2a_task_id: str
    a2a_context_id: str
    a2a_message_id: str
    http_request_id: str
    def __init__(self, json_rpc_id: _Optional[str] = ..., mcp_session_id: _Optional[str] = ..., a2a_task_id: _Optional[str] = ..., a2a_context_id: _Optional[str] = ..., a2a_message_id: _Optional[str] = ..., http_request_id: _Optional[str] = ...) -> None: ...

class SandboxFacts(_message.Message):
    __slots__ = ("backend", "available", "held", "missing", "posture_digest")
    BACKEND_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    POSTURE_DIGEST_FIELD_NUMBER: _ClassVar[int]
    backend: str
    available: bool
    held: _containers.RepeatedScalarFieldContainer[str]
    missing: _containers.RepeatedScalarFieldContainer[str]
    posture_digest: str
    def __init__(self, backend: _Optional[str] = ..., available: bool = ..., held: _Optional[_Iterable[str]] = ..., missing: _Optional[_Iterable[str]] = ..., posture_digest: _Optional[str] = ...) -> None: ...

class ExecutionSite(_message.Message):
    __slots__ = ("worker_id", "incarnation", "worker_version", "image", "sandbox")
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    WORKER_VERSION_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    incarnation: str
    worker_version: str
    image: str
    sandbox: SandboxFacts
    def __init__(self, worker_id: _Optional[str] = ..., incarnation: _Optional[str] = ..., worker_version: _Optional[str] = ..., image: _Optional[str] = ..., sandbox: _Optional[_Union[SandboxFacts, _Mapping]] = ...) -> None: ...

class ExecutedTool(_message.Message):
    __slots__ = ("tool_id", "tool_name", "declaration_digest", "plan_digest", "execution_kind", "execution_kind_code", "pool", "sandboxed", "sandbox_profile")
    TOOL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    DECLARATION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    PLAN_DIGEST_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_KIND_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_KIND_CODE_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    SANDBOXED_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_PROFILE_FIELD_NUMBER: _ClassVar[int]
    tool_id: str
    tool_name: str
    declaration_digest: str
    plan_digest: str
    execution_kind: str
    execution_kind_code: _vocabulary_pb2.ExecutionKind
    pool: str
    sandboxed: bool
    sandbox_profile: str
    def __init__(self, tool_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., declaration_digest: _Optional[str] = ..., plan_digest: _Optional[str] = ..., execution_kind: _Optional[str] = ..., execution_kind_code: _Optional[_Union[_vocabulary_pb2.ExecutionKind, str]] = ..., pool: _Optional[str] = ..., sandboxed: bool = ..., sandbox_profile: _Optional[str] = ...) -> None: ...

class ExecutionEvidence(_message.Message):
    __slots__ = ("evidence_id", "invocation_id", "attempt", "lease_no", "fence", "tool", "site", "status", "status_code", "started_at", "duration_ms", "reported_at", "native_ids", "detail", "detail_left_out")
    EVIDENCE_ID_FIELD_NUMBER: _ClassVar[int]
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    LEASE_NO_FIELD_NUMBER: _ClassVar[int]
    FENCE_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    SITE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    REPORTED_AT_FIELD_NUMBER: _ClassVar[int]
    NATIVE_IDS_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    DETAIL_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    evidence_id: str
    invocation_id: str
    attempt: int
    lease_no: int
    fence: int
    tool: ExecutedTool
    site: ExecutionSite
    status: str
    status_code: _vocabulary_pb2.ResultStatus
    started_at: _timestamp_pb2.Timestamp
    duration_ms: int
    reported_at: _timestamp_pb2.Timestamp
    native_ids: NativeIds
    detail: _payload_pb2.JsonPayload
    detail_left_out: str
    def __init__(self, evidence_id: _Optional[str] = ..., invocation_id: _Optional[str] = ..., attempt: _Optional[int] = ..., lease_no: _Optional[int] = ..., fence: _Optional[int] = ..., tool: _Optional[_Union[ExecutedTool, _Mapping]] = ..., site: _Optional[_Union[ExecutionSite, _Mapping]] = ..., status: _Optional[str] = ..., status_code: _Optional[_Union[_vocabulary_pb2.ResultStatus, str]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., duration_ms: _Optional[int] = ..., reported_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., native_ids: _Optional[_Union[NativeIds, _Mapping]] = ..., detail: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ..., detail_left_out: _Optional[str] = ...) -> None: ...
