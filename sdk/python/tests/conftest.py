"""What the tests share. Those that need a cluster are given one by `TOOLPLANE_ENDPOINT` and are skipped without; they start nothing but
workers.

The cluster has no authentication, `permission.allow_self_approval = true`, and a rule that allows `pytest.*`; nothing is about `pyask.*`,
so a person is asked about it. `cargo xtask test` runs them so (`tests/it/sdk_python.rs`).
"""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from toolplane import Toolplane

PACKAGE = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def endpoint() -> str:
    """The cluster to test with."""
    found = os.environ.get("TOOLPLANE_ENDPOINT")
    if not found:
        pytest.skip("TOOLPLANE_ENDPOINT names no cluster")
    return found


@pytest.fixture
def tools(endpoint: str) -> Iterator[Toolplane]:
    """A client."""
    with Toolplane.connect() as client:
        yield client


@pytest.fixture
def namespace() -> str:
    """A namespace that no other test uses, whose tools may run."""
    return f"pytest.{uuid.uuid4().hex[:8]}"


def free_port() -> int:
    """A port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


class Proxy:
    """A way to the cluster that a test can cut."""

    def __init__(self, endpoint: str, port: int = 0) -> None:
        parts = urlsplit(endpoint)
        self._target = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", port))
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._cut = False
        self.connected = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        """Breaks every connection and lets no new one through."""
        with self._lock:
            self._cut = True
            self.connected.clear()
            for one in self._open:
                one.close() if one.fileno() < 0 else _break(one)
            self._open.clear()

    def mend(self) -> None:
        """Lets connections through again."""
        with self._lock:
            self._cut = False

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if self._cut:
                    near.close()
                    continue
                far = socket.create_connection(self._target)
                self._open += [near, far]
                self.connected.set()
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=_pump, args=[source, sink], daemon=True).start()


def _break(one: socket.socket) -> None:
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    one.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    _break(source)
    _break(sink)


@pytest.fixture
def proxy(endpoint: str) -> Iterator[Proxy]:
    """A way to the cluster that can be cut."""
    made = Proxy(endpoint)
    yield made
    made.close()
