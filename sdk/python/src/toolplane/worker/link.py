"""The stream to a scheduler: kept up for as long as the worker lives. What it says is obeyed here, wherever it says it."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import grpc

from toolplane import _reach, _rpc, errors
from toolplane._version import __version__
from toolplane.connection import Connection
from toolplane.v1 import worker_pb2
from toolplane.worker.assignment import Assignment
from toolplane.worker.desk import Desk
from toolplane.worker.journal import Journal
from toolplane.worker.runner import Runner
from toolplane.worker.tool import NativeTool

_log = logging.getLogger("toolplane.worker")
# How long a scheduler may take to close a stream after a goodbye, in seconds.
_GOODBYE = 2.0
# Most bytes of kept endings in a hello; what is more follows as reports.
_HELLO_BYTES = 2 * 1024 * 1024


class Link:
    """Keeps the stream up, in a thread of its own."""

    def __init__(
        self,
        connections: list[Connection],
        desk: Desk,
        runner: Runner,
        journal: Journal,
        tools: dict[str, NativeTool],
        provider: tuple[str, str] | None,
    ) -> None:
        self._connections = connections
        self._desk = desk
        self._runner = runner
        self._journal = journal
        self._tools = tools
        self._provider = provider
        # Of an earlier start of this worker; told with each hello until they are acknowledged.
        self._left = {done.lease.lease_id: done for done in journal.left()}
        self._at = 0
        self._stream: Any = None
        self._leaving = False
        self.over = threading.Event()
        """The worker ends: no stream is opened any more."""
        self.welcomed = threading.Event()
        """A scheduler has welcomed the worker, and the stream is up."""
        self.refused: errors.RequestRefused | None = None
        """Why the last stream was not taken; nothing once one is."""

    def current(self) -> Connection:
        """The scheduler in use."""
        return self._connections[self._at % len(self._connections)]

    def run(self) -> None:
        """Keeps a stream up until `over`."""
        failures = 0
        while not self.over.is_set():
            began = time.monotonic()
            try:
                self._converse()
                failures = 0
            except grpc.RpcError as error:
                refused = errors.of_rpc(error)
                if _reach.no_way(refused):
                    refused = _reach.unreachable(self.current().endpoint, refused)
                if self.welcomed.is_set() and time.monotonic() - began > 5.0:
                    failures = 0
                failures += 1
                self._note(refused)
                self._at += 1
            finally:
                self.welcomed.clear()
                self._desk.detach()
            if not self.over.is_set() and failures:
                self.over.wait(random.uniform(0.5, 1.0) * min(5.0, 0.1 * 2.0 ** min(failures, 10)))

    def goodbye(self) -> None:
        """Ends the stream in order, and for good."""
        self.over.set()
        self._desk.say(goodbye=worker_pb2.WorkerGoodbye())
        self._desk.detach()
        stream = self._stream
        if stream is not None:
            timer = threading.Timer(_GOODBYE, stream.cancel)
            timer.daemon = True
            timer.start()

    def _note(self, refused: errors.RequestRefused) -> None:
        """Says once why there is no stream, and again when it is for another reason."""
        if self.over.is_set():
            return
        before, self.refused = self.refused, refused
        if self.welcomed.is_set():
            _log.warning("lost the scheduler (%s); what runs goes on", refused.message)
        elif before is None or before.status != refused.status:
            _log.warning("no scheduler takes this worker yet (%s); trying again", refused)

    def _converse(self) -> None:
        """One stream from its hello to its end."""
        connection = self.current()
        channel = connection.channel(own=True)
        try:
            work = channel.stream_stream(
                _rpc.WORK.path, request_serializer=_rpc.WORK.serialize, response_deserializer=_rpc.WORK.parse
            )
            self._leaving = False
            hello, rest = self._hello()
            messages = self._desk.open(worker_pb2.WorkerReport(hello=hello))
            stream = self._stream = work(messages, metadata=connection.metadata)
            beat = threading.Thread(target=self._remind, args=[stream], name="toolplane-stream", daemon=True)
            for message in stream:
                for command in message.commands:
                    if command.HasField("welcome"):
                        self._welcome(command.welcome, rest)
                        beat.start()
                    else:
                        self.obey(command)
                self._leave_if_asked()
        finally:
            self._stream = None
            channel.close()

    def _hello(self) -> tuple[worker_pb2.WorkerHello, list[worker_pb2.ExecutionDone]]:
        """Who this worker is, with what it still holds and what it has finished; and the endings there was no room for."""
        home, assignments = self._desk.home, self._desk.assignments
        ended = [held.done for held in assignments.all() if held.done is not None]
        finished: list[worker_pb2.ExecutionDone] = []
        rest: list[worker_pb2.ExecutionDone] = []
        size = 0
        for done in [*self._left.values(), *ended]:
            size += done.ByteSize()
            (finished if size <= _HELLO_BYTES else rest).append(done)
        hello = worker_pb2.WorkerHello(
            worker_id=home.worker_id,
            incarnation=home.incarnation,
            version=f"toolplane-python/{__version__}",
            slots=assignments.slots,
            held=[held.lease for held in assignments.open()],
            previous_incarnation_dead=home.previous_dead and not rest,
            kept_endings_follow=home.previous_dead and bool(rest),
            finished=finished,
            native_tools=sorted(self._tools),
        )
        return hello, rest

    def _welcome(self, welcome: worker_pb2.Welcome, rest: list[worker_pb2.ExecutionDone]) -> None:
        desk = self._desk
        desk.terms.welcome(welcome)
        for done in rest:
            desk.say(done=done)
        for held in desk.assignments.open():
            # What was said on the stream before may be lost with it.
            if held.once and not held.started:
                desk.say(start_requested=worker_pb2.StartRequested(lease=held.lease))
            if held.question is not None:
                desk.say(input_requested=held.question.message)
        if self._provider is not None:
            tenant, provider = self._provider
            desk.say(provider_changed=worker_pb2.ProviderChanged(tenant=tenant, provider_id=provider))
        desk.ready()
        self.refused = None
        self.welcomed.set()
        _log.info("connected to the scheduler as %s", desk.home.worker_id)

    def _remind(self, stream: Any) -> None:
        """Shows signs of life on the stream, and says again what should have been answered by now."""
        desk = self._desk
        sent: dict[str, float] = {}
        while self._stream is stream and not self.over.wait(desk.terms.heartbeat):
            # Leases are renewed beside the stream; see `Heartbeats`.
            desk.say(heartbeat=worker_pb2.WorkerHeartbeat(free_slots=0 if self._leaving else desk.assignments.free()))
            now = time.monotonic()
            for done in [held.done for held in desk.assignments.all() if held.done is not None]:
                since = sent.setdefault(done.lease.lease_id, now)
                if now - since > desk.terms.heartbeat * 4:
                    sent[done.lease.lease_id] = now
                    desk.say(done=done)

    # === commands ===

    def obey(self, command: worker_pb2.WorkerCommand) -> None:
        """Does what the scheduler says. What is not known is passed over: the contract only grows."""
        kind = command.WhichOneof("command")
        do: dict[str, Callable[[Any], None]] = {
            "offer": self._take,
            "start_granted": lambda said: self._granted(said.lease),
            "start_refused": lambda said: self._lost(said.lease, said.reason),
            "cancel": self.cancel,
            "fenced": lambda said: self._lost(said.lease, "fenced"),
            "done_acknowledged": lambda said: self._acknowledged(said.lease),
            "go_away": self._go_away,
            "input_provided": self._desk.answered,
            "report_refused": _refused,
        }
        if kind in do:
            do[kind](getattr(command, kind))

    def _take(self, offer: worker_pb2.Offer) -> None:
        desk = self._desk
        tool = self._tools.get(offer.dispatch.binding.native.name)
        assignment = Assignment(offer.lease, offer.dispatch, tool)
        verdict, other = desk.assignments.take(assignment)
        if verdict == "known":
            self._again(other)
            return
        if verdict != "taken":
            desk.say(released=worker_pb2.LeaseReleased(lease=offer.lease, reason=verdict))
            desk.ready()
            return
        if other is not assignment:
            self._lost(other.lease, "offered anew")
        desk.say(received=worker_pb2.LeaseReceived(lease=offer.lease))
        if assignment.once:
            desk.say(start_requested=worker_pb2.StartRequested(lease=offer.lease))
        else:
            self._runner.start(assignment)

    def _again(self, known: Assignment) -> None:
        """A scheduler that offers again has not heard the answer."""
        if known.done is not None:
            self._desk.say(done=known.done)
        elif known.once and not known.started:
            self._desk.say(start_requested=worker_pb2.StartRequested(lease=known.lease))
        else:
            self._desk.say(received=worker_pb2.LeaseReceived(lease=known.lease))

    def _granted(self, lease: worker_pb2.LeaseRef) -> None:
        assignment = self._desk.assignments.get(lease)
        if assignment is not None:
            self._runner.start(assignment)

    def _lost(self, lease: worker_pb2.LeaseRef, reason: str) -> None:
        """The lease is not this worker's: what runs under it is told to stop, and nothing of it is reported."""
        lost = self._desk.assignments.forget(lease)
        self._left.pop(lease.lease_id, None)
        self._journal.settle(lease)
        if lost is not None:
            _log.info("lease of %s lost: %s", lost.dispatch.invocation_id, reason)
            lost.stop.give("fenced")
            self._desk.ready()

    def lost_open(self, lease: worker_pb2.LeaseRef) -> None:
        """The same for a call that has not ended: the end of an ended one is still told, as evidence."""
        assignment = self._desk.assignments.get(lease)
        if assignment is not None and assignment.done is None:
            self._lost(lease, "fenced")

    def cancel(self, said: worker_pb2.CancelExecution) -> None:
        """Stops an execution, or says that it cannot be stopped. What has not begun always can."""
        assignment = self._desk.assignments.get(said.lease)
        if assignment is None or assignment.done is not None:
            return
        supported = assignment.dispatch.supports_cancel or not assignment.started
        self._desk.say(cancel_acknowledged=worker_pb2.CancelAcknowledged(lease=said.lease, supported=supported))
        if not supported:
            return
        assignment.stop.give("cancel", said.abort_reason)
        self._runner.never_ran(assignment)

    def _acknowledged(self, lease: worker_pb2.LeaseRef) -> None:
        self._desk.assignments.forget(lease)
        self._left.pop(lease.lease_id, None)
        self._journal.settle(lease)

    def _go_away(self, said: worker_pb2.GoAway) -> None:
        _log.info("the scheduler asks to leave: %s", said.reason)
        self._leaving = True
        self._desk.say(ready=worker_pb2.WorkerReady(free_slots=0))
        known = {connection.endpoint for connection in self._connections}
        for endpoint in said.schedulers:
            if endpoint not in known:
                self._connections.append(self.current().at(endpoint))

    def _leave_if_asked(self) -> None:
        """Says goodbye when there is another scheduler to go to, where what runs is held on; or when nothing is held."""
        elsewhere = len(self._connections) > 1
        if self._leaving and (elsewhere or not self._desk.assignments.all()) and not self.over.is_set():
            self._at += 1
            self._desk.say(goodbye=worker_pb2.WorkerGoodbye())
            self._desk.detach()
            self._leaving = False


def _refused(said: worker_pb2.ReportRefused) -> None:
    _log.error("the scheduler cannot read a report (%s): `%s` %s", said.report, said.field, said.rule)
