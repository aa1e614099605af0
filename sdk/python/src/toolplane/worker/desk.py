"""What a worker has to say, wherever it comes from: gathered here, sent by the stream that is up, and said again after a reconnect."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any

import grpc

from toolplane import _rpc, errors
from toolplane.connection import Connection
from toolplane.v1 import payload_pb2, progress_pb2, worker_pb2, worker_service_pb2
from toolplane.worker.assignment import Asked, Assignment, Assignments
from toolplane.worker.journal import Home
from toolplane.worker.outcome import Canceled, File, TooLarge

_CHUNK = 512 * 1024
_UPLOAD_TIMEOUT = 120.0
# Bounds of one message, well below what any server accepts.
_MOST_REPORTS = 256
_MOST_BYTES = 1024 * 1024


class Terms:
    """What the scheduler asks for: seconds between heartbeats, seconds a lease lasts, bytes of one value in a report."""

    def __init__(self) -> None:
        self.heartbeat = 1.0
        self.lease = 15.0
        self.max_inline = 64 * 1024

    def welcome(self, message: worker_pb2.Welcome) -> None:
        """Takes the terms of a scheduler."""
        self.heartbeat = max(0.05, message.heartbeat_ms / 1000) if message.heartbeat_ms else self.heartbeat
        self.lease = max(0.2, message.lease_ms / 1000) if message.lease_ms else self.lease
        self.max_inline = message.max_inline_bytes or self.max_inline


class Desk:
    """Reports on their way. Every method may be used from any thread.

    What must survive a lost stream is held in `Assignments`; everything else may be lost with it, and the newest of it is said again.
    """

    def __init__(self, connection: Connection, home: Home, assignments: Assignments, terms: Terms) -> None:
        self.home = home
        self.assignments = assignments
        self.terms = terms
        self._connection = connection
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[worker_pb2.WorkerReport | None] | None = None
        self._progress: dict[str, worker_pb2.WorkerReport] = {}
        self._uploads: grpc.Channel | None = None

    # === the stream ===

    def open(self, first: worker_pb2.WorkerReport) -> Iterator[worker_service_pb2.WorkRequest]:
        """Starts a stream: what is said from now on goes there, `first` before everything else."""
        reports: queue.SimpleQueue[worker_pb2.WorkerReport | None] = queue.SimpleQueue()
        with self._lock:
            self._queue = reports
            self._progress.clear()
        return self._messages(first, reports)

    def detach(self) -> None:
        """The stream is gone."""
        with self._lock:
            reports, self._queue = self._queue, None
        if reports is not None:
            reports.put(None)

    def say(self, **report: Any) -> None:
        """Says something on the stream that is up; nothing when there is none."""
        with self._lock:
            if self._queue is not None:
                self._queue.put(worker_pb2.WorkerReport(**report))

    def ready(self) -> None:
        """Says how many slots are free."""
        self.say(ready=worker_pb2.WorkerReady(free_slots=self.assignments.free()))

    def progress(self, assignment: Assignment, progress: progress_pb2.ToolProgress) -> None:
        """Says how far a tool is; replaces what was not sent yet."""
        report = worker_pb2.WorkerReport(progress=worker_pb2.ProgressReported(lease=assignment.lease, progress=progress))
        with self._lock:
            waiting = assignment.key in self._progress
            self._progress[assignment.key] = report
            if self._queue is not None and not waiting:
                # A place in the line; the newest is looked up when it is its turn.
                self._queue.put(report)

    def _messages(
        self, first: worker_pb2.WorkerReport, reports: queue.SimpleQueue[worker_pb2.WorkerReport | None]
    ) -> Iterator[worker_service_pb2.WorkRequest]:
        yield worker_service_pb2.WorkRequest(reports=[first])
        while True:
            report = reports.get()
            batch, size = [], 0
            while report is not None:
                report = self._newest(report)
                batch.append(report)
                size += report.ByteSize()
                if len(batch) >= _MOST_REPORTS or size >= _MOST_BYTES:
                    break
                try:
                    report = reports.get_nowait()
                except queue.Empty:
                    break
            if batch:
                yield worker_service_pb2.WorkRequest(reports=batch)
            if report is None:
                return

    def _newest(self, report: worker_pb2.WorkerReport) -> worker_pb2.WorkerReport:
        if not report.HasField("progress"):
            return report
        with self._lock:
            return self._progress.pop(report.progress.lease.lease_id, report)

    # === questions ===

    def ask(self, assignment: Assignment, message: worker_pb2.InputRequested) -> worker_pb2.InputProvided | None:
        """Puts a question and waits; nothing when the tool is to stop first. It is put again until it is answered."""
        asked = Asked(message)
        assignment.question = asked
        assignment.stop.on_given(asked.answered.set)
        try:
            self.say(input_requested=message)
            while not asked.answered.wait(self.terms.heartbeat * 4):
                self.say(input_requested=message)
            return asked.answer
        finally:
            assignment.question = None

    def answered(self, provided: worker_pb2.InputProvided) -> None:
        """Hands an answer to the tool that asked."""
        assignment = self.assignments.get(provided.lease)
        asked = assignment.question if assignment is not None else None
        if asked is not None and asked.message.input_id == provided.input_id:
            asked.answer = provided
            asked.answered.set()

    # === large things ===

    def upload(self, assignment: Assignment, file: File) -> payload_pb2.PayloadRef:
        """Keeps bytes in the object store, durable when this returns. A server that is away is tried again while the lease holds."""
        pause = 0.2
        while True:
            if assignment.stop.reason == "fenced":
                raise Canceled
            try:
                answer = self._upload_stub()(self._parts(assignment, file), timeout=_UPLOAD_TIMEOUT, metadata=self._connection.metadata)
                ref: payload_pb2.PayloadRef = answer.payload
                return ref
            except grpc.RpcError as error:
                refused = errors.of_rpc(error)
                if refused.status == "FAILED_PRECONDITION" and "larger than" in refused.message:
                    raise TooLarge(f"`{file.name}` is larger than may be kept: {refused.message}") from None
                if refused.status not in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
                    raise refused from None
            assignment.stop.wait(pause) if not assignment.stop.is_given else threading.Event().wait(pause)
            pause = min(2.0, pause * 2)

    def _upload_stub(self) -> Any:
        with self._lock:
            if self._uploads is None:
                self._uploads = self._connection.channel()
            method = _rpc.UPLOAD
            return self._uploads.stream_unary(
                method.path, request_serializer=method.serialize, response_deserializer=method.parse
            )

    def _parts(self, assignment: Assignment, file: File) -> Iterator[worker_service_pb2.UploadPayloadRequest]:
        header = worker_service_pb2.UploadHeader(
            lease=assignment.lease,
            media_type=file.media_type,
            name=file.name,
            worker_id=self.home.worker_id,
            incarnation=self.home.incarnation,
        )
        yield worker_service_pb2.UploadPayloadRequest(header=header)
        view = memoryview(file.data)
        for at in range(0, len(view), _CHUNK):
            yield worker_service_pb2.UploadPayloadRequest(chunk=bytes(view[at : at + _CHUNK]))
