"""The trace a call belongs to: the ambient OpenTelemetry span where that package is installed, else `TRACEPARENT`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

try:
    from opentelemetry import context as _context
    from opentelemetry import trace as _api
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    _propagator: Any = TraceContextTextMapPropagator()
except ImportError:
    _propagator = None

_inherited = tuple(
    (name, value) for name in ("traceparent", "tracestate") if (value := os.environ.get(name.upper())) and value.isascii()
)


def headers() -> tuple[tuple[str, str], ...]:
    """What continues the trace of the code that calls; empty where there is none."""
    if _propagator is not None and _api.get_current_span().get_span_context().is_valid:
        carrier: dict[str, str] = {}
        _propagator.inject(carrier)
        return tuple(carrier.items())
    return _inherited


@contextmanager
def current(traceparent: str, tracestate: str) -> Iterator[None]:
    """Makes the place in a trace that a call came with the current one, where OpenTelemetry is installed."""
    if _propagator is None or not traceparent:
        yield
        return
    carrier = {"traceparent": traceparent, "tracestate": tracestate}
    token = _context.attach(_propagator.extract(carrier))
    try:
        yield
    finally:
        _context.detach(token)
