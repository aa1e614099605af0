"""What outlives a worker's process: its name, the proof that no earlier start of it is alive, and endings that were not told yet.

An ending is durable here before it is reported, so a worker that dies between the effect and the report still reports it when it
is back. One file of frames (length, checksum, content), appended to; what was acknowledged leaves it.
"""

from __future__ import annotations

import fcntl
import os
import struct
import threading
import uuid
import zlib
from pathlib import Path

from toolplane.errors import SetupError
from toolplane.v1 import worker_pb2

_HEAD = struct.Struct("<II")
# A file larger than this is written anew when everything in it has left.
_LARGE = 1024 * 1024
# How many homes one machine may have for workers that have no name of their own.
_HOMES = 256


class Home:
    """The folder of one worker. While it lives no other process can be the same worker: the folder is locked until it ends."""

    def __init__(self, folder: Path, wanted: str | None) -> None:
        """Takes a folder, made when it is not there. `SetupError` while another worker uses it."""
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise SetupError(f"cannot use the folder `{folder}`: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise SetupError(f"another worker uses the folder `{folder}`: give each one its own") from None
        name = folder / "worker_id"
        kept = name.read_text().strip() if name.exists() else ""
        self.worker_id = wanted or kept or f"wkr_{uuid.uuid4().hex}"
        self.incarnation = uuid.uuid4().hex
        # Who was here before under this name is gone: it held the lock. Of a worker that ran elsewhere nothing is known.
        self.previous_dead = kept == self.worker_id
        if kept != self.worker_id:
            _write_whole(name, self.worker_id.encode())

    @classmethod
    def take(cls, namespace: str, folder: Path | None, worker_id: str | None) -> Home:
        """The folder that is named, or the first free one of this user's workers of the namespace."""
        if folder is not None:
            return cls(folder, worker_id)
        state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        base = Path(state) / "toolplane" / "workers"
        if worker_id is not None:
            return cls(base / f"id-{worker_id.replace('/', '_')}", worker_id)
        for number in range(1, _HOMES + 1):
            try:
                return cls(base / f"{namespace}-{number}", None)
            except SetupError:
                if not (base / f"{namespace}-{number}" / "lock").exists():
                    raise
        raise SetupError(f"{_HOMES} workers of `{namespace}` run here already: name a folder for this one (data_dir)")

    def release(self) -> None:
        """Lets another process be this worker."""
        os.close(self._lock)


class Journal:
    """Endings on disk. May be used from several threads; endings that come together share one flush."""

    def __init__(self, path: Path) -> None:
        """Opens a journal, made when it is not there. What a crash has cut off at its end was never promised, and is dropped."""
        self._path = path
        self._write = threading.Lock()
        self._flush = threading.Lock()
        self._live = _read(path)
        self._compact()
        self._written = self._flushed = 0

    def left(self) -> list[worker_pb2.ExecutionDone]:
        """The endings that were not acknowledged, oldest first."""
        return list(self._live.values())

    def keep(self, done: worker_pb2.ExecutionDone) -> None:
        """Keeps an ending. When this returns it survives the process and the machine; `OSError` when it cannot be written."""
        with self._write:
            self._append(b"K" + done.SerializeToString())
            self._live[done.lease.lease_id] = done
            self._written += 1
            mine = self._written
        with self._flush:
            if self._flushed >= mine:
                return
            newest = self._written
            os.fdatasync(self._file.fileno())
            self._flushed = newest

    def settle(self, lease: worker_pb2.LeaseRef) -> None:
        """The ending of a lease is needed no more. One that is told twice after a crash does no harm, so nothing is flushed."""
        with self._write:
            if self._live.pop(lease.lease_id, None) is None:
                return
            try:
                self._append(b"S" + lease.lease_id.encode())
                if not self._live and self._file.tell() > _LARGE:
                    with self._flush:
                        self._compact()
            except OSError:
                # It is told again after a restart, and answered as one that is over.
                return

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _append(self, content: bytes) -> None:
        self._file.write(_HEAD.pack(len(content), zlib.crc32(content)) + content)
        self._file.flush()

    def _compact(self) -> None:
        """Writes only what is live, aside and renamed: a crash leaves the old file or the new one."""
        frames = [b"K" + done.SerializeToString() for done in self._live.values()]
        content = b"".join(_HEAD.pack(len(frame), zlib.crc32(frame)) + frame for frame in frames)
        _write_whole(self._path, content)
        self._file = self._path.open("ab")


def _read(path: Path) -> dict[str, worker_pb2.ExecutionDone]:
    live: dict[str, worker_pb2.ExecutionDone] = {}
    content = path.read_bytes() if path.exists() else b""
    at = 0
    while at + _HEAD.size <= len(content):
        length, checksum = _HEAD.unpack_from(content, at)
        frame = content[at + _HEAD.size : at + _HEAD.size + length]
        if len(frame) < length or zlib.crc32(frame) != checksum:
            break
        if frame[:1] == b"K":
            done = worker_pb2.ExecutionDone.FromString(frame[1:])
            live[done.lease.lease_id] = done
        else:
            live.pop(frame[1:].decode(), None)
        at += _HEAD.size + length
    return live


def _write_whole(path: Path, content: bytes) -> None:
    aside = path.with_name(f"{path.name}.new")
    with aside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
