"""What is tried again and what is not: against a server of our own that fails as it is told."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest

from toolplane import RequestRefused, Toolplane, WaitExpired
from toolplane.v1 import invocation_service_pb2 as invocations
from toolplane.v1 import invocation_service_pb2_grpc as services
from toolplane.v1 import result_pb2


class Scripted(services.InvocationServiceServicer):
    """Answers with what its script says: a status to fail with, or an answer."""

    def __init__(self) -> None:
        self.script: list[Any] = []
        self.requests: list[Any] = []
        self.held = threading.Event()
        self.release = threading.Event()

    def _next(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.requests.append(request)
        step = self.script.pop(0) if self.script else "done"
        if isinstance(step, grpc.StatusCode):
            context.abort(step, "as the script says")
        if step == "hold":
            self.held.set()
            self.release.wait(30)
        return step

    def Call(self, request: Any, context: Any) -> Any:  # noqa: N802
        step = self._next(request, context)
        accepted = invocations.Acceptance(invocation_id=request.spec.invocation_id)
        if step == "running":
            return invocations.CallResponse(accepted=accepted)
        return invocations.CallResponse(accepted=accepted, result=done(request.spec.invocation_id))

    def WaitInvocation(self, request: Any, context: Any) -> Any:  # noqa: N802
        step = self._next(request, context)
        if step == "running":
            return invocations.WaitInvocationResponse(done=False)
        return invocations.WaitInvocationResponse(done=True, result=done(request.invocation_id))

    def CancelInvocation(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.requests.append(request)
        return invocations.CancelInvocationResponse()


def done(invocation_id: str) -> result_pb2.ToolResult:
    return result_pb2.ToolResult(invocation_id=invocation_id, status="succeeded")


@pytest.fixture
def scripted() -> Iterator[tuple[Scripted, Callable[..., Toolplane]]]:
    service = Scripted()
    server = grpc.server(futures.ThreadPoolExecutor(4))
    services.add_InvocationServiceServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield service, lambda **settings: Toolplane.connect(f"127.0.0.1:{port}", **settings)
    service.release.set()
    server.stop(None)


def test_an_unavailable_server_is_tried_again_with_the_same_key(scripted: Any) -> None:
    service, connect = scripted
    service.script = [grpc.StatusCode.UNAVAILABLE] * 3
    result = connect().call("a.b", {"n": 1})
    assert result.status == "succeeded" and len(service.requests) == 4
    keys = {request.spec.idempotency_key for request in service.requests}
    ids = {request.spec.invocation_id for request in service.requests}
    assert len(keys) == len(ids) == 1 and keys != {""}


def test_two_calls_never_share_a_key_and_a_given_one_is_kept(scripted: Any) -> None:
    service, connect = scripted
    client = connect()
    client.call("a.b")
    client.call("a.b")
    client.call("a.b", idempotency_key="mine")
    keys = [request.spec.idempotency_key for request in service.requests]
    assert len(set(keys)) == 3 and keys[2] == "mine"


def test_a_key_that_is_made_up_is_no_uuid(scripted: Any) -> None:
    """The server takes one of version 7 for a time, and refuses it when that is long ago."""
    service, connect = scripted
    connect().call("a.b")
    with pytest.raises(ValueError):
        uuid.UUID(service.requests[0].spec.idempotency_key)


@pytest.mark.parametrize("code", [grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.RESOURCE_EXHAUSTED])
def test_a_refusal_is_not_tried_again(scripted: Any, code: grpc.StatusCode) -> None:
    service, connect = scripted
    service.script = [code]
    with pytest.raises(RequestRefused) as refused:
        connect().call("a.b")
    assert refused.value.status == code.name and len(service.requests) == 1
    assert refused.value.invocation_id == service.requests[0].spec.invocation_id


def test_trying_again_has_an_end(scripted: Any) -> None:
    service, connect = scripted
    service.script = [grpc.StatusCode.UNAVAILABLE] * 1000
    began = time.monotonic()
    with pytest.raises(RequestRefused) as refused:
        connect(retry_for=0.5).call("a.b")
    assert time.monotonic() - began < 5
    assert refused.value.maybe_accepted and len(service.requests) > 1
    service.requests.clear()
    with pytest.raises(RequestRefused):
        connect(retry_for=0).call("a.b")
    assert len(service.requests) == 1


def test_a_call_that_still_runs_is_waited_for(scripted: Any) -> None:
    service, connect = scripted
    service.script = ["running", "running", grpc.StatusCode.UNAVAILABLE, "running", "done"]
    result = connect().call("a.b")
    assert result.status == "succeeded"
    assert [type(request).__name__ for request in service.requests] == ["CallRequest"] + ["WaitInvocationRequest"] * 4


def test_a_wait_ends_when_it_should(scripted: Any) -> None:
    service, connect = scripted
    service.script = ["running"] * 1000
    with pytest.raises(WaitExpired) as expired:
        connect().wait("inv_x", timeout=0.2)
    assert expired.value.invocation_id == "inv_x"


def test_an_error_of_a_callback_cancels_the_call(scripted: Any) -> None:
    """As Ctrl-C does: what is raised while the caller waits is raised in the flow, which cancels."""
    service, connect = scripted
    client = connect()
    service.script = ["hold"]
    outcome: list[BaseException] = []

    def interrupted() -> None:
        flow = client._calls.call("a.b", {}, {})
        step = next(flow)
        try:
            step = flow.throw(KeyboardInterrupt())
            while True:
                step = flow.send(client._driver._do(step))
        except BaseException as error:
            outcome.append(error)

    interrupted()
    assert isinstance(outcome[0], KeyboardInterrupt)
    [cancel] = service.requests
    assert isinstance(cancel, invocations.CancelInvocationRequest) and cancel.invocation_id


def test_it_can_be_left_running(scripted: Any) -> None:
    service, connect = scripted
    flow = connect()._calls.call("a.b", {}, {"cancel_on_interrupt": False})
    next(flow)
    with pytest.raises(KeyboardInterrupt):
        flow.throw(KeyboardInterrupt())
    assert service.requests == []


def test_an_unknown_setting_is_named(scripted: Any) -> None:
    _, connect = scripted
    with pytest.raises(TypeError, match="timeuot"):
        connect().call("a.b", {}, timeuot=3)
