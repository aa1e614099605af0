"""From what a tool gave to what is reported: content, structured content, what is kept elsewhere because it is large."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from toolplane import _json
from toolplane.v1 import payload_pb2, persistence_pb2, result_pb2, worker_pb2
from toolplane.v1 import vocabulary_pb2 as words
from toolplane.worker.assignment import Assignment
from toolplane.worker.context import Context
from toolplane.worker.outcome import Canceled, File, Output, TooLarge, ToolFailure, failure, text_block
from toolplane.worker.schema import as_json

Upload = Callable[[File], payload_pb2.PayloadRef]
# How much of a large text is shown at its beginning and at its end, in bytes.
_PREVIEW = 4 * 1024


class Report:
    """Gathers what is reported of one execution."""

    def __init__(self, context: Context, max_inline: int, upload: Upload) -> None:
        self._context = context
        self._upload = upload
        limits = context._dispatch.output_limits
        own = [limits.max_inline_bytes] if limits.HasField("max_inline_bytes") else []
        own += [limits.max_inline_chars] if limits.HasField("max_inline_chars") else []
        self._max_inline = max(1024, min([max_inline, *own]))
        self._outcome = worker_pb2.ExecutionOutcome()
        self._began = time.time()
        self._timer = time.monotonic()

    def succeeded(self, given: Any) -> worker_pb2.ExecutionOutcome:
        """The ending of a tool that returned. `TypeError` or `ValueError` for what has no form in JSON."""
        output = given if isinstance(given, Output) else _as_output(given)
        for change in output.context_modifiers:
            self._context.modify_context(change)
        outcome = self._outcome
        outcome.status = "partial_succeeded" if output.partial else "succeeded"
        has_value = output.has_value or output.value is not None
        written = _json.dump(as_json(output.value)) if has_value else b""
        if output.text:
            self._text(output.text)
        if has_value:
            # Alone it needs no text beside it: the server makes one for models.
            self._structured(written, shown=bool(output.text))
        if output.diff:
            outcome.content.append(result_pb2.ContentBlock(diff=result_pb2.DiffBlock(text=output.diff)))
        for log in output.logs:
            self._context.log(log)
        for file in output.files:
            self._context.files.append((file.name, self._upload(file)))
        outcome.ui_facing_summary = output.summary or _line(output.text or written[:1000].decode(errors="ignore"))
        outcome.summary = outcome.ui_facing_summary
        return self._finish()

    def failed(self, error: BaseException) -> worker_pb2.ExecutionOutcome:
        """The ending of a tool that raised."""
        once = self._context._assignment.once
        if isinstance(error, ToolFailure):
            message = error.message_for(idempotent=not once)
        else:
            retry = "verify_before_retry" if once else "retry_safe"
            text = str(error).strip()
            said = f"{type(error).__name__}: {text}" if text else type(error).__name__
            message = failure("exec.unspecified", "execution_failed", said, retry, side_effects="unknown")
        return self._with_error("failed", message)

    def not_json(self, error: Exception) -> worker_pb2.ExecutionOutcome:
        """The ending of a tool that gave what JSON cannot say."""
        self._outcome = worker_pb2.ExecutionOutcome()
        text = f"the output of the tool has no form in JSON: {error}"
        message = failure("exec.output_invalid", "execution_failed", text, "change_arguments", side_effects="completed")
        return self._with_error("failed", message)

    def too_large(self, error: TooLarge) -> worker_pb2.ExecutionOutcome:
        """The ending of a tool that gave more than may be kept: its effect is done, and of a text the preview is left."""
        text = f"the tool succeeded, but its output {error}"
        message = failure("result.too_large", "result_too_large", text, "not_retryable", side_effects="completed")
        return self._with_error("too_large", message)

    def refused(self, code: str, error_class: str, text: str) -> worker_pb2.ExecutionOutcome:
        """The ending of a call whose tool did not run."""
        retry = "change_arguments" if error_class == "invalid_arguments" else "not_retryable"
        return self._with_error("failed", failure(code, error_class, text, retry, side_effects="none"))

    def stopped(self, reason: str, abort_reason: str) -> worker_pb2.ExecutionOutcome:
        """The ending of a tool that stopped because it was asked to."""
        once = self._context._assignment.once
        if reason == "timeout":
            text, word = "the tool's time was up and it was stopped", "retry_safe" if not once else "verify_before_retry"
            return self._with_error(
                "timed_out", failure("exec.timeout", "timeout", text, word, side_effects="unknown", abort_reason="timeout")
            )
        if reason == "cancel":
            word = "verify_before_retry" if once else "retry_safe"
            text = "canceled while the tool ran"
            error = failure("exec.canceled", "canceled", text, word, side_effects="unknown", abort_reason=abort_reason)
            return self._with_error("canceled", error)
        return self.unknown("runtime_shutdown" if reason == "shutdown" else "")

    def unknown(self, abort_reason: str) -> worker_pb2.ExecutionOutcome:
        """The ending of a tool that is left behind: what it did is not known."""
        text = "the worker ended before the tool did; its effect may or may not have happened"
        error = failure(
            "exec.outcome_unknown",
            "execution_failed",
            text,
            "verify_before_retry",
            side_effects="unknown",
            abort_reason=abort_reason,
        )
        return self._with_error("synthetic_error", error)

    def _with_error(self, status: str, error: Any) -> worker_pb2.ExecutionOutcome:
        outcome = self._outcome
        outcome.status, outcome.is_error = status, True
        outcome.error.CopyFrom(error)
        outcome.summary = outcome.ui_facing_summary = _line(error.message)
        return self._finish()

    # === parts ===

    def _structured(self, written: bytes, *, shown: bool) -> None:
        if len(written) <= self._max_inline:
            self._outcome.structured_content.inline = written
            return
        if not shown:
            self._outcome.content.append(text_block(_preview(written)))
        self._keep("structured_content", written, "application/json", preview=None)

    def _text(self, text: str) -> None:
        written = text.encode()
        if len(written) <= self._max_inline:
            self._outcome.content.append(text_block(text))
            return
        shown = _preview(written)
        self._outcome.content.append(text_block(shown))
        self._keep("result", written, "text/plain; charset=utf-8", preview=len(shown.encode()))

    def _keep(self, name: str, written: bytes, media_type: str, preview: int | None) -> None:
        kept = self._upload(File(written, media_type, name))
        self._outcome.content.append(result_pb2.ContentBlock(persisted_output_ref=kept))
        strategy = words.PERSISTENCE_STRATEGY_REF_ONLY if preview is None else words.PERSISTENCE_STRATEGY_PREVIEW_AND_PERSIST
        self._outcome.persisted.append(
            worker_pb2.PersistedOutput(
                name=name,
                strategy=strategy,
                threshold=persistence_pb2.PersistenceThreshold(max_inline_bytes=self._max_inline),
                original_size_bytes=len(written),
                preview_size_bytes=preview,
                payload=kept,
                reason="result_exceeded_inline_limit",
            )
        )

    def _finish(self) -> worker_pb2.ExecutionOutcome:
        outcome, context = self._outcome, self._context
        outcome.content.extend(context._blocks())
        if not outcome.content and not outcome.is_error and not outcome.HasField("structured_content"):
            outcome.content.append(result_pb2.ContentBlock(empty=result_pb2.EmptyBlock()))
        outcome.artifact_refs.extend(artifact.message() for artifact in context.artifacts)
        outcome.context_modifiers.extend(context.context_modifiers)
        evidence: dict[str, Any] = {}
        if context.evidence_refs:
            evidence["refs"] = context.evidence_refs
        if context.called:
            evidence["native_ids"] = context.called
        if evidence:
            outcome.evidence.CopyFrom(_json.payload(evidence))
        outcome.started_at.FromNanoseconds(int(self._began * 1e9))
        outcome.duration_ms = max(0, round((time.monotonic() - self._timer) * 1000))
        given = sum(len(block.text.text.encode()) for block in outcome.content if block.HasField("text"))
        kept = sum(block.file.size_bytes for block in outcome.content if block.HasField("file"))
        outcome.output_bytes = given + kept + len(outcome.structured_content.inline)
        return outcome


def ending(assignment: Assignment, report: Report, call: Callable[[], Any]) -> worker_pb2.ExecutionOutcome | None:
    """Runs a tool; gives its ending, and nothing when its lease is gone. A tool that was faster than the wish to stop it succeeded."""
    stop = assignment.stop
    try:
        given = call()
        try:
            return report.succeeded(given)
        except (TypeError, ValueError) as error:
            return report.not_json(error)
        except TooLarge as error:
            return report.too_large(error)
    except Canceled:
        if stop.reason == "fenced":
            return None
        return report.stopped(stop.reason or "cancel", stop.abort_reason)
    except Exception as error:
        return report.failed(error)


def _as_output(given: Any) -> Output:
    if given is None:
        return Output()
    if isinstance(given, str):
        return Output(text=given)
    if isinstance(given, File):
        return Output(files=[given])
    if isinstance(given, (bytes, bytearray, memoryview)):
        return Output(files=[File(bytes(given))])
    return Output(value=given, has_value=True)


def _preview(written: bytes) -> str:
    head, tail = written[:_PREVIEW].decode(errors="ignore"), written[-_PREVIEW:].decode(errors="ignore")
    left_out = len(written) - len(head.encode()) - len(tail.encode())
    return f"{head}\n[... {left_out} bytes left out ...]\n{tail}"


def _line(text: str) -> str:
    """The first line, cut for a list."""
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= 200 else f"{line[:197]}..."
