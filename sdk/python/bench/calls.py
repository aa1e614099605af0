"""Calls a second and CPU of the client per call, beside a bare grpcio echo of the same sizes in the same run.

Usage: calls.py [--seconds 3] [--tool native.echo]

The echo is a server of its own in another process, which answers with bytes of the size of a `CallResponse` and does nothing else.
What is compared is what a client costs: CPU per call of this process; and how many calls a second it makes when the server is no
bound, which the echo answers for both. The cluster's own figures are printed beside.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import multiprocessing
import operator
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent import futures
from typing import Any

import grpc
import grpc.aio

from toolplane import AsyncToolplane, Toolplane, _rpc
from toolplane.v1 import invocation_service_pb2 as invocations

ARGS = {"text": "hello", "n": 17}
AT_ONCE = (1, 16, 64)
# Both take turns, so that what else the machine does meets both.
TURNS = 4


def echo_server(answer: bytes, ready: Any) -> None:
    """Answers every RPC with the same bytes."""

    async def serve() -> None:
        server = grpc.aio.server(futures.ThreadPoolExecutor(1))

        class Everything(grpc.GenericRpcHandler):
            def service(self, details: Any) -> Any:
                async def same(request: bytes, context: Any) -> bytes:
                    return answer

                return grpc.unary_unary_rpc_method_handler(same)

        server.add_generic_rpc_handlers([Everything()])
        ready.send(server.add_insecure_port("127.0.0.1:0"))
        await server.start()
        await server.wait_for_termination()

    asyncio.run(serve())


class Measured:
    """What one run gave."""

    def __init__(self, calls: int, wall: float, cpu: float) -> None:
        self.calls, self.wall, self.cpu = calls, wall, cpu

    def __add__(self, other: Measured) -> Measured:
        return Measured(self.calls + other.calls, self.wall + other.wall, self.cpu + other.cpu)

    @property
    def rate(self) -> float:
        """Calls a second."""
        return self.calls / self.wall

    @property
    def cpu_us(self) -> float:
        """Microseconds of CPU of this process per call."""
        return self.cpu / self.calls * 1e6


def sync_run(one: Callable[[], Any], at_once: int, seconds: float) -> Measured:
    """Threads that call one after the other."""
    counts = [0] * at_once
    end = time.monotonic() + seconds

    def work(index: int) -> None:
        while time.monotonic() < end:
            one()
            counts[index] += 1

    one()
    threads = [threading.Thread(target=work, args=[index]) for index in range(at_once)]
    wall, cpu = time.monotonic(), time.process_time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Measured(sum(counts), time.monotonic() - wall, time.process_time() - cpu)


async def async_run(one: Callable[[], Coroutine[Any, Any, Any]], at_once: int, seconds: float) -> Measured:
    """Tasks that call one after the other."""
    count = 0
    end = time.monotonic() + seconds

    async def work() -> None:
        nonlocal count
        while time.monotonic() < end:
            await one()
            count += 1

    await one()
    wall, cpu = time.monotonic(), time.process_time()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return Measured(count, time.monotonic() - wall, time.process_time() - cpu)


def tell(kind: str, at_once: int, bare: Measured, ours: Measured, cluster: Measured) -> None:
    """One line: the bare echo, this package on the same echo, the ratio, and this package on the cluster."""
    print(
        f"{kind:5} {at_once:3} at once | bare {bare.rate:7.0f}/s {bare.cpu_us:5.0f} us | ours {ours.rate:7.0f}/s {ours.cpu_us:5.0f} us"
        f" | {ours.rate / bare.rate:4.0%} of its rate, {bare.cpu_us / ours.cpu_us:4.0%} by CPU | cluster {cluster.rate:6.0f}/s {cluster.cpu_us:5.0f} us",
        flush=True,
    )


def main() -> None:
    """Runs everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--tool", default="native.echo")
    options = parser.parse_args()
    with Toolplane.connect() as client:
        client.call(options.tool, ARGS)
        request = invocations.CallRequest(spec=client._calls.spec(options.tool, ARGS, {}), wait_ms=30_000)
        answer = client._driver.stub("unary_unary", _rpc.CALL)(request)
    sent, got = request.SerializeToString(), answer.SerializeToString()
    print(f"a request has {len(sent)} bytes, an answer {len(got)}")
    near, far = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=echo_server, args=[got, far], daemon=True)
    server.start()
    echo = f"127.0.0.1:{near.recv()}"
    try:
        for at_once in AT_ONCE:
            sync_all(echo, sent, options, at_once)
        for at_once in AT_ONCE:
            asyncio.run(async_all(echo, sent, options, at_once))
    finally:
        server.kill()


def sync_all(echo: str, sent: bytes, options: argparse.Namespace, at_once: int) -> None:
    """The blocking client."""
    with grpc.insecure_channel(echo) as channel, Toolplane.connect(echo) as ours, Toolplane.connect() as cluster:
        bare = channel.unary_unary("/toolplane.v1.InvocationService/Call")
        each = [lambda: bare(sent, timeout=45.0), lambda: ours.call(options.tool, ARGS), lambda: cluster.call(options.tool, ARGS)]
        turns = [[sync_run(one, at_once, options.seconds / TURNS) for one in each] for _ in range(TURNS)]
        tell("sync", at_once, *(functools.reduce(operator.add, column) for column in zip(*turns, strict=True)))


async def async_all(echo: str, sent: bytes, options: argparse.Namespace, at_once: int) -> None:
    """The client for asyncio."""
    async with grpc.aio.insecure_channel(echo) as channel, AsyncToolplane.connect(echo) as ours, AsyncToolplane.connect() as cluster:
        bare = channel.unary_unary("/toolplane.v1.InvocationService/Call")

        async def bare_one() -> Any:
            return await bare(sent, timeout=45.0)

        each = [bare_one, lambda: ours.call(options.tool, ARGS), lambda: cluster.call(options.tool, ARGS)]
        turns = [[await async_run(one, at_once, options.seconds / TURNS) for one in each] for _ in range(TURNS)]
        tell("async", at_once, *(functools.reduce(operator.add, column) for column in zip(*turns, strict=True)))


if __name__ == "__main__":
    main()
