"""The details a refusal carries (`google.rpc.Status` in the trailers), read without the package that has their messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_DETAILS = "grpc-status-details-bin"


@dataclass
class Details:
    """What a Toolplane server says beside the gRPC code."""

    reason: str = ""
    retry: str = ""
    retry_after: float | None = None
    violations: list[tuple[str, str]] = field(default_factory=list)


def read(trailers: Any) -> Details:
    """Reads the details. What cannot be read counts as absent: an error must not hide behind another one."""
    details = Details()
    for key, value in trailers or ():
        if key == _DETAILS:
            try:
                _status(value if isinstance(value, bytes) else value.encode("latin-1"), details)
            except (ValueError, IndexError):
                return Details()
    return details


def _status(message: bytes, details: Details) -> None:
    for number, content in _fields(message):
        if number != 3 or not isinstance(content, bytes):
            continue
        packed = dict(_fields(content))
        kind, inner = packed.get(1, b""), packed.get(2, b"")
        if not isinstance(kind, bytes) or not isinstance(inner, bytes):
            continue
        if kind.endswith(b"google.rpc.ErrorInfo"):
            _error_info(inner, details)
        elif kind.endswith(b"google.rpc.RetryInfo"):
            _retry_info(inner, details)
        elif kind.endswith(b"google.rpc.BadRequest"):
            _bad_request(inner, details)


def _error_info(message: bytes, details: Details) -> None:
    for number, content in _fields(message):
        if number == 1:
            details.reason = _text(content)
        elif number == 3 and isinstance(content, bytes):
            entry = dict(_fields(content))
            if _text(entry.get(1, b"")) == "retry":
                details.retry = _text(entry.get(2, b""))


def _retry_info(message: bytes, details: Details) -> None:
    duration = dict(_fields(message)).get(1)
    if isinstance(duration, bytes):
        parts = dict(_fields(duration))
        seconds, nanos = parts.get(1, 0), parts.get(2, 0)
        if isinstance(seconds, int) and isinstance(nanos, int):
            details.retry_after = seconds + nanos / 1e9


def _bad_request(message: bytes, details: Details) -> None:
    for number, content in _fields(message):
        if number == 1 and isinstance(content, bytes):
            violation = dict(_fields(content))
            details.violations.append((_text(violation.get(1, b"")), _text(violation.get(2, b""))))


def _text(content: bytes | int) -> str:
    return content.decode(errors="replace") if isinstance(content, bytes) else ""


def _fields(message: bytes) -> Iterator[tuple[int, bytes | int]]:
    """The fields of a protobuf message, by number. `ValueError` or `IndexError` for what is none."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield number, value
        elif wire == 2:
            size, at = _varint(message, at)
            if at + size > len(message):
                raise ValueError("a field is cut off")
            yield number, message[at : at + size]
            at += size
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
        else:
            raise ValueError("not a message")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 64, 7):
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number is too long")
