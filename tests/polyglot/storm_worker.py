"""A worker of two tools that write down that they ran, for tests that kill it. Where: STORM_LOG; what it keeps: STORM_FOLDER."""

import os
import time
from typing import Any

from toolplane import Context, Worker

worker = Worker("storm", data_dir=os.environ["STORM_FOLDER"], slots=4)
log = os.open(os.environ["STORM_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
FACTS: dict[str, Any] = {"read_only": False, "destructive": False, "open_world": False, "concurrency_safe": True}


def ran(number: int, ctx: Context) -> dict[str, int]:
    """One line, on disk before the call goes on: what ran is known even where the worker is killed right after."""
    time.sleep(0.003)
    os.write(log, f"{ctx.invocation_id}\n".encode())
    os.fsync(log)
    return {"number": number}


@worker.tool(idempotent=True, **FACTS)
def again(number: int, ctx: Context) -> dict[str, int]:
    """May run twice."""
    return ran(number, ctx)


@worker.tool(idempotent=False, **FACTS)
def once(number: int, ctx: Context) -> dict[str, int]:
    """Must not run twice."""
    return ran(number, ctx)


worker.run()
