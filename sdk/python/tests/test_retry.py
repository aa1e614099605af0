"""What is tried again and what is not: against a server of our own that fails as it is told."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest

from conftest import free_port
from processes import PATIENCE
from toolplane import AsyncToolplane, RequestRefused, Toolplane, Unreachable, WaitExpired
from toolplane._flow import Retry
from toolplane.v1 import invocation_service_pb2 as invocations
from toolplane.v1 import invocation_service_pb2_grpc as services
from toolplane.v1 import result_pb2


# Long enough that a client that does not wait would have asked many times.
RETRY_AFTER_MS = 120


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
        if step == "stopping":
            cut_short = invocations.CutShort(reason="DRAINING", retry_after_ms=RETRY_AFTER_MS)
            return invocations.WaitInvocationResponse(done=False, cut_short=cut_short)
        return invocations.WaitInvocationResponse(done=True, result=done(request.invocation_id))

    def CancelInvocation(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.requests.append(request)
        return invocations.CancelInvocationResponse()


def done(invocation_id: str) -> result_pb2.ToolResult:
    return result_pb2.ToolResult(invocation_id=invocation_id, status="succeeded")


def serve(service: Scripted, port: int = 0) -> tuple[grpc.Server, int]:
    server = grpc.server(futures.ThreadPoolExecutor(4))
    services.add_InvocationServiceServicer_to_server(service, server)
    port = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server, port


@pytest.fixture
def scripted() -> Iterator[tuple[Scripted, Callable[..., Toolplane]]]:
    service = Scripted()
    server, port = serve(service)
    yield service, lambda **settings: Toolplane.connect(f"127.0.0.1:{port}", **settings)
    service.release.set()
    server.stop(None)


def test_a_wait_that_a_stopping_server_cuts_short_is_gone_on_with_when_it_says(scripted: Any) -> None:
    service, connect = scripted
    service.script = ["running", "stopping", "stopping"]
    began = time.monotonic()
    assert connect().call("a.b").status == "succeeded"
    assert time.monotonic() - began >= 2 * RETRY_AFTER_MS / 1000 and len(service.requests) == 4


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


# === a server that is not there ===


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def check_unreachable(error: Unreachable, port: int) -> None:
    assert f"cannot reach a cluster at `http://127.0.0.1:{port}`: Connection refused" in str(error)
    assert "`toolplane serve`" in str(error) and "TOOLPLANE_ENDPOINT" in str(error)
    assert error.status == "UNAVAILABLE" and not error.maybe_accepted


def test_a_server_that_was_never_there_is_given_up_soon(caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    with Toolplane.connect(f"http://127.0.0.1:{port}", connect_for=0.5) as client:
        for call in (lambda: client.call("a.b"), lambda: list(client.stream("a.b")), client.list):
            with pytest.raises(Unreachable) as away:
                call()
            check_unreachable(away.value, port)
    [said] = warnings(caplog)
    assert f"127.0.0.1:{port}" in said and said.endswith("trying again")


def test_so_it_is_for_the_async_client(caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()

    async def main() -> None:
        async with AsyncToolplane.connect(f"http://127.0.0.1:{port}", connect_for=0.5) as client:
            with pytest.raises(Unreachable) as away:
                await client.call("a.b")
            check_unreachable(away.value, port)
            with pytest.raises(Unreachable):
                [_ async for _ in client.stream("a.b")]

    asyncio.run(main())
    assert len(warnings(caplog)) == 1


def test_a_name_that_nobody_has_is_no_server_either() -> None:
    with Toolplane.connect("http://nobody.invalid:7420", connect_for=0) as client, pytest.raises(Unreachable, match="`http://nobody.invalid:7420`"):
        client.call("a.b")


def test_encryption_that_does_not_fit_is_no_server_that_is_not_there(scripted: Any) -> None:
    _, connect = scripted
    with connect() as plain:
        endpoint = f"https://{plain._driver.reach._endpoint}"
    with Toolplane.connect(endpoint, connect_for=0) as client, pytest.raises(Unreachable) as away:
        client.call("a.b")
    assert away.value.message == f"cannot connect to `{endpoint}`: the port does not speak TLS; use `http://` in the endpoint"


def test_a_first_connection_gets_five_seconds_and_never_more_than_the_rest_unless_it_is_said() -> None:
    assert Retry.of(60.0, None).connect == 5.0
    assert Retry.of(0.5, None).connect == 0.5
    assert Retry.of(0.5, 300.0).connect == 300.0


def test_a_server_that_went_away_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    service = Scripted()
    server, port = serve(service)
    tried_again = threading.Event()

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            tried_again.set()

    heard = Heard(logging.WARNING)
    logging.getLogger("toolplane").addHandler(heard)
    try:
        # No time at all for a first connection: this one is not the first.
        with Toolplane.connect(f"127.0.0.1:{port}", connect_for=0) as client:
            client.call("a.b")
            server.stop(None).wait()
            results: list[str] = []
            call = threading.Thread(target=lambda: results.append(client.call("a.b").status))
            call.start()
            assert tried_again.wait(PATIENCE)
            server, _ = serve(service, port)
            call.join(PATIENCE)
            assert results == ["succeeded"] and len(warnings(caplog)) == 1
            # Said anew when it goes away anew.
            tried_again.clear()
            service.script = [grpc.StatusCode.UNAVAILABLE]
            client.call("a.b")
            assert tried_again.is_set()
    finally:
        logging.getLogger("toolplane").removeHandler(heard)
        server.stop(None)
