"""Tools as agents see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolplane import _json
from toolplane.v1 import deferred_tool_pb2, surface_pb2, surface_service_pb2, vocabulary_pb2


@dataclass(frozen=True)
class Tool:
    """A tool that can be called, with what a model needs to call it.

    `schema` is the JSON Schema of the arguments; `digest` names this registration (`declaration_digest` of a call).
    """

    name: str
    tool_id: str
    description: str
    schema: dict[str, Any]
    digest: str

    @classmethod
    def of(cls, message: surface_service_pb2.LoadedSchema) -> Tool:
        """From its message."""
        schema = _json.value(message.model_input_schema) or {"type": "object"}
        return cls(message.tool.name, message.tool.tool_id, message.description, schema, message.digest)


@dataclass(frozen=True)
class Found:
    """A tool that a search found, or that a list names. `loaded` says whether it can be called as it is."""

    name: str
    tool_id: str
    search_hint: str
    loaded: bool

    @classmethod
    def of(cls, message: deferred_tool_pb2.DeferredToolRef) -> Found:
        """From its message."""
        loaded = message.loading_state == vocabulary_pb2.LOADING_STATE_LOADED
        return cls(message.name, message.tool_id, message.search_hint, loaded)

    @classmethod
    def of_loaded(cls, message: surface_pb2.LoadedTool) -> Found:
        """From the message of a tool whose schema is visible. One that changed since has to be loaded again."""
        return cls(message.name, message.tool_id, "", not message.changed)
