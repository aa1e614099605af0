"""What people, or callbacks in their place, are asked: approvals before a call runs, and questions of tools that run."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Final

from toolplane import _json
from toolplane.v1 import approval_pb2, invocation_pb2


@dataclass(frozen=True)
class Approval:
    """Whether one exact call may run. `message` is the whole record (`toolplane.v1.Approval`).

    `input` is what people are shown: sensitive fields are `[redacted]`. Values in it come from a model or a tool: do not print them
    to a terminal as they are.
    """

    approval_id: str
    invocation_id: str
    tool: str
    input: Any
    reason: str
    message: approval_pb2.Approval = field(repr=False)

    @classmethod
    def of(cls, message: approval_pb2.Approval) -> Approval:
        """From its message."""
        return cls(
            approval_id=message.approval_id,
            invocation_id=message.invocation_id,
            tool=message.tool_name,
            input=_json.value(message.permission_input),
            reason=message.request.reason.message,
            message=message,
        )


@dataclass(frozen=True)
class Approve:
    """An answer of an `on_approval` callback: run it. `input` runs instead of what was shown; `feedback` is kept with the decision."""

    feedback: str = ""
    input: Any = None


@dataclass(frozen=True)
class Deny:
    """An answer of an `on_approval` callback: do not run it. `feedback` reaches the agent."""

    feedback: str = ""


@dataclass(frozen=True)
class Question:
    """What a running tool asks its caller. `schema` is the JSON Schema the answer has to fit, `None` without one."""

    invocation_id: str
    input_id: str
    prompt: str
    schema: Any
    expires_at: datetime | None

    @classmethod
    def of(cls, invocation_id: str, message: invocation_pb2.PendingInput) -> Question:
        """From its message."""
        expires = message.expires_at.ToDatetime(tzinfo=timezone.utc) if message.HasField("expires_at") else None
        return cls(invocation_id, message.input_id, message.prompt, _json.value(message.schema), expires)


class _Decline:
    """The type of `DECLINE`."""

    def __repr__(self) -> str:
        return "DECLINE"


DECLINE: Final = _Decline()
"""An answer of an `on_input` callback: the caller declines, and the tool is told so."""


def decision(answer: Any) -> Approve | Deny | None:
    """What a callback said about an approval. `TypeError` for what is no answer: nothing is approved by mistake."""
    if answer is None or isinstance(answer, (Approve, Deny)):
        return answer
    if answer is True or answer == "approve":
        return Approve()
    if answer is False or answer == "deny":
        return Deny()
    raise TypeError(f"on_approval answers 'approve', 'deny', None, Approve(...) or Deny(...), not {type(answer).__name__}")
