"""JSON values as they travel: exact bytes, integers of any size.

Python's own `json` keeps integers whole and the order of members. What JSON does not have (NaN, infinities) is refused before
anything is sent.
"""

from __future__ import annotations

import json
from typing import Any

from toolplane.v1 import payload_pb2

# Encoders are made once: `json.dumps` with options makes one for each call.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


def dump(value: Any) -> bytes:
    """The bytes of a JSON value. `TypeError` or `ValueError` for what JSON cannot say."""
    return _encode(value).encode()


def load(text: bytes) -> Any:
    """The value of JSON bytes."""
    try:
        return _decode(text.decode())
    except ValueError as error:
        # Python refuses integers of more than 4300 digits unless it is told otherwise.
        if "integer string conversion" not in str(error):
            raise
        return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int:
    """An integer of any number of digits, taken in pieces that Python converts without asking."""
    sign, digits = (-1, digits[1:]) if digits.startswith("-") else (1, digits)
    whole = 0
    for at in range(0, len(digits), 4000):
        piece = digits[at : at + 4000]
        whole = whole * 10 ** len(piece) + int(piece)
    return sign * whole


def payload(value: Any) -> payload_pb2.JsonPayload:
    """A value as a message. Bytes are taken for JSON that is written already."""
    return payload_pb2.JsonPayload(inline=value if isinstance(value, bytes) else dump(value))


def value(message: payload_pb2.JsonPayload) -> Any:
    """What a message holds; `None` when it is empty, or when the value is kept elsewhere (`message.ref`)."""
    return load(message.inline) if message.inline else None
