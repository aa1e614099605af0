"""A worker that starts before its server."""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Proxy, free_port
from processes import PATIENCE
from toolplane import Toolplane, Worker

SAFE = {"destructive": False, "open_world": False, "concurrency_safe": True, "idempotent": True}


class Log(logging.Handler):
    """What a worker says, as it says it."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.said: queue.Queue[str] = queue.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        self.said.put(record.getMessage())


@pytest.fixture
def log() -> Iterator[Log]:
    made, logger = Log(), logging.getLogger("toolplane")
    before = logger.level
    logger.addHandler(made)
    logger.setLevel(logging.INFO)
    yield made
    logger.removeHandler(made)
    logger.setLevel(before)


def worker_at(port: int, folder: Path, namespace: str, register: bool = True) -> Worker:
    worker = Worker(namespace, endpoint=f"http://127.0.0.1:{port}", data_dir=folder, register=register)

    @worker.tool(**SAFE)
    def hello() -> str:
        """Says hello."""
        return "hello"

    return worker


def test_it_waits_for_its_server_and_says_so_once(endpoint: str, log: Log, tools: Toolplane, namespace: str, tmp_path: Path) -> None:
    port = free_port()
    worker = worker_at(port, tmp_path, namespace)

    async def main() -> None:
        serving = asyncio.create_task(worker.run_async())
        said = await asyncio.to_thread(log.said.get, timeout=PATIENCE)
        assert f"cannot reach a cluster at `http://127.0.0.1:{port}`" in said and said.endswith("trying again")
        way = Proxy(endpoint, port)
        try:
            more = await asyncio.to_thread(log.said.get, timeout=PATIENCE)
            while not more.startswith("connected to the scheduler"):
                assert "cannot reach" not in more and "no scheduler" not in more, more
                more = await asyncio.to_thread(log.said.get, timeout=PATIENCE)
            assert (await asyncio.to_thread(tools.call, f"{namespace}.hello")).value == "hello"
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
        finally:
            way.close()

    asyncio.run(main())


def test_so_does_one_that_registers_nothing(log: Log, namespace: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        worker = worker_at(port, tmp_path, namespace, register=False)
        starting = threading.Thread(target=worker.start)
        starting.start()
        for _ in range(5):
            # Something that is no server.
            listener.accept()[0].close()
        once = log.said.get(timeout=PATIENCE)
        assert once.startswith(f"no scheduler takes this worker yet (cannot reach a cluster at `http://127.0.0.1:{port}`")
        worker.stop()
        starting.join(PATIENCE)
    assert all(said.startswith("not connected") for said in (log.said.get_nowait() for _ in range(log.said.qsize())))


def test_one_that_waits_can_be_stopped(namespace: str, tmp_path: Path) -> None:
    program = (
        "from toolplane import Worker\n"
        f"worker = Worker({namespace!r}, endpoint='http://127.0.0.1:{free_port()}', data_dir={str(tmp_path)!r})\n"
        "worker.tool(lambda: 1, name='one', description='Gives one.')\n"
        "worker.run(lambda: print('served'))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], env=dict(os.environ), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline().rstrip().endswith("trying again")
    process.send_signal(signal.SIGTERM)
    served, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, served, said) == (0, "", "")


def test_so_can_one_in_a_program_of_asyncio(log: Log, namespace: str, tmp_path: Path) -> None:
    worker = worker_at(free_port(), tmp_path, namespace)

    async def main() -> None:
        serving = asyncio.create_task(worker.run_async())
        await asyncio.to_thread(log.said.get, timeout=PATIENCE)
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving

    asyncio.run(asyncio.wait_for(main(), PATIENCE))
