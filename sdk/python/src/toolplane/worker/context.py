"""What a running tool knows of its call, and what it can say while it runs."""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import TYPE_CHECKING, Any

from google.protobuf import timestamp_pb2

from toolplane import _json
from toolplane.v1 import payload_pb2, progress_pb2, result_pb2, worker_pb2
from toolplane.worker.outcome import Artifact, Canceled, Declined, File
from toolplane.worker.schema import as_json

if TYPE_CHECKING:
    from toolplane.worker.assignment import Assignment
    from toolplane.worker.desk import Desk


class Context:
    """The call a tool runs for: give a parameter the type `Context`, or the name `ctx`. May be used from any thread.

    A tool with side effects hands `idempotency_key` on: it is the same for every execution of the call, and no other call's. `fence`
    grows with every lease, and `lock_fence` with every holder of the call's locks: a store that remembers the largest refuses who
    comes too late.
    """

    def __init__(self, assignment: Assignment, desk: Desk) -> None:
        """For the worker; tests of tools make one with `toolplane.worker.testing`."""
        self._assignment = assignment
        self._desk = desk
        self._progressed = 0
        self._paused = 0.0
        self._paused_since: float | None = None
        self._began = time.monotonic()
        self.artifacts: list[Artifact] = []
        self.context_modifiers: list[payload_pb2.JsonPayload] = []
        self.logs: list[str] = []
        self.evidence_refs: list[str] = []
        self.called: dict[str, str] = {}
        self.files: list[tuple[str, payload_pb2.PayloadRef]] = []

    # === what is known ===

    @property
    def _dispatch(self) -> worker_pb2.Dispatch:
        return self._assignment.dispatch

    @property
    def invocation_id(self) -> str:
        """The call."""
        return self._dispatch.invocation_id

    @property
    def tenant(self) -> str:
        """Whose call it is."""
        return self._dispatch.tenant

    @property
    def actor(self) -> str:
        """Who called, as the caller says."""
        return self._dispatch.actor_ref

    @property
    def session(self) -> str:
        """The session it belongs to; may be empty."""
        return self._dispatch.session_ref

    @property
    def attempt(self) -> int:
        """Which execution of the call this is, from 1."""
        return self._dispatch.attempt

    @property
    def idempotency_key(self) -> str:
        """The same for every execution of this call."""
        return self._dispatch.idempotency_key

    @property
    def fence(self) -> int:
        """Strictly increasing over all leases."""
        return self._dispatch.fence

    @property
    def lock_fence(self) -> int:
        """Larger than that of every earlier holder of the call's locks; 0 without locks."""
        return self._dispatch.lock_fence

    @property
    def resume_token(self) -> str | None:
        """What an earlier execution of this call said last of how to go on from there (`partial`); `None` when there is nothing."""
        return self._dispatch.resume_token if self._dispatch.HasField("resume_token") else None

    @property
    def traceparent(self) -> str:
        """W3C trace context of the call; the current one in OpenTelemetry already, where that is installed."""
        return self._dispatch.traceparent

    @property
    def elapsed(self) -> float:
        """Seconds the tool has run, without the time its questions waited."""
        waiting = time.monotonic() - self._paused_since if self._paused_since is not None else 0.0
        return time.monotonic() - self._began - self._paused - waiting

    @property
    def time_left(self) -> float:
        """Seconds until the tool's time is up."""
        return self._dispatch.timeout_ms / 1000 - self.elapsed

    # === stopping ===

    @property
    def canceled(self) -> bool:
        """Whether the tool is to stop: it was canceled, its time is up, or its lease is gone."""
        return self._assignment.stop.is_given

    def raise_if_canceled(self) -> None:
        """Raises `Canceled` when the tool is to stop. Long loops call it now and then."""
        if self.canceled:
            raise Canceled

    def sleep(self, seconds: float) -> None:
        """Waits, and raises `Canceled` as soon as the tool is to stop."""
        if self._assignment.stop.wait(seconds):
            raise Canceled

    # === saying something ===

    def progress(self, message: str = "", *, percent: float | None = None, step: str = "", total_steps: int | None = None) -> None:
        """Says how far the tool is; `percent` is 0 to 100. Returns at once. The log keeps at most a few a second, the newest always."""
        self._progressed += 1
        now = timestamp_pb2.Timestamp()
        now.GetCurrentTime()
        self._desk.progress(
            self._assignment,
            progress_pb2.ToolProgress(
                timestamp=now,
                progress_id=f"p{self._progressed}",
                invocation_id=self.invocation_id,
                sequence=self._progressed,
                status="running",
                message=message,
                percent=percent,
                current_step=step,
                total_steps=total_steps,
                elapsed_ms=max(0, round(self.elapsed * 1000)),
            ),
        )

    def partial(self, text: str = "", *, append: bool = True, resume: str | None = None) -> None:
        """Shows what there is so far: it is in the log of the call at once, and is never its result. Returns at once. At most 256 a call,
        of at most 64 KiB each; what is more is left out.

        `append`: it goes on where the one before it ended; else it takes its place. `resume`: how a later execution of the call may go
        on from here, for tools declared with `resume=True`; at most 4 KiB.
        """
        content = [result_pb2.ContentBlock(text=result_pb2.TextBlock(text=text))] if text else []
        lease = self._assignment.lease
        self._desk.say(partial=worker_pb2.PartialReported(lease=lease, content=content, append=append, resume_token=resume))

    def ask(self, prompt: str, schema: dict[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Asks the caller, and waits for the answer, which fits `schema`. The tool's time stands still meanwhile.

        `timeout` are seconds; the server's own bound without one. Raises `Declined` when nobody answers, `Canceled` when the tool is
        to stop. Async tools use `ask_async`.
        """
        question = worker_pb2.InputRequested(
            lease=self._assignment.lease,
            input_id=f"q_{uuid.uuid4().hex[:12]}",
            prompt=prompt,
            schema=_json.payload(schema) if schema is not None else None,
            ttl_ms=max(1, round(timeout * 1000)) if timeout is not None else 0,
        )
        self._paused_since = time.monotonic()
        try:
            answer = self._desk.ask(self._assignment, question)
        finally:
            self._paused += time.monotonic() - self._paused_since
            self._paused_since = None
        if answer is None:
            raise Canceled
        if answer.declined or answer.expired:
            raise Declined(answer.expired)
        return _json.value(answer.input)

    async def ask_async(self, prompt: str, schema: dict[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """The same for async tools."""
        return await asyncio.to_thread(self.ask, prompt, schema, timeout=timeout)

    def log(self, text: str) -> None:
        """Adds a log to the result, beside the answer."""
        self.logs.append(text)

    def evidence(self, ref: str) -> None:
        """Names the execution elsewhere, e.g. a job id: kept with the result. At most 16, of at most 200 visible ASCII characters."""
        self.evidence_refs.append(ref)

    def called_elsewhere(
        self,
        *,
        json_rpc_id: str = "",
        mcp_session_id: str = "",
        a2a_task_id: str = "",
        a2a_context_id: str = "",
        a2a_message_id: str = "",
        http_request_id: str = "",
    ) -> None:
        """Says what the system that runs the tool calls it: kept with the execution (`native_ids`). At most 256 printed ASCII characters
        each; what is said later counts."""
        said = dict(
            json_rpc_id=json_rpc_id,
            mcp_session_id=mcp_session_id,
            a2a_task_id=a2a_task_id,
            a2a_context_id=a2a_context_id,
            a2a_message_id=a2a_message_id,
            http_request_id=http_request_id,
        )
        self.called.update({name: given for name, given in said.items() if given})

    def modify_context(self, change: dict[str, Any]) -> None:
        """Asks to change the context of the conversation. Kept when the tool was declared with `context_modifiers=True`. `TypeError` or
        `ValueError` for what has no form in JSON."""
        self.context_modifiers.append(_json.payload(as_json(change)))

    # === large things ===

    def attach(self, data: bytes, media_type: str = "application/octet-stream", name: str = "file") -> payload_pb2.PayloadRef:
        """Keeps bytes in the object store, and adds them to the result as a file. Durable when it returns."""
        kept = self._desk.upload(self._assignment, File(data, media_type, name))
        self.files.append((name, kept))
        return kept

    def artifact(self, artifact: Artifact | File) -> Artifact:
        """Adds a deliverable to the result. A `File` is kept in the object store first."""
        if isinstance(artifact, File):
            kept = self._desk.upload(self._assignment, artifact)
            artifact = Artifact(artifact.name, kept.uri, kept.media_type, kept.digest, relation="produced_by")
        self.artifacts.append(artifact)
        return artifact

    def _blocks(self) -> list[result_pb2.ContentBlock]:
        """What was said beside the answer, as content."""
        logs = [result_pb2.ContentBlock(log=result_pb2.LogBlock(text=text, stream="log")) for text in self.logs]
        return logs + [result_pb2.ContentBlock(file=ref) for _, ref in self.files]
