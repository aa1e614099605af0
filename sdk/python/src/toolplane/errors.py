"""What can go wrong, as types. Each carries the stable code, the class and the advice the server gave.

- `ToolError`: the call was accepted and ended in an error. Its `result` is the whole ending.
- `RequestRefused`: nothing was accepted, or the request was wrong. `Unreachable`: there is no server.
- `WaitExpired`: only the wait ended; the call goes on.
- `AnswerRefused`: what a callback answered to a question was not taken.
- `SetupError`: the settings of this program are wrong. Nothing was sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc

from toolplane import _status

if TYPE_CHECKING:
    from toolplane.results import Result
    from toolplane.v1 import error_pb2


class ToolplaneError(Exception):
    """Anything this package raises on purpose.

    `code` is the stable code of `docs/errors.md`, empty where there is none; `message` is one sentence for people.
    """

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class SetupError(ToolplaneError):
    """The settings of this program are wrong: an address, a certificate, a declaration. Nothing was sent."""


class WaitExpired(ToolplaneError):
    """The caller's wait is over and the call has not ended. `wait` and `cancel` take its `invocation_id`."""

    def __init__(self, message: str, invocation_id: str) -> None:
        super().__init__(message)
        self.invocation_id = invocation_id


class SelectionWarning(UserWarning):
    """A part of what a surface is chosen by that no tool fits now, a tool of `load` that cannot be loaded, or one that was unloaded for the
    budget."""


@dataclass(frozen=True)
class Violation:
    """One wrong field and the rule it broke."""

    field: str
    rule: str

    def __str__(self) -> str:
        return f"`{self.field}` {self.rule}"


class RequestRefused(ToolplaneError):
    """The server refused a request, or could not be reached. Nothing of this request was accepted, unless `maybe_accepted`.

    `status` is the gRPC code by name (`"UNAVAILABLE"`), `code` the stable reason, empty when no Toolplane server answered.
    `retry` is `never`, `after_change`, `after_reread`, `later` or empty; `retry_after` are seconds, or `None`.
    """

    def __init__(
        self,
        message: str,
        *,
        status: str,
        code: str = "",
        retry: str = "",
        retry_after: float | None = None,
        violations: Sequence[Violation] = (),
    ) -> None:
        super().__init__(message, code=code)
        self.status = status
        self.retry = retry
        self.retry_after = retry_after
        self.violations = tuple(violations)
        self.invocation_id = ""
        """The id this client gave the call, when the request was one."""

    @property
    def maybe_accepted(self) -> bool:
        """The answer was lost, so the request may have been taken. The same idempotency key settles it."""
        return self.status in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN")

    def __str__(self) -> str:
        text = f"{self.message} [{self.code or self.status}]"
        # A single violation is already the message.
        if len(self.violations) > 1:
            text += "".join(f"\n  {one}" for one in self.violations)
        return text


class Unreachable(RequestRefused):
    """There is no server: no connection to it could be made, now or before. Nothing was sent. The message names the address."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status="UNAVAILABLE", retry="later")

    @property
    def maybe_accepted(self) -> bool:
        """Never: there was nobody to accept it."""
        return False


class AnswerRefused(ToolplaneError):
    """What `on_approval` or `on_input` answered does not fit its question, or may not be answered with this credential. The call is canceled,
    as for everything a callback raises. `violations` say what is wrong."""

    def __init__(self, refused: RequestRefused, invocation_id: str) -> None:
        super().__init__(f"the answer to a question of {invocation_id} was refused: {refused.message}", code=refused.code)
        self.invocation_id = invocation_id
        self.violations = refused.violations


class ToolError(ToolplaneError):
    """A call that ended in an error.

    - `code`: stable and fine, e.g. `exec.outcome_unknown`; `error_class`: of the standard, e.g. `permission_denied`
    - `retry`: what has to change before a retry can help, e.g. `retry_safe` or `verify_before_retry`
    - `retry_after`: seconds to wait first, or `None`
    - `side_effects`: `none`, `unknown` or empty
    - `violations`: the wrong arguments
    - `can_retry`: whether the same call may be made again as it is, now or after `retry_after`
    - `suggestion`: what to do about it, in a sentence; `next_steps`: tools of the surface that may help
    - `result`: the whole ending, with what content there is
    """

    def __init__(self, result: Result) -> None:
        error = result.message.error
        super().__init__(error.message or result.status, code=error.error_code)
        self.result = result
        self.invocation_id = result.invocation_id
        self.error_class = error.error_class
        self.retry = error.recoverability
        self.retry_after = error.retry_after_ms / 1000 if error.HasField("retry_after_ms") else None
        self.side_effects = error.side_effects
        self.violations = tuple(Violation(one.field, one.description) for one in error.field_violations)
        self.can_retry = error.can_retry
        self.suggestion = error.recovery_suggestion
        self.next_steps = tuple(error.next_steps)

    def __str__(self) -> str:
        text = f"{self.message} [{self.code or self.error_class}]"
        # A message that names its only field says it already.
        return text + "".join(f"\n  {one}" for one in self.violations if str(one) not in self.message)


class InvalidArguments(ToolError):
    """The arguments do not fit the tool. `violations` says which, and why."""


class ToolNotFound(ToolError):
    """No such tool here, or it has to be loaded first."""


class PermissionDenied(ToolError):
    """A rule, a person, a policy or a hook said no."""


class ToolTimeout(ToolError):
    """The tool, or the caller's own deadline, ran out of time."""


class ToolCanceled(ToolError):
    """The call was canceled."""


class OutcomeUnknown(ToolError):
    """Whether the tool had its effect cannot be known. Look before you call it again."""


_BY_CLASS: dict[str, type[ToolError]] = {
    "invalid_arguments": InvalidArguments,
    "schema_validation_failed": InvalidArguments,
    "unknown_tool": ToolNotFound,
    "schema_not_loaded": ToolNotFound,
    "permission_denied": PermissionDenied,
    "approval_rejected": PermissionDenied,
    "policy_blocked": PermissionDenied,
    "hook_blocked": PermissionDenied,
    "timeout": ToolTimeout,
    "canceled": ToolCanceled,
    "sibling_canceled": ToolCanceled,
}


def of_result(result: Result) -> ToolError:
    """The error of a result that is one."""
    error: error_pb2.ToolError = result.message.error
    if error.error_code == "exec.outcome_unknown":
        return OutcomeUnknown(result)
    return _BY_CLASS.get(error.error_class, ToolError)(result)


def of_rpc(error: Any) -> RequestRefused:
    """A gRPC error, taken apart. `error` is what `grpc` or `grpc.aio` raised."""
    code = error.code()
    code = code if isinstance(code, grpc.StatusCode) else grpc.StatusCode.UNKNOWN
    details = _status.read(error.trailing_metadata())
    return RequestRefused(
        error.details() or code.name,
        status=code.name,
        code=details.reason,
        retry=details.retry,
        retry_after=details.retry_after,
        violations=[Violation(field, rule) for field, rule in details.violations],
    )
