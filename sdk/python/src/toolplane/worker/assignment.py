"""One call that this worker was given, from its offer until its ending is acknowledged; and all of them together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from toolplane.v1 import worker_pb2

if TYPE_CHECKING:
    from toolplane.worker.tool import NativeTool


class Stop:
    """The wish that a call stops. `reason` is `cancel`, `timeout`, `shutdown`, `in_doubt` or `fenced`; empty while there is none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given = threading.Event()
        self._told: list[Callable[[], object]] = []
        self.reason = ""
        self.abort_reason = ""

    def give(self, reason: str, abort_reason: str = "") -> None:
        """Asks the call to stop. The first reason stays, but for the loss of the lease, which nothing outlives."""
        with self._lock:
            if not self.reason or reason == "fenced":
                self.reason, self.abort_reason = reason, abort_reason
            told, self._told = self._told, []
        self._given.set()
        for callback in told:
            callback()

    @property
    def is_given(self) -> bool:
        """Whether the call is to stop."""
        return self._given.is_set()

    def wait(self, timeout: float | None) -> bool:
        """Waits until the call is to stop; false when the time came first."""
        return self._given.wait(timeout)

    def on_given(self, callback: Callable[[], object]) -> None:
        """Calls back when the call is to stop, at once when it is already."""
        with self._lock:
            if not self.is_given:
                self._told.append(callback)
                return
        callback()


class Asked:
    """A question of a tool that waits for its answer."""

    def __init__(self, message: worker_pb2.InputRequested) -> None:
        self.message = message
        self.answer: worker_pb2.InputProvided | None = None
        self.answered = threading.Event()


class Assignment:
    """One lease and what runs under it. Its fields are guarded by the lock of `Assignments`, but for `stop`."""

    def __init__(self, lease: worker_pb2.LeaseRef, dispatch: worker_pb2.Dispatch, tool: NativeTool | None) -> None:
        self.lease = lease
        self.dispatch = dispatch
        self.tool = tool
        self.stop = Stop()
        self.started = False
        """The tool runs, or has run."""
        self.running = False
        """It takes a slot."""
        self.done: worker_pb2.ExecutionDone | None = None
        self.question: Asked | None = None
        self.renewed_at = time.monotonic()

    @property
    def key(self) -> str:
        """What tells it apart."""
        return self.lease.lease_id

    @property
    def once(self) -> bool:
        """The tool must not start twice."""
        return self.dispatch.requires_start_grant


class Assignments:
    """Everything this worker holds. Every method may be used from any thread."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.closed = False
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._all: dict[str, Assignment] = {}
        # Tools that run on although their lease is gone: they still take their slots.
        self._strays = 0

    def take(self, assignment: Assignment) -> tuple[str, Assignment]:
        """Takes an offer. Gives `taken` with what it replaces or itself, `known`, or why it is refused."""
        with self._changed:
            known = self._all.get(assignment.key)
            if known is not None:
                return "known", known
            if self.closed:
                return "draining", assignment
            if self._busy() >= self.slots:
                return "no_slot", assignment
            replaced = next((held for held in self._all.values() if _same_call(held, assignment)), assignment)
            self._all[assignment.key] = assignment
            assignment.running = True
            self._changed.notify_all()
            return "taken", replaced

    def start(self, assignment: Assignment) -> bool:
        """Whether the tool may start now; true once."""
        with self._changed:
            may = assignment.key in self._all and not assignment.started and not assignment.stop.is_given
            assignment.started = assignment.started or may
            return may

    def never(self, assignment: Assignment) -> bool:
        """Whether the tool has not started, and from now on never does; true once."""
        with self._lock:
            may = assignment.key in self._all and not assignment.started
            assignment.started = assignment.started or may
            return may

    def get(self, lease: worker_pb2.LeaseRef) -> Assignment | None:
        """The assignment of a lease."""
        with self._lock:
            return self._all.get(lease.lease_id)

    def forget(self, lease: worker_pb2.LeaseRef) -> Assignment | None:
        """Drops an assignment. A tool that runs on keeps its slot until it ends."""
        with self._changed:
            found = self._all.pop(lease.lease_id, None)
            if found is not None and found.running and found.started:
                self._strays += 1
            self._changed.notify_all()
            return found

    def left(self, assignment: Assignment) -> None:
        """The tool has ended: its slot is free."""
        with self._changed:
            if assignment.running:
                assignment.running = False
                if assignment.started and assignment.key not in self._all:
                    self._strays -= 1
            self._changed.notify_all()

    def ended(self, assignment: Assignment, done: worker_pb2.ExecutionDone) -> bool:
        """Keeps how a call ended until that is acknowledged; false when the lease is gone."""
        with self._changed:
            if assignment.key not in self._all:
                return False
            assignment.done = done
            assignment.running = False
            assignment.question = None
            self._changed.notify_all()
            return True

    def all(self) -> list[Assignment]:
        """A snapshot."""
        with self._lock:
            return list(self._all.values())

    def open(self) -> list[Assignment]:
        """Those that have not ended."""
        return [held for held in self.all() if held.done is None]

    def free(self) -> int:
        """Slots that are free now; none once it is closed."""
        with self._lock:
            return 0 if self.closed else max(0, self.slots - self._busy())

    def close(self) -> None:
        """Takes nothing more."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def wait(self, state: Callable[[], Any], timeout: float) -> bool:
        """Waits until a state holds; false when the time came first. `state` must not use this object's methods but `count`."""
        with self._changed:
            return bool(self._changed.wait_for(state, timeout))

    def count(self, *, running: bool) -> int:
        """How many there are, or run. For `wait` alone: the lock is held there."""
        return self._busy() if running else len(self._all)

    def _busy(self) -> int:
        return self._strays + sum(held.running for held in self._all.values())


def _same_call(held: Assignment, new: Assignment) -> bool:
    """Whether an earlier lease of the same call of the same tenant is held."""
    same = held.dispatch.invocation_id == new.dispatch.invocation_id and held.dispatch.tenant == new.dispatch.tenant
    return same and held.lease.lease_no < new.lease.lease_no and held.done is None
