from toolplane.v1 import declaration_pb2 as _declaration_pb2
from toolplane.v1 import execution_profile_pb2 as _execution_profile_pb2
from toolplane.v1 import interface_pb2 as _interface_pb2
from toolplane.v1 import permission_profile_pb2 as _permission_profile_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolRegistration(_message.Message):
    __slots__ = ("declaration", "interface", "execution_profile", "permission_profile")
    DECLARATION_FIELD_NUMBER: _ClassVar[int]
    INTERFACE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_PROFILE_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_PROFILE_FIELD_NUMBER: _ClassVar[int]
    declaration: _declaration_pb2.ToolDeclaration
    interface: _interface_pb2.ToolInterface
    execution_profile: _execution_profile_pb2.ExecutionProfile
    permission_profile: _permission_profile_pb2.PermissionProfile
    def __init__(self, declaration: _Optional[_Union[_declaration_pb2.ToolDeclaration, _Mapping]] = ..., interface: _Optional[_Union[_interface_pb2.ToolInterface, _Mapping]] = ..., execution_profile: _Optional[_Union[_execution_profile_pb2.ExecutionProfile, _Mapping]] = ..., permission_profile: _Optional[_Union[_permission_profile_pb2.PermissionProfile, _Mapping]] = ...) -> None: ...
