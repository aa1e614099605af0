"""One function as a tool: what is declared of it, and how it is called."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolplane import _json
from toolplane.errors import SetupError
from toolplane.v1 import (
    contract_pb2,
    declaration_pb2,
    execution_profile_pb2,
    interface_pb2,
    permission_profile_pb2,
    registration_pb2,
)
from toolplane.v1 import vocabulary_pb2 as words
from toolplane.worker import docstring
from toolplane.worker.context import Context
from toolplane.worker.outcome import File, Output
from toolplane.worker.schema import Schemas, as_json, convert, split

_FACTS = ("read_only", "destructive", "idempotent", "concurrency_safe", "open_world")


@dataclass(frozen=True)
class Facts:
    """What an author says of a tool. What is `None` stays unknown, and unknown is taken for the worst."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    concurrency_safe: bool | None = None
    open_world: bool | None = None
    risk: str | None = None
    """`low`, `medium`, `high` or `critical`."""
    access: tuple[str, ...] = ()
    """What it touches, e.g. `network`."""
    effects: tuple[str, ...] = ()
    """What it leaves behind, e.g. `remote_mutation`."""
    approval_required: bool | None = None


@dataclass(frozen=True)
class NativeTool:
    """A function and its declaration."""

    namespace: str
    name: str
    function: Callable[..., Any]
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    facts: Facts
    timeout_ms: int
    supports_cancel: bool
    context_modifiers: bool = False
    background: bool = False
    resume: bool = False
    title: str = ""
    search_hint: str = ""
    sensitive: tuple[str, ...] = ()
    hints: Mapping[str, Any] = field(default_factory=dict)
    context_parameter: str | None = None

    @property
    def full_name(self) -> str:
        """The name in the cluster, and of the native tool behind it."""
        return f"{self.namespace}.{self.name}"

    @property
    def is_async(self) -> bool:
        """Whether it is a coroutine function."""
        return inspect.iscoroutinefunction(self.function)

    def arguments(self, given: Any, context: Context) -> dict[str, Any]:
        """The arguments for the function. `ValueError` or `TypeError` when they are not what its hints say."""
        if not isinstance(given, dict):
            raise TypeError("the arguments are no object")
        arguments = {name: convert(self.hints[name], value) for name, value in given.items() if name in self.hints}
        if self.context_parameter is not None:
            arguments[self.context_parameter] = context
        return arguments

    # === what is declared ===

    def registration(self) -> registration_pb2.ToolRegistration:
        """The registration as a message."""
        tool_id = f"tool_{self.full_name.replace('.', '_')}"
        facts = self.facts
        said: dict[str, Any] = {} if facts.approval_required is None else {"approval_required": facts.approval_required}
        known: dict[str, Any] = {
            f"is_{name}": interface_pb2.SafetyFact(known=fact) for name in _FACTS if (fact := getattr(facts, name)) is not None
        }
        return registration_pb2.ToolRegistration(
            declaration=declaration_pb2.ToolDeclaration(
                tool_id=tool_id,
                namespace=self.namespace,
                name=self.full_name,
                title=self.title,
                search_hint=self.search_hint,
                description=self.description,
                lifecycle=words.TOOL_LIFECYCLE_AVAILABLE,
                tool_kind="native_tool",
                input_contract=contract_pb2.InputContract(
                    model_input_schema=_json.payload(self.input_schema), strict=True, sensitive_fields=self.sensitive
                ),
            ),
            interface=interface_pb2.ToolInterface(
                interface_id=f"iface_{tool_id}",
                tool_id=tool_id,
                output_schema=_json.payload(self.output_schema) if self.output_schema is not None else None,
                **known,
            ),
            execution_profile=execution_profile_pb2.ExecutionProfile(
                execution_profile_id=f"exec_{tool_id}",
                execution_kind="embedded_runtime",
                supports_progress=True,
                supports_cancel=self.supports_cancel,
                supports_context_modifiers=self.context_modifiers,
                supports_partial_results=True,
                supports_artifacts=True,
                supports_background=self.background,
                supports_resume=self.resume,
                timeout_ms=self.timeout_ms,
                binding=execution_profile_pb2.ExecutionBinding(
                    native=execution_profile_pb2.NativeBinding(name=self.full_name)
                ),
            ),
            permission_profile=permission_profile_pb2.PermissionProfile(
                permission_profile_id=f"perm_{tool_id}",
                risk_level=f"RISK_LEVEL_{(facts.risk or 'high').upper()}",
                access_kinds=facts.access,
                write_effects=facts.effects,
                **said,
            )
            if self._has_risk()
            else None,
        )

    def document(self) -> dict[str, Any]:
        """The registration as a provider of the kind `worker` lists it."""
        facts = self.facts
        interface: dict[str, Any] = {
            f"is_{name}": known for name in _FACTS if (known := getattr(facts, name)) is not None
        }
        if self.output_schema is not None:
            interface["output_schema"] = self.output_schema
        declaration: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "input_contract": {"strict": True, "model_input_schema": self.input_schema},
        }
        if self.title:
            declaration["title"] = self.title
        if self.search_hint:
            declaration["search_hint"] = self.search_hint
        if self.sensitive:
            declaration["input_contract"]["sensitive_fields"] = list(self.sensitive)
        profile = {
            "supports_progress": True,
            "supports_cancel": self.supports_cancel,
            "supports_context_modifiers": self.context_modifiers,
            "supports_partial_results": True,
            "supports_artifacts": True,
            "supports_background": self.background,
            "supports_resume": self.resume,
            "timeout_ms": self.timeout_ms,
            "binding": {"type": "native", "name": self.full_name},
        }
        document = {"declaration": declaration, "interface": interface, "execution_profile": profile}
        if self._has_risk():
            document["permission_profile"] = {
                "risk_level": facts.risk or "high",
                "access_kinds": list(facts.access),
                "write_effects": list(facts.effects),
                **({"approval_required": facts.approval_required} if facts.approval_required is not None else {}),
            }
        return document

    def _has_risk(self) -> bool:
        facts = self.facts
        return bool(facts.risk or facts.access or facts.effects or facts.approval_required is not None)



