"""Every example runs, and says what it should."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PACKAGE
from processes import PATIENCE
from toolplane import Toolplane, ToolplaneError

EXAMPLES = PACKAGE / "examples"
SAYS = {
    "agent.py": r" *\d+ +\d+ +\d+ words\.txt\s+input\.schema_violation change_arguments\s*",
    "stream.py": r"1 tool\.invocation\.planned[\s\S]*tool\.invocation\.succeeded[\s\S]*succeeded +\d[\s\S]*",
    "approve.py": r"200000 lines in 1288895 bytes\s*",
    "many.py": r"45\nsucceeded\nsucceeded\n",
    "shapes.py": r"text__word_count strict\n/properties/path/\S+ described\n[\s\S]*text\.word_count [\s\S]*words\.txt\ntext__word_count\(path: string\): [^\n]+\n",
    "loop.py": r"The file: [\s\S]*words\.txt\s*",
}


@pytest.fixture
def prepared(tools: Toolplane) -> None:
    """The example tools are declared, and there is a file to count in."""
    try:
        tools.load("text.word_count", "native.echo", "local.shell.exec")
    except ToolplaneError:
        pytest.skip("the cluster has not the example tools (deploy/examples/tools)")
    made = tools.call("local.shell.exec", {"command": "echo one two three > words.txt"}, on_approval=lambda _: "approve")
    assert not made.is_error


def test_every_example_is_tested() -> None:
    # The reranker is asked by the searches of the surface service's own tests.
    assert {file.name for file in EXAMPLES.glob("*.py")} == {*SAYS, "worker.py", "rerank.py"}


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs(prepared: None, name: str) -> None:
    done = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(SAYS[name], done.stdout), done.stdout


def test_the_worker_of_the_examples_serves(tools: Toolplane, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, EXAMPLES / "worker.py"], stdout=subprocess.PIPE, text=True, env={**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "serving example.word_count example.paint\n"
        approve = {"on_approval": lambda _: "approve"}
        assert tools.call("example.word_count", {"text": "a b c"}, **approve).value == 3  # type: ignore[arg-type]
        assert tools.call("example.paint", {"thing": "door"}, on_input=lambda _: "red", **approve).value == "a red door"  # type: ignore[arg-type]
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()


def test_the_readme_runs(prepared: None, tmp_path: Path) -> None:
    """Its first agent as it stands; its first worker compiles, and `worker.py` above is the same with more."""
    blocks = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        compile(block, "README.md", "exec")
    done = subprocess.run([sys.executable, "-c", blocks[0]], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and "words.txt" in done.stdout, done.stderr
