"""Toolplane for Python: call tools from agents, and bring tools of your own.

    from toolplane import Toolplane
    tools = Toolplane.connect()
    print(tools.call("text.word_count", {"path": "words.txt"}).value)

`AsyncToolplane` is the same for `asyncio`; `Worker` serves your own functions as tools. The messages of the contract are in
`toolplane.v1`.
"""

from toolplane._version import __version__
from toolplane.aio import AsyncToolplane
from toolplane.client import Toolplane
from toolplane.connection import Connection
from toolplane.errors import (
    AnswerRefused,
    InvalidArguments,
    OutcomeUnknown,
    PermissionDenied,
    RequestRefused,
    SelectionWarning,
    SetupError,
    ToolCanceled,
    ToolError,
    ToolNotFound,
    ToolplaneError,
    ToolTimeout,
    Unreachable,
    Violation,
    WaitExpired,
)
from toolplane.questions import DECLINE, Approval, Approve, Deny, Question
from toolplane.results import Block, CallState, Event, Kept, Result
from toolplane.settings import BatchCall, CallSettings
from toolplane.tools import Card, Export, Found, LoadedTools, Mapped, Matches, SurfaceChange, Synonyms, Tool, ToolChange, Unloaded
from toolplane.worker import Artifact, Canceled, Context, Declined, File, Output, ToolFailure, Worker

__all__ = [
    "AnswerRefused", "DECLINE", "Approval", "Approve", "Artifact", "AsyncToolplane", "BatchCall", "Block", "CallSettings", "CallState", "Canceled", "Card",
    "Connection", "Context", "Declined", "Deny", "Event", "Export", "File", "Found", "InvalidArguments", "Kept", "LoadedTools", "Mapped", "Matches", "OutcomeUnknown", "Output",
    "PermissionDenied", "Question", "RequestRefused", "Result", "SelectionWarning", "SetupError", "SurfaceChange", "Synonyms", "Tool", "ToolCanceled", "ToolChange",
    "ToolError", "ToolFailure", "ToolNotFound", "ToolTimeout", "Toolplane", "ToolplaneError", "Unloaded", "Unreachable", "Violation", "WaitExpired", "Worker", "__version__",
]  # fmt: skip
