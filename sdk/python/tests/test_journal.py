"""What a worker keeps on disk."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from toolplane import SetupError
from toolplane.v1 import worker_pb2
from toolplane.worker.journal import Home, Journal


def done(name: str, summary: str = "") -> worker_pb2.ExecutionDone:
    lease = worker_pb2.LeaseRef(invocation_id=f"inv_{name}", lease_no=1, lease_id=name)
    return worker_pb2.ExecutionDone(lease=lease, outcome=worker_pb2.ExecutionOutcome(status="succeeded", summary=summary))


def names(journal: Journal) -> list[str]:
    return [one.lease.lease_id for one in journal.left()]


def test_endings_stay_until_they_are_settled(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    for name in ("a", "b", "c"):
        journal.keep(done(name))
    journal.settle(done("b").lease)
    journal.close()
    again = Journal(tmp_path / "journal")
    assert names(again) == ["a", "c"]
    again.settle(done("a").lease)
    again.settle(done("c").lease)
    again.close()
    assert names(Journal(tmp_path / "journal")) == []


def test_every_cut_leaves_what_was_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)
    journal.keep(done("a"))
    whole = path.stat().st_size
    journal.keep(done("b"))
    journal.close()
    content = path.read_bytes()
    for end in range(whole, len(content)):
        path.write_bytes(content[:end])
        assert names(Journal(path)) == ["a"]


def test_a_damaged_frame_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)
    journal.keep(done("a", "x" * 50))
    journal.close()
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    assert names(Journal(path)) == []


def test_a_large_journal_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)
    for number in range(30):
        journal.keep(done(str(number), "x" * 50_000))
        journal.settle(done(str(number)).lease)
    journal.keep(done("last"))
    assert path.stat().st_size < 1_200_000
    assert names(journal) == ["last"]


def test_a_folder_is_one_workers_alone(tmp_path: Path) -> None:
    first = Home(tmp_path, None)
    assert first.worker_id.startswith("wkr_") and not first.previous_dead
    with pytest.raises(SetupError, match="another worker"):
        Home(tmp_path, None)
    first.release()
    second = Home(tmp_path, None)
    # The lock is the proof that the one before is gone.
    assert second.worker_id == first.worker_id and second.previous_dead and second.incarnation != first.incarnation
    second.release()
    # Of a worker that had another name nothing is known.
    assert not Home(tmp_path, "named").previous_dead


def hold(folder: str, taken: object) -> None:
    home = Home.take("pytest", None, None)
    taken.put(str(home.folder))  # type: ignore[attr-defined]
    taken.close()  # type: ignore[attr-defined]
    import signal

    signal.pause()


def test_workers_without_a_folder_take_the_first_free_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    spawn = multiprocessing.get_context("spawn")
    taken = spawn.Queue()
    other = spawn.Process(target=hold, args=["", taken])
    other.start()
    assert taken.get(timeout=30).endswith("pytest-1")
    assert Home.take("pytest", None, None).folder.name == "pytest-2"
    other.kill()
    other.join()
    freed = Home.take("pytest", None, None)
    assert freed.folder.name == "pytest-1" and freed.previous_dead
