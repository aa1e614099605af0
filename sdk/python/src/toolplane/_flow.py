"""Flows: what a client does, written once and run by both clients.

A flow is a generator that yields steps (send this request, wait that long, ask the caller) and is given what came of them. It
knows nothing of threads or event loops. `SyncDriver` runs the steps with `grpc`, `AsyncDriver` with `grpc.aio`.
"""

from __future__ import annotations

import asyncio
import inspect
import random
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import grpc
import grpc.aio

from toolplane import _trace, errors
from toolplane._reach import Reach
from toolplane._rpc import Method
from toolplane.connection import Connection

T = TypeVar("T")
# Not every version of the stubs for grpc has it.
_EOF: Any = getattr(grpc.aio, "EOF")  # noqa: B009
Flow = Generator["Step", Any, T]


class Left(BaseException):
    """Raised in a streaming flow whose caller has left it. Not `GeneratorExit`: that one closes inner generators without a word."""


class Step:
    """Something a flow wants done."""

    __slots__ = ()


@dataclass(slots=True)
class Rpc(Step):
    """Sends one request; gives the answer. `timeout` in seconds."""

    method: Method
    request: Any
    timeout: float | None


@dataclass(slots=True)
class Open(Step):
    """Opens a stream of answers; gives a handle for `Next` and `Close`."""

    method: Method
    request: Any
    timeout: float | None = None


@dataclass(slots=True)
class Next(Step):
    """Gives the next answer of a stream, `None` at its end."""

    stream: Any


@dataclass(slots=True)
class Close(Step):
    """Leaves a stream."""

    stream: Any


@dataclass(slots=True)
class Sleep(Step):
    """Waits, in seconds. `because` is what a request failed with that is then made again."""

    seconds: float
    because: errors.RequestRefused | None = None


@dataclass(slots=True)
class Ask(Step):
    """Asks a callback of the caller; gives its answer."""

    callback: Callable[[Any], Any]
    question: Any


@dataclass(slots=True)
class Emit(Step):
    """Hands the caller of a streaming flow the next thing."""

    value: Any


# === retries ===


@dataclass(frozen=True)
class Retry:
    """How long a server that is away is tried again: for `seconds` in a row, then its error is the caller's. One to which there never
    was a connection is given up after `connect` seconds."""

    seconds: float = 60.0
    connect: float = 5.0
    first: float = 0.1
    most: float = 5.0

    @classmethod
    def of(cls, seconds: float, connect: float | None) -> Retry:
        """As a caller says it; without a word of the first connection it gets no more time than the rest."""
        return cls(seconds, min(cls.connect, seconds) if connect is None else connect)

    def pause(self, failures: int, error: errors.RequestRefused) -> float:
        """How long to wait after that many failures in a row: growing, with chance in it, and never less than the server asks."""
        bound = min(self.most, self.first * 2.0 ** min(failures, 16))
        return max(random.uniform(bound / 2, bound), error.retry_after or 0.0)


def may_pass_later(error: errors.RequestRefused) -> bool:
    """The same request may pass later: nobody answered, or somebody said to come back because something is away."""
    return error.status in ("UNAVAILABLE", "DEADLINE_EXCEEDED") or (error.status == "ABORTED" and error.retry != "never")


class Patience:
    """Counts failures in a row and says when enough is enough."""

    def __init__(self, retry: Retry, deadline: float | None) -> None:
        self._retry = retry
        self._deadline = deadline
        self._failures = 0
        self._began = self._since = time.monotonic()

    def succeeded(self) -> None:
        """There was an answer."""
        self._failures = 0

    def failed(self, error: errors.RequestRefused) -> Flow[None]:
        """Waits before the next try, or raises `error` when there should be none."""
        now = time.monotonic()
        if self._failures == 0:
            self._since = now
        pause = self._retry.pause(self._failures, error)
        self._failures += 1
        until = self._since + self._retry.seconds
        if isinstance(error, errors.Unreachable):
            until = self._began + self._retry.connect
        if self._deadline is not None:
            until = min(until, self._deadline)
        if not may_pass_later(error) or now + pause > until:
            raise error
        yield Sleep(pause, error)


def retried(method: Method, request: Any, *, timeout: float | None, retry: Retry, deadline: float | None = None) -> Flow[Any]:
    """One request that may be sent again without harm, until it is answered."""
    patience = Patience(retry, deadline)
    while True:
        try:
            return (yield Rpc(method, request, timeout))
        except errors.RequestRefused as error:
            yield from patience.failed(error)


# === impl SyncDriver ===


