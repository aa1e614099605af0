"""Kept bytes as files: read as they come, from any place on, proved by their digest when they are read whole."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from toolplane.results import Kept


class KeptFile(io.RawIOBase):
    """What a call keeps, as a binary file. `read`, `seek`, `readinto` and `with` work as with any file.

    Read from the beginning to the end, what was read is held against the digest, and `ToolplaneError` is raised at the end when it
    is something else. Wrap it in `io.TextIOWrapper` or `io.BufferedReader` as you like.
    """

    def __init__(self, kept: Kept, chunks: Callable[[int], Iterator[bytes]]) -> None:
        self.kept = kept
        self._chunks = chunks
        self._at = 0
        self._stream: Iterator[bytes] | None = None
        self._rest = b""

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always: bytes are asked for by range."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Goes on reading elsewhere. What is read after this is a range, and ranges have no digest of their own."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.kept.size}[whence]
        place = max(0, base + offset)
        if place != self._at:
            self._leave()
            self._at = place
        return self._at

    def tell(self) -> int:
        """Where the next byte comes from."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Reads the next bytes; 0 at the end."""
        if self.closed:
            raise ValueError("the file is closed")
        view = memoryview(buffer).cast("B")
        if not self._rest and view.nbytes > 0 and self._at <= self.kept.size:
            if self._stream is None:
                self._stream = self._chunks(self._at)
            # At the end the stream is asked once more: that is when the digest is looked at.
            self._rest = next(self._stream, b"")
        count = min(view.nbytes, len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        self._at += count
        return count

    def close(self) -> None:
        """Leaves the stream. Closing again changes nothing."""
        self._leave()
        super().close()

    def _leave(self) -> None:
        stream, self._stream, self._rest = self._stream, None, b""
        if stream is not None:
            close = getattr(stream, "close", None)
            if close is not None:
                close()


class AsyncKeptFile:
    """What a call keeps, for `asyncio`: `async for chunk in file`, or `await file.read()`. The digest is looked at as by `KeptFile`."""

    def __init__(self, kept: Kept, chunks: Callable[[int, int], AsyncIterator[bytes]]) -> None:
        self.kept = kept
        self._chunks = chunks

    def __aiter__(self) -> AsyncIterator[bytes]:
        """All of it, from the beginning."""
        return self._chunks(0, 0)

    async def read(self, offset: int = 0, limit: int = 0) -> bytes:
        """A range; all of it without one. `limit` 0 is to the end."""
        return b"".join([chunk async for chunk in self._chunks(offset, limit)])
