"""A worker: your functions as tools of a cluster."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from toolplane import _rpc, errors
from toolplane._flow import Retry, SyncDriver, may_pass_later, retried
from toolplane.connection import Connection
from toolplane.v1 import surface_service_pb2 as surfaces
from toolplane.worker.assignment import Assignments
from toolplane.worker.desk import Desk, Terms
from toolplane.worker.heartbeats import Heartbeats
from toolplane.worker.journal import Home, Journal
from toolplane.worker.link import Link
from toolplane.worker.context import Context
from toolplane.worker.report import Report
from toolplane.worker.runner import Loop, Runner
from toolplane.worker.tool import Facts, NativeTool, declare

_log = logging.getLogger("toolplane.worker")
F = TypeVar("F", bound=Callable[..., Any])
# How long stopped tools may take to end once the drain's own time is up, in seconds.
_STOP = 3.0
# How long the scheduler may take to acknowledge the last reports, in seconds.
_ACKNOWLEDGE = 3.0


class Worker:
    """Serves tools under a namespace: `Worker("acme")` and a function `translate` are the tool `acme.translate`.

    It gets calls of its own tools and of no others, so it runs beside other workers, also others of its namespace with other tools.
    """

    def __init__(
        self,
        namespace: str,
        *,
        endpoint: str | None = None,
        schedulers: Sequence[str] = (),
        slots: int = 8,
        data_dir: str | os.PathLike[str] | None = None,
        worker_id: str | None = None,
        provider: str | None = None,
        tenant: str = "default",
        register: bool | None = None,
        drain_timeout: float = 30.0,
        connection: Connection | None = None,
        **settings: Any,
    ) -> None:
        """A worker that does nothing yet.

        - `endpoint` and `settings` are those of `Connection.of`; `schedulers` are further endpoints to go to when it is away
        - `slots`: calls run at a time, 1 to 4096
        - `data_dir`: the folder with its name and its journal, its own alone; below `~/.local/state/toolplane` without one
        - `worker_id`: its name, stable over restarts; made up and kept in the folder without one
        - `register`: whether its tools are registered at its start (role operator). Yes, unless `provider` is given
        - `provider`: the name of a provider of the kind `worker` (of `tenant`) that takes the tools from this worker instead
        - `drain_timeout`: seconds that running calls may go on after it is asked to stop
        """
        if not 1 <= slots <= 4096:
            raise errors.SetupError("slots is 1 to 4096")
        self.namespace = namespace
        self._connection = connection if connection is not None else Connection.of(endpoint, **settings)
        self._connections = [self._connection, *(self._connection.at(other) for other in schedulers)]
        self._slots = slots
        self._data_dir = Path(data_dir) if data_dir is not None else None
        self._worker_id = worker_id
        self._provider = (tenant, provider) if provider is not None else None
        self._register = register if register is not None else provider is None
        self._drain_timeout = drain_timeout
        self._tools: dict[str, NativeTool] = {}
        self._running: _Running | None = None

    # === tools ===

    def tool(
        self,
        function: F | None = None,
        *,
        name: str | None = None,
        description: str | None = None,
        title: str = "",
        search_hint: str | None = None,
        read_only: bool | None = None,
        destructive: bool | None = None,
        idempotent: bool | None = None,
        concurrency_safe: bool | None = None,
        open_world: bool | None = None,
        risk: str | None = None,
        access: Sequence[str] = (),
        effects: Sequence[str] = (),
        approval_required: bool | None = None,
        timeout: float = 60.0,
        supports_cancel: bool | None = None,
        context_modifiers: bool = False,
        background: bool = False,
        resume: bool = False,
        sensitive: Sequence[str] = (),
    ) -> Any:
        """Makes a function a tool: `@worker.tool` or `@worker.tool(read_only=True)`. The function stays what it is.

        Its schema comes from the type hints, what it is for from the docstring; a parameter of the type `Context` (or called `ctx`)
        is given the call. Facts that are left out stay unknown, and unknown is taken for the worst: a tool that is not known to be
        idempotent never starts twice.

        - `search_hint`: what a search shows of the tool where there are many, in a few words; the first sentence of the description
        - `timeout`: seconds one execution may take
        - `supports_cancel`: whether it stops when asked; coroutines do, and functions that have a `Context` to ask
        - `risk`, `access`, `effects`, `approval_required`: what policy goes by (`high`, when only the others are given)
        - `background`: its calls may go on while nobody waits for them
        - `resume`: a later execution may go on where an earlier one stopped (`Context.resume_token`)
        - `sensitive`: JSON pointers of arguments that nobody else may see, e.g. `/token`

        Raises `SetupError` when a hint has no schema, or the name is taken.
        """
        local = sys._getframe(1).f_locals
        facts = Facts(
            read_only, destructive, idempotent, concurrency_safe, open_world, risk, tuple(access), tuple(effects), approval_required
        )

        def add(made: F) -> F:
            tool = declare(
                made,
                self.namespace,
                name or made.__name__,
                facts,
                description=description,
                timeout=timeout,
                supports_cancel=supports_cancel,
                local=local,
                title=title,
                search_hint=search_hint,
                context_modifiers=context_modifiers,
                background=background,
                resume=resume,
                sensitive=tuple(sensitive),
            )
            if tool.full_name in self._tools or tool.name == "list_tools":
                raise errors.SetupError(f"there is a tool `{tool.full_name}` already")
            self._tools[tool.full_name] = tool
            return made

        return add if function is None else add(function)

    @property
    def tools(self) -> list[NativeTool]:
        """The tools in the order they were made."""
        return list(self._tools.values())

    def register(self) -> None:
        """Registers the tools; the same again changes nothing. `run` does this. Needs the role operator. A server that is away, or not
        there yet, is waited for; the log says so once."""
        self._register_until(threading.Event())

    def _register_until(self, over: threading.Event) -> bool:
        """Registers the tools as soon as there is a server; whether it did before `over`."""
        driver = SyncDriver(self._connection)
        request = surfaces.RegisterToolsRequest(tools=[tool.registration() for tool in self.tools])
        retry, failures = Retry(0.0, 0.0), 0
        try:
            while not over.is_set():
                try:
                    driver.run(retried(_rpc.REGISTER, request, timeout=30.0, retry=retry))
                    return True
                except errors.RequestRefused as error:
                    if not may_pass_later(error):
                        raise
                    driver.reach.waits(error)
                    over.wait(retry.pause(failures, error))
                    failures += 1
            return False
        except errors.RequestRefused as error:
            if error.status in ("PERMISSION_DENIED", "UNAUTHENTICATED"):
                raise errors.SetupError(
                    f"this worker's credential may not register tools ({error.message}): give it the role operator, or register them "
                    "otherwise and say register=False, or let a provider of the kind worker take them (provider=...)",
                    code=error.code,
                ) from None
            raise
        finally:
            driver.channel.close()

    # === life ===

    def run(self, on_start: Callable[[], object] | None = None) -> None:
        """Serves until SIGTERM or SIGINT, then drains: takes nothing more, lets what runs end, says goodbye. A second signal ends at
        once. `on_start` is called when the tools are registered and the worker is connected, for supervisors that want to know.
        For the main thread; elsewhere use `start` and `stop`."""
        over, forced = threading.Event(), threading.Event()

        def on_signal(*_: object) -> None:
            (forced if over.is_set() else over).set()

        before = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            if self._start(None, over) and on_start is not None:
                on_start()
            # Woken now and then, so that a signal is seen where a wait is not broken by one.
            while not over.wait(1.0):
                continue
            self.stop(forced=forced)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def run_async(self) -> None:
        """Serves in a program of `asyncio` until the task is canceled, then drains. Async tools run on this loop."""
        over = threading.Event()
        starting = asyncio.create_task(asyncio.to_thread(self._start, asyncio.get_running_loop(), over))
        try:
            await asyncio.shield(starting)
            await asyncio.Event().wait()
        finally:
            over.set()
            # In a thread: tools on this loop need it to end. What is not wholly started yet cannot be stopped.
            await asyncio.shield(_after(starting, self.stop))

    def start(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Registers the tools, connects and serves, in threads of its own. Waits for a server to register with; returns when a scheduler
        has welcomed the worker, or after 10 seconds without one: it goes on trying. `SetupError` for what cannot become right by
        waiting."""
        self._start(loop, threading.Event())

    def _start(self, loop: asyncio.AbstractEventLoop | None, over: threading.Event) -> bool:
        """The same, unless it is `over` before there is a server; whether it serves."""
        if self._running is not None:
            raise errors.SetupError("the worker runs already")
        if self._register and not self._register_until(over):
            return False
        home = Home.take(self.namespace, self._data_dir, self._worker_id)
        self._running = _Running(self, home, loop)
        self._running.start()
        return True

    def stop(self, timeout: float | None = None, *, forced: threading.Event | None = None) -> None:
        """Drains and ends; `timeout` in place of `drain_timeout`, in seconds; `forced` cuts it short. Again changes nothing."""
        running, self._running = self._running, None
        if running is not None:
            running.stop(self._drain_timeout if timeout is None else timeout, forced or threading.Event())

    def __enter__(self) -> Worker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _list(self) -> dict[str, Any]:
        """Lists the tools of this worker, for a provider of the kind worker."""
        return {"tools": [tool.document() for tool in self.tools]}

    def _served(self) -> dict[str, NativeTool]:
        """Every native tool, with the one that lists the others."""
        listing = declare(
            self._list, self.namespace, "list_tools", Facts(), description=None, timeout=30.0, supports_cancel=False, local={}
        )
        return {**self._tools, listing.full_name: listing}


