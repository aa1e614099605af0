"""Flows of single calls: make one, follow it, answer its questions, cancel it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolplane import _json, _rpc, errors, questions
from toolplane._flow import Ask, Close, Emit, Flow, Left, Next, Open, Patience, Retry, Rpc, Sleep, retried
from toolplane._spec import make_spec
from toolplane.results import CallState, Event, Result
from toolplane.settings import CallSettings
from toolplane.v1 import invocation_service_pb2 as invocations
from toolplane.v1 import permission_service_pb2 as permissions
from toolplane.v1 import vocabulary_pb2 as words

# One wait of the server; longer ones are made of several.
_WAIT_MS = 30_000
# With callbacks: how long a call may take before its events are followed, which tell questions at once.
_WAIT_FOR_CALLBACKS_MS = 200
# How long after its own wait the server may take to answer before the answer counts as lost, in seconds.
_MARGIN = 15.0
# How long after the call's own deadline its ending may take to be told, in seconds.
_SETTLE = 10.0
# How long a cancellation on the way out may take, in seconds.
_CANCEL_TIMEOUT = 5.0


@dataclass(frozen=True)
class Context:
    """What all calls of one client have in common."""

    surface_id: str
    actor: str
    session: str
    retry: Retry
    opener: Any
    refs: tuple[str, ...] = ()
    """What calls, searches and loads belong to, beside the session: `task:ID`, ..."""

    @property
    def belongs_to(self) -> list[str]:
        """What searches and loads belong to; the session counts before one among the refs, as with calls."""
        if not self.session:
            return list(self.refs)
        session = self.session if self.session.startswith("session:") else f"session:{self.session}"
        return [session, *(ref for ref in self.refs if not ref.startswith("session:"))]


class CallFlows:
    """Flows about calls, for one client."""

    def __init__(self, context: Context) -> None:
        self.context = context

    # === one call ===

    def spec(self, name: str, args: Mapping[str, Any] | bytes | None, settings: CallSettings) -> invocations.InvocationSpec:
        """The call as a message; see `_spec`."""
        context = self.context
        return make_spec(name, args, settings, surface_id=context.surface_id, actor=context.actor, session=context.session, refs=context.refs)

    def call(self, name: str, args: Mapping[str, Any] | bytes | None, settings: CallSettings) -> Flow[Result]:
        """Makes a call and waits for its end."""
        spec = self.spec(name, args, settings)
        following = Following(self, spec.invocation_id, settings)
        try:
            result = yield from self._called(spec, settings, following)
        except BaseException as error:
            yield from self._interrupted(error, spec, following.invocation_id, settings)
            raise
        return self.ended(result, settings)

    def _called(self, spec: invocations.InvocationSpec, settings: CallSettings, following: Following) -> Flow[Any]:
        if settings.get("on_event") is not None:
            return (yield from following.stream(spec, emit=False))
        wait_ms = _WAIT_FOR_CALLBACKS_MS if following.has_callbacks else _WAIT_MS
        if spec.timeout_ms:
            wait_ms = min(wait_ms, spec.timeout_ms + 1_000)
        request = invocations.CallRequest(spec=spec, wait_ms=wait_ms)
        timeout = wait_ms / 1000 + _MARGIN
        answer = yield from retried(_rpc.CALL, request, timeout=timeout, retry=self.context.retry, deadline=following.deadline)
        if answer.HasField("result"):
            return answer.result
        following.invocation_id = answer.accepted.invocation_id
        if following.has_callbacks:
            return (yield from following.events(answer.invocation))
        return (yield from self.waited(answer.accepted.invocation_id, following.deadline))

    def stream(self, name: str, args: Mapping[str, Any] | bytes | None, settings: CallSettings) -> Flow[None]:
        """Makes a call; emits its events and then its result."""
        spec = self.spec(name, args, settings)
        following = Following(self, spec.invocation_id, settings)
        try:
            result = yield from following.stream(spec, emit=True)
        except BaseException as error:
            yield from self._interrupted(error, spec, following.invocation_id, settings)
            raise
        yield Emit(self.ended(result, settings))

    def submit(self, name: str, args: Mapping[str, Any] | bytes | None, settings: CallSettings) -> Flow[CallState]:
        """Has a call accepted, and does not wait for it."""
        request = invocations.SubmitInvocationRequest(spec=self.spec(name, args, settings))
        answer = yield from retried(_rpc.SUBMIT, request, timeout=_MARGIN, retry=self.context.retry)
        return self.state(answer.invocation, None, duplicate=answer.accepted.duplicate)

    # === calls there are ===

    def get(self, invocation_id: str) -> Flow[CallState]:
        """Reads a call."""
        request = invocations.GetInvocationRequest(invocation_id=invocation_id)
        answer = yield from retried(_rpc.GET, request, timeout=_MARGIN, retry=self.context.retry)
        return self.state(answer.invocation, answer.result if answer.HasField("result") else None)

    def wait(self, invocation_id: str, settings: CallSettings) -> Flow[Result]:
        """Waits for the end of a call, at most `timeout`; answers its questions as a call does."""
        following = Following(self, invocation_id, settings, settle=0.0)
        if following.has_callbacks or settings.get("on_event") is not None:
            state = yield from self.get(invocation_id)
            message = state.result.message if state.result else (yield from following.events(state.message))
        else:
            message = yield from self.waited(invocation_id, following.deadline)
        return self.ended(message, settings)

    def watch(self, invocation_id: str, from_sequence: int, settings: CallSettings) -> Flow[None]:
        """Emits the events of a call from a sequence on, then its result."""
        following = Following(self, invocation_id, settings, settle=0.0)
        following.next_sequence = max(1, from_sequence)
        result = yield from following.watched(emit=True)
        yield Emit(self.ended(result, settings))

    def cancel(self, invocation_id: str, reason: str, fallback: bool = False) -> Flow[CallState]:
        """Asks to cancel a call."""
        request = invocations.CancelInvocationRequest(
            invocation_id=invocation_id,
            reason=reason,
            requested_by=self.context.actor,
            request_id=str(uuid.uuid4()),
            abort_reason="fallback" if fallback else "",
        )
        answer = yield from retried(_rpc.CANCEL, request, timeout=_MARGIN, retry=self.context.retry)
        return self.state(answer.invocation, None)

    def provide_input(self, invocation_id: str, value: Any, input_id: str, declined: bool) -> Flow[CallState]:
        """Answers the question of a call."""
        request = invocations.ProvideInputRequest(
            invocation_id=invocation_id,
            input_id=input_id,
            input=None if declined else _json.payload(value),
            declined=declined,
            provided_by=self.context.actor,
        )
        answer = yield from retried(_rpc.PROVIDE_INPUT, request, timeout=_MARGIN, retry=self.context.retry)
        return self.state(answer.invocation, None)

    def waited(self, invocation_id: str, deadline: float | None) -> Flow[Any]:
        """The result message of a call that may still run."""
        while True:
            left = _left(deadline, invocation_id)
            wait_ms = min(_WAIT_MS, max(1, int(left * 1000))) if left is not None else _WAIT_MS
            request = invocations.WaitInvocationRequest(invocation_id=invocation_id, timeout_ms=wait_ms)
            timeout = wait_ms / 1000 + _MARGIN
            answer = yield from retried(_rpc.WAIT, request, timeout=timeout, retry=self.context.retry)
            if answer.done:
                return answer.result
            if answer.HasField("cut_short"):
                # The process that waited stops; the call goes on, and another one is there in a moment.
                yield Sleep(answer.cut_short.retry_after_ms / 1000)

    def state(self, message: Any, result: Any, duplicate: bool = False) -> CallState:
        """A call as callers see it."""
        ended = Result(result, self.context.opener) if result is not None else None
        return CallState(message.invocation_id, message.tool_name, message.status, message, ended, duplicate)

    def ended(self, message: Any, settings: CallSettings) -> Result:
        """The result, or its error raised."""
        result = Result(message, self.context.opener)
        if message.is_error and settings.get("raise_on_error", True):
            raise errors.of_result(result)
        return result

    def _interrupted(self, error: BaseException, spec: Any, invocation_id: str, settings: CallSettings) -> Flow[None]:
        """The caller goes away: cancels the call, unless only a wait ended or nothing was accepted."""
        if isinstance(error, (errors.RequestRefused, errors.WaitExpired)):
            if isinstance(error, errors.RequestRefused):
                error.invocation_id = invocation_id
            return
        if isinstance(error, Left) or not settings.get("cancel_on_interrupt", True):
            return
        reason = "its caller was interrupted" if not isinstance(error, Exception) else "its caller failed"
        try:
            yield from self._cancel_now(spec, invocation_id, reason)
        except errors.RequestRefused:
            # The interrupt is what the caller has to hear of.
            return

    def _cancel_now(self, spec: Any, invocation_id: str, reason: str) -> Flow[None]:
        for attempt in range(4):
            request = invocations.CancelInvocationRequest(
                invocation_id=invocation_id, reason=reason, requested_by=self.context.actor
            )
            try:
                yield Rpc(_rpc.CANCEL, request, _CANCEL_TIMEOUT)
                return
            except errors.RequestRefused as error:
                if error.status != "NOT_FOUND":
                    raise
            # Accepted earlier under this key, or not yet: the request may have been on its way when it was interrupted.
            listed = invocations.ListInvocationsRequest(idempotency_key=spec.idempotency_key, page_size=1)
            found = (yield Rpc(_rpc.LIST_CALLS, listed, _CANCEL_TIMEOUT)).invocations
            if found:
                invocation_id = found[0].invocation_id
            elif attempt < 3:
                yield Sleep(0.1)


class Following:
    """One call that is followed: its events, and the questions that callbacks answer."""

    def __init__(self, flows: CallFlows, invocation_id: str, settings: CallSettings, settle: float = _SETTLE) -> None:
        self._flows = flows
        self._settings = settings
        self._answered: set[str] = set()
        self.invocation_id = invocation_id
        self.next_sequence = 1
        timeout = settings.get("timeout")
        self.deadline = time.monotonic() + timeout + settle if timeout is not None else None

    @property
    def has_callbacks(self) -> bool:
        """Whether somebody here answers questions."""
        return self._settings.get("on_approval") is not None or self._settings.get("on_input") is not None

    def events(self, invocation: Any) -> Flow[Any]:
        """Follows a call that was accepted before; gives its result message. What it waits for now is asked first."""
        self.invocation_id = invocation.invocation_id
        if invocation.HasField("pending_input"):
            yield from self._ask_input(invocation.pending_input)
        elif invocation.status == "awaiting_approval" and invocation.approval_request_ref:
            yield from self._ask_approval(invocation.approval_request_ref)
        if self._settings.get("on_event") is None:
            self.next_sequence = invocation.last_seq + 1
        return (yield from self.watched(emit=False))

    def stream(self, spec: invocations.InvocationSpec, *, emit: bool) -> Flow[Any]:
        """Makes the call and follows it; gives its result message."""
        patience = Patience(self._flows.context.retry, self.deadline)
        accepted = False
        while True:
            stream = None
            try:
                stream = yield Open(_rpc.INVOKE, invocations.InvokeRequest(spec=spec), self._timeout())
                while (message := (yield Next(stream))) is not None:
                    patience.succeeded()
                    if message.HasField("accepted"):
                        accepted = True
                        self.invocation_id = message.accepted.invocation_id
                    yield from self._told(message.events, emit)
                    if message.HasField("result"):
                        return message.result
            except errors.RequestRefused as error:
                if accepted:
                    return (yield from self.watched(emit=emit))
                yield from patience.failed(error)
            finally:
                if stream is not None:
                    yield Close(stream)

    def watched(self, *, emit: bool) -> Flow[Any]:
        """Follows from the next sequence on, over broken streams; gives the result message."""
        patience = Patience(self._flows.context.retry, self.deadline)
        while True:
            request = invocations.WatchInvocationRequest(invocation_id=self.invocation_id, from_seq=self.next_sequence)
            stream = None
            try:
                stream = yield Open(_rpc.WATCH, request, self._timeout())
                while (message := (yield Next(stream))) is not None:
                    patience.succeeded()
                    yield from self._told(message.events, emit)
                    if message.HasField("result"):
                        return message.result
            except errors.RequestRefused as error:
                _left(self.deadline, self.invocation_id)
                yield from patience.failed(error)
            finally:
                if stream is not None:
                    yield Close(stream)

    def _timeout(self) -> float | None:
        return _left(self.deadline, self.invocation_id)

    def _told(self, events: Any, emit: bool) -> Flow[None]:
        for message in events:
            if message.sequence < self.next_sequence:
                continue
            self.next_sequence = message.sequence + 1
            on_event = self._settings.get("on_event")
            if emit:
                yield Emit(Event.of(message))
            if on_event is not None:
                yield Ask(on_event, Event.of(message))
            if message.event_class == words.EVENT_CLASS_EXT_INVOCATION_AWAITING_APPROVAL:
                yield from self._ask_approval(str(Event.of(message).data.get("approval_id", "")))
            elif message.event_class == words.EVENT_CLASS_EXT_INVOCATION_NEEDS_INPUT:
                yield from self._look_for_input()

    def _ask_approval(self, approval_id: str) -> Flow[None]:
        """Asks the callback, and answers the question in its name. One that was answered meanwhile is nobody's any more."""
        callback = self._settings.get("on_approval")
        if callback is None or not approval_id or approval_id in self._answered:
            return
        self._answered.add(approval_id)
        retry = self._flows.context.retry
        request = permissions.GetApprovalRequest(approval_id=approval_id)
        found = (yield from retried(_rpc.GET_APPROVAL, request, timeout=_MARGIN, retry=retry)).approval
        if found.state != words.APPROVAL_STATE_PENDING:
            return
        answer = questions.decision((yield Ask(callback, questions.Approval.of(found))))
        if answer is None:
            return
        approve = isinstance(answer, questions.Approve)
        changed = answer.input if isinstance(answer, questions.Approve) else None
        resolve = permissions.ResolveApprovalRequest(
            approval_id=approval_id,
            request_id=str(uuid.uuid4()),
            behavior=words.BEHAVIOR_ALLOW if approve else words.BEHAVIOR_DENY,
            feedback=answer.feedback,
            resolved_by=self._flows.context.actor,
            updated_input=_json.payload(changed) if changed is not None else None,
        )
        try:
            yield from retried(_rpc.RESOLVE_APPROVAL, resolve, timeout=_MARGIN, retry=retry)
        except errors.RequestRefused as error:
            self._refused(error)

    def _look_for_input(self) -> Flow[None]:
        if self._settings.get("on_input") is None:
            return
        state = yield from self._flows.get(self.invocation_id)
        if state.message.HasField("pending_input"):
            yield from self._ask_input(state.message.pending_input)

    def _ask_input(self, pending: Any) -> Flow[None]:
        """Asks the callback what the tool asks, and hands the answer on."""
        callback = self._settings.get("on_input")
        if callback is None or pending.HasField("answer") or pending.input_id in self._answered:
            return
        self._answered.add(pending.input_id)
        answer = yield Ask(callback, questions.Question.of(self.invocation_id, pending))
        if answer is None:
            return
        declined = answer is questions.DECLINE
        try:
            yield from self._flows.provide_input(self.invocation_id, answer, pending.input_id, declined)
        except errors.RequestRefused as error:
            self._refused(error)

    def _refused(self, error: errors.RequestRefused) -> None:
        """An answer was refused. Somebody else's was first, or it is the callback's mistake: no broken stream, so nothing to try again."""
        if error.status != "FAILED_PRECONDITION":
            raise errors.AnswerRefused(error, self.invocation_id) from error


def _left(deadline: float | None, invocation_id: str) -> float | None:
    """Seconds until the deadline. Raises `WaitExpired` when there are none."""
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise errors.WaitExpired("the wait is over, and the call has not ended", invocation_id)
    return left
