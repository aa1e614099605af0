"""What may be said about one call, and about a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from toolplane.questions import Approval, Question
from toolplane.results import Event


class CallSettings(TypedDict, total=False):
    """Settings of one call; all of them may be left out."""

    timeout: float | None
    """Seconds for the whole call, waiting for approval included. The server ends it as `timed_out` then."""
    idempotency_key: str | None
    """The same key and the same call within a day run once. Made up when left out, so that retries of this client never run twice."""
    invocation_id: str | None
    """An id of your own; made up when left out."""
    session: str | None
    """The session it belongs to: a tool that is not safe beside others runs alone in it."""
    refs: Sequence[str]
    """What it belongs to beside the session: `task:ID`, `turn:ID`, ..., `role:NAME`; the client's own (`surface(refs=...)`) when left out. A surface that is for
    one wants it named."""
    native_call_id: str | None
    """The model provider's id of the call."""
    locks: Sequence[str]
    """Locks it needs: `"file:a"`, or `"file:a:shared"`. At most 16."""
    priority: str
    """`interactive`, `normal` or `background`."""
    mode: str
    """Permission mode, e.g. `plan` or `dont_ask`."""
    background: bool
    """Nobody waits for it: in a batch no other result does, and each stage is told as progress. Use it with `submit`. Refused for a tool
    that does not declare it."""
    no_approver: bool
    """Nobody can be asked: a call that needs an approval is denied at once."""
    confidence: float | None
    """What the agent says of its own certainty, 0 to 1. It can only make the decision stricter."""
    declaration_digest: str
    """The schema the arguments were made for (`Tool.digest`): when it is another one by now, the call ends with what changed."""
    surface_moment: str
    """The moment of the surface the agent goes by (`surface_moment()`, `SurfaceChange.moment`): when the tool is another thing by now, or has
    another name, the call ends with what it is."""
    on_approval: Callable[[Approval], Any] | None
    """Answers questions about this call, where the credential may (role approver): `"approve"`, `"deny"`, `Approve`, `Deny`, or `None`
    to leave it to people and wait."""
    on_input: Callable[[Question], Any] | None
    """Answers what the tool asks: a JSON value, `DECLINE`, or `None` to leave it to others and wait."""
    on_event: Callable[[Event], Any] | None
    """Is told every event while the call runs. With it the call is followed as a stream."""
    cancel_on_interrupt: bool
    """Whether the call is canceled when this program stops waiting for it (Ctrl-C, a canceled task, an error in a callback). Default: yes."""
    raise_on_error: bool
    """Whether an ending that is an error is raised as `ToolError`. Default: yes; otherwise `Result.error` has it."""


@dataclass(frozen=True)
class BatchCall:
    """One call of a batch. `depends_on` are positions of earlier calls that must succeed first; `sibling_failure_policy` is `ignore`,
    `cancel_siblings` or `cancel_dependent`, the batch's own when empty."""

    tool: str
    args: Mapping[str, Any] = field(default_factory=dict)
    depends_on: Sequence[int] = ()
    sibling_failure_policy: str = ""
    native_call_id: str = ""
    timeout: float | None = None
