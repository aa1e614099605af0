"""The way to a cluster: address, credential, trust.

Settings come from arguments, then from the environment variables of the command line: `TOOLPLANE_ENDPOINT`, `TOOLPLANE_TOKEN`,
`TOOLPLANE_TOKEN_FILE`, `TOOLPLANE_CA_FILE`, `TOOLPLANE_CERT_FILE`, `TOOLPLANE_KEY_FILE`, `TOOLPLANE_SERVER_NAME`.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
import grpc.aio

from toolplane._version import __version__
from toolplane.errors import SetupError

DEFAULT_ENDPOINT = "http://127.0.0.1:7420"
# A listener sends at most 4 MiB unless it was configured otherwise.
_MAX_ANSWER_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Connection:
    """Where a cluster is and who asks. `repr` never shows the token."""

    endpoint: str
    token: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    server_name: str | None = None
    insecure_token: bool = False
    """Send the token in clear text to a host that is not this machine."""

    @classmethod
    def of(
        cls,
        endpoint: str | None = None,
        *,
        token: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        ca_file: str | os.PathLike[str] | None = None,
        cert_file: str | os.PathLike[str] | None = None,
        key_file: str | os.PathLike[str] | None = None,
        server_name: str | None = None,
        insecure_token: bool = False,
    ) -> Connection:
        """Settings from arguments, and from the environment where there is no argument.

        Raises `SetupError` for what cannot be a connection: a malformed address, an empty token, one half of a certificate and its
        key, or a token that would go in clear text to another machine (`insecure_token=True` allows that).
        """

        def setting(argument: str | os.PathLike[str] | None, name: str) -> str | None:
            return os.fspath(argument) if argument is not None else os.environ.get(name) or None

        if token is not None and token_file is not None:
            raise SetupError("give either token or token_file")
        if token is None:
            if token_file is None:
                token = os.environ.get("TOOLPLANE_TOKEN") or None
            place = setting(token_file, "TOOLPLANE_TOKEN_FILE") if token is None else None
            token = _read(place, "token_file").decode() if place is not None else token
        connection = cls(
            endpoint=setting(endpoint, "TOOLPLANE_ENDPOINT") or DEFAULT_ENDPOINT,
            token=token.strip() if token is not None else None,
            ca_file=setting(ca_file, "TOOLPLANE_CA_FILE"),
            cert_file=setting(cert_file, "TOOLPLANE_CERT_FILE"),
            key_file=setting(key_file, "TOOLPLANE_KEY_FILE"),
            server_name=setting(server_name, "TOOLPLANE_SERVER_NAME"),
            insecure_token=insecure_token,
        )
        connection.check()
        return connection

    def check(self) -> None:
        """Raises `SetupError` when these settings cannot be a connection."""
        parts = self._parts()
        if (self.cert_file is None) != (self.key_file is None):
            raise SetupError("cert_file and key_file belong together")
        if not self.secure and (self.ca_file or self.cert_file):
            raise SetupError("certificates need an `https://` endpoint")
        if self.token is not None:
            if not self.token:
                raise SetupError("the token is empty")
            if not (self.token.isascii() and self.token.isprintable()):
                raise SetupError("the token holds characters a header cannot carry")
            if not self.secure and not self.insecure_token and not _is_loopback(parts.hostname or ""):
                raise SetupError(
                    f"the token would go in clear text to `{parts.hostname}`: use an `https://` endpoint, or say insecure_token=True"
                )

    @property
    def secure(self) -> bool:
        """Whether the endpoint is `https://`."""
        return bool(self._parts().scheme == "https")

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What every request carries. Holds the token: never log it."""
        return (("authorization", f"Bearer {self.token}"),) if self.token is not None else ()

    def at(self, endpoint: str) -> Connection:
        """The same credentials and trust for another endpoint of the same cluster. `SetupError` as from `of`."""
        other = dataclasses.replace(self, endpoint=endpoint)
        other.check()
        return other

    def channel(self, *, own: bool = False) -> grpc.Channel:
        """Opens a channel; `own` has a connection of its own. No answer is waited for."""
        if self.secure:
            return grpc.secure_channel(self._target(), self._credentials(), self._options(own))
        return grpc.insecure_channel(self._target(), self._options(own))

    def aio_channel(self) -> grpc.aio.Channel:
        """The same for `asyncio`."""
        if self.secure:
            return grpc.aio.secure_channel(self._target(), self._credentials(), self._options(False))
        return grpc.aio.insecure_channel(self._target(), self._options(False))

    def _parts(self) -> Any:
        address = self.endpoint if "://" in self.endpoint else f"http://{self.endpoint}"
        try:
            parts = urlsplit(address)
            well_formed = parts.scheme in ("http", "https") and parts.hostname and parts.path in ("", "/") and not parts.query
            _ = parts.port
        except ValueError:
            well_formed = False
        if not well_formed or parts.username is not None:
            raise SetupError("the endpoint is not `http://` or `https://`, a host and a port, and nothing after it")
        return parts

    def _target(self) -> str:
        parts = self._parts()
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        return f"{host}:{parts.port or (443 if self.secure else 80)}"

    def _credentials(self) -> grpc.ChannelCredentials:
        return grpc.ssl_channel_credentials(
            root_certificates=_read(self.ca_file, "ca_file") if self.ca_file else None,
            private_key=_read(self.key_file, "key_file") if self.key_file else None,
            certificate_chain=_read(self.cert_file, "cert_file") if self.cert_file else None,
        )

    def _options(self, own: bool) -> list[tuple[str, Any]]:
        options: list[tuple[str, Any]] = [
            ("grpc.primary_user_agent", f"toolplane-python/{__version__}"),
            ("grpc.max_receive_message_length", _MAX_ANSWER_BYTES),
            ("grpc.max_send_message_length", _MAX_ANSWER_BYTES),
            ("grpc.keepalive_time_ms", 20_000),
            # A server that was away is found again soon; how long to try is the caller's own bound.
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.min_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 1_000),
        ]
        if own:
            options.append(("grpc.use_local_subchannel_pool", 1))
        if self.server_name is not None:
            options.append(("grpc.ssl_target_name_override", self.server_name))
        return options


def _read(path: str | None, what: str) -> bytes:
    try:
        return Path(path or "").read_bytes()
    except OSError as error:
        raise SetupError(f"cannot read {what} `{path}`: {error.strerror}") from None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
