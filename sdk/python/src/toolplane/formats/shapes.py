"""One module for each thing a vendor does its own way: how a tool is offered, how a call looks, how it is answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any



@dataclass(frozen=True)
class ModelCall:
    """One call that a model wants made. `args` are JSON text where the vendor sends text, so that it goes through byte for byte."""

    shape: str
    call_id: str
    alias: str
    args: Any


def field(thing: Any, *names: str) -> Any:
    """A member of a dict or of an object, by the first of these names it has; `None` without one."""
    for name in names:
        value = thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)
        if value is not None:
            return value
    return None


# === how tools are offered ===

# What the shapes are called by the server, which makes them.
WORDS = {"openai": "openai-responses", "openai_chat": "openai-chat", "anthropic": "anthropic", "gemini": "gemini"}


def own(shape: str, name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A tool of the loop itself, which no server knows, as a vendor takes it."""
    about = {"name": name, "description": description}
    make: dict[str, Callable[[], dict[str, Any]]] = {
        "openai": lambda: {"type": "function", **about, "parameters": schema, "strict": False},
        "openai_chat": lambda: {"type": "function", "function": {**about, "parameters": schema}},
        "anthropic": lambda: {**about, "input_schema": schema},
        "gemini": lambda: {**about, "parametersJsonSchema": schema},
    }
    return make[shape]()


def with_own(shape: str, own_tool: dict[str, Any], tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tools that were exported, with one of the loop itself before them."""
    if shape != "gemini":
        return [own_tool, *tools]
    declared = tools[0]["functionDeclarations"] if tools else []
    return [{"functionDeclarations": [own_tool, *declared]}]


# === how calls look ===


def calls(said: Any) -> tuple[list[ModelCall], bool]:
    """The calls in what a model said, and whether it was one call by itself. `TypeError` for what is neither call nor response."""
    one = _one(said)
    if one is not None:
        return [one], True
    for find in (_in_openai, _in_chat, _in_anthropic, _in_gemini):
        found = find(said)
        if found is not None:
            return found, False
    if isinstance(said, (list, tuple)):
        inner = [_one(part) for part in said]
        return [call for call in inner if call is not None], False
    raise TypeError(f"neither a call nor a response of a model that is known here: {type(said).__name__}")


def _one(item: Any) -> ModelCall | None:
    kind = field(item, "type")
    if kind == "function_call":
        return ModelCall("openai", field(item, "call_id") or "", field(item, "name") or "", field(item, "arguments"))
    if kind == "tool_use":
        return ModelCall("anthropic", field(item, "id") or "", field(item, "name") or "", field(item, "input"))
    function = field(item, "function")
    if function is not None and field(function, "name") is not None:
        return ModelCall("openai_chat", field(item, "id") or "", field(function, "name"), field(function, "arguments"))
    call = field(item, "functionCall", "function_call")
    if call is None and kind is None and field(item, "name") is not None and field(item, "args") is not None:
        call = item
    if call is not None and field(call, "name") is not None:
        return ModelCall("gemini", field(call, "id") or "", field(call, "name"), field(call, "args"))
    return None


def _of(parts: Any) -> list[ModelCall]:
    return [call for call in map(_one, parts or ()) if call is not None]


def _in_openai(said: Any) -> list[ModelCall] | None:
    output = field(said, "output")
    return _of(output) if isinstance(output, (list, tuple)) else None


def _in_chat(said: Any) -> list[ModelCall] | None:
    choices = field(said, "choices")
    if isinstance(choices, (list, tuple)):
        return [call for choice in choices for call in _of(field(field(choice, "message"), "tool_calls"))]
    called = field(said, "tool_calls")
    if isinstance(called, (list, tuple)):
        return _of(called)
    return [] if field(said, "role") == "assistant" and isinstance(field(said, "content"), str) else None


def _in_anthropic(said: Any) -> list[ModelCall] | None:
    content = field(said, "content")
    return _of(content) if isinstance(content, (list, tuple)) else None


def _in_gemini(said: Any) -> list[ModelCall] | None:
    candidates = field(said, "candidates")
    if isinstance(candidates, (list, tuple)):
        return [call for one in candidates for call in _of(field(field(one, "content"), "parts"))]
    parts = field(said, "parts")
    return _of(parts) if isinstance(parts, (list, tuple)) else None


def as_json(call: ModelCall) -> dict[str, Any]:
    """The call as its vendor writes it in JSON, whatever object it came as."""
    args = call.args if isinstance(call.args, str) or call.args is None else arguments(call)
    make: dict[str, Callable[[], dict[str, Any]]] = {
        "openai": lambda: {"type": "function_call", "call_id": call.call_id, "name": call.alias, "arguments": args},
        "openai_chat": lambda: {"id": call.call_id, "function": {"name": call.alias, "arguments": args}},
        "anthropic": lambda: {"type": "tool_use", "id": call.call_id, "name": call.alias, "input": args},
        "gemini": lambda: {"functionCall": {"id": call.call_id, "name": call.alias, "args": args}},
    }
    return make[call.shape]()


# === how calls are answered ===


def item(call: ModelCall, text: str, value: Any, is_error: bool) -> dict[str, Any]:
    """The answer to one call, as its vendor takes it. Only Anthropic has a flag for failures, Gemini a key; others read the text."""
    make: dict[str, Callable[[], dict[str, Any]]] = {
        "openai": lambda: {"type": "function_call_output", "call_id": call.call_id, "output": text},
        "openai_chat": lambda: {"role": "tool", "tool_call_id": call.call_id, "content": text},
        "anthropic": lambda: {
            "type": "tool_result",
            "tool_use_id": call.call_id,
            "content": text or "(no output)",
            **({"is_error": True} if is_error else {}),
        },
        "gemini": lambda: {
            "functionResponse": {
                **({"id": call.call_id} if call.call_id else {}),
                "name": call.alias,
                "response": {"error" if is_error else "output": value if value is not None else text},
            }
        },
    }
    return make[call.shape]()


def together(shape: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answers to one response, as messages to add: Anthropic and Gemini want all of them in one."""
    if not items:
        return []
    if shape == "anthropic":
        return [{"role": "user", "content": items}]
    if shape == "gemini":
        return [{"role": "user", "parts": items}]
    return items


def arguments(call: ModelCall) -> Any:
    """The arguments as they go to a tool: text as its own bytes, objects as they are; nothing is an empty object."""
    if isinstance(call.args, str):
        return call.args.encode() if call.args.strip() else {}
    if call.args is None:
        return {}
    # Some packages give a mapping of their own kind. What is no object is for the cluster to refuse, in words that a model is told.
    is_foreign = isinstance(call.args, Mapping) and not isinstance(call.args, dict)
    return json.loads(json.dumps(dict(call.args))) if is_foreign else call.args
