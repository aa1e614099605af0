"""Runs tools: functions in threads of their own, coroutines in one event loop; each under its lease, within its time."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
import time
from typing import Any

from toolplane import _json, _trace
from toolplane.v1 import worker_pb2
from toolplane.worker.assignment import Assignment
from toolplane.worker.context import Context
from toolplane.worker.desk import Desk
from toolplane.worker.journal import Journal
from toolplane.worker.outcome import Canceled
from toolplane.worker.report import Report, ending

_log = logging.getLogger("toolplane.worker")
# Endings of calls that may be repeated are kept on disk too, when it took this long to get there, in seconds.
_LONG = 2.0


class Loop:
    """The event loop of async tools: the caller's own, or one in a thread, made when it is first needed."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._lock = threading.Lock()
        self._loop = loop

    def get(self) -> asyncio.AbstractEventLoop:
        """The loop."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="toolplane-tools", daemon=True).start()
            return self._loop


class Runner:
    """Runs the calls that were taken."""

    def __init__(self, desk: Desk, journal: Journal, loop: Loop) -> None:
        self._desk = desk
        self._journal = journal
        self._loop = loop

    def start(self, assignment: Assignment) -> None:
        """Starts the tool, once; nothing when it was told to stop before. Returns at once."""
        if not self._desk.assignments.start(assignment):
            return
        # A daemon: a tool that never ends must not keep the process from ending.
        name = f"toolplane-{assignment.dispatch.tool_name}"
        threading.Thread(target=self._run, args=[assignment], name=name, daemon=True).start()

    def never_ran(self, assignment: Assignment) -> None:
        """Ends a call that was canceled before its tool began; nothing when it has begun."""
        if not self._desk.assignments.never(assignment):
            return
        report = Report(Context(assignment, self._desk), self._desk.terms.max_inline, lambda file: self._desk.upload(assignment, file))
        outcome = report.stopped("cancel", assignment.stop.abort_reason)
        outcome.error.message = "canceled before the tool ran"
        outcome.error.side_effects, outcome.error.recoverability = "none", "retry_safe"
        self.finish(assignment, outcome, long=False)

    def _run(self, assignment: Assignment) -> None:
        context = Context(assignment, self._desk)
        report = Report(context, self._desk.terms.max_inline, lambda file: self._desk.upload(assignment, file))
        clock = threading.Thread(target=self._watch_time, args=[assignment, context], daemon=True)
        began = time.monotonic()
        try:
            with _trace.current(assignment.dispatch.traceparent, assignment.dispatch.tracestate):
                outcome = self._outcome(assignment, context, report, clock)
        except BaseException:
            # Whatever it was, the call ends, and its slot is free again.
            _log.exception("the worker failed while it ran %s", assignment.dispatch.tool_name)
            outcome = report.refused("exec.worker_fault", "execution_failed", "the worker failed while it ran the tool")
            outcome.error.side_effects = "unknown"
        self.finish(assignment, outcome, long=time.monotonic() - began > _LONG)

    def _outcome(
        self, assignment: Assignment, context: Context, report: Report, clock: threading.Thread
    ) -> worker_pb2.ExecutionOutcome | None:
        tool = assignment.tool
        if tool is None:
            text = f"this worker has no native tool `{assignment.dispatch.binding.native.name}`"
            return report.refused("exec.native_unknown", "capability_gap", text)
        try:
            arguments = tool.arguments(_json.value(assignment.dispatch.call_input), context)
        except (TypeError, ValueError) as error:
            return report.refused("input.invalid", "invalid_arguments", f"the arguments are not what the tool takes: {error}")
        clock.start()
        call = self._awaited if tool.is_async else _called
        return ending(assignment, report, lambda: call(assignment, arguments))

    def _awaited(self, assignment: Assignment, arguments: dict[str, Any]) -> Any:
        """Runs a coroutine in the loop; a wish to stop cancels it where it waits."""
        assert assignment.tool is not None
        task = asyncio.run_coroutine_threadsafe(_traced(assignment, arguments), self._loop.get())
        assignment.stop.on_given(task.cancel)
        try:
            return task.result()
        except (asyncio.CancelledError, concurrent.futures.CancelledError):
            raise Canceled from None

    def _watch_time(self, assignment: Assignment, context: Context) -> None:
        """Tells the tool to stop when its time is up."""
        if assignment.dispatch.timeout_ms == 0:
            return
        while (left := context.time_left) > 0:
            if assignment.done is not None or not assignment.running or assignment.stop.wait(min(left, 1.0)):
                return
        assignment.stop.give("timeout", "timeout")

    def finish(self, assignment: Assignment, outcome: worker_pb2.ExecutionOutcome | None, *, long: bool) -> None:
        """Makes an ending durable where it has to be, then reports it. Without an ending only the slot is given back."""
        assignments = self._desk.assignments
        if outcome is None or assignment.stop.reason == "fenced" or assignments.get(assignment.lease) is None:
            assignments.left(assignment)
            self._desk.ready()
            return
        done = worker_pb2.ExecutionDone(lease=assignment.lease, outcome=outcome)
        if assignment.once or long:
            try:
                self._journal.keep(done)
            except OSError as error:
                # Better told without a copy than not at all.
                _log.warning("an ending cannot be kept on disk: %s", error)
        if assignments.ended(assignment, done):
            self._desk.say(done=done)
        else:
            assignments.left(assignment)
            self._journal.settle(assignment.lease)
        self._desk.ready()


def _called(assignment: Assignment, arguments: dict[str, Any]) -> Any:
    assert assignment.tool is not None
    return assignment.tool.function(**arguments)


async def _traced(assignment: Assignment, arguments: dict[str, Any]) -> Any:
    """The coroutine with the trace of its call as the current one: contexts do not cross threads by themselves."""
    assert assignment.tool is not None
    with _trace.current(assignment.dispatch.traceparent, assignment.dispatch.tracestate):
        return await assignment.tool.function(**arguments)