class SyncDriver:
    """Runs flows with blocking calls. May be used from several threads."""

    def __init__(self, connection: Connection, channel: grpc.Channel | None = None) -> None:
        self.channel = channel if channel is not None else connection.channel()
        self.reach = Reach(connection.endpoint)
        self._metadata = connection.metadata
        self._stubs: dict[Method, Any] = {}

    def run(self, flow: Flow[T]) -> T:
        """Runs a flow to its end. What interrupts a step is raised in the flow, which may still say its last word."""
        try:
            step = next(flow)
            while True:
                try:
                    outcome = self._do(step)
                except BaseException as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(outcome)
        except StopIteration as end:
            value: T = end.value
            return value

    def iterate(self, flow: Flow[Any]) -> Iterator[Any]:
        """Runs a streaming flow; gives what it emits. Closing the iterator ends the flow."""
        try:
            step = next(flow)
            while True:
                if isinstance(step, Emit):
                    yield step.value
                    step = flow.send(None)
                    continue
                try:
                    outcome = self._do(step)
                except BaseException as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(outcome)
        except StopIteration:
            return
        except GeneratorExit:
            self.run(_closing(flow))
            raise

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What a request carries now."""
        return self._metadata + _trace.headers()

    def stub(self, kind: str, method: Method) -> Any:
        """A callable for an RPC, made once."""
        stub = self._stubs.get(method)
        if stub is None:
            make = getattr(self.channel, kind)
            stub = make(method.path, request_serializer=method.serialize, response_deserializer=method.parse)
            self._stubs[method] = stub
        return stub

    def _do(self, step: Step) -> Any:
        try:
            if isinstance(step, Rpc):
                answer = self.stub("unary_unary", step.method)(step.request, timeout=step.timeout, metadata=self.metadata())
                self.reach.answered()
                return answer
            if isinstance(step, Next):
                answer = next(step.stream, None)
                self.reach.answered()
                return answer
            if isinstance(step, Open):
                return self.stub("unary_stream", step.method)(step.request, timeout=step.timeout, metadata=self.metadata())
        except grpc.RpcError as error:
            raise self.reach.failed(error) from None
        if isinstance(step, Sleep):
            if step.because is not None:
                self.reach.waits(step.because)
            return time.sleep(step.seconds)
        if isinstance(step, Close):
            return step.stream.cancel()
        if isinstance(step, Ask):
            return step.callback(step.question)
        raise AssertionError(f"not a step of this flow: {step!r}")


def _closing(flow: Flow[Any]) -> Flow[None]:
    """Ends a flow that still waits at an `Emit`, and does what it still wants done."""
    try:
        step = flow.throw(Left())
        while True:
            step = flow.send((yield step))
    except (StopIteration, Left):
        return


# === impl AsyncDriver ===


class AsyncDriver:
    """Runs flows on the event loop that is running."""

    def __init__(self, connection: Connection) -> None:
        self.channel = connection.aio_channel()
        self.reach = Reach(connection.endpoint)
        self._metadata = connection.metadata
        self._stubs: dict[Method, Any] = {}

    async def run(self, flow: Flow[T]) -> T:
        """Runs a flow to its end. A cancellation is raised in the flow, which may still say its last word."""
        try:
            step = next(flow)
            while True:
                try:
                    outcome = await self._do(step)
                except BaseException as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(outcome)
        except StopIteration as end:
            value: T = end.value
            return value

    async def iterate(self, flow: Flow[Any]) -> AsyncIterator[Any]:
        """Runs a streaming flow; gives what it emits. Closing the iterator ends the flow."""
        try:
            step = next(flow)
            while True:
                if isinstance(step, Emit):
                    yield step.value
                    step = flow.send(None)
                    continue
                try:
                    outcome = await self._do(step)
                except BaseException as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(outcome)
        except StopIteration:
            return
        except GeneratorExit:
            await self.run(_closing(flow))
            raise

    def _stub(self, kind: str, method: Method) -> Any:
        stub = self._stubs.get(method)
        if stub is None:
            make = getattr(self.channel, kind)
            stub = make(method.path, request_serializer=method.serialize, response_deserializer=method.parse)
            self._stubs[method] = stub
        return stub

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What a request carries now."""
        return self._metadata + _trace.headers()

    async def _do(self, step: Step) -> Any:
        try:
            if isinstance(step, Rpc):
                stub = self._stub("unary_unary", step.method)
                answer = await stub(step.request, timeout=step.timeout, metadata=self.metadata())
                self.reach.answered()
                return answer
            if isinstance(step, Next):
                answer = await step.stream.read()
                self.reach.answered()
                return None if answer is _EOF else answer
            if isinstance(step, Open):
                return self._stub("unary_stream", step.method)(step.request, timeout=step.timeout, metadata=self.metadata())
        except grpc.RpcError as error:
            raise self.reach.failed(error) from None
        if isinstance(step, Sleep):
            if step.because is not None:
                self.reach.waits(step.because)
            return await asyncio.sleep(step.seconds)
        if isinstance(step, Close):
            return step.stream.cancel()
        if isinstance(step, Ask):
            answer = step.callback(step.question)
            return await answer if inspect.isawaitable(answer) else answer
        raise AssertionError(f"not a step of this flow: {step!r}")
