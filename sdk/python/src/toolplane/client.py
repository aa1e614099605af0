"""The blocking client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolplane._calls import CallFlows, Context
from toolplane._catalog import CatalogFlows, choosing, within
from toolplane._flow import Retry, SyncDriver
from toolplane.connection import Connection
from toolplane.files import KeptFile
from toolplane.formats.bridge import Bridge
from toolplane.results import CallState, Event, Kept, Result
from toolplane.settings import BatchCall, CallSettings
from toolplane.tools import CardList, Export, Found, LoadedTools, MappedCalls, Matches, SurfaceChange, SynonymsList

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

# A list of what a vendor takes; named here, because the clients have a method `list`.
Offered = list[dict[str, Any]]


class Toolplane:
    """An agent's way to its tools. May be used from several threads; one client for a whole program is enough.

    Every method raises `RequestRefused` when the server refuses the request or is away for `retry_for` seconds in a row, and
    `Unreachable` when there is none (`connect_for`). A request that may be sent again is: calls carry an idempotency key, so none runs twice because of it.
    """

    def __init__(self, driver: SyncDriver, context: Context, *, owns: bool = True) -> None:
        """For `connect` and `in_surface`; programs use those."""
        self._driver = driver
        self._owns = owns
        self._context = Context(context.surface_id, context.actor, context.session, context.retry, self._open, context.refs)
        self._calls = CallFlows(self._context)
        self._catalog = CatalogFlows(self._calls)
        self._bridge = Bridge(self._catalog, self._calls)

    @classmethod
    def connect(
        cls,
        endpoint: str | None = None,
        *,
        surface: str = "",
        session: str = "",
        actor: str = "",
        retry_for: float = 60.0,
        connect_for: float | None = None,
        connection: Connection | None = None,
        **settings: Any,
    ) -> Self:
        """A client with the settings of the environment, and those that are given (see `Connection.of`).

        `surface` is the surface to call in, the tenant's default one when empty; `session` and `actor` go with each call;
        `retry_for` are the seconds a server is tried again that was there and went away, `connect_for` those for one to which there
        never was a connection (5, or `retry_for` where that is less); that it is tried again is said once in the log `toolplane`.
        Nothing is sent yet: the first request says whether there is a server. Raises `SetupError` for settings that cannot be right.
        """
        connection = connection if connection is not None else Connection.of(endpoint, **settings)
        return cls(SyncDriver(connection), Context(surface, actor, session, Retry.of(retry_for, connect_for), None))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection. Calls that were accepted go on."""
        if self._owns:
            self._driver.channel.close()

    # === calls ===

    def call(
        self, name: str, args: Mapping[str, Any] | bytes | None = None, /, **settings: Unpack[CallSettings]
    ) -> Result:
        """Calls a tool and waits for its end. `args` may be JSON bytes, which go through exactly as they are.

        Raises a `ToolError` when the call ended in an error, and `WaitExpired` when there is a `timeout` and even its ending was
        not told in time. When this program is interrupted meanwhile (Ctrl-C), the call is canceled.
        """
        return self._driver.run(self._calls.call(name, args, settings))

    def stream(
        self, name: str, args: Mapping[str, Any] | bytes | None = None, /, **settings: Unpack[CallSettings]
    ) -> Iterator[Event | Result]:
        """Calls a tool; gives every event once and in order, over broken connections, and the `Result` last.

        Raises as `call` does. A loop that is left early leaves the call alone: `cancel` cancels it.
        """
        return self._driver.iterate(self._calls.stream(name, args, settings))

    def submit(
        self, name: str, args: Mapping[str, Any] | bytes | None = None, /, **settings: Unpack[CallSettings]
    ) -> CallState:
        """Has a call accepted and does not wait: it goes on whatever becomes of this program. `wait` takes it up."""
        return self._driver.run(self._calls.submit(name, args, settings))

    def get(self, invocation_id: str) -> CallState:
        """A call as it is now."""
        return self._driver.run(self._calls.get(invocation_id))

    def wait(self, invocation_id: str, /, **settings: Unpack[CallSettings]) -> Result:
        """Waits for the end of a call. `WaitExpired` when `timeout` seconds come first; callbacks work as in `call`."""
        return self._driver.run(self._calls.wait(invocation_id, settings))

    def watch(self, invocation_id: str, from_sequence: int = 1, /, **settings: Unpack[CallSettings]) -> Iterator[Event | Result]:
        """The events of a call from a sequence on, then live until its end, and its `Result` last."""
        return self._driver.iterate(self._calls.watch(invocation_id, from_sequence, settings))

    def cancel(self, invocation_id: str, reason: str = "", *, fallback: bool = False) -> CallState:
        """Asks to cancel a call. What has not started ends at once; what runs is stopped where its tool can be. `fallback`: the
        model stream that made the call is thrown away, so its result is `discarded`."""
        return self._driver.run(self._calls.cancel(invocation_id, reason, fallback))

    def provide_input(self, invocation_id: str, value: Any, *, input_id: str = "") -> CallState:
        """Answers what a running tool asked, as `on_input` does."""
        return self._driver.run(self._calls.provide_input(invocation_id, value, input_id, declined=False))

    def decline_input(self, invocation_id: str, *, input_id: str = "") -> CallState:
        """Declines to answer what a running tool asked."""
        return self._driver.run(self._calls.provide_input(invocation_id, None, input_id, declined=True))

    # === several calls ===

    def batch(
        self,
        calls: Sequence[BatchCall | tuple[str, Mapping[str, Any]]],
        *,
        policy: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        session: str = "",
    ) -> list[Result]:
        """Makes up to 64 calls, accepted together or not at all; gives their results in the declared order.

        A call that failed is a result with an `error`; nothing is raised for it. `policy` has `max_parallel`, `ordering_policy`
        (`serial`, ...), `sibling_failure_policy` (`ignore`, `cancel_siblings`, `cancel_dependent`), `yield_policy` and
        `context_modifier_policy`.
        """
        results = dict(self.batch_stream(calls, policy=policy, idempotency_key=idempotency_key, session=session))
        return [results[index] for index in sorted(results)]

    def batch_stream(
        self,
        calls: Sequence[BatchCall | tuple[str, Mapping[str, Any]]],
        *,
        policy: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        session: str = "",
    ) -> Iterator[tuple[int, Result]]:
        """The same; gives each position and its result as they are released."""
        return self._driver.iterate(self._catalog.batch(calls, policy or {}, idempotency_key, session))

    # === tools ===

    def search(
        self,
        query: str = "",
        limit: int = 0,
        *,
        page: str = "",
        namespaces: Sequence[str] = (),
        kinds: Sequence[str] = (),
        risk_levels: Sequence[str] = (),
        providers: Sequence[str] = (),
        tags: Sequence[str] = (),
        capabilities: Sequence[str] = (),
        without_use: bool = False,
    ) -> Matches:
        """Finds tools by words and filters, or by names (`select:a,b`); best first, a page of `limit` (10, at most 100).

        The query may say `+must`, `-not`, `begin*`, `"a phrase"`, `namespace:x`, `kind:x`, `risk:x`, `provider:x`, `tag:x` and `capability:x`; it may be
        empty where one of the filters is given. `page` is `next_page` of the page before, of the same search. With
        `without_use`, what use has taught is left out, and nothing is learned.
        """
        flow = self._catalog.search(
            query,
            limit,
            page=page,
            namespaces=namespaces,
            kinds=kinds,
            risk_levels=risk_levels,
            providers=providers,
            tags=tags,
            capabilities=capabilities,
            without_use=without_use,
        )
        return self._driver.run(flow)

    def synonyms(self, word: str = "") -> SynonymsList:
        """Words that mean the same when tools are searched: every group, or those with `word`."""
        return self._driver.run(self._catalog.synonyms(word))

    def add_synonyms(self, *words: str) -> None:
        """Says that words, or phrases of up to four words, mean the same. Searches of the tenant know it when this returns."""
        self._driver.run(self._catalog.add_synonyms(words))

    def remove_synonyms(self, *words: str) -> None:
        """Takes words out of every added group that has all of them, if there are any; a group that one word is left of goes."""
        self._driver.run(self._catalog.remove_synonyms(words))

    def forget_use(self, name: str = "", *, everything: bool = False) -> int:
        """Forgets which words of searches led to a tool, or to any, by what use has taught; gives how many words."""
        return self._driver.run(self._catalog.forget_use(name, everything))

    def load(self, *names: str) -> LoadedTools:
        """Makes deferred tools callable; gives what a model needs to call them. `ToolplaneError` when one cannot be.

        In a surface with a budget the least used tools make room: `unloaded` of what it gives says which.
        """
        return self._driver.run(self._catalog.load(names))

    def unload(self, *names: str) -> None:
        """Makes loaded tools deferred again, in a surface of your own. `ToolplaneError` when one is not there."""
        self._driver.run(self._catalog.unload(names))

    def list(self) -> list[Found]:
        """Every tool there is here, loaded ones first."""
        return self._driver.run(self._catalog.list())

    def surface(
        self,
        tools: Sequence[str] = (),
        *,
        namespaces: Sequence[str] = (),
        load: Sequence[str] = (),
        defer: str = "auto",
        role: str = "agent",
        reason: str = "",
        pinned: bool = False,
        parent: str | None = None,
        max_tools: int = 0,
        max_schema_tokens: int = 0,
        max_schema_bytes: int = 0,
        tags: Sequence[str] = (),
        capabilities: Sequence[str] = (),
        providers: Sequence[str] = (),
        risk_levels: Sequence[str] = (),
        kinds: Sequence[str] = (),
        tool_choice: str = "",
        selection_policy: Mapping[str, Any] | None = None,
        policy_refs: Sequence[str] = (),
        scope: str = "session",
        refs: Sequence[str] = (),
    ) -> Toolplane:
        """Makes a surface of these tools and of those that are chosen by what they are; of all tools without any; gives a client that calls in it.

        A tool is chosen when it fits one of each list that is not empty: `namespaces`, `tags`, `capabilities`, `providers`, `risk_levels`,
        `kinds`; those that are registered later, too. A word no tool has now is a `SelectionWarning`. `load` are loaded at once; `defer` is `auto`, `all` or `none`. With `pinned` it stays with the tools there are now. With `parent`, the
        id of a surface, it is made within that one: it shows and calls nothing that one does not. The client shares
        this one's connection.

        `tool_choice` and `selection_policy` are held at each call: `auto`, `required`, `none` (nothing is called) or the only tool that may be;
        and `allowed_tools`, `denied_tools`, `parallel_calls`, `require_moment`. `policy_refs` are for rules (`surface_policy:NAME`).

        `scope` and `refs` say what it is for, e.g. `"task"` and `["task:7"]`: calls, searches and loads of others are refused. The client that is given
        names them by itself; others do with `in_surface(id, refs=...)`, and the session with `session`.

        `max_tools`, `max_schema_tokens` and `max_schema_bytes` are its budget: so much is loaded at once, and loading more unloads the least
        used. Where none is given, it is the server's own.
        """
        chosen = {
            "tags": tags,
            "capabilities": capabilities,
            "providers": providers,
            "risk_levels": risk_levels,
            "kinds": kinds,
            "policy_refs": policy_refs,
            "scope": scope,
            "runtime_refs": refs,
            **within(parent),
            **choosing(tool_choice, selection_policy),
        }
        budget = (max_tools, max_schema_tokens, max_schema_bytes)
        return self.in_surface(self._driver.run(self._catalog.create_surface(tools, namespaces, load, defer, role, reason, pinned, budget, chosen)), refs)

    def in_surface(self, surface_id: str, refs: Sequence[str] = ()) -> Toolplane:
        """A client that calls in a surface there is. It shares this one's connection. `refs` go with each call, search and load in it."""
        context = self._context
        inside = Context(surface_id, context.actor, context.session, context.retry, None, tuple(refs))
        return Toolplane(self._driver, inside, owns=False)

    def extend_surface(
        self,
        tools: Sequence[str] = (),
        *,
        namespaces: Sequence[str] = (),
        load: Sequence[str] = (),
        tags: Sequence[str] = (),
        capabilities: Sequence[str] = (),
        providers: Sequence[str] = (),
        risk_levels: Sequence[str] = (),
        kinds: Sequence[str] = (),
        max_tools: int = 0,
        max_schema_tokens: int = 0,
        max_schema_bytes: int = 0,
    ) -> None:
        """Adds tools to the surface this client calls in, by name and by what they are (see `surface`).

        What is not in `load` is there to be found and loaded. With a bound, the budget becomes another one, and the least used tools are
        unloaded until what is loaded fits; a `SelectionWarning` says which.
        """
        chosen = {
            "tags": tags,
            "capabilities": capabilities,
            "providers": providers,
            "risk_levels": risk_levels,
            "kinds": kinds,
        }
        budget = (max_tools, max_schema_tokens, max_schema_bytes)
        self._driver.run(self._catalog.extend_surface(tools, namespaces, load, budget, chosen))

    def surface_moment(self) -> str:
        """The moment the surface this client calls in is at now. Give it with calls (`surface_moment=`) that are made by what is read after it:
        a tool that is another thing by then is not called, and says what it is."""
        return self._driver.run(self._catalog.surface_moment())

    def watch_surface(self, from_moment: str = "") -> Iterator[SurfaceChange]:
        """What changes about the surface this client calls in, until it is deleted: tools that come, go, are loaded or declared anew.

        From a moment on that an earlier change says. Without one, the first change has no tools and says where it begins: of what
        is read after it, nothing is missed.
        """
        return self._driver.iterate(self._catalog.watch_surface(from_moment))

    def delete_surface(self) -> None:
        """Deletes the surface this client calls in, if it is there. Calls that were made in it stay; new ones are refused."""
        self._driver.run(self._catalog.delete_surface())

    @property
    def surface_id(self) -> str:
        """The surface this client calls in; empty for the default one."""
        return self._context.surface_id

    # === large results ===

    def read(self, kept: Kept, offset: int = 0, limit: int = 0) -> Iterator[bytes]:
        """The bytes of a range of what is kept, as they come; `limit` 0 is to the end. A whole one is held against its digest."""
        return self._driver.iterate(self._catalog.read(kept, offset, limit))

    def _open(self, kept: Kept) -> KeptFile:
        return KeptFile(kept, lambda offset: self.read(kept, offset))

    # === agent loops ===

    def export(self, shape: str, *names: str, strict: bool = False, max_tokens: int = 0) -> Export:
        """The tools as a vendor takes them, with what was lost of each: every loaded one, or those of `names` in their order.

        `shape` is `openai-responses`, `openai-chat`, `anthropic`, `gemini`, `gemini-openapi`, `mcp` or `json-schema`. With `strict` the
        vendor holds its model to the schemas it can hold. `max_tokens` bounds all definitions together (0: no bound). Calls of these tools
        are for `map_calls`.
        """
        return self._driver.run(self._catalog.export(shape, strict, names, max_tokens))

    def map_calls(self, said: Any, /, *, strict: bool = False) -> MappedCalls:
        """Which tools a model called, and with what, in the order of its calls; nothing is run.

        `said` is one call, a list of calls or the whole answer, as dicts or as JSON bytes; `strict` as it was when the tools were
        exported. `RequestRefused` for what is none of these.
        """
        return self._driver.run(self._catalog.map_calls(said, strict))

    def cards(self, *names: str, max_tokens: int = 2000) -> CardList:
        """Tools in one line each, for a prompt: those of `names`, or all, as many as `max_tokens` allow."""
        return self._driver.run(self._catalog.cards(names, max_tokens))

    def for_openai(self, *, most: int = 30, strict: bool = False) -> Offered:
        """The tools as OpenAI's Responses API takes them. With more than `most`, a search tool is offered, and what it has found."""
        return self._driver.run(self._bridge.offered("openai", most, strict))

    def for_openai_chat(self, *, most: int = 30, strict: bool = False) -> Offered:
        """The tools as OpenAI's Chat Completions API, and whatever is made like it, takes them."""
        return self._driver.run(self._bridge.offered("openai_chat", most, strict))

    def for_anthropic(self, *, most: int = 30, strict: bool = False) -> Offered:
        """The tools as Anthropic's Messages API takes them."""
        return self._driver.run(self._bridge.offered("anthropic", most, strict))

    def for_gemini(self, *, most: int = 30) -> Offered:
        """The tools as Gemini's `tools` takes them: one entry with `functionDeclarations`."""
        return self._driver.run(self._bridge.offered("gemini", most))

    def answer(self, said: Any, /, **settings: Unpack[CallSettings]) -> Any:
        """Runs what a model called, and gives what to hand back to it.

        `said` is one call of a model (a `function_call` item, an entry of `tool_calls`, a `tool_use` block, a `functionCall` part)
        or a whole response, as objects of the vendor's package or as dicts. One call gives one item; a response gives the list
        of what to add to the conversation, empty when the model called nothing. What goes wrong with a call is told to the model,
        in the vendor's way; only a server that is away raises.
        """
        return self._driver.run(self._bridge.answer(said, settings))

    def for_langchain(self, *, most: int = 30) -> Sequence[Any]:
        """The tools as LangChain `StructuredTool`s. Needs `langchain-core`."""
        from toolplane.formats import langchain

        return langchain.tools(self, self._driver.run(self._bridge.tools(most)))

    def for_openai_agents(self, *, most: int = 30) -> Sequence[Any]:
        """The tools as `FunctionTool`s of the OpenAI Agents SDK. Needs `openai-agents`."""
        from toolplane.formats import openai_agents

        return openai_agents.tools(self, self._driver.run(self._bridge.tools(most)))
