"""A call as a message: what every call says, and what was set for one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from toolplane import _json
from toolplane.settings import CallSettings
from toolplane.v1 import invocation_service_pb2 as invocations
from toolplane.v1 import scheduler_policy_pb2

_KNOWN = frozenset(CallSettings.__annotations__)


def make_spec(
    name: str,
    args: Mapping[str, Any] | bytes | None,
    settings: CallSettings,
    *,
    surface_id: str,
    actor: str,
    session: str,
    refs: Sequence[str] = (),
) -> invocations.InvocationSpec:
    """The call as a message. `TypeError` for a setting there is not, `ValueError` or `TypeError` for arguments JSON cannot say, and an empty moment.

    It has an id and a key of its own where none is given: the same message may be sent again.
    """
    # What most calls do not say costs them nothing: this is on the way of every call.
    spec = invocations.InvocationSpec(
        surface_id=surface_id,
        tool_name=name,
        idempotency_key=settings.get("idempotency_key") or unique_key(),
        invocation_id=settings.get("invocation_id") or f"inv_{_unique()}",
        actor_ref=actor,
        session_ref=settings.get("session") or session,
        runtime_refs=settings.get("refs") or refs,
    )
    spec.model_input.inline = args if isinstance(args, bytes) else _json.dump(args if args is not None else {})
    if settings:
        _set(spec, settings)
    return spec


def unique_key() -> str:
    """An idempotency key that nobody else has. Never a UUID: the server reads a time out of one of version 7, and one in sixteen of
    32 random digits looks like that."""
    return f"key_{_unique()}"


def _unique() -> str:
    """32 hex digits that nobody else has."""
    return os.urandom(16).hex()


def _set(spec: invocations.InvocationSpec, settings: CallSettings) -> None:
    """Says what was set. `TypeError` for a setting there is not."""
    if not _KNOWN.issuperset(settings):
        unknown = ", ".join(sorted(set(settings) - _KNOWN))
        raise TypeError(f"a call has no setting `{unknown}`")
    timeout, confidence = settings.get("timeout"), settings.get("confidence")
    spec.native_call_id = settings.get("native_call_id") or ""
    spec.timeout_ms = max(1, round(timeout * 1000)) if timeout is not None else 0
    spec.priority = settings.get("priority", "")
    spec.no_approver = settings.get("no_approver", False)
    spec.background = settings.get("background", False)
    spec.permission_mode = settings.get("mode", "")
    spec.resource_locks.extend(_lock(text) for text in settings.get("locks", ()))
    if confidence is not None:
        spec.assurance.confidence = confidence
    spec.declaration_digest = settings.get("declaration_digest", "")
    spec.surface_moment = settings.get("surface_moment", "")
    if "surface_moment" in settings and not spec.surface_moment:
        raise ValueError("`surface_moment` is empty: leave it out, or give a moment")  # a call that was to be guarded goes not without


def _lock(text: str) -> scheduler_policy_pb2.ResourceLock:
    key, mode = text, "exclusive"
    for known in ("shared", "exclusive"):
        if text.endswith(f":{known}"):
            key, mode = text.removesuffix(f":{known}"), known
    return scheduler_policy_pb2.ResourceLock(key=key, mode=mode)
