"""Flows about tools, surfaces, batches and kept bytes."""

from __future__ import annotations

import hashlib
import uuid
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from toolplane import _json, _rpc, errors
from toolplane._calls import CallFlows
from toolplane._flow import Close, Emit, Flow, Left, Next, Open, Patience, retried
from toolplane._spec import unique_key
from toolplane.errors import SelectionWarning
from toolplane.results import Kept, Result
from toolplane.settings import BatchCall
from toolplane.tools import (
    Card,
    CardList,
    Export,
    Found,
    LoadedTools,
    Mapped,
    MappedCalls,
    Matches,
    SurfaceChange,
    Synonyms,
    SynonymsList,
    Tool,
    Unloaded,
)
from toolplane.v1 import invocation_service_pb2 as invocations
from toolplane.v1 import payload_pb2
from toolplane.v1 import scheduler_policy_pb2
from toolplane.v1 import search_pb2
from toolplane.v1 import surface_pb2
from toolplane.v1 import surface_service_pb2 as surfaces
from toolplane.v1 import vocabulary_pb2 as words

_TIMEOUT = 30.0
# Most names one request may load.
_LOAD_AT_ONCE = 100
_DEFER = {"auto": surfaces.DEFER_POLICY_AUTO, "all": surfaces.DEFER_POLICY_ALL, "none": surfaces.DEFER_POLICY_NONE}


