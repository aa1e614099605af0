"""Workers in processes of their own, and waiting for what they do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 60.0


def until(state: Callable[[], Any], what: str) -> Any:
    """Waits until a state holds, and gives it; fails when it does not come."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = state()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"waited in vain for {what}")


class Served:
    """The worker of `served.py`."""

    def __init__(self, namespace: str, folder: Path, endpoint: str | None = None) -> None:
        self.namespace = namespace
        self.folder = folder
        self.endpoint = endpoint
        self.marks_file = folder / "marks"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Served:
        """Starts it; it is killed with the test at the latest."""
        script = Path(__file__).parent / "served.py"
        arguments = [self.namespace, self.folder / "data", self.marks_file, *([self.endpoint] if self.endpoint else [])]
        self.process = subprocess.Popen([sys.executable, script, *map(str, arguments)], env={**os.environ, "PYTHONUNBUFFERED": "1"})
        self.wait_for(f"up {self.process.pid}")
        return self

    def marks(self) -> list[str]:
        return self.marks_file.read_text().splitlines() if self.marks_file.exists() else []

    def wait_for(self, beginning: str) -> str:
        return str(until(lambda: next((mark for mark in self.marks() if mark.startswith(beginning)), None), beginning))

    def go(self, name: str) -> None:
        """Lets a call that holds go on."""
        (self.folder / f"go-{name}").touch()

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def terminate(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()
