from toolplane.v1 import credential_pb2 as _credential_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class McpWorkspace(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MCP_WORKSPACE_UNSPECIFIED: _ClassVar[McpWorkspace]
    MCP_WORKSPACE_NONE: _ClassVar[McpWorkspace]
    MCP_WORKSPACE_READ: _ClassVar[McpWorkspace]
    MCP_WORKSPACE_WRITE: _ClassVar[McpWorkspace]

class McpSharing(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MCP_SHARING_UNSPECIFIED: _ClassVar[McpSharing]
    MCP_SHARING_CALL: _ClassVar[McpSharing]
    MCP_SHARING_SESSION: _ClassVar[McpSharing]
    MCP_SHARING_TENANT: _ClassVar[McpSharing]
MCP_WORKSPACE_UNSPECIFIED: McpWorkspace
MCP_WORKSPACE_NONE: McpWorkspace
MCP_WORKSPACE_READ: McpWorkspace
MCP_WORKSPACE_WRITE: McpWorkspace
MCP_SHARING_UNSPECIFIED: McpSharing
MCP_SHARING_CALL: McpSharing
MCP_SHARING_SESSION: McpSharing
MCP_SHARING_TENANT: McpSharing

class McpBinding(_message.Message):
    __slots__ = ("provider_id", "stdio", "http", "tool", "header_parameters", "sharing")
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    STDIO_FIELD_NUMBER: _ClassVar[int]
    HTTP_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    HEADER_PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    SHARING_FIELD_NUMBER: _ClassVar[int]
    provider_id: str
    stdio: McpStdioServer
    http: McpHttpServer
    tool: str
    header_parameters: _containers.RepeatedCompositeFieldContainer[McpHeaderParameter]
    sharing: McpSharing
    def __init__(self, provider_id: _Optional[str] = ..., stdio: _Optional[_Union[McpStdioServer, _Mapping]] = ..., http: _Optional[_Union[McpHttpServer, _Mapping]] = ..., tool: _Optional[str] = ..., header_parameters: _Optional[_Iterable[_Union[McpHeaderParameter, _Mapping]]] = ..., sharing: _Optional[_Union[McpSharing, str]] = ...) -> None: ...

class McpStdioServer(_message.Message):
    __slots__ = ("argv", "env", "env_names", "credentials", "sandbox", "placed_credentials")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class CredentialsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ARGV_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    ENV_NAMES_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    PLACED_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    argv: _containers.RepeatedScalarFieldContainer[str]
    env: _containers.ScalarMap[str, str]
    env_names: _containers.RepeatedScalarFieldContainer[str]
    credentials: _containers.ScalarMap[str, str]
    sandbox: McpSandbox
    placed_credentials: _containers.RepeatedCompositeFieldContainer[_credential_pb2.CredentialUse]
    def __init__(self, argv: _Optional[_Iterable[str]] = ..., env: _Optional[_Mapping[str, str]] = ..., env_names: _Optional[_Iterable[str]] = ..., credentials: _Optional[_Mapping[str, str]] = ..., sandbox: _Optional[_Union[McpSandbox, _Mapping]] = ..., placed_credentials: _Optional[_Iterable[_Union[_credential_pb2.CredentialUse, _Mapping]]] = ...) -> None: ...

class McpSandbox(_message.Message):
    __slots__ = ("allowed_hosts", "allowed_ports", "workspace", "read_paths")
    ALLOWED_HOSTS_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_PORTS_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    READ_PATHS_FIELD_NUMBER: _ClassVar[int]
    allowed_hosts: _containers.RepeatedScalarFieldContainer[str]
    allowed_ports: _containers.RepeatedScalarFieldContainer[int]
    workspace: McpWorkspace
    read_paths: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, allowed_hosts: _Optional[_Iterable[str]] = ..., allowed_ports: _Optional[_Iterable[int]] = ..., workspace: _Optional[_Union[McpWorkspace, str]] = ..., read_paths: _Optional[_Iterable[str]] = ...) -> None: ...

class McpHttpServer(_message.Message):
    __slots__ = ("url", "headers", "credentials", "allowed_hosts", "allowed_ports", "placed_credentials")
    class HeadersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class CredentialsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    URL_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_HOSTS_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_PORTS_FIELD_NUMBER: _ClassVar[int]
    PLACED_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    url: str
    headers: _containers.ScalarMap[str, str]
    credentials: _containers.ScalarMap[str, str]
    allowed_hosts: _containers.RepeatedScalarFieldContainer[str]
    allowed_ports: _containers.RepeatedScalarFieldContainer[int]
    placed_credentials: _containers.RepeatedCompositeFieldContainer[_credential_pb2.CredentialUse]
    def __init__(self, url: _Optional[str] = ..., headers: _Optional[_Mapping[str, str]] = ..., credentials: _Optional[_Mapping[str, str]] = ..., allowed_hosts: _Optional[_Iterable[str]] = ..., allowed_ports: _Optional[_Iterable[int]] = ..., placed_credentials: _Optional[_Iterable[_Union[_credential_pb2.CredentialUse, _Mapping]]] = ...) -> None: ...

class McpHeaderParameter(_message.Message):
    __slots__ = ("path", "header")
    PATH_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    path: _containers.RepeatedScalarFieldContainer[str]
    header: str
    def __init__(self, path: _Optional[_Iterable[str]] = ..., header: _Optional[str] = ...) -> None: ...
