"""Tools of one's own, against a cluster."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from conftest import Proxy
from processes import PATIENCE, until
from toolplane import (
    AnswerRefused,
    DECLINE,
    Artifact,
    AsyncToolplane,
    Canceled,
    Context,
    Declined,
    Event,
    File,
    InvalidArguments,
    Output,
    Question,
    Result,
    SetupError,
    ToolCanceled,
    ToolError,
    ToolFailure,
    Toolplane,
    ToolTimeout,
    Worker,
)

SAFE = {"destructive": False, "open_world": False, "concurrency_safe": True, "idempotent": True}


@dataclasses.dataclass
class Point:
    x: int
    label: str = ""


@dataclasses.dataclass
class Seen:
    """What tools tell the tests beside their answers."""

    begun: threading.Event = dataclasses.field(default_factory=threading.Event)
    stopped: threading.Event = dataclasses.field(default_factory=threading.Event)
    go: threading.Event = dataclasses.field(default_factory=threading.Event)
    facts: dict[str, object] = dataclasses.field(default_factory=dict)


def tools_of(worker: Worker, seen: Seen) -> None:
    @worker.tool(**SAFE)
    def shift(point: Point, by: int = 1) -> Point:
        """Moves a point."""
        return Point(point.x + by, point.label)

    @worker.tool(**SAFE)
    def number(n: int) -> int:
        """Gives a number back."""
        return n

    @worker.tool(**SAFE)
    async def slowly(ctx: Context) -> str:
        """Waits until it is canceled."""
        seen.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            seen.stopped.set()
        return "never"

    @worker.tool(**SAFE)
    def loops(ctx: Context) -> str:
        """Works until it is told to stop."""
        seen.begun.set()
        try:
            while True:
                ctx.sleep(30)
        except Canceled:
            seen.stopped.set()
            raise

    @worker.tool(**SAFE)
    def deaf() -> str:
        """Cannot be canceled."""
        seen.begun.set()
        assert seen.go.wait(PATIENCE)
        return "done anyway"

    @worker.tool(**SAFE, timeout=0.3)
    def late(ctx: Context) -> str:
        """Takes too long."""
        ctx.sleep(60)
        return "never"

    @worker.tool(destructive=False, concurrency_safe=True)
    def asks(ctx: Context) -> str:
        """Asks for a color."""
        try:
            return f"the sky is {ctx.ask('which color?', {'enum': ['blue', 'grey']})}"
        except Declined as declined:
            return f"nobody says ({declined.expired})"

    @worker.tool(**SAFE)
    def steps(ctx: Context) -> str:
        """Says how far it is."""
        for step in range(3):
            ctx.progress(f"step {step}", percent=step * 40.0, step=str(step), total_steps=3)
            ctx.partial(f"page {step}\n")
            ctx.sleep(0.3)
        return "there"

    @worker.tool(**SAFE)
    def large(size: int) -> str:
        """Gives a large text."""
        return "x" * size

    @worker.tool(**SAFE)
    def attaches(ctx: Context, size: int) -> str:
        """Attaches a large file."""
        ctx.attach(b"x" * size)
        return "attached"

    @worker.tool(**SAFE, context_modifiers=True)
    def strange(what: str) -> Any:
        """Gives what JSON does not have."""
        if what == "change":
            return Output(text="fine", context_modifiers=[{"op": object()}])
        return {"number": float("nan"), "half": "\ud800", "object": [object()]}[what]

    @worker.tool(**SAFE)
    def many(count: int) -> list[int]:
        """Gives a large value."""
        return list(range(count))

    @worker.tool(**SAFE, context_modifiers=True)
    def everything(ctx: Context) -> Output:
        """Gives every kind of content."""
        ctx.log("looked around")
        ctx.evidence("job:17")
        ctx.called_elsewhere(a2a_task_id="task-4", http_request_id="req-8")
        ctx.attach(b"\x89PNG", "image/png", "picture")
        ctx.artifact(Artifact("art_1", "https://example.org/a", "text/html", version="3"))
        ctx.modify_context({"op": "note", "text": "remember"})
        return Output(value={"a": 2**80}, text="hello", diff="--- a\n+++ b\n", files=[File(b"data", "text/csv", "table")], summary="all")

    @worker.tool(**SAFE)
    def fails(how: str) -> str:
        """Fails."""
        if how == "said":
            raise ToolFailure("no such page", code="acme.no_page", retry="change_arguments", side_effects="none", retry_after=1.5)
        raise RuntimeError("broken inside")

    @worker.tool(destructive=False, concurrency_safe=True)
    def knows(ctx: Context) -> dict[str, object]:
        """Tells what it knows of its call."""
        span = trace.get_current_span().get_span_context()
        return {
            "id": ctx.invocation_id, "key": ctx.idempotency_key, "fence": ctx.fence, "attempt": ctx.attempt, "actor": ctx.actor,
            "traceparent": ctx.traceparent, "current": f"{span.trace_id:032x}", "left": ctx.time_left, "session": ctx.session,
        }  # fmt: skip


@pytest.fixture(scope="module")
def own(endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = Worker(f"pytest.{tmp_path_factory.getbasetemp().name.replace('-', '_')}w", data_dir=tmp_path_factory.mktemp("own"), slots=4)
    worker.seen = Seen()  # type: ignore[attr-defined]
    tools_of(worker, worker.seen)  # type: ignore[attr-defined]
    with worker:
        yield worker


@pytest.fixture
def seen(own: Worker) -> Seen:
    found: Seen = own.seen  # type: ignore[attr-defined]
    for event in (found.begun, found.stopped, found.go):
        event.clear()
    return found


def test_values_go_through_as_the_hints_say(own: Worker, tools: Toolplane) -> None:
    assert tools.call(f"{own.namespace}.shift", {"point": {"x": 3, "label": "a"}, "by": 2}).value == {"x": 5, "label": "a"}
    for number in (2**53 + 1, 2**64, -(10**100), 0):
        assert tools.call(f"{own.namespace}.number", {"n": number}).value == number


def test_arguments_that_do_not_fit_never_reach_the_tool(own: Worker, tools: Toolplane) -> None:
    with pytest.raises(InvalidArguments) as wrong:
        tools.call(f"{own.namespace}.shift", {"point": {"y": 3}})
    assert wrong.value.retry == "change_arguments" and wrong.value.violations


def test_the_declaration_is_the_functions(own: Worker, tools: Toolplane) -> None:
    [tool] = tools.load(f"{own.namespace}.shift")
    assert tool.description == "Moves a point."
    assert tool.schema["properties"]["by"] == {"type": "integer", "default": 1}


@pytest.mark.parametrize("name", ["slowly", "loops"])
def test_a_tool_that_listens_is_canceled(own: Worker, seen: Seen, tools: Toolplane, name: str) -> None:
    call = tools.submit(f"{own.namespace}.{name}")
    assert seen.begun.wait(PATIENCE)
    tools.cancel(call.invocation_id, "enough")
    with pytest.raises(ToolCanceled) as canceled:
        tools.wait(call.invocation_id, timeout=PATIENCE)
    assert canceled.value.code == "exec.canceled"
    assert seen.stopped.wait(PATIENCE)


def test_a_tool_that_cannot_stop_goes_on_to_its_end(own: Worker, seen: Seen, tools: Toolplane) -> None:
    call = tools.submit(f"{own.namespace}.deaf")
    assert seen.begun.wait(PATIENCE)
    tools.cancel(call.invocation_id)
    seen.go.set()
    assert tools.wait(call.invocation_id, timeout=PATIENCE).value == "done anyway"
    assert tools.get(call.invocation_id).message.cancel.failed == "unsupported"


def test_a_tool_is_stopped_when_its_time_is_up(own: Worker, tools: Toolplane) -> None:
    with pytest.raises(ToolTimeout) as late:
        tools.call(f"{own.namespace}.late")
    assert late.value.code == "exec.timeout"


def test_a_question_is_answered_declined_or_left(own: Worker, tools: Toolplane) -> None:
    asked: list[Question] = []

    def answer(question: Question) -> object:
        asked.append(question)
        return "grey"

    assert tools.call(f"{own.namespace}.asks", on_input=answer).value == "the sky is grey"
    assert asked[0].prompt == "which color?" and asked[0].schema == {"enum": ["blue", "grey"]}
    assert tools.call(f"{own.namespace}.asks", on_input=lambda _: DECLINE).value == "nobody says (False)"
    # Left to others: somebody else answers.
    for make in (tools.call, lambda *args, **settings: list(tools.stream(*args, **settings))):
        with pytest.raises(AnswerRefused) as refused:
            make(f"{own.namespace}.asks", on_input=lambda _: "green")
        ended = tools.wait(refused.value.invocation_id, raise_on_error=False)
        assert ended.status == "canceled", "a call whose questions nobody can answer is not left behind"
    call = tools.submit(f"{own.namespace}.asks")
    until(lambda: tools.get(call.invocation_id).status == "needs_input", "the question")
    tools.provide_input(call.invocation_id, "blue")
    assert tools.wait(call.invocation_id, timeout=PATIENCE).value == "the sky is blue"


def test_progress_comes_while_the_tool_runs(own: Worker, tools: Toolplane) -> None:
    said = list(tools.stream(f"{own.namespace}.steps"))
    progress = [event.data for event in said if isinstance(event, Event) and event.is_progress]
    assert [one["message"] for one in progress if one.get("message")][-1] == "step 2"
    assert isinstance(said[-1], Result) and said[-1].value == "there"
    shown = "".join(event.partial_text for event in said if isinstance(event, Event))
    assert shown == "page 0\npage 1\npage 2\n", "none is missing, and they come in their order"
    events = [event.sequence for event in said if isinstance(event, Event)]
    assert events == list(range(1, len(events) + 1))


def test_a_large_text_is_kept_and_read_back(own: Worker, tools: Toolplane) -> None:
    result = tools.call(f"{own.namespace}.large", {"size": 3_000_000})
    assert len(result.text) < 70_000
    [kept] = result.kept
    whole = b"x" * 3_000_000
    assert kept.size == len(whole) and kept.digest == f"sha256:{hashlib.sha256(whole).hexdigest()}"
    with result.open() as file:
        assert file.read() == whole
        file.seek(-5, 2)
        assert file.read() == b"xxxxx"
    assert b"".join(tools.read(kept, 1_000_000, 10)) == b"x" * 10


def test_a_large_value_is_kept_too(own: Worker, tools: Toolplane) -> None:
    result = tools.call(f"{own.namespace}.many", {"count": 100_000})
    assert result.structured is None
    import json

    assert json.loads(result.open().read()) == list(range(100_000))


def test_every_kind_of_content_arrives(own: Worker, tools: Toolplane) -> None:
    result = tools.call(f"{own.namespace}.everything")
    assert result.value == {"a": 2**80} and result.text == "hello" and result.summary == "all"
    kinds = [block.kind for block in result.content]
    assert {"text", "diff", "log", "file", "image"} <= set(kinds), "a picture is one"
    files = [block.kept for block in result.content if block.kind in ("file", "image") and block.kept]
    assert {b"".join(tools.read(kept)) for kept in files} == {b"data", b"\x89PNG"}
    assert result.message.artifact_refs[0].version == "3"
    assert "job:17" in result.message.evidence_refs
    assert result.context_modifiers == [{"op": "note", "text": "remember"}]


def test_failures_say_what_the_tool_said(own: Worker, tools: Toolplane) -> None:
    with pytest.raises(ToolError) as said:
        tools.call(f"{own.namespace}.fails", {"how": "said"})
    assert (said.value.code, said.value.retry, said.value.retry_after) == ("acme.no_page", "change_arguments", 1.5)
    assert said.value.side_effects == "none" and said.value.message == "no such page"
    with pytest.raises(ToolError, match="RuntimeError: broken inside") as raised:
        tools.call(f"{own.namespace}.fails", {"how": "raised"})
    assert "Traceback" not in str(raised.value) and raised.value.code == "exec.unspecified"


@pytest.mark.parametrize("what", ["number", "half", "object", "change"])
def test_what_has_no_form_in_json_is_a_failure_of_its_own(own: Worker, tools: Toolplane, what: str) -> None:
    with pytest.raises(ToolError, match="no form in JSON") as wrong:
        tools.call(f"{own.namespace}.strange", {"what": what})
    assert (wrong.value.code, wrong.value.error_class, wrong.value.side_effects) == ("exec.output_invalid", "execution_failed", "completed")


def test_an_output_that_may_not_be_kept_leaves_a_preview_and_says_so(own: Worker, tools: Toolplane) -> None:
    # The cluster keeps at most 64 MiB.
    result = tools.call(f"{own.namespace}.large", {"size": 65 << 20})
    assert result.status == "too_large" and result.text.startswith("xxx") and result.kept == []
    assert result.incomplete is not None and result.incomplete.code == "result.too_large" and result.incomplete.side_effects == "completed"
    assert tools.call(f"{own.namespace}.large", {"size": 1}).incomplete is None
    with pytest.raises(ToolError) as early:
        tools.call(f"{own.namespace}.attaches", {"size": 65 << 20})
    assert (early.value.code, early.value.error_class) == ("exec.output_limit", "result_too_large")


def test_a_tool_knows_its_call_and_its_trace(own: Worker, tools: Toolplane) -> None:
    tracer = TracerProvider().get_tracer("test")
    with Toolplane.connect(actor="ann", session="s-1") as client, tracer.start_as_current_span("agent") as span:
        known = client.call(f"{own.namespace}.knows").value
    trace_id = f"{span.get_span_context().trace_id:032x}"
    assert known["traceparent"].split("-")[1] == trace_id and known["current"] == trace_id
    assert known["key"] and known["fence"] > 0 and known["attempt"] == 1 and known["actor"] == "ann" and known["session"] == "s-1"
    assert 0 < known["left"] <= 60


def test_more_calls_than_slots_wait_their_turn(own: Worker, tools: Toolplane) -> None:
    results = tools.batch([(f"{own.namespace}.number", {"n": n}) for n in range(40)], policy={"max_parallel": 20})
    assert [result.value for result in results] == list(range(40))


def test_it_lists_its_tools_for_a_provider(own: Worker) -> None:
    listed = own._list()["tools"]
    names = [tool["declaration"]["name"] for tool in listed]
    assert "shift" in names and "list_tools" not in names
    assert f"{own.namespace}.list_tools" in own._served()


def test_two_workers_of_one_namespace_get_their_own_tools(
    endpoint: str, tools: Toolplane, namespace: str, tmp_path: Path
) -> None:
    one, other = (Worker(namespace, data_dir=tmp_path / name) for name in ("one", "other"))

    @one.tool(**SAFE)
    def first() -> str:
        """Is of the first worker."""
        return "first"

    @other.tool(**SAFE)
    def second() -> str:
        """Is of the second worker."""
        return "second"

    with one, other:
        for _ in range(5):
            assert tools.call(f"{namespace}.first").value == "first"
            assert tools.call(f"{namespace}.second").value == "second"


def test_a_folder_in_use_is_refused(own: Worker, tmp_path: Path, namespace: str) -> None:
    with Worker(namespace, data_dir=tmp_path, register=False), pytest.raises(SetupError, match="another worker"):
        Worker(namespace, data_dir=tmp_path, register=False).start()


def test_a_blocked_tool_keeps_its_lease(endpoint: str, tools: Toolplane, namespace: str, tmp_path: Path, proxy: Proxy) -> None:
    """All slots are busy and the stream is away: the heartbeats alone hold the lease, for longer than it lasts."""
    worker = Worker(namespace, data_dir=tmp_path, slots=1)
    begun, go = threading.Event(), threading.Event()

    @worker.tool(destructive=False, concurrency_safe=True)
    def blocks() -> str:
        """Blocks its thread."""
        begun.set()
        assert go.wait(PATIENCE)
        return "held"

    with worker:
        call = tools.submit(f"{namespace}.blocks")
        assert begun.wait(PATIENCE)
        granted = tools.get(call.invocation_id).message.lease.expires_at.ToNanoseconds()
        # Renewed past the end of the first lease, so it was renewed at least as often as that takes.
        until(lambda: _now_ns() > granted + 10**9, "the end of the first lease")
        state = tools.get(call.invocation_id)
        assert state.status == "running" and state.message.lease_no == 1
        go.set()
        assert tools.wait(call.invocation_id, timeout=PATIENCE).value == "held"


def _now_ns() -> int:
    import time

    return time.time_ns()


def test_a_worker_lives_in_a_program_of_asyncio(endpoint: str, namespace: str, tmp_path: Path) -> None:
    async def main() -> str:
        loops: list[asyncio.AbstractEventLoop] = []
        worker = Worker(namespace, data_dir=tmp_path)

        @worker.tool(**SAFE)
        async def where() -> str:
            """Tells its loop."""
            loops.append(asyncio.get_running_loop())
            return "here"

        serving = asyncio.create_task(worker.run_async())
        async with AsyncToolplane.connect() as client:
            while True:
                # Registered before it serves; a call made earlier is for no tool.
                result = await client.call(f"{namespace}.where", raise_on_error=False)
                if not result.is_error:
                    break
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        assert loops[0] is asyncio.get_running_loop()
        return str(result.value)

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE)) == "here"
