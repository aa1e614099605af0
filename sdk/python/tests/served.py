"""A worker as a process of its own, for tests that kill it. Tells what happens in lines of a file.

Usage: served.py NAMESPACE DATA_DIR MARKS [ENDPOINT]
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from toolplane import Context, Worker

NAMESPACE, DATA_DIR, MARKS = sys.argv[1], sys.argv[2], Path(sys.argv[3])
worker = Worker(NAMESPACE, data_dir=DATA_DIR, endpoint=sys.argv[4] if len(sys.argv) > 4 else None, drain_timeout=20)


def mark(text: str) -> None:
    with MARKS.open("a") as file:
        file.write(f"{text}\n")


def hold(name: str) -> str:
    """Waits until there is a file, for ever in the first process that gets here."""
    mark(f"begun {name} {os.getpid()}")
    while not (MARKS.parent / f"go-{name}").exists():
        threading.Event().wait(0.02)
    mark(f"ended {name} {os.getpid()}")
    return name


@worker.tool(idempotent=False, destructive=False, concurrency_safe=True)
def once(name: str) -> str:
    """Must not run twice."""
    return hold(name)


@worker.tool(idempotent=True, destructive=False, concurrency_safe=True)
def again(name: str) -> str:
    """May run twice."""
    return hold(name)


@worker.tool(destructive=False, concurrency_safe=True)
def quick(ctx: Context) -> int:
    """Says which process it is in."""
    return os.getpid()


worker.run(lambda: mark(f"up {os.getpid()}"))
mark(f"down {os.getpid()}")