class _Running:
    """The parts of a worker that runs."""

    def __init__(self, worker: Worker, home: Home, loop: asyncio.AbstractEventLoop | None) -> None:
        self._home = home
        self._journal = Journal(home.folder / "journal")
        self._assignments = Assignments(worker._slots)
        self._desk = Desk(worker._connection, home, self._assignments, Terms())
        self._runner = Runner(self._desk, self._journal, Loop(loop))
        served, provider = worker._served(), worker._provider
        self._link = Link(worker._connections, self._desk, self._runner, self._journal, served, provider)
        self._heartbeats = Heartbeats(self._desk, self._link)
        self._thread = threading.Thread(target=self._link.run, name="toolplane-link", daemon=True)

    def start(self) -> None:
        """Connects; waits a while for the welcome."""
        self._thread.start()
        self._heartbeats.start()
        # Of a scheduler that refuses, or that is not there, the link has told.
        if not self._link.welcomed.wait(10.0) and self._link.refused is None:
            _log.warning("not connected yet: no answer")

    def stop(self, timeout: float, forced: threading.Event) -> None:
        """Drains: nothing new, a bounded time for what runs, the last reports, a goodbye."""
        assignments = self._assignments
        assignments.close()
        for held in assignments.open():
            if not held.started:
                held.stop.give("shutdown")
                self._desk.say(released=_released(held))
                assignments.forget(held.lease)
        self._desk.ready()
        until = time.monotonic() + timeout
        while not forced.is_set() and time.monotonic() < until:
            if assignments.wait(lambda: assignments.count(running=True) == 0, min(0.2, max(0.0, until - time.monotonic()))):
                break
        late = [held for held in assignments.open() if held.running]
        for held in late:
            held.stop.give("shutdown", "runtime_shutdown")
        if late:
            assignments.wait(lambda: assignments.count(running=True) == 0, _STOP)
            self._give_up(held for held in late if held.done is None)
        assignments.wait(lambda: assignments.count(running=False) == 0, _ACKNOWLEDGE)
        self._link.goodbye()
        self._thread.join(_ACKNOWLEDGE)
        self._heartbeats.stop()
        self._journal.close()
        self._home.release()

    def _give_up(self, left: Any) -> None:
        """Tools that do not stop end with this process. What must not run twice is told as unknown; the rest runs elsewhere."""
        for held in left:
            if held.once:
                context = Context(held, self._desk)
                report = Report(context, self._desk.terms.max_inline, lambda file, held=held: self._desk.upload(held, file))  # type: ignore[misc]
                self._runner.finish(held, report.unknown("runtime_shutdown"), long=False)
            else:
                self._assignments.forget(held.lease)


async def _after(starting: asyncio.Task[bool], stop: Callable[[], None]) -> None:
    """Stops what has begun to start; why it did not start is told to who waits for that."""
    await asyncio.wait([starting])
    await asyncio.to_thread(stop)


def _released(held: Any) -> Any:
    from toolplane.v1 import worker_pb2

    return worker_pb2.LeaseReleased(lease=held.lease, reason="draining")
