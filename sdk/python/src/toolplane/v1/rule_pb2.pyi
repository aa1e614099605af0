from toolplane.v1 import payload_pb2 as _payload_pb2
from toolplane.v1 import vocabulary_pb2 as _vocabulary_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ArgumentCondition(_message.Message):
    __slots__ = ("pointer", "op", "value")
    POINTER_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    pointer: str
    op: str
    value: _payload_pb2.JsonPayload
    def __init__(self, pointer: _Optional[str] = ..., op: _Optional[str] = ..., value: _Optional[_Union[_payload_pb2.JsonPayload, _Mapping]] = ...) -> None: ...

class RuleScope(_message.Message):
    __slots__ = ("tenant", "namespace", "actor", "role", "session", "surface")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SURFACE_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    namespace: str
    actor: str
    role: str
    session: str
    surface: str
    def __init__(self, tenant: _Optional[str] = ..., namespace: _Optional[str] = ..., actor: _Optional[str] = ..., role: _Optional[str] = ..., session: _Optional[str] = ..., surface: _Optional[str] = ...) -> None: ...

class RuleExplanation(_message.Message):
    __slots__ = ("rule_id", "source", "behavior", "matcher", "fit", "decided", "shadow", "why")
    RULE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    MATCHER_FIELD_NUMBER: _ClassVar[int]
    FIT_FIELD_NUMBER: _ClassVar[int]
    DECIDED_FIELD_NUMBER: _ClassVar[int]
    SHADOW_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    rule_id: str
    source: str
    behavior: _vocabulary_pb2.Behavior
    matcher: str
    fit: _vocabulary_pb2.RuleFit
    decided: bool
    shadow: bool
    why: str
    def __init__(self, rule_id: _Optional[str] = ..., source: _Optional[str] = ..., behavior: _Optional[_Union[_vocabulary_pb2.Behavior, str]] = ..., matcher: _Optional[str] = ..., fit: _Optional[_Union[_vocabulary_pb2.RuleFit, str]] = ..., decided: bool = ..., shadow: bool = ..., why: _Optional[str] = ...) -> None: ...

class PartExplanation(_message.Message):
    __slots__ = ("text", "behavior", "rule_ref", "why")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    RULE_REF_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    text: str
    behavior: _vocabulary_pb2.Behavior
    rule_ref: str
    why: str
    def __init__(self, text: _Optional[str] = ..., behavior: _Optional[_Union[_vocabulary_pb2.Behavior, str]] = ..., rule_ref: _Optional[str] = ..., why: _Optional[str] = ...) -> None: ...

class DecisionExplanation(_message.Message):
    __slots__ = ("rules", "parts", "notes", "policy_digest")
    RULES_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    POLICY_DIGEST_FIELD_NUMBER: _ClassVar[int]
    rules: _containers.RepeatedCompositeFieldContainer[RuleExplanation]
    parts: _containers.RepeatedCompositeFieldContainer[PartExplanation]
    notes: _containers.RepeatedScalarFieldContainer[str]
    policy_digest: str
    def __init__(self, rules: _Optional[_Iterable[_Union[RuleExplanation, _Mapping]]] = ..., parts: _Optional[_Iterable[_Union[PartExplanation, _Mapping]]] = ..., notes: _Optional[_Iterable[str]] = ..., policy_digest: _Optional[str] = ...) -> None: ...

class HookVerdict(_message.Message):
    __slots__ = ("hook_id", "behavior", "message", "authoritative")
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    AUTHORITATIVE_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    behavior: _vocabulary_pb2.Behavior
    message: str
    authoritative: bool
    def __init__(self, hook_id: _Optional[str] = ..., behavior: _Optional[_Union[_vocabulary_pb2.Behavior, str]] = ..., message: _Optional[str] = ..., authoritative: bool = ...) -> None: ...

class ClassifierCheck(_message.Message):
    __slots__ = ("classifier_ref", "pending", "confidence", "reason", "behavior", "authority")
    CLASSIFIER_REF_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    AUTHORITY_FIELD_NUMBER: _ClassVar[int]
    classifier_ref: str
    pending: bool
    confidence: float
    reason: str
    behavior: _vocabulary_pb2.Behavior
    authority: _vocabulary_pb2.ClassifierAuthority
    def __init__(self, classifier_ref: _Optional[str] = ..., pending: bool = ..., confidence: _Optional[float] = ..., reason: _Optional[str] = ..., behavior: _Optional[_Union[_vocabulary_pb2.Behavior, str]] = ..., authority: _Optional[_Union[_vocabulary_pb2.ClassifierAuthority, str]] = ...) -> None: ...