def choosing(tool_choice: str, policy: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a surface says about choosing, as fields of its request."""
    said: dict[str, Any] = {}
    if tool_choice:
        said["default_tool_choice"] = payload_pb2.JsonPayload(inline=_json.dump(tool_choice))
    if policy is not None:
        said["selection_policy"] = payload_pb2.JsonPayload(inline=_json.dump(policy))
    return said


def within(parent: str | None) -> dict[str, Any]:
    """The surface that another one is made within, as a field of its request. `ValueError` for an empty one, `TypeError` for what is no id."""
    if not isinstance(parent, str | None):
        raise TypeError(f"`parent` is the id of a surface, such as `client.surface_id`, and not a `{type(parent).__name__}`")
    if parent == "":
        raise ValueError("`parent` is empty: leave it out, or give the id of a surface")  # what was to be bounded is not made without
    return {} if parent is None else {"parent_surface_id": parent}


def _warn(told: Sequence[surfaces.SelectionWarning]) -> None:
    """A word that chooses no tool now is a slip, or of tools that are yet to come: it is told, and keeps nothing from going on."""
    for one in told:
        place = f"{one.field}: " if one.field else ""
        near = f"; did you mean {', '.join(one.similar)}?" if one.similar else ""
        warnings.warn(f"{place}{one.message}{near}", SelectionWarning, stacklevel=2)


class CatalogFlows:
    """Flows about everything but single calls, for one client."""

    def __init__(self, calls: CallFlows) -> None:
        self._calls = calls
        self._retry = calls.context.retry
        self._surface = calls.context.surface_id

    # === tools ===

    def search(
        self,
        query: str,
        limit: int,
        *,
        page: str = "",
        namespaces: Sequence[str] = (),
        kinds: Sequence[str] = (),
        risk_levels: Sequence[str] = (),
        providers: Sequence[str] = (),
        tags: Sequence[str] = (),
        capabilities: Sequence[str] = (),
        without_use: bool = False,
    ) -> Flow[Matches]:
        """Finds tools, best first."""
        request = surfaces.SearchToolsRequest(
            surface_id=self._surface,
            query=query,
            limit=limit,
            page_token=page,
            namespaces=namespaces,
            kinds=kinds,
            risk_levels=risk_levels,
            providers=providers,
            tags=tags,
            capabilities=capabilities,
            without_use=without_use,
            runtime_refs=self._calls.context.belongs_to,
        )
        answer = yield from retried(_rpc.SEARCH, request, timeout=_TIMEOUT, retry=self._retry)
        return Matches.of(answer.result)

    def synonyms(self, word: str) -> Flow[SynonymsList]:
        """Words that mean the same: every group, or those with a word."""
        request = surfaces.ListSynonymsRequest(word=word, page_size=1000)
        groups: SynonymsList = []
        while True:
            answer = yield from retried(_rpc.LIST_SYNONYMS, request, timeout=_TIMEOUT, retry=self._retry)
            groups.extend(Synonyms.of(group) for group in answer.groups)
            request.page_token = answer.next_page_token
            if not request.page_token:
                return groups

    def add_synonyms(self, words: Sequence[str]) -> Flow[None]:
        """Adds words that mean the same; once, however often it is sent."""
        group = search_pb2.SynonymGroup(words=words)
        request = surfaces.AddSynonymsRequest(groups=[group], by=self._calls.context.actor)
        yield from retried(_rpc.ADD_SYNONYMS, request, timeout=_TIMEOUT, retry=self._retry)

    def remove_synonyms(self, words: Sequence[str]) -> Flow[None]:
        """Takes words out of the groups that have all of them, if there are any."""
        request = surfaces.RemoveSynonymsRequest(words=words)
        try:
            yield from retried(_rpc.REMOVE_SYNONYMS, request, timeout=_TIMEOUT, retry=self._retry)
        except errors.RequestRefused as refused:
            # Sent again, it finds that it was done before.
            if refused.status != "NOT_FOUND":
                raise

    def forget_use(self, name: str, everything: bool) -> Flow[int]:
        """Forgets what use has taught, about one tool or everything; how many words."""
        if bool(name) == everything:
            raise ValueError("give the name of a tool, or `everything=True`")
        request = surfaces.ForgetUseRequest(everything=True) if everything else surfaces.ForgetUseRequest(name=name)
        answer = yield from retried(_rpc.FORGET_USE, request, timeout=_TIMEOUT, retry=self._retry)
        return int(answer.words)

    def load(self, names: Sequence[str], *, strict: bool = True) -> Flow[LoadedTools]:
        """Loads tools by name. One that cannot be is an error with `strict`, and left out otherwise."""
        tools = LoadedTools()
        for at in range(0, len(names), _LOAD_AT_ONCE):
            some = names[at : at + _LOAD_AT_ONCE]
            request = surfaces.LoadToolsRequest(surface_id=self._surface, names=some, runtime_refs=self._calls.context.belongs_to)
            answer = yield from retried(_rpc.LOAD, request, timeout=_TIMEOUT, retry=self._retry)
            tools.unloaded += tuple(Unloaded.of(tool) for tool in answer.unloaded)
            for outcome in answer.outcomes:
                if outcome.HasField("loaded"):
                    tools.append(Tool.of(outcome.loaded))
                elif strict:
                    raise errors.ToolplaneError(
                        outcome.failure.message or f"the tool `{outcome.name}` cannot be loaded",
                        code=outcome.failure.error.error_code,
                    )
        return tools

    def unload(self, names: Sequence[str]) -> Flow[None]:
        """Makes tools deferred, by name. One that is not there is an error, after all others were unloaded."""
        wrong: Any = None
        for at in range(0, len(names), _LOAD_AT_ONCE):
            some = names[at : at + _LOAD_AT_ONCE]
            request = surfaces.UnloadToolsRequest(surface_id=self._surface, names=some, runtime_refs=self._calls.context.belongs_to)
            answer = yield from retried(_rpc.UNLOAD, request, timeout=_TIMEOUT, retry=self._retry)
            wrong = next((outcome for outcome in answer.outcomes if outcome.HasField("failure")), None) or wrong
        if wrong is not None:
            raise errors.ToolplaneError(
                wrong.failure.message or f"the tool `{wrong.name}` cannot be unloaded",
                code=wrong.failure.error.error_code,
            )

    def list(self) -> Flow[list[Found]]:
        """Every tool of the surface that may be called, loaded ones first."""
        found, token = [], ""
        while True:
            request = surfaces.ListSurfaceToolsRequest(surface_id=self._surface, page_size=1000, page_token=token)
            answer = yield from retried(_rpc.LIST_SURFACE_TOOLS, request, timeout=_TIMEOUT, retry=self._retry)
            for tool in answer.tools:
                if tool.HasField("loaded"):
                    found.append(Found.of_loaded(tool.loaded))
                elif tool.HasField("deferred"):
                    found.append(Found.of(tool.deferred))
            token = answer.next_page_token
            if not token:
                return found

    # === tools as models are told of them ===

    def export(self, shape: str, strict: bool, names: Sequence[str], max_tokens: int) -> Flow[Export]:
        """Tools in the shape of a vendor: every loaded one, or those of `names` in their order."""
        made = Export([], [], [])
        request = surfaces.ExportSurfaceRequest(
            surface_id=self._surface, shape=shape, strict=strict, names=names, max_tokens=max_tokens, page_size=1000
        )
        while True:
            answer = yield from retried(_rpc.EXPORT, request, timeout=_TIMEOUT, retry=self._retry)
            for one in _json.value(answer.tools_json) or []:
                if made.tools and set(one) == {"functionDeclarations"}:
                    made.tools[0]["functionDeclarations"] += one["functionDeclarations"]
                else:
                    made.tools.append(one)
            made.details.extend(answer.tools)
            made.left_out.extend(answer.left_out)
            request.page_token = answer.next_page_token
            if not request.page_token:
                return made

    def map_calls(self, said: Any, strict: bool) -> Flow[MappedCalls]:
        """Which tools a model called, and with what. `said` is JSON of any vendor's shape."""
        payload = payload_pb2.JsonPayload(inline=said if isinstance(said, bytes) else _json.dump(said))
        request = surfaces.MapCallsRequest(surface_id=self._surface, said=payload, strict=strict)
        answer = yield from retried(_rpc.MAP_CALLS, request, timeout=_TIMEOUT, retry=self._retry)
        return [Mapped.of(call) for call in answer.calls]

    def cards(self, names: Sequence[str], max_tokens: int) -> Flow[CardList]:
        """Tools in one line each."""
        request = surfaces.ListToolCardsRequest(surface_id=self._surface, names=names, max_tokens=max_tokens)
        answer = yield from retried(_rpc.CARDS, request, timeout=_TIMEOUT, retry=self._retry)
        return [Card(card.text, card.alias, card.name, card.tool_id, card.tokens, card.deferred) for card in answer.cards]

    def create_surface(
        self,
        tools: Sequence[str],
        namespaces: Sequence[str],
        load: Sequence[str],
        defer: str,
        role: str,
        reason: str,
        pinned: bool,
        budget: tuple[int, int, int],
        chosen: Mapping[str, Any],
    ) -> Flow[str]:
        """Makes a surface; gives its id."""
        if defer not in _DEFER:
            raise ValueError(f"defer is one of {', '.join(_DEFER)}, not `{defer}`")
        request = surfaces.CreateSurfaceRequest(
            request_id=str(uuid.uuid4()),
            tool_refs=tools,
            namespaces=namespaces,
            load=load,
            defer_policy=_DEFER[defer],
            interaction_mode=surfaces.INTERACTION_MODE_INTERACTIVE,
            role=role,
            producer=self._calls.context.actor or "toolplane-python",
            surface_reason=reason,
            pinned=pinned,
            budget=_budget(budget),
            **chosen,
        )
        answer = yield from retried(_rpc.CREATE_SURFACE, request, timeout=_TIMEOUT, retry=self._retry)
        _warn(answer.warnings)
        return str(answer.surface.surface_id)

    def extend_surface(
        self,
        tools: Sequence[str],
        namespaces: Sequence[str],
        load: Sequence[str],
        budget: tuple[int, int, int],
        chosen: Mapping[str, Any],
    ) -> Flow[None]:
        """Adds to the surface of this client."""
        request = surfaces.ExtendSurfaceRequest(
            surface_id=self._surface,
            tool_refs=tools,
            namespaces=namespaces,
            load=load,
            budget=_budget(budget),
            **chosen,
        )
        answer = yield from retried(_rpc.EXTEND_SURFACE, request, timeout=_TIMEOUT, retry=self._retry)
        _warn(answer.warnings)
        for one in answer.not_loaded:
            warnings.warn(f"not loaded: {one.name}: {one.failure.message}", SelectionWarning, stacklevel=2)
        for gone in answer.unloaded:
            warnings.warn(f"unloaded for the budget: {gone.name}", SelectionWarning, stacklevel=2)

    def surface_moment(self) -> Flow[str]:
        """The moment the surface of this client is at now."""
        request = surfaces.ListSurfaceToolsRequest(surface_id=self._surface, page_size=1)
        answer = yield from retried(_rpc.LIST_SURFACE_TOOLS, request, timeout=_TIMEOUT, retry=self._retry)
        return str(answer.moment)

    def watch_surface(self, from_moment: str) -> Flow[None]:
        """Emits what changes about the surface of this client, from a moment on, until it is deleted."""
        patience = Patience(self._retry, None)
        moment = from_moment
        while True:
            stream = None
            # What was not told to its end is told again by the next stream.
            parts: list[Any] = []
            try:
                request = surfaces.WatchSurfaceRequest(surface_id=self._surface, from_moment=moment)
                stream = yield Open(_rpc.WATCH_SURFACE, request)
                while (message := (yield Next(stream))) is not None:
                    patience.succeeded()
                    if message.ended:
                        return
                    parts.append(message)
                    if message.moment:
                        # Where a stream goes on after another one, its first message says nothing new.
                        if message.moment != moment or len(parts) > 1 or message.changes or message.anew:
                            yield Emit(SurfaceChange.of(parts))
                        moment = message.moment
                        parts = []
            except errors.RequestRefused as error:
                yield from patience.failed(error)
            finally:
                if stream is not None:
                    yield Close(stream)

    def delete_surface(self) -> Flow[None]:
        """Deletes the surface of this client, if it is there."""
        request = surfaces.DeleteSurfaceRequest(surface_id=self._surface)
        try:
            yield from retried(_rpc.DELETE_SURFACE, request, timeout=_TIMEOUT, retry=self._retry)
        except errors.RequestRefused as refused:
            # Sent again, it finds that it was done before.
            if refused.status != "NOT_FOUND":
                raise

    # === batches ===

    def batch(self, calls: Sequence[Any], policy: Mapping[str, Any], key: str | None, session: str) -> Flow[None]:
        """Has all calls accepted or none; emits `(position, Result)` as results are released."""
        spec = self._batch_spec(calls, policy, key, session)
        request = invocations.SubmitBatchRequest(spec=spec)
        batch_id = ""
        try:
            answer = yield from retried(_rpc.SUBMIT_BATCH, request, timeout=_TIMEOUT, retry=self._retry)
            batch_id = answer.accepted.batch_id
            yield from self._watch_batch(batch_id)
        except (errors.ToolplaneError, Left):
            raise
        except BaseException:
            if batch_id:
                cancel = invocations.CancelBatchRequest(batch_id=batch_id, reason="its caller was interrupted")
                yield from retried(_rpc.CANCEL_BATCH, cancel, timeout=_TIMEOUT, retry=self._retry)
            raise

    def _watch_batch(self, batch_id: str) -> Flow[None]:
        patience = Patience(self._retry, None)
        seen: dict[int, int] = {}
        released = 0
        while True:
            cursors = [invocations.BatchCursor(index=index, from_seq=sequence + 1) for index, sequence in seen.items()]
            request = invocations.WatchBatchRequest(batch_id=batch_id, after_yield_seq=released)
            # A word of Python itself, so it cannot be given by name.
            getattr(request, "from").extend(cursors)
            stream = None
            try:
                stream = yield Open(_rpc.WATCH_BATCH, request)
                while (message := (yield Next(stream))) is not None:
                    patience.succeeded()
                    for item in message.items:
                        for event in item.events:
                            seen[item.index] = event.sequence
                        if item.HasField("result"):
                            released = item.yield_seq
                            yield Emit((item.index, Result(item.result, self._calls.context.opener)))
                    if message.HasField("batch"):
                        return
            except errors.RequestRefused as error:
                yield from patience.failed(error)
            finally:
                if stream is not None:
                    yield Close(stream)

    def _batch_spec(self, calls: Sequence[Any], policy: Mapping[str, Any], key: str | None, session: str) -> Any:
        members = []
        for given in calls:
            call = given if isinstance(given, BatchCall) else BatchCall(*given)
            spec = self._calls.spec(call.tool, call.args, {"timeout": call.timeout, "native_call_id": call.native_call_id})
            # They are the batch's.
            spec.ClearField("idempotency_key")
            spec.ClearField("session_ref")
            sibling = _word(words.SiblingFailurePolicy, "SIBLING_FAILURE_POLICY", call.sibling_failure_policy)
            members.append(invocations.BatchCall(spec=spec, depends_on=call.depends_on, sibling_failure_policy=sibling))
        # The same ids with every try: they are made here, once.
        return invocations.BatchSpec(
            calls=members,
            policy=_policy(policy),
            idempotency_key=key or unique_key(),
            session_ref=session or self._calls.context.session,
        )

    # === kept bytes ===

    def read(self, kept: Kept, offset: int, limit: int) -> Flow[None]:
        """Emits the bytes of a range in order. A whole one is held against its digest: `ToolplaneError` when it is another."""
        patience = Patience(self._retry, None)
        end = kept.size if limit == 0 else min(kept.size, offset + limit)
        digest = hashlib.sha256() if offset == 0 and end == kept.size else None
        at = offset
        while at < end:
            request = invocations.ReadPayloadRequest(invocation_id=kept.invocation_id, uri=kept.uri, offset=at, limit=end - at)
            stream = None
            try:
                stream = yield Open(_rpc.READ_PAYLOAD, request)
                while (message := (yield Next(stream))) is not None:
                    patience.succeeded()
                    if message.offset != at:
                        raise errors.ToolplaneError(f"bytes from {message.offset} came where those from {at} were asked for")
                    at += len(message.data)
                    if digest is not None:
                        digest.update(message.data)
                    yield Emit(message.data)
                if at < end:
                    raise errors.ToolplaneError(f"{end - at} bytes of {kept.uri} are missing at its end")
            except errors.RequestRefused as error:
                yield from patience.failed(error)
            finally:
                if stream is not None:
                    yield Close(stream)
        if digest is not None and kept.digest != f"sha256:{digest.hexdigest()}":
            raise errors.ToolplaneError(f"what was read of {kept.uri} is not what its digest says")


def _budget(bounds: tuple[int, int, int]) -> surface_pb2.SurfaceBudget | None:
    if not any(bounds):
        return None
    tools, tokens, size = bounds
    return surface_pb2.SurfaceBudget(max_tools=tools, max_schema_tokens=tokens, max_schema_bytes=size)


def _policy(policy: Mapping[str, Any]) -> scheduler_policy_pb2.SchedulerPolicy:
    """A batch's policy from plain words. `TypeError` for a member there is not, `ValueError` for a word there is not."""
    known = {
        "ordering_policy": (words.OrderingPolicy, "ORDERING_POLICY"),
        "yield_policy": (words.YieldPolicy, "YIELD_POLICY"),
        "sibling_failure_policy": (words.SiblingFailurePolicy, "SIBLING_FAILURE_POLICY"),
        "context_modifier_policy": (words.ContextModifierPolicy, "CONTEXT_MODIFIER_POLICY"),
    }
    message = scheduler_policy_pb2.SchedulerPolicy()
    for name, word in policy.items():
        if name == "max_parallel":
            message.max_parallel = word
        elif name in known:
            setattr(message, name, _word(*known[name], word))
        else:
            raise TypeError(f"a batch policy has no member `{name}`")
    return message


def _word(enum: Any, prefix: str, word: str) -> Any:
    if not word:
        return 0
    try:
        return enum.Value(f"{prefix}_{word.upper()}")
    except ValueError:
        raise ValueError(f"`{word}` is no {prefix.lower()}") from None


