"""How calls end, and what happened on the way: results, content, events, kept outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from toolplane import _json, errors
from toolplane.v1 import event_pb2, invocation_pb2, payload_pb2, result_pb2


@dataclass(frozen=True)
class Kept:
    """Bytes that a call keeps elsewhere, with the digest that proves them.

    `uri` is opaque; `digest` is `sha256:<hex>` over the exact bytes; `size` in bytes; `name` is that of an artifact (`out/rows.csv`).
    """

    invocation_id: str
    uri: str
    media_type: str
    digest: str
    size: int
    name: str = ""

    @classmethod
    def of(cls, invocation_id: str, ref: payload_pb2.PayloadRef, name: str = "") -> Kept:
        """From its message."""
        return cls(invocation_id, ref.uri, ref.media_type, ref.digest, ref.size_bytes, name)


@dataclass(frozen=True)
class Block:
    """One block of content.

    `kind` is `text`, `log`, `diff`, `image`, `audio`, `video`, `file`, `resource_link`, `embedded_resource`, `artifact_ref`,
    `persisted_output_ref`, `handoff_ref` or `empty`. The first three have a `text` (a log its `stream` too); pictures, sounds, films,
    files, `persisted_output_ref` and artifacts the cluster keeps have what is `kept`; an embedded resource has one of both. All have their
    `message`.
    """

    kind: str
    text: str = ""
    stream: str = ""
    kept: Kept | None = None
    message: Any = None

    @classmethod
    def of(cls, invocation_id: str, block: result_pb2.ContentBlock) -> Block:
        """From its message."""
        kind = block.WhichOneof("block") or "unknown"
        inner: Any = getattr(block, kind, None)
        if kind in ("text", "log", "diff"):
            return cls(kind, text=inner.text, stream=getattr(inner, "stream", ""), message=inner)
        if kind in ("file", "persisted_output_ref"):
            return cls(kind, kept=Kept.of(invocation_id, inner), message=inner)
        if kind in ("image", "audio", "video", "embedded_resource"):
            kept = Kept.of(invocation_id, inner.payload) if inner.HasField("payload") else None
            return cls(kind, text=getattr(inner, "text", ""), kept=kept, message=inner)
        if kind == "artifact_ref" and inner.HasField("payload"):
            kept = Kept.of(invocation_id, inner.payload, inner.artifact_id)
            return cls(kind, kept=kept, message=inner)
        return cls(kind, message=inner)


class Result:
    """The one ending of a call. What is large is not in it: see `kept`.

    `message` is the record as it came (`toolplane.v1.ToolResult`), for everything that has no property here.
    """

    __slots__ = ("_open", "message")

    def __init__(self, message: result_pb2.ToolResult, opener: Callable[[Kept], Any] | None = None) -> None:
        self.message = message
        self._open = opener

    def __repr__(self) -> str:
        return f"<Result {self.invocation_id} {self.status}: {self.summary[:80]!r}>"

    @property
    def invocation_id(self) -> str:
        """The call."""
        return self.message.invocation_id

    @property
    def result_id(self) -> str:
        """The result; one for each call, for ever."""
        return self.message.result_id

    @property
    def status(self) -> str:
        """How it ended, e.g. `succeeded` or `partial_succeeded`."""
        return self.message.status

    @property
    def is_error(self) -> bool:
        """Whether it is a failure of any kind."""
        return self.message.is_error

    @property
    def error(self) -> errors.ToolError | None:
        """The failure as it would be raised; `None` for a success."""
        return errors.of_result(self) if self.message.is_error else None

    @property
    def incomplete(self) -> errors.ToolError | None:
        """Why the answer of a tool that succeeded is not all there, e.g. `result.too_large`; `None` when it is. A preview may be left."""
        return errors.of_result(self) if self.message.HasField("error") and not self.message.is_error else None

    @property
    def summary(self) -> str:
        """One line for people."""
        return self.message.ui_facing_summary or self.message.summary

    @property
    def structured(self) -> Any:
        """The structured content; `None` when there is none, or when it is among `kept` because it is large."""
        return _json.value(self.message.structured_content) if self.message.HasField("structured_content") else None

    @property
    def text(self) -> str:
        """The text of the answer: all its text blocks, without logs and diffs. Of a large one its beginning and its end."""
        return "".join(block.text.text for block in self.message.content if block.HasField("text"))

    @property
    def value(self) -> Any:
        """What the tool answered: its structured content when there is some, else its text."""
        if self.message.structured_content.inline:
            return _json.load(self.message.structured_content.inline)
        return self.text

    @property
    def content(self) -> list[Block]:
        """The content in order."""
        return [Block.of(self.invocation_id, block) for block in self.message.content]

    @property
    def model_text(self) -> str:
        """What a model should be given, as text: what the server made for it, or the content."""
        blocks = self.message.model_facing_content or self.message.content
        return "\n".join(_for_model(block) for block in blocks if not block.HasField("empty"))

    @property
    def kept(self) -> list[Kept]:
        """Whole outputs, files and artifacts that are kept elsewhere. `open` reads them."""
        return [block.kept for block in self.content if block.kept is not None]

    @property
    def context_modifiers(self) -> list[Any]:
        """Changes the tool asks to make to the context of the conversation, in order."""
        return [_json.value(change) for change in self.message.context_modifiers]

    def open(self, kept: Kept | str | None = None) -> Any:
        """Opens what is kept, the first of it by default, for reading: a `KeptFile` of `Toolplane`, an `AsyncKeptFile` of
        `AsyncToolplane`. A text is the name of an artifact. Raises `LookupError` when it, or anything, is not kept."""
        if self._open is None:
            raise LookupError("this result was not read by a client")
        if isinstance(kept, str):
            name, names = kept, [one.name for one in self.kept if one.name]
            kept = next((one for one in self.kept if one.name == name), None)
            if kept is None:
                raise LookupError(f"no artifact `{name}` is kept of this result; there is {', '.join(names) or 'none'}")
        found = kept if kept is not None else next(iter(self.kept), None)
        if found is None:
            raise LookupError("nothing of this result is kept elsewhere: all of it is here")
        return self._open(found)


def _for_model(block: result_pb2.ContentBlock) -> str:
    kind = block.WhichOneof("block") or ""
    inner: Any = getattr(block, kind, None)
    if kind in ("text", "log", "diff"):
        return str(inner.text)
    if inner is None:
        return ""
    return f"[{kind} {inner.uri} {inner.media_type}]".replace("  ", " ")


@dataclass(frozen=True)
class Event:
    """Something that happened to a call. `type` is an open vocabulary, e.g. `tool.invocation.queued`: skip what you do not know.

    `sequence` counts from 1 without gaps. `data` are facts; of a report of progress it is the progress (`message`, `percent`, ...).
    """

    type: str
    sequence: int
    invocation_id: str
    time: datetime
    data: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, message: event_pb2.Event) -> Event:
        """From its message."""
        data = _json.value(message.data) if message.HasField("data") else None
        time = message.time.ToDatetime(tzinfo=timezone.utc)
        return cls(message.event_type, message.sequence, message.invocation_id, time, data if isinstance(data, dict) else {})

    @property
    def is_progress(self) -> bool:
        """Whether it says how far the call is."""
        return self.type == "tool.invocation.progress"

    @property
    def is_partial(self) -> bool:
        """Whether it shows what the tool has so far."""
        return self.type == "tool.invocation.partial_result"

    @property
    def partial_text(self) -> str:
        """The text of a partial result; empty for every other event."""
        blocks = self.data.get("content", []) if self.is_partial else []
        return "".join(block.get("text", "") for block in blocks)


@dataclass(frozen=True)
class CallState:
    """A call as it is now. `message` is the whole record (`toolplane.v1.Invocation`)."""

    invocation_id: str
    tool: str
    status: str
    message: invocation_pb2.Invocation = field(repr=False)
    result: Result | None = None
    duplicate: bool = False
    """It had been accepted before under the same idempotency key or id."""

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self.result is not None
