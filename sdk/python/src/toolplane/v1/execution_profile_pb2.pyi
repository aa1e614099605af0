from toolplane.v1 import credential_pb2 as _credential_pb2
from toolplane.v1 import external_mapping_pb2 as _external_mapping_pb2
from toolplane.v1 import mcp_binding_pb2 as _mcp_binding_pb2
from toolplane.v1 import operation_binding_pb2 as _operation_binding_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ProcessStdin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROCESS_STDIN_UNSPECIFIED: _ClassVar[ProcessStdin]
    PROCESS_STDIN_NONE: _ClassVar[ProcessStdin]
    PROCESS_STDIN_JSON: _ClassVar[ProcessStdin]
PROCESS_STDIN_UNSPECIFIED: ProcessStdin
PROCESS_STDIN_NONE: ProcessStdin
PROCESS_STDIN_JSON: ProcessStdin

class ExecutionProfile(_message.Message):
    __slots__ = ("schema_version", "execution_profile_id", "execution_kind", "execution_kind_code", "supports_progress", "supports_cancel", "supports_resume", "supports_retries", "supports_partial_results", "supports_background", "supports_artifacts", "supports_context_modifiers", "sandboxed", "sandbox_profile", "timeout_ms", "external_mappings", "binding", "start_guard", "retry_on_timeout")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_PROFILE_ID_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_KIND_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_KIND_CODE_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_CANCEL_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_RESUME_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_RETRIES_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_PARTIAL_RESULTS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_BACKGROUND_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_ARTIFACTS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTS_CONTEXT_MODIFIERS_FIELD_NUMBER: _ClassVar[int]
    SANDBOXED_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_PROFILE_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_MAPPINGS_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    START_GUARD_FIELD_NUMBER: _ClassVar[int]
    RETRY_ON_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    execution_profile_id: str
    execution_kind: str
    execution_kind_code: _vocabulary_pb2.ExecutionKind
    supports_progress: bool
    supports_cancel: bool
    supports_resume: bool
    supports_retries: bool
    supports_partial_results: bool
    supports_background: bool
    supports_artifacts: bool
    supports_context_modifiers: bool
    sandboxed: bool
    sandbox_profile: str
    timeout_ms: int
    external_mappings: _containers.RepeatedCompositeFieldContainer[_external_mapping_pb2.ExternalMapping]
    binding: ExecutionBinding
    start_guard: _vocabulary_pb2.StartGuard
    retry_on_timeout: bool
    def __init__(self, schema_version: _Optional[str] = ..., execution_profile_id: _Optional[str] = ..., execution_kind: _Optional[str] = ..., execution_kind_code: _Optional[_Union[_vocabulary_pb2.ExecutionKind, str]] = ..., supports_progress: bool = ..., supports_cancel: bool = ..., supports_resume: bool = ..., supports_retries: bool = ..., supports_partial_results: bool = ..., supports_background: bool = ..., supports_artifacts: bool = ..., supports_context_modifiers: bool = ..., sandboxed: bool = ..., sandbox_profile: _Optional[str] = ..., timeout_ms: _Optional[int] = ..., external_mappings: _Optional[_Iterable[_Union[_external_mapping_pb2.ExternalMapping, _Mapping]]] = ..., binding: _Optional[_Union[ExecutionBinding, _Mapping]] = ..., start_guard: _Optional[_Union[_vocabulary_pb2.StartGuard, str]] = ..., retry_on_timeout: bool = ...) -> None: ...

class ExecutionBinding(_message.Message):
    __slots__ = ("native", "shell", "process", "http", "mcp", "operation")
    NATIVE_FIELD_NUMBER: _ClassVar[int]
    SHELL_FIELD_NUMBER: _ClassVar[int]
    PROCESS_FIELD_NUMBER: _ClassVar[int]
    HTTP_FIELD_NUMBER: _ClassVar[int]
    MCP_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    native: NativeBinding
    shell: ShellBinding
    process: ProcessBinding
    http: HttpBinding
    mcp: _mcp_binding_pb2.McpBinding
    operation: _operation_binding_pb2.OperationBinding
    def __init__(self, native: _Optional[_Union[NativeBinding, _Mapping]] = ..., shell: _Optional[_Union[ShellBinding, _Mapping]] = ..., process: _Optional[_Union[ProcessBinding, _Mapping]] = ..., http: _Optional[_Union[HttpBinding, _Mapping]] = ..., mcp: _Optional[_Union[_mcp_binding_pb2.McpBinding, _Mapping]] = ..., operation: _Optional[_Union[_operation_binding_pb2.OperationBinding, _Mapping]] = ...) -> None: ...

class NativeBinding(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ShellBinding(_message.Message):
    __slots__ = ("shell",)
    SHELL_FIELD_NUMBER: _ClassVar[int]
    shell: str
    def __init__(self, shell: _Optional[str] = ...) -> None: ...

class ProcessBinding(_message.Message):
    __slots__ = ("argv", "stdin", "env", "success_exit_codes", "json_output", "credentials")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ARGV_FIELD_NUMBER: _ClassVar[int]
    STDIN_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_EXIT_CODES_FIELD_NUMBER: _ClassVar[int]
    JSON_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    argv: _containers.RepeatedScalarFieldContainer[str]
    stdin: ProcessStdin
    env: _containers.ScalarMap[str, str]
    success_exit_codes: _containers.RepeatedScalarFieldContainer[int]
    json_output: bool
    credentials: _containers.RepeatedCompositeFieldContainer[_credential_pb2.CredentialUse]
    def __init__(self, argv: _Optional[_Iterable[str]] = ..., stdin: _Optional[_Union[ProcessStdin, str]] = ..., env: _Optional[_Mapping[str, str]] = ..., success_exit_codes: _Optional[_Iterable[int]] = ..., json_output: bool = ..., credentials: _Optional[_Iterable[_Union[_credential_pb2.CredentialUse, _Mapping]]] = ...) -> None: ...

class HttpBinding(_message.Message):
    __slots__ = ("allowed_hosts", "allowed_ports", "allowed_methods", "max_response_bytes", "credentials")
    ALLOWED_HOSTS_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_PORTS_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_METHODS_FIELD_NUMBER: _ClassVar[int]
    MAX_RESPONSE_BYTES_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    allowed_hosts: _containers.RepeatedScalarFieldContainer[str]
    allowed_ports: _containers.RepeatedScalarFieldContainer[int]
    allowed_methods: _containers.RepeatedScalarFieldContainer[str]
    max_response_bytes: int
    credentials: _containers.RepeatedCompositeFieldContainer[_credential_pb2.CredentialUse]
    def __init__(self, allowed_hosts: _Optional[_Iterable[str]] = ..., allowed_ports: _Optional[_Iterable[int]] = ..., allowed_methods: _Optional[_Iterable[str]] = ..., max_response_bytes: _Optional[int] = ..., credentials: _Optional[_Iterable[_Union[_credential_pb2.CredentialUse, _Mapping]]] = ...) -> None: ...
