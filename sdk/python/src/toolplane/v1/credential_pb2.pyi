from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CredentialUse(_message.Message):
    __slots__ = ("credential", "field", "placement")
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_FIELD_NUMBER: _ClassVar[int]
    credential: str
    field: str
    placement: CredentialPlacement
    def __init__(self, credential: _Optional[str] = ..., field: _Optional[str] = ..., placement: _Optional[_Union[CredentialPlacement, _Mapping]] = ...) -> None: ...

class CredentialPlacement(_message.Message):
    __slots__ = ("header", "query", "cookie", "env", "file", "proxy")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    COOKIE_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    PROXY_FIELD_NUMBER: _ClassVar[int]
    header: HeaderPlacement
    query: NamedPlacement
    cookie: NamedPlacement
    env: NamedPlacement
    file: NamedPlacement
    proxy: ProxyPlacement
    def __init__(self, header: _Optional[_Union[HeaderPlacement, _Mapping]] = ..., query: _Optional[_Union[NamedPlacement, _Mapping]] = ..., cookie: _Optional[_Union[NamedPlacement, _Mapping]] = ..., env: _Optional[_Union[NamedPlacement, _Mapping]] = ..., file: _Optional[_Union[NamedPlacement, _Mapping]] = ..., proxy: _Optional[_Union[ProxyPlacement, _Mapping]] = ...) -> None: ...

class HeaderPlacement(_message.Message):
    __slots__ = ("name", "prefix")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    name: str
    prefix: str
    def __init__(self, name: _Optional[str] = ..., prefix: _Optional[str] = ...) -> None: ...

class NamedPlacement(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ProxyPlacement(_message.Message):
    __slots__ = ("hosts", "name", "prefix")
    HOSTS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    hosts: _containers.RepeatedScalarFieldContainer[str]
    name: str
    prefix: str
    def __init__(self, hosts: _Optional[_Iterable[str]] = ..., name: _Optional[str] = ..., prefix: _Optional[str] = ...) -> None: ...
