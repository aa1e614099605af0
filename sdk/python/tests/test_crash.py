"""Workers that are killed, drained and started anew in the middle of calls."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import Proxy
from processes import PATIENCE, Served, until
from toolplane import OutcomeUnknown, Toolplane


@pytest.fixture
def served(endpoint: str, namespace: str, tmp_path: Path) -> Iterator[Served]:
    made = Served(namespace, tmp_path)
    yield made
    made.end()


def test_what_must_not_run_twice_is_told_as_unknown(tools: Toolplane, served: Served) -> None:
    served.start()
    call = tools.submit(f"{served.namespace}.once", {"name": "a"})
    served.wait_for("begun a")
    served.kill()
    served.go("a")
    served.start()
    with pytest.raises(OutcomeUnknown) as unknown:
        tools.wait(call.invocation_id, timeout=PATIENCE)
    assert unknown.value.code == "exec.outcome_unknown" and unknown.value.retry == "verify_before_retry"
    # The worker that came back serves, and has not run it again.
    tools.call(f"{served.namespace}.quick")
    assert len([mark for mark in served.marks() if mark.startswith("begun a")]) == 1


def test_what_may_run_twice_runs_again(tools: Toolplane, served: Served) -> None:
    served.start()
    call = tools.submit(f"{served.namespace}.again", {"name": "b"})
    served.wait_for("begun b")
    served.kill()
    served.go("b")
    served.start()
    assert tools.wait(call.invocation_id, timeout=PATIENCE).value == "b"
    assert len([mark for mark in served.marks() if mark.startswith("begun b")]) == 2


def test_a_drain_lets_calls_end_and_takes_no_more(tools: Toolplane, served: Served) -> None:
    served.start()
    assert served.process is not None
    call = tools.submit(f"{served.namespace}.once", {"name": "c"})
    served.wait_for("begun c")
    served.terminate()
    workers = lambda: [mark for mark in served.marks() if mark.startswith("down")]  # noqa: E731
    assert not workers()
    served.go("c")
    assert tools.wait(call.invocation_id, timeout=PATIENCE).value == "c"
    assert served.process.wait(PATIENCE) == 0
    assert workers() == [f"down {served.process.pid}"]


def test_an_ending_that_was_not_told_is_told_by_the_next_start(
    tools: Toolplane, namespace: str, tmp_path: Path, proxy: Proxy
) -> None:
    served = Served(namespace, tmp_path, proxy.endpoint)
    try:
        served.start()
        call = tools.submit(f"{namespace}.once", {"name": "d"})
        served.wait_for("begun d")
        proxy.cut()
        served.go("d")
        served.wait_for("ended d")
        journal = tmp_path / "data" / "journal"
        until(lambda: journal.stat().st_size > 0, "the ending on disk")
        served.kill()
        proxy.mend()
        served.start()
        # The tool ran once, and its answer is the one it gave then.
        assert tools.wait(call.invocation_id, timeout=PATIENCE).value == "d"
        assert len([mark for mark in served.marks() if mark.startswith("begun d")]) == 1
    finally:
        served.end()


def test_a_call_goes_on_over_a_broken_stream(tools: Toolplane, namespace: str, tmp_path: Path, proxy: Proxy) -> None:
    served = Served(namespace, tmp_path, proxy.endpoint)
    try:
        served.start()
        call = tools.submit(f"{namespace}.once", {"name": "e"})
        served.wait_for("begun e")
        proxy.cut()
        proxy.mend()
        assert proxy.connected.wait(PATIENCE)
        served.go("e")
        result = tools.wait(call.invocation_id, timeout=PATIENCE)
        assert result.value == "e"
        assert tools.get(call.invocation_id).message.attempt == 1
    finally:
        served.end()


def test_many_calls_over_kills_are_all_told_and_none_twice(tools: Toolplane, served: Served) -> None:
    """Calls of both kinds while their worker is killed again and again: each has one ending, by the table of what is known."""
    served.start()
    names = [f"m{number}" for number in range(60)]
    for name in names:
        served.go(name)
    over = threading.Event()

    def one(number: int) -> tuple[str, str]:
        tool = "once" if number % 2 else "again"
        result = tools.call(f"{served.namespace}.{tool}", {"name": names[number]}, raise_on_error=False, timeout=PATIENCE * 2)
        return tool, result.error.code if result.error else result.value

    def kill() -> None:
        for count in (10, 25):
            until(lambda count=count: len([mark for mark in served.marks() if mark.startswith("begun m")]) >= count, "calls")  # type: ignore[misc]
            served.kill()
            served.start()
        over.set()

    killer = threading.Thread(target=kill)
    killer.start()
    with ThreadPoolExecutor(8) as pool:
        endings = list(pool.map(one, range(len(names))))
    killer.join()
    assert over.is_set()
    begun = [mark.split()[1] for mark in served.marks() if mark.startswith("begun m")]
    for name, (tool, said) in zip(names, endings, strict=True):
        if tool == "once":
            assert said in (name, "exec.outcome_unknown"), said
            assert begun.count(name) <= 1, name
        else:
            assert said == name, said
