from toolplane.v1 import credential_pb2 as _credential_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ParameterPlace(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PARAMETER_PLACE_UNSPECIFIED: _ClassVar[ParameterPlace]
    PARAMETER_PLACE_PATH: _ClassVar[ParameterPlace]
    PARAMETER_PLACE_QUERY: _ClassVar[ParameterPlace]
    PARAMETER_PLACE_QUERYSTRING: _ClassVar[ParameterPlace]
    PARAMETER_PLACE_HEADER: _ClassVar[ParameterPlace]
    PARAMETER_PLACE_COOKIE: _ClassVar[ParameterPlace]

class ParameterStyle(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PARAMETER_STYLE_UNSPECIFIED: _ClassVar[ParameterStyle]
    PARAMETER_STYLE_MATRIX: _ClassVar[ParameterStyle]
    PARAMETER_STYLE_LABEL: _ClassVar[ParameterStyle]
    PARAMETER_STYLE_SIMPLE: _ClassVar[ParameterStyle]
    PARAMETER_STYLE_FORM: _ClassVar[ParameterStyle]
    PARAMETER_STYLE_SPACE_DELIMITED: _ClassVar[ParameterStyle]
    PARAMETER_STYLE_PIPE_DELIMITED: _ClassVar[ParameterStyle]
    PARAMETER_STYLE_DEEP_OBJECT: _ClassVar[ParameterStyle]
    PARAMETER_STYLE_COOKIE: _ClassVar[ParameterStyle]

class BodyEncoding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BODY_ENCODING_UNSPECIFIED: _ClassVar[BodyEncoding]
    BODY_ENCODING_JSON: _ClassVar[BodyEncoding]
    BODY_ENCODING_FORM: _ClassVar[BodyEncoding]
    BODY_ENCODING_MULTIPART: _ClassVar[BodyEncoding]
    BODY_ENCODING_TEXT: _ClassVar[BodyEncoding]
    BODY_ENCODING_BYTES: _ClassVar[BodyEncoding]
PARAMETER_PLACE_UNSPECIFIED: ParameterPlace
PARAMETER_PLACE_PATH: ParameterPlace
PARAMETER_PLACE_QUERY: ParameterPlace
PARAMETER_PLACE_QUERYSTRING: ParameterPlace
PARAMETER_PLACE_HEADER: ParameterPlace
PARAMETER_PLACE_COOKIE: ParameterPlace
PARAMETER_STYLE_UNSPECIFIED: ParameterStyle
PARAMETER_STYLE_MATRIX: ParameterStyle
PARAMETER_STYLE_LABEL: ParameterStyle
PARAMETER_STYLE_SIMPLE: ParameterStyle
PARAMETER_STYLE_FORM: ParameterStyle
PARAMETER_STYLE_SPACE_DELIMITED: ParameterStyle
PARAMETER_STYLE_PIPE_DELIMITED: ParameterStyle
PARAMETER_STYLE_DEEP_OBJECT: ParameterStyle
PARAMETER_STYLE_COOKIE: ParameterStyle
BODY_ENCODING_UNSPECIFIED: BodyEncoding
BODY_ENCODING_JSON: BodyEncoding
BODY_ENCODING_FORM: BodyEncoding
BODY_ENCODING_MULTIPART: BodyEncoding
BODY_ENCODING_TEXT: BodyEncoding
BODY_ENCODING_BYTES: BodyEncoding

class OperationBinding(_message.Message):
    __slots__ = ("operation", "method", "server", "path", "parameters", "body", "credentials", "accept", "response_schema", "allowed_host", "allowed_port", "idempotent", "max_response_bytes")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_HOST_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_PORT_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    MAX_RESPONSE_BYTES_FIELD_NUMBER: _ClassVar[int]
    operation: str
    method: str
    server: str
    path: str
    parameters: _containers.RepeatedCompositeFieldContainer[OperationParameter]
    body: OperationBody
    credentials: _containers.RepeatedCompositeFieldContainer[CredentialWay]
    accept: _containers.RepeatedScalarFieldContainer[str]
    response_schema: str
    allowed_host: str
    allowed_port: int
    idempotent: bool
    max_response_bytes: int
    def __init__(self, operation: _Optional[str] = ..., method: _Optional[str] = ..., server: _Optional[str] = ..., path: _Optional[str] = ..., parameters: _Optional[_Iterable[_Union[OperationParameter, _Mapping]]] = ..., body: _Optional[_Union[OperationBody, _Mapping]] = ..., credentials: _Optional[_Iterable[_Union[CredentialWay, _Mapping]]] = ..., accept: _Optional[_Iterable[str]] = ..., response_schema: _Optional[str] = ..., allowed_host: _Optional[str] = ..., allowed_port: _Optional[int] = ..., idempotent: bool = ..., max_response_bytes: _Optional[int] = ...) -> None: ...

class OperationParameter(_message.Message):
    __slots__ = ("place", "name", "input", "required", "style", "explode", "allow_reserved", "media_type")
    PLACE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    STYLE_FIELD_NUMBER: _ClassVar[int]
    EXPLODE_FIELD_NUMBER: _ClassVar[int]
    ALLOW_RESERVED_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    place: ParameterPlace
    name: str
    input: _containers.RepeatedScalarFieldContainer[str]
    required: bool
    style: ParameterStyle
    explode: bool
    allow_reserved: bool
    media_type: str
    def __init__(self, place: _Optional[_Union[ParameterPlace, str]] = ..., name: _Optional[str] = ..., input: _Optional[_Iterable[str]] = ..., required: bool = ..., style: _Optional[_Union[ParameterStyle, str]] = ..., explode: bool = ..., allow_reserved: bool = ..., media_type: _Optional[str] = ...) -> None: ...

class OperationBody(_message.Message):
    __slots__ = ("media_type", "encoding", "required", "input", "parts")
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    media_type: str
    encoding: BodyEncoding
    required: bool
    input: _containers.RepeatedScalarFieldContainer[str]
    parts: _containers.RepeatedCompositeFieldContainer[BodyPart]
    def __init__(self, media_type: _Optional[str] = ..., encoding: _Optional[_Union[BodyEncoding, str]] = ..., required: bool = ..., input: _Optional[_Iterable[str]] = ..., parts: _Optional[_Iterable[_Union[BodyPart, _Mapping]]] = ...) -> None: ...

class BodyPart(_message.Message):
    __slots__ = ("name", "field", "style", "explode", "media_type", "file")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    STYLE_FIELD_NUMBER: _ClassVar[int]
    EXPLODE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    name: str
    field: str
    style: ParameterStyle
    explode: bool
    media_type: str
    file: bool
    def __init__(self, name: _Optional[str] = ..., field: _Optional[str] = ..., style: _Optional[_Union[ParameterStyle, str]] = ..., explode: bool = ..., media_type: _Optional[str] = ..., file: bool = ...) -> None: ...

class CredentialWay(_message.Message):
    __slots__ = ("needed",)
    NEEDED_FIELD_NUMBER: _ClassVar[int]
    needed: _containers.RepeatedCompositeFieldContainer[CredentialRequirement]
    def __init__(self, needed: _Optional[_Iterable[_Union[CredentialRequirement, _Mapping]]] = ...) -> None: ...

class CredentialRequirement(_message.Message):
    __slots__ = ("scheme", "placement", "source", "scopes", "credential", "field")
    SCHEME_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    scheme: str
    placement: _credential_pb2.CredentialPlacement
    source: TokenSource
    scopes: _containers.RepeatedScalarFieldContainer[str]
    credential: str
    field: str
    def __init__(self, scheme: _Optional[str] = ..., placement: _Optional[_Union[_credential_pb2.CredentialPlacement, _Mapping]] = ..., source: _Optional[_Union[TokenSource, _Mapping]] = ..., scopes: _Optional[_Iterable[str]] = ..., credential: _Optional[str] = ..., field: _Optional[str] = ...) -> None: ...

class TokenSource(_message.Message):
    __slots__ = ("client_credentials", "open_id_connect", "given")
    CLIENT_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    OPEN_ID_CONNECT_FIELD_NUMBER: _ClassVar[int]
    GIVEN_FIELD_NUMBER: _ClassVar[int]
    client_credentials: str
    open_id_connect: str
    given: bool
    def __init__(self, client_credentials: _Optional[str] = ..., open_id_connect: _Optional[str] = ..., given: bool = ...) -> None: ...
