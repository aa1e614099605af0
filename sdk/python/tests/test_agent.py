"""The agent's side against a cluster: calls, streams, approvals, batches, cancellation, broken connections."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Proxy
from processes import PATIENCE
from toolplane import (
    Approval,
    Approve,
    AsyncToolplane,
    BatchCall,
    Context,
    Deny,
    Event,
    InvalidArguments,
    PermissionDenied,
    RequestRefused,
    Result,
    SelectionWarning,
    ToolCanceled,
    Toolplane,
    ToolplaneError,
    ToolNotFound,
    ToolTimeout,
    Worker,
)

SAFE = {"destructive": False, "open_world": False, "concurrency_safe": True, "idempotent": True}


@pytest.fixture(scope="module")
def served(endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """Tools to call: of one namespace that is allowed, and of one that is asked about."""
    unique = uuid.uuid4().hex[:8]
    worker = Worker(f"pytest.{unique}", data_dir=tmp_path_factory.mktemp("a"))
    asked = Worker(f"pyask.{unique}", data_dir=tmp_path_factory.mktemp("b"))
    worker.asked = asked.namespace  # type: ignore[attr-defined]
    worker.begun = threading.Event()  # type: ignore[attr-defined]

    @asked.tool(**SAFE)
    def say(text: str) -> str:
        """Says a text."""
        return text

    @worker.tool(**SAFE)
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    @worker.tool(**SAFE)
    def fails() -> str:
        """Fails always."""
        raise RuntimeError("always")

    @worker.tool(**SAFE, search_hint="wait for an end that never comes")
    async def waits(ctx: Context) -> str:
        """Waits until it is canceled."""
        worker.begun.set()  # type: ignore[attr-defined]
        await asyncio.Event().wait()
        return ""

    with worker, asked:
        yield worker


# === calls ===


def test_a_call_in_one_request(served: Worker, tools: Toolplane) -> None:
    result = tools.call(f"{served.namespace}.add", {"a": 2**64, "b": 1})
    assert result.value == 2**64 + 1 and result.status == "succeeded" and not result.is_error
    assert tools.get(result.invocation_id).result is not None
    assert tools.wait(result.invocation_id).result_id == result.result_id


def test_json_goes_through_byte_for_byte(served: Worker, tools: Toolplane) -> None:
    assert tools.call(f"{served.namespace}.add", b'{ "b":2 ,"a":1e0 }', raise_on_error=False).message is not None
    with pytest.raises(RequestRefused, match="twice"):
        tools.call(f"{served.namespace}.add", b'{"a":1,"a":2}')


def test_errors_are_typed(served: Worker, tools: Toolplane) -> None:
    with pytest.raises(InvalidArguments) as wrong:
        tools.call(f"{served.namespace}.add", {"a": "x", "b": 1})
    assert wrong.value.error_class == "schema_validation_failed" and wrong.value.violations[0].field == "/a"
    with pytest.raises(ToolNotFound):
        tools.call(f"{served.namespace}.nothing")
    result = tools.call(f"{served.namespace}.fails", raise_on_error=False)
    assert result.error is not None and result.error.code == "exec.unspecified"
    with pytest.raises(RequestRefused) as missing:
        tools.get("inv_that_is_not_there")
    assert missing.value.status == "NOT_FOUND" and missing.value.code


def test_the_same_key_runs_once(served: Worker, tools: Toolplane) -> None:
    key = uuid.uuid4().hex
    first = tools.call(f"{served.namespace}.add", {"a": 1, "b": 2}, idempotency_key=key)
    again = tools.call(f"{served.namespace}.add", {"a": 1, "b": 2}, idempotency_key=key)
    assert first.invocation_id == again.invocation_id
    with pytest.raises(RequestRefused) as reused:
        tools.call(f"{served.namespace}.add", {"a": 1, "b": 3}, idempotency_key=key)
    assert reused.value.status == "ALREADY_EXISTS"


def test_a_deadline_ends_the_call(served: Worker, tools: Toolplane) -> None:
    with pytest.raises(ToolTimeout):
        tools.call(f"{served.namespace}.waits", timeout=0.5)


def test_a_stream_has_every_event_and_the_result(served: Worker, tools: Toolplane) -> None:
    said = list(tools.stream(f"{served.namespace}.add", {"a": 1, "b": 2}))
    events = [one for one in said if isinstance(one, Event)]
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert events[-1].type == "tool.invocation.succeeded"
    assert isinstance(said[-1], Result) and said[-1].value == 3
    again = list(tools.watch(said[-1].invocation_id, 4))
    assert [event.sequence for event in again[:-1] if isinstance(event, Event)] == [event.sequence for event in events[3:]]


# === broken connections ===


def test_a_stream_goes_on_after_its_connection_broke(served: Worker, proxy: Proxy, tools: Toolplane) -> None:
    events: list[Event] = []
    with Toolplane.connect(proxy.endpoint) as client, pytest.raises(ToolCanceled):
        for said in client.stream(f"{served.namespace}.waits"):
            assert isinstance(said, Event)
            events.append(said)
            if said.type == "tool.invocation.started":
                proxy.cut()
                proxy.mend()
                tools.cancel(said.invocation_id)
    assert events[-1].type == "tool.invocation.canceled"
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))


def test_a_stream_that_is_left_leaves_the_call_alone(served: Worker, tools: Toolplane) -> None:
    served.begun.clear()  # type: ignore[attr-defined]
    stream = tools.stream(f"{served.namespace}.waits")
    first = next(stream)
    assert isinstance(first, Event)
    assert served.begun.wait(PATIENCE)  # type: ignore[attr-defined]
    stream.close()  # type: ignore[attr-defined]
    assert tools.get(first.invocation_id).status == "running"
    tools.cancel(first.invocation_id)
    assert tools.wait(first.invocation_id, raise_on_error=False).status == "canceled"


def test_a_wait_goes_on_after_its_connection_broke(served: Worker, proxy: Proxy, tools: Toolplane) -> None:
    served.begun.clear()  # type: ignore[attr-defined]
    with Toolplane.connect(proxy.endpoint) as client:
        outcome: list[Result] = []
        call = threading.Thread(
            target=lambda: outcome.append(
                client.call(f"{served.namespace}.waits", invocation_id=f"inv_{served.namespace}", raise_on_error=False)
            )
        )
        call.start()
        assert served.begun.wait(PATIENCE)  # type: ignore[attr-defined]
        proxy.cut()
        proxy.mend()
        assert proxy.connected.wait(PATIENCE)
        tools.cancel(f"inv_{served.namespace}")
        call.join(PATIENCE)
    [result] = outcome
    # One call, found again by its key.
    assert result.status == "canceled" and tools.get(result.invocation_id).message.attempt == 1


# === people ===


def test_an_approval_is_answered_by_a_callback(served: Worker, tools: Toolplane) -> None:
    seen: list[Approval] = []

    def look(approval: Approval) -> str:
        seen.append(approval)
        return "approve"

    name = f"{served.asked}.say"  # type: ignore[attr-defined]
    assert tools.call(name, {"text": "hi"}, on_approval=look).value == "hi"
    assert seen[0].input == {"text": "hi"} and seen[0].tool == name and seen[0].reason
    edited = tools.call(name, {"text": "hi"}, on_approval=lambda _: Approve(input={"text": "ho"}))
    assert edited.value == "ho"
    with pytest.raises(PermissionDenied, match="not today") as denied:
        tools.call(name, {"text": "hi"}, on_approval=lambda _: Deny("not today"))
    assert denied.value.error_class == "approval_rejected"
    with pytest.raises(PermissionDenied):
        tools.call(name, {"text": "hi"}, no_approver=True)


def test_an_approval_may_be_left_to_people(served: Worker, tools: Toolplane) -> None:
    seen: list[Approval] = []

    def leave(approval: Approval) -> None:
        seen.append(approval)
        threading.Thread(target=answer, args=[approval]).start()

    def answer(approval: Approval) -> None:
        with Toolplane.connect() as person:
            person.wait(approval.invocation_id, on_approval=lambda _: "approve")

    assert tools.call(f"{served.asked}.say", {"text": "hi"}, on_approval=leave).value == "hi"  # type: ignore[attr-defined]
    assert len(seen) == 1


def test_an_answer_that_is_none_approves_nothing_and_cancels(served: Worker, tools: Toolplane) -> None:
    ids: list[str] = []

    def wrong(approval: Approval) -> str:
        ids.append(approval.invocation_id)
        return "yes please"

    with pytest.raises(TypeError, match="on_approval"):
        tools.call(f"{served.asked}.say", {"text": "hi"}, on_approval=wrong)  # type: ignore[attr-defined]
    assert tools.wait(ids[0], raise_on_error=False, timeout=PATIENCE).status == "canceled"


# === going away ===


def test_ctrl_c_cancels_the_call(served: Worker, tools: Toolplane, tmp_path: Path) -> None:
    served.begun.clear()  # type: ignore[attr-defined]
    call_id = f"inv_{uuid.uuid4().hex}"
    program = f"from toolplane import Toolplane\nToolplane.connect().call('{served.namespace}.waits', invocation_id='{call_id}')\n"
    process = subprocess.Popen([sys.executable, "-c", program], env=dict(os.environ), stderr=subprocess.PIPE, text=True)
    assert served.begun.wait(PATIENCE)  # type: ignore[attr-defined]
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert "KeyboardInterrupt" in said
    assert tools.wait(call_id, raise_on_error=False, timeout=PATIENCE).status == "canceled"


def test_a_canceled_task_cancels_the_call(served: Worker, tools: Toolplane) -> None:
    async def main() -> str:
        served.begun.clear()  # type: ignore[attr-defined]
        call_id = f"inv_{uuid.uuid4().hex}"
        async with AsyncToolplane.connect() as client:
            task = asyncio.create_task(client.call(f"{served.namespace}.waits", invocation_id=call_id))
            await asyncio.to_thread(served.begun.wait, PATIENCE)  # type: ignore[attr-defined]
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return (await client.wait(call_id, raise_on_error=False, timeout=PATIENCE)).status

    assert asyncio.run(main()) == "canceled"


# === several calls ===


def test_a_batch_is_in_order_and_knows_what_depends_on_what(served: Worker, tools: Toolplane) -> None:
    name = f"{served.namespace}.add"
    results = tools.batch([(name, {"a": n, "b": n}) for n in range(12)], policy={"max_parallel": 3})
    assert [result.value for result in results] == [2 * n for n in range(12)]
    calls = [BatchCall(f"{served.namespace}.fails"), BatchCall(name, {"a": 1, "b": 1}, depends_on=[0]), BatchCall(name, {"a": 1, "b": 2})]
    failed, dependent, free = tools.batch(calls, policy={"sibling_failure_policy": "cancel_dependent"})
    assert failed.is_error and dependent.error and dependent.error.error_class == "sibling_canceled" and free.value == 3
    with pytest.raises(TypeError, match="max_paralel"):
        tools.batch(calls, policy={"max_paralel": 1})


# === tools ===


def test_tools_are_found_and_loaded(served: Worker, tools: Toolplane) -> None:
    found = tools.search(f"select:{served.namespace}.waits")
    assert [one.name for one in found] == [f"{served.namespace}.waits"]
    assert f"{served.namespace}.add" in [one.name for one in tools.list()]
    first = tools.search(namespaces=[served.namespace], limit=2)
    rest = tools.search(namespaces=[served.namespace], limit=2, page=first.next_page)
    assert (len(first), first.total, len(rest), rest.next_page) == (2, 3, 1, "")
    assert {one.name.rsplit(".", 1)[1] for one in [*first, *rest]} == {"add", "fails", "waits"}
    # One word of letters, and of this run alone.
    word = "adder" + "".join("ghijklmnop"[int(c)] if c.isdigit() else c for c in served.namespace if c.isalnum())
    assert not tools.search(word, namespaces=[served.namespace])
    tools.add_synonyms(word, "waits")
    [waits] = tools.search(word, namespaces=[served.namespace])
    assert (waits.name, waits.why) == (f"{served.namespace}.waits", (f"{word} ~ waits (synonym)",))
    assert [(one.words, one.origin) for one in tools.synonyms(word)] == [((word, "waits"), "added")]
    tools.remove_synonyms(word, "waits")
    tools.remove_synonyms(word, "waits")
    assert tools.synonyms(word) == [] and not tools.search(word, namespaces=[served.namespace])
    assert tools.forget_use(f"{served.namespace}.waits") >= 0
    with pytest.raises(ValueError, match="everything"):
        tools.forget_use()
    nowhere = tools.search("select:nobody.has_this")
    assert (list(nowhere), nowhere.missing, nowhere.next_action) == ([], ("nobody.has_this",), "refine_query")
    with pytest.raises(RequestRefused, match="kind"):
        tools.search(kinds=["nonsense"])
    inside = tools.surface(namespaces=[served.namespace], defer="all")
    assert inside.surface_id and {one.name.rsplit(".", 1)[1] for one in inside.list()} == {"add", "fails", "waits"}
    assert not any(one.loaded for one in inside.list())
    with pytest.raises(ToolNotFound):
        inside.call(f"{served.namespace}.add", {"a": 1, "b": 2})
    [tool] = inside.load(f"{served.namespace}.add")
    assert tool.schema["required"] == ["a", "b"]
    assert inside.call(f"{served.namespace}.add", {"a": 1, "b": 2}, declaration_digest=tool.digest).value == 3
    moment = inside.surface_moment()
    assert inside.call(f"{served.namespace}.add", {"a": 1, "b": 2}, surface_moment=moment).value == 3
    inside.unload(f"{served.namespace}.add")
    with pytest.raises(ToolNotFound, match=moment.replace(".", r"\.")):
        inside.call(f"{served.namespace}.add", {"a": 1, "b": 2}, surface_moment=moment)
    assert [found.loaded for found in inside.list() if found.name == f"{served.namespace}.add"] == [False]
    with pytest.raises(ToolplaneError):
        inside.unload("nothing.of_this_name")
    nothing = tools.surface(tool_choice="none", selection_policy={"parallel_calls": False})
    with pytest.raises(ToolplaneError, match="default_tool_choice"):
        nothing.call(f"{served.namespace}.add", {"a": 1, "b": 2})
    nothing.delete_surface()
    task = tools.surface(scope="task", refs=["task:7"])
    task.load(f"{served.namespace}.add")
    task.call(f"{served.namespace}.add", {"a": 1, "b": 2})
    with pytest.raises(ToolplaneError, match="another task than `8`"):
        task.call(f"{served.namespace}.add", {"a": 1, "b": 2}, refs=["task:8"])
    with pytest.raises(ToolplaneError, match="names none"):
        tools.in_surface(task.surface_id).load(f"{served.namespace}.add")
    task.delete_surface()
    upper = tools.surface(tools=[f"{served.namespace}.add"])
    below = tools.surface(parent=upper.surface_id)
    assert [found.name for found in below.list()] == [f"{served.namespace}.add"]
    with pytest.raises(ToolplaneError, match=upper.surface_id):
        below.call(f"{served.namespace}.fails", {})
    with pytest.raises(ValueError, match="`parent` is empty"):
        tools.surface(parent="")
    with pytest.raises(TypeError, match="`parent` is the id of a surface"):
        tools.surface(parent=upper)  # type: ignore[arg-type]
    upper.delete_surface()
    with pytest.raises(ToolplaneError, match="not there any more"):
        below.list()
    below.delete_surface()
    small = tools.surface(tools=[f"{served.namespace}.add"])
    before = len(small.list())
    pinned = tools.surface(tools=[f"{served.namespace}.add"], pinned=True)
    with pytest.raises(RequestRefused, match="pinned"):
        pinned.extend_surface(namespaces=[served.namespace])
    pinned.delete_surface()
    bounded = tools.surface(namespaces=[served.namespace], load=[f"{served.namespace}.add"], defer="all", max_tools=2)
    assert bounded.load(f"{served.namespace}.waits").unloaded == ()
    loaded = bounded.load(f"{served.namespace}.fails")
    assert [one.name for one in loaded] == [f"{served.namespace}.fails"]
    assert [(gone.name, gone.reason) for gone in loaded.unloaded] == [(f"{served.namespace}.waits", "budget")]
    with pytest.warns(SelectionWarning, match="unloaded for the budget"):
        bounded.extend_surface(max_tools=1)
    with pytest.raises(ToolplaneError, match="max_tools"):
        bounded.load(f"{served.namespace}.waits")
    bounded.delete_surface()
    with pytest.warns(SelectionWarning, match="no tool has the namespace"):
        slip = tools.surface(namespaces=["nothing_of_this_name"], kinds=["function"])
    assert slip.list() == []
    slip.delete_surface()
    with pytest.raises(RequestRefused, match="risk_levels"):
        tools.surface(risk_levels=["hgih"])
    changes = small.watch_surface()
    begin = next(changes)
    small.extend_surface(namespaces=[served.namespace])
    assert before == 1 and len(small.list()) > 1
    came = next(changes)
    assert begin.tools == () and {(one.kind, one.state) for one in came.tools} == {("added", "deferred")}
    assert len(came.tools) == len(small.list()) - 1 and came.revision > begin.revision
    small.unload(f"{served.namespace}.add")
    later = next(small.watch_surface(came.moment))
    assert [(one.name, one.state_before, one.state) for one in later.tools] == [(f"{served.namespace}.add", "loaded", "deferred")]
    small.delete_surface()
    assert next(changes) == later and next(changes, None) is None, "it ends with the surface"
    inside.delete_surface()
    inside.delete_surface()
    with pytest.raises(RequestRefused) as refused:
        inside.list()
    assert refused.value.status == "NOT_FOUND"


# === asyncio ===


def test_the_async_client_does_the_same(served: Worker) -> None:
    async def main() -> None:
        async with AsyncToolplane.connect() as client:
            name = f"{served.namespace}.add"
            results = await asyncio.gather(*(client.call(name, {"a": n, "b": 1}) for n in range(20)))
            assert [result.value for result in results] == [n + 1 for n in range(20)]
            said = [one async for one in client.stream(name, {"a": 1, "b": 2})]
            assert isinstance(said[-1], Result) and said[-1].value == 3
            assert [result.value for result in await client.batch([(name, {"a": 1, "b": 1})])] == [2]

            async def approve(approval: Approval) -> str:
                await asyncio.sleep(0)
                return "approve"

            asked = f"{served.asked}.say"  # type: ignore[attr-defined]
            assert (await client.call(asked, {"text": "hi"}, on_approval=approve)).value == "hi"
            state = await client.submit(name, {"a": 1, "b": 2})
            assert (await client.wait(state.invocation_id)).value == 3
            with pytest.raises(InvalidArguments):
                await client.call(name, {})
            # A stream that is left leaves its call alone.
            stream = client.stream(f"{served.namespace}.waits")
            first = await anext(aiter(stream))
            await stream.aclose()  # type: ignore[attr-defined]
            assert isinstance(first, Event) and not (await client.get(first.invocation_id)).done
            await client.cancel(first.invocation_id)
            assert (await client.wait(first.invocation_id, raise_on_error=False)).status == "canceled"

    asyncio.run(main())


def test_threads_share_a_client(served: Worker, tools: Toolplane) -> None:
    results: list[int] = []

    def some(base: int) -> None:
        for n in range(10):
            results.append(tools.call(f"{served.namespace}.add", {"a": base, "b": n}).value)

    threads = [threading.Thread(target=some, args=[base]) for base in (0, 100, 200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted(base + n for base in (0, 100, 200, 300) for n in range(10))


def test_a_cluster_that_is_not_there_is_an_error_that_says_so() -> None:
    with Toolplane.connect("127.0.0.1:1", retry_for=0) as client, pytest.raises(RequestRefused) as away:
        client.call("a.b")
    assert away.value.status == "UNAVAILABLE"
