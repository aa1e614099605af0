"""Between a model and its tools: what is offered to it, and how its calls are answered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from toolplane import _json, errors
from toolplane._flow import Flow
from toolplane.formats import shapes
from toolplane.tools import Found, Mapped, Tool

if TYPE_CHECKING:
    from toolplane._calls import CallFlows
    from toolplane._catalog import CatalogFlows
    from toolplane.results import Result
    from toolplane.settings import CallSettings

SEARCH_TOOL = "tool_search"
_SEARCH = Tool(
    name=SEARCH_TOOL,
    tool_id=SEARCH_TOOL,
    description="Finds tools by what they do. The tools it finds can be called from your next turn on.",
    schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Keywords, or `select:` and exact names separated by commas."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 20, "description": "Most tools to find; 5 when left out."},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    digest="",
    alias=SEARCH_TOOL,
)


class Bridge:
    """What one client has offered to a model, and found for it."""

    def __init__(self, catalog: CatalogFlows, calls: CallFlows) -> None:
        self._catalog = catalog
        self._calls = calls
        self._found: dict[str, Tool] = {}
        # What is `null` in a call may mean that it is left out, once tools were offered so.
        self._strict = False

    def tools(self, most: int) -> Flow[list[tuple[str, Tool]]]:
        """The tools to offer, by alias. With more than `most` of them: the search tool, and what it has found."""
        there: list[Found] = yield from self._catalog.list()
        if len(there) <= most:
            tools: list[Tool] = yield from self._catalog.load([tool.name for tool in there], strict=False)
        else:
            tools = [_SEARCH, *self._found.values()]
        return [(tool.alias, tool) for tool in tools]

    def offered(self, shape: str, most: int, strict: bool = False) -> Flow[list[dict[str, Any]]]:
        """The same as a vendor takes it."""
        self._strict = self._strict or strict
        tools = [tool for _, tool in (yield from self.tools(most))]
        names = [tool.name for tool in tools if tool is not _SEARCH]
        offered: list[dict[str, Any]] = []
        if names:
            offered = (yield from self._catalog.export(shapes.WORDS[shape], strict, names, 0)).tools
        if len(names) == len(tools):
            return offered
        return shapes.with_own(shape, shapes.own(shape, SEARCH_TOOL, _SEARCH.description, _SEARCH.schema), offered)

    def answer(self, said: Any, settings: CallSettings) -> Flow[Any]:
        """Answers one call, or every call of a response."""
        calls, single = shapes.calls(said)
        asked = [call for call in calls if call.alias != SEARCH_TOOL]
        meant = iter((yield from self._meant(asked)))
        items = []
        for call in calls:
            if call.alias == SEARCH_TOOL:
                items.append((yield from self._search(call)))
            else:
                items.append((yield from self._answer_one(call, next(meant), settings)))
        return items[0] if single else shapes.together(calls[0].shape if calls else "", items)

    def _meant(self, calls: list[shapes.ModelCall]) -> Flow[list[Mapped]]:
        """What the calls mean, one for each."""
        if not calls:
            return []
        return (yield from self._catalog.map_calls([shapes.as_json(call) for call in calls], self._strict))

    def _answer_one(self, call: shapes.ModelCall, meant: Mapped, settings: CallSettings) -> Flow[dict[str, Any]]:
        own = cast("CallSettings", {**settings, "raise_on_error": False, "native_call_id": call.call_id})
        # What means nothing is called all the same, as it is: the server says what is wrong with it, and keeps that it was tried.
        name, args = (call.alias, shapes.arguments(call)) if meant.refusal is not None else (meant.name, meant.args)
        if meant.refusal is None:
            own.setdefault("declaration_digest", meant.digest)
        try:
            result: Result = yield from self._calls.call(name, args, own)
        except errors.RequestRefused as error:
            # A model can mend its arguments; it cannot mend a server that is away.
            if error.status != "INVALID_ARGUMENT":
                raise
            return shapes.item(call, str(error), None, is_error=True)
        if result.error is not None:
            return shapes.item(call, _failure(result, result.error), None, is_error=True)
        return shapes.item(call, result.model_text, result.structured, is_error=False)

    def _search(self, call: shapes.ModelCall) -> Flow[dict[str, Any]]:
        """Looks for tools, and loads what was found, so that it can be offered and called."""
        try:
            given = shapes.arguments(call)
            args = _json.load(given) if isinstance(given, bytes) else given
            query, limit = str(args["query"]), max(1, min(int(args.get("limit", 5)), 20))
        except (KeyError, TypeError, ValueError, AttributeError):
            return shapes.item(call, "`query` is needed, and is a text; `limit` is a number", None, is_error=True)
        try:
            found: list[Found] = yield from self._catalog.search(query, limit)
        except errors.RequestRefused as error:
            # A model can mend its query; it cannot mend a server that is away.
            if error.status != "INVALID_ARGUMENT":
                raise
            return shapes.item(call, str(error), None, is_error=True)
        tools: list[Tool] = yield from self._catalog.load([tool.name for tool in found], strict=False)
        told = []
        for tool in tools:
            self._found[tool.name] = tool
            told.append({"name": tool.alias, "description": tool.description, "parameters": tool.schema})
        value = {"tools": told} if told else {"tools": [], "message": "nothing found: try other words"}
        return shapes.item(call, json.dumps(value, ensure_ascii=False), value, is_error=False)


def _failure(result: Result, error: errors.ToolError) -> str:
    """What went wrong, and what the tool had given before: it may help. The server begins its text with the error, which is said once."""
    more = result.model_text
    for said in (f"{error.message} [{error.code}]", error.message):
        if more.startswith(said):
            more = more[len(said) :]
            break
    return f"{error}\n{more.strip()}".strip()
