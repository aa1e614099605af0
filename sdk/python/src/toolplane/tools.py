"""Tools as agents see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from toolplane import _json
from toolplane.v1 import deferred_tool_pb2, search_pb2, surface_pb2, surface_service_pb2, vocabulary_pb2


@dataclass(frozen=True)
class Tool:
    """A tool that can be called, with what a model needs to call it.

    `schema` is the JSON Schema of the arguments; `digest` names this registration (`declaration_digest` of a call); `alias` is what the
    tool is called where full names cannot be used, and can be called by, too.
    """

    name: str
    tool_id: str
    description: str
    schema: dict[str, Any]
    digest: str
    alias: str

    @classmethod
    def of(cls, message: surface_service_pb2.LoadedSchema) -> Tool:
        """From its message."""
        schema = _json.value(message.model_input_schema) or {"type": "object"}
        return cls(message.tool.name, message.tool.tool_id, message.description, schema, message.digest, message.alias)


@dataclass(frozen=True)
class Unloaded:
    """A tool that was unloaded so that others fit into the budget of the surface; `reason` is `budget`."""

    name: str
    tool_id: str
    reason: str
    schema_tokens: int
    schema_bytes: int

    @classmethod
    def of(cls, message: surface_service_pb2.UnloadedTool) -> Unloaded:
        """From its message."""
        return cls(message.name, message.tool_id, message.reason, message.schema_tokens, message.schema_bytes)


class LoadedTools(list[Tool]):
    """The tools that were loaded, in their order; `unloaded` are those that made room for them."""

    unloaded: tuple[Unloaded, ...] = ()


# States of deferred tools of which it is not enough to load them.
_KEPT = (vocabulary_pb2.LOADING_STATE_UNAVAILABLE, vocabulary_pb2.LOADING_STATE_PENDING_PROVIDER)


@dataclass(frozen=True)
class Found:
    """A tool that a search found, or that a list names. `loaded` says whether its schema is visible as it is now, and `reason` why it
    cannot be called now, for people: empty where nothing keeps it from that, and where loading it is enough.

    Of what a search found, `description` is the beginning of its description, `score` is comparable within one search, and `why`
    says which words it was found by, e.g. `("emails", "sned ~ send (typo)")`.
    """

    name: str
    tool_id: str
    search_hint: str
    loaded: bool
    title: str = ""
    description: str = ""
    score: float = 0.0
    why: tuple[str, ...] = ()
    reason: str = ""

    @classmethod
    def of(cls, message: deferred_tool_pb2.DeferredToolRef, found: search_pb2.FoundTool | None = None) -> Found:
        """From its message, and from that of the match where a search found it."""
        loaded = message.loading_state == vocabulary_pb2.LOADING_STATE_LOADED
        kept = message.reason if message.loading_state in _KEPT else ""
        if found is None:
            return cls(message.name, message.tool_id, message.search_hint, loaded, reason=kept)
        why = tuple(_reason(reason) for reason in found.why)
        return cls(
            message.name,
            message.tool_id,
            message.search_hint,
            loaded,
            found.title,
            found.description,
            found.score / 1000,
            why,
            kept,
        )

    @classmethod
    def of_loaded(cls, message: surface_pb2.LoadedTool) -> Found:
        """From the message of a tool whose schema is visible. One that changed since has to be loaded again."""
        return cls(message.name, message.tool_id, "", not message.changed, reason=message.message)


@dataclass(frozen=True)
class Synonyms:
    """Words that mean the same when tools are searched.

    `origin` is `added`, or `configured` and `configured_for_all` for those of the configuration, which are not changed by request;
    `added_by` is who added them, as far as that is known.
    """

    words: tuple[str, ...]
    origin: str
    added_by: str

    @classmethod
    def of(cls, message: search_pb2.SynonymGroup) -> Synonyms:
        """From its message."""
        origin = search_pb2.SynonymOrigin.Name(message.origin).removeprefix("SYNONYM_ORIGIN_").lower()
        return cls(tuple(message.words), origin, message.added_by)


class Matches(list[Found]):
    """A page of what a search found, best first."""

    total: int = 0
    """How many tools match, on all pages; counted up to 200."""
    next_page: str = ""
    """What to give as `page` for the same search to get more; empty at the end."""
    next_action: str = ""
    """`load_schema_then_call`, `call`, `wait_for_provider`, `not_available` or `refine_query`."""
    missing: Sequence[str] = ()
    """Names asked for with `select:` that lead nowhere."""
    ambiguous: Mapping[str, Sequence[str]] = MappingProxyType({})
    """Names asked for with `select:` that several tools have, and some of these."""
    pending_providers: Sequence[str] = ()
    """Providers that are still connecting; their tools may come."""
    meaning: str = ""
    """Whether the cluster looked at what the question means: `complete`, `partial`, `away`, or nothing where it was not to."""
    reranked: str = ""
    """Whether a reranker put the best of them into order: `complete`, `away`, or nothing where there was nothing for it to do."""

    @classmethod
    def of(cls, result: search_pb2.SearchResult) -> Matches:
        """From its message."""
        details = {found.tool_id: found for found in result.found}
        matches = cls(Found.of(ref, details.get(ref.tool_id)) for ref in result.refs)
        matches.total = result.total_matches
        matches.next_page = result.next_page_token
        matches.next_action = result.next_action
        matches.missing = tuple(result.missing_names)
        matches.ambiguous = {one.name: tuple(one.candidates) for one in result.ambiguous_names}
        matches.pending_providers = tuple(result.pending_providers)
        matches.meaning = result.meaning
        matches.reranked = result.reranked
        return matches


@dataclass(frozen=True)
class Export:
    """Tools as a vendor takes them, and what was lost of each.

    `tools` is the list to hand to the vendor; `details` has `alias`, `tool_id`, `name`, `digest`, `strict`, `losses` and `tokens` of each,
    `left_out` the `name` and `reason` of those that are not in it, and in `message` what hides them, where something does.
    """

    tools: list[dict[str, Any]]
    details: list[surface_service_pb2.ExportedTool]
    left_out: list[surface_service_pb2.LeftOutTool]


@dataclass(frozen=True)
class Mapped:
    """What a model called: a tool by its full `name`, with the arguments as they go to it, or a `refusal`.

    `args` are JSON bytes; give them and `digest` (`declaration_digest`) with the call. `refusal` has `code`, `message` and
    `similar_aliases`.
    """

    alias: str
    call_id: str
    name: str
    args: bytes
    digest: str
    refusal: surface_service_pb2.CallRefusal | None

    @classmethod
    def of(cls, message: surface_service_pb2.MappedCall) -> Mapped:
        """From its message."""
        if message.HasField("refusal"):
            return cls(message.alias, message.call_id, "", b"", "", message.refusal)
        target = message.target
        return cls(message.alias, message.call_id, target.name, target.arguments.inline, target.digest, None)


@dataclass(frozen=True)
class Card:
    """A tool in one line, for a prompt. `tokens` are estimated; a `deferred` tool has to be loaded before it can be called."""

    text: str
    alias: str
    name: str
    tool_id: str
    tokens: int
    deferred: bool


# Named here, because the clients have a method `list`.
MappedCalls = list[Mapped]
CardList = list[Card]
SynonymsList = list[Synonyms]


def _reason(reason: search_pb2.MatchReason) -> str:
    if reason.how == "word":
        return reason.asked
    if reason.how == "meaning":
        return "what it means"
    if reason.how == "reranked":
        return "put here by the reranker"
    if reason.how in ("name", "name_within"):
        return "its name"
    if reason.how == "use":
        return f"{reason.asked} (used)"
    return f"{reason.asked} ~ {reason.found} ({reason.how})"


_KINDS = {
    surface_service_pb2.SURFACE_TOOL_CHANGE_KIND_ADDED: "added",
    surface_service_pb2.SURFACE_TOOL_CHANGE_KIND_REMOVED: "removed",
}
_STATES = {
    surface_service_pb2.SURFACE_TOOL_STATE_LOADED: "loaded",
    surface_service_pb2.SURFACE_TOOL_STATE_DEFERRED: "deferred",
}


@dataclass(frozen=True)
class ToolChange:
    """What happened to a tool in a surface.

    `kind` is `added`, `removed` or `changed`. `state` and `state_before` are `loaded`, `deferred` or empty; `digest` and `digest_before`
    name its registration. `name_before` is given where it was called otherwise. `changed` says what of its schema changed since it was
    loaded: it must be loaded again. `reason` and `message` say why it was removed, that it is deferred for the `budget`, or what a call
    of it would end with (`provider.away` ...).
    """

    name: str
    tool_id: str
    kind: str
    state: str
    state_before: str
    digest: str
    digest_before: str
    name_before: str
    changed: str
    reason: str
    message: str

    @classmethod
    def of(cls, message: surface_service_pb2.SurfaceToolChange) -> ToolChange:
        """From its message."""
        return cls(
            message.name,
            message.tool_id,
            _KINDS.get(message.kind, "changed"),
            _STATES.get(message.state, ""),
            _STATES.get(message.state_before, ""),
            message.digest,
            message.digest_before,
            message.name_before,
            message.changed,
            message.reason,
            message.message,
        )


@dataclass(frozen=True)
class SurfaceChange:
    """What is different about a surface since the one before.

    With `anew` all that was known is to be forgotten: `tools` are all that it shows. `moment` is where `watch_surface` can go on.
    """

    tools: tuple[ToolChange, ...]
    moment: str
    revision: int
    anew: bool

    @classmethod
    def of(cls, parts: Sequence[surface_service_pb2.WatchSurfaceResponse]) -> SurfaceChange:
        """From its messages, of which the last one has the moment."""
        tools = tuple(ToolChange.of(change) for part in parts for change in part.changes)
        return cls(tools, parts[-1].moment, parts[-1].revision, any(part.anew for part in parts))