def declare(
    function: Callable[..., Any],
    namespace: str,
    name: str,
    facts: Facts,
    *,
    description: str | None,
    timeout: float,
    supports_cancel: bool | None,
    local: Mapping[str, Any],
    search_hint: str | None = None,
    **more: Any,
) -> NativeTool:
    """A function as a tool. `SetupError` when its hints cannot be a schema; it names the parameter."""
    described, parameters = docstring.read(function)
    said = described if description is None else description
    if not said.strip():
        raise SetupError(f"`{name}` says nothing of when and how to use it: give it a docstring, or a description")
    hints = _hints(function, local)
    context_parameter = _context_parameter(function, hints)
    schemas, properties, required = Schemas(), {}, []
    taken = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == context_parameter:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise SetupError(f"`{name}`: the parameter `{parameter.name}` has no name that a caller could give")
        hint = hints.get(parameter.name, Any)
        taken[parameter.name] = hint
        properties[parameter.name] = _property(schemas, hint, parameter, parameters.get(parameter.name), name)
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    if schemas.defs:
        schema["$defs"] = schemas.defs
    takes_context = context_parameter is not None
    stoppable = inspect.iscoroutinefunction(function) or takes_context
    return NativeTool(
        namespace=namespace,
        name=name,
        function=function,
        description=said,
        search_hint=docstring.hint(said) if search_hint is None else search_hint,
        input_schema=schema,
        output_schema=_output_schema(hints.get("return"), name),
        facts=facts,
        timeout_ms=max(1, round(timeout * 1000)),
        supports_cancel=supports_cancel if supports_cancel is not None else stoppable,
        hints=taken,
        context_parameter=context_parameter,
        **more,
    )


def _hints(function: Callable[..., Any], local: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, localns=dict(local), include_extras=True)
    except NameError as error:
        raise SetupError(f"`{function.__name__}`: a type hint cannot be read: {error}") from None


def _context_parameter(function: Callable[..., Any], hints: Mapping[str, Any]) -> str | None:
    for name in inspect.signature(function).parameters:
        if hints.get(name) is Context or (name == "ctx" and name not in hints):
            return name
    return None


def _property(schemas: Schemas, hint: Any, parameter: inspect.Parameter, described: str | None, tool: str) -> dict[str, Any]:
    try:
        schema = dict(schemas.of(hint))
    except SetupError as error:
        raise SetupError(f"`{tool}`, parameter `{parameter.name}`: {error.message}") from None
    if described and "description" not in schema:
        schema["description"] = described
    if parameter.default not in (parameter.empty, None):
        schema["default"] = as_json(parameter.default)
    return schema


def _output_schema(hint: Any, tool: str) -> dict[str, Any] | None:
    """The schema of what a function returns; none for texts, bytes, nothing, and where nothing is said."""
    inner, _ = split(hint)
    if inner in (None, type(None), str, bytes, Any, Output, File):
        return None
    try:
        return Schemas().document(hint)
    except SetupError as error:
        raise SetupError(f"`{tool}`, what it returns: {error.message}") from None
