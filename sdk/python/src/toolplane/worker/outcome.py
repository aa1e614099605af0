"""What a tool gives back, beyond a plain value; and the way a failure is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from toolplane.v1 import error_pb2, refs_pb2, result_pb2


@dataclass(frozen=True)
class File:
    """Bytes that a tool gives: kept in the object store, given to the caller as a reference.

    `media_type` is what they are, e.g. `image/png`; `name` is for people.
    """

    data: bytes
    media_type: str = "application/octet-stream"
    name: str = "file"


@dataclass
class Output:
    """An answer with all its parts; each may be left out.

    - `value`: structured content, anything that has a form in JSON
    - `text`: what people and models read; made from the value when empty
    - `logs`: texts beside the answer; `diff`: a diff in unified format; `files`: what is kept elsewhere
    - `context_modifiers`: changes the tool asks to make to the conversation, objects
    - `summary`: one line for people
    - `partial`: it succeeded in part
    """

    value: Any = None
    text: str = ""
    logs: Sequence[str] = ()
    diff: str = ""
    files: Sequence[File] = ()
    context_modifiers: Sequence[dict[str, Any]] = ()
    summary: str = ""
    partial: bool = False
    has_value: bool = field(default=False, repr=False)
    """The value counts even when it is `None`."""


@dataclass(frozen=True)
class Artifact:
    """A durable deliverable, owned by an artifact system. `digest` is `sha256:<hex>`, when it is known."""

    artifact_id: str
    uri: str
    media_type: str = ""
    digest: str = ""
    version: str = ""
    relation: str = ""

    def message(self) -> refs_pb2.ArtifactRef:
        """As a message."""
        return refs_pb2.ArtifactRef(
            artifact_id=self.artifact_id,
            uri=self.uri,
            media_type=self.media_type,
            digest=self.digest,
            version=self.version,
            relation=self.relation,
        )


class ToolFailure(Exception):  # noqa: N818 - it is what the tool says, not a fault of the program
    """Raised by a tool: the call ends as a failure with this message. No secrets and no stack traces in it: models read it.

    - `code`: stable, of your own, e.g. `acme.no_such_page`
    - `retry`: what has to change before a retry can help: `not_retryable`, `retry_safe`, `retry_later`, `change_arguments`, ...
    - `retry_after`: seconds to wait first
    - `side_effects`: `none` when nothing can have happened, `unknown` when something may have
    - `error_class`: of the standard
    - `suggestion`: what to do about it, in a sentence; `next_steps`: tools that may help, of which the caller is told those it has
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "exec.unspecified",
        retry: str = "",
        retry_after: float | None = None,
        side_effects: str = "",
        error_class: str = "execution_failed",
        suggestion: str = "",
        next_steps: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.suggestion = suggestion
        self.next_steps = tuple(next_steps)
        self.code = code
        self.retry = retry
        self.retry_after = retry_after
        self.side_effects = side_effects
        self.error_class = error_class

    def message_for(self, idempotent: bool) -> error_pb2.ToolError:
        """The failure as a message. Without advice of its own, a retry is safe only where running again is harmless."""
        said = failure(
            self.code,
            self.error_class,
            str(self),
            self.retry or ("retry_safe" if idempotent or self.side_effects == "none" else "verify_before_retry"),
            side_effects=self.side_effects,
            retry_after=self.retry_after,
        )
        if self.suggestion:
            said.recovery_suggestion = self.suggestion
        said.next_steps.extend(self.next_steps)
        return said


class TooLarge(ToolFailure):
    """Raised where bytes are kept: they are more than the cluster takes (`objects.max_bytes`)."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="exec.output_limit", retry="change_arguments", side_effects="unknown", error_class="result_too_large")


class Canceled(BaseException):  # noqa: N818
    """Raised in a tool that is to stop, by `Context.raise_if_canceled` and by what waits. No `Exception`: a handler of errors in the
    tool must not swallow it."""


class Declined(Exception):  # noqa: N818
    """Nobody answered the tool's question: a person declined, or it expired (`expired`)."""

    def __init__(self, expired: bool) -> None:
        super().__init__("the question expired without an answer" if expired else "the question was declined")
        self.expired = expired


def failure(
    code: str,
    error_class: str,
    message: str,
    retry: str,
    *,
    side_effects: str = "",
    retry_after: float | None = None,
    abort_reason: str = "",
) -> error_pb2.ToolError:
    """A failure as a message."""
    return error_pb2.ToolError(
        error_code=code,
        error_class=error_class,
        message=message,
        recoverability=retry,
        retry_after_ms=round(retry_after * 1000) if retry_after is not None else None,
        side_effects=side_effects or None,
        abort_reason=abort_reason,
    )


def text_block(text: str) -> result_pb2.ContentBlock:
    """A block of text."""
    return result_pb2.ContentBlock(text=result_pb2.TextBlock(text=text))
