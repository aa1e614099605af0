"""Whether there is a server: told apart are one that was never reached, and one that went away."""

from __future__ import annotations

import logging
import re
from typing import Any

from toolplane import errors

_log = logging.getLogger("toolplane")
# What gRPC says when it found no way to an address. A connection that broke is said otherwise.
_NO_WAY = re.compile(r"failed to connect|errors resolving|DNS resolution failed|backends failing|empty address")
# Something is there, and encryption, or the lack of it, keeps us from talking to it.
_ENCRYPTION = re.compile(r"handshake failed|certificate", re.IGNORECASE)
# What OpenSSL says of an answer that is no TLS.
_PLAIN = "WRONG_VERSION_NUMBER"
_ADVICE = "start one with `toolplane serve`, or name another with TOOLPLANE_ENDPOINT or `endpoint`"


class Reach:
    """What one client knows of its server. May be used from several threads: what is set twice is the same."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._reached = False
        self._said = False

    def answered(self) -> None:
        """There was an answer."""
        self._reached = True
        if self._said:
            self._said = False
            _log.info("the cluster at `%s` answers again", self._endpoint)

    def failed(self, error: Any) -> errors.RequestRefused:
        """What a gRPC error means: `Unreachable` as long as there never was a connection."""
        refused = errors.of_rpc(error)
        if no_way(refused):
            return refused if self._reached else unreachable(self._endpoint, refused)
        # A connection that broke, or a server that refused. Of a time that is up nothing is known.
        if refused.status not in ("DEADLINE_EXCEEDED", "CANCELLED"):
            self._reached = True
        return refused

    def waits(self, error: errors.RequestRefused) -> None:
        """A request is about to be made again. Said once, until there is an answer."""
        if not self._said:
            self._said = True
            said = error.message if isinstance(error, errors.Unreachable) else f"no answer from `{self._endpoint}`: {error.message}"
            _log.warning("%s; trying again", said)


def no_way(refused: errors.RequestRefused) -> bool:
    """Whether no connection could be made."""
    return refused.status == "UNAVAILABLE" and not refused.code and _NO_WAY.search(refused.message) is not None


def unreachable(endpoint: str, refused: errors.RequestRefused) -> errors.Unreachable:
    """The same as an error that says where was asked, and what to do."""
    reason = refused.message.rsplit("last error: ", 1)[-1]
    if _PLAIN in reason:
        reason = "the port does not speak TLS; use `http://` in the endpoint"
    elif not _ENCRYPTION.search(reason):
        # The innermost of what the network says.
        reason = re.sub(r"^UNKNOWN: .*?Failed to connect to remote host: (connect: )?", "", reason)
        return errors.Unreachable(f"cannot reach a cluster at `{endpoint}`: {reason}; {_ADVICE}")
    return errors.Unreachable(f"cannot connect to `{endpoint}`: {reason}")
