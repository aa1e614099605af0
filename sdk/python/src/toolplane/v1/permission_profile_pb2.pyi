from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PermissionProfile(_message.Message):
    __slots__ = ("schema_version", "permission_profile_id", "risk_level", "access_kinds", "access_kind_codes", "write_effects", "write_effect_codes", "network_scope", "tenant_scope", "credential_refs", "sandbox_profile", "approval_required", "approval_reason", "permission_channel", "rule_matching_fields", "data_sensitivity", "retention_hint", "redaction_required", "policy_refs", "sensitive_sink")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_PROFILE_ID_FIELD_NUMBER: _ClassVar[int]
    RISK_LEVEL_FIELD_NUMBER: _ClassVar[int]
    ACCESS_KINDS_FIELD_NUMBER: _ClassVar[int]
    ACCESS_KIND_CODES_FIELD_NUMBER: _ClassVar[int]
    WRITE_EFFECTS_FIELD_NUMBER: _ClassVar[int]
    WRITE_EFFECT_CODES_FIELD_NUMBER: _ClassVar[int]
    NETWORK_SCOPE_FIELD_NUMBER: _ClassVar[int]
    TENANT_SCOPE_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_REFS_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_PROFILE_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_REASON_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_CHANNEL_FIELD_NUMBER: _ClassVar[int]
    RULE_MATCHING_FIELDS_FIELD_NUMBER: _ClassVar[int]
    DATA_SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    RETENTION_HINT_FIELD_NUMBER: _ClassVar[int]
    REDACTION_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    POLICY_REFS_FIELD_NUMBER: _ClassVar[int]
    SENSITIVE_SINK_FIELD_NUMBER: _ClassVar[int]
    schema_version: str
    permission_profile_id: str
    risk_level: _vocabulary_pb2.RiskLevel
    access_kinds: _containers.RepeatedScalarFieldContainer[str]
    access_kind_codes: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.AccessKind]
    write_effects: _containers.RepeatedScalarFieldContainer[str]
    write_effect_codes: _containers.RepeatedScalarFieldContainer[_vocabulary_pb2.WriteEffect]
    network_scope: str
    tenant_scope: str
    credential_refs: _containers.RepeatedScalarFieldContainer[str]
    sandbox_profile: str
    approval_required: bool
    approval_reason: str
    permission_channel: str
    rule_matching_fields: _containers.RepeatedScalarFieldContainer[str]
    data_sensitivity: str
    retention_hint: str
    redaction_required: bool
    policy_refs: _containers.RepeatedScalarFieldContainer[str]
    sensitive_sink: bool
    def __init__(self, schema_version: _Optional[str] = ..., permission_profile_id: _Optional[str] = ..., risk_level: _Optional[_Union[_vocabulary_pb2.RiskLevel, str]] = ..., access_kinds: _Optional[_Iterable[str]] = ..., access_kind_codes: _Optional[_Iterable[_Union[_vocabulary_pb2.AccessKind, str]]] = ..., write_effects: _Optional[_Iterable[str]] = ..., write_effect_codes: _Optional[_Iterable[_Union[_vocabulary_pb2.WriteEffect, str]]] = ..., network_scope: _Optional[str] = ..., tenant_scope: _Optional[str] = ..., credential_refs: _Optional[_Iterable[str]] = ..., sandbox_profile: _Optional[str] = ..., approval_required: bool = ..., approval_reason: _Optional[str] = ..., permission_channel: _Optional[str] = ..., rule_matching_fields: _Optional[_Iterable[str]] = ..., data_sensitivity: _Optional[str] = ..., retention_hint: _Optional[str] = ..., redaction_required: bool = ..., policy_refs: _Optional[_Iterable[str]] = ..., sensitive_sink: bool = ...) -> None: ...
