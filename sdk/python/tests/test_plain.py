"""JSON and connections: what needs no cluster."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import toolplane
from toolplane import Connection, SetupError, _json, _status
from toolplane.results import Result
from toolplane.v1 import payload_pb2, refs_pb2, result_pb2


@pytest.mark.parametrize("number", [2**53 + 1, 2**64, -(2**63) - 1, 10**200 + 7, 0])
def test_integers_of_any_size_stay_what_they_are(number: int) -> None:
    assert _json.load(_json.dump({"n": number})) == {"n": number}


def test_an_integer_that_python_would_refuse_is_read() -> None:
    digits = "9" * 5000
    found = _json.load(f'{{"n": -{digits}, "m": 1}}'.encode())
    assert found["m"] == 1 and found["n"] == -(10**5000 - 1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        _json.payload({"x": value})


def test_settings_come_from_the_environment_and_arguments_win(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("from-file\n")
    monkeypatch.setenv("TOOLPLANE_ENDPOINT", "http://localhost:7000")
    monkeypatch.setenv("TOOLPLANE_TOKEN_FILE", str(token))
    assert Connection.of().endpoint == "http://localhost:7000"
    assert Connection.of().metadata == (("authorization", "Bearer from-file"),)
    other = Connection.of("127.0.0.1:7001", token="mine")
    assert (other.endpoint, other.token) == ("127.0.0.1:7001", "mine")


def test_a_token_is_never_shown_and_never_goes_in_clear_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLPLANE_TOKEN_FILE", raising=False)
    assert "s3cret" not in repr(Connection.of("https://example.org", token="s3cret"))
    with pytest.raises(SetupError, match="clear text") as refused:
        Connection.of("http://example.org:7420", token="s3cret")
    assert "s3cret" not in str(refused.value)
    assert Connection.of("http://example.org:7420", token="s3cret", insecure_token=True).metadata
    for local in ("http://127.0.0.2:1", "http://[::1]:1", "localhost:1"):
        assert Connection.of(local, token="s3cret").metadata


@pytest.mark.parametrize(
    "wrong", ["ftp://x:1", "http://x:1/path", "http://user:pass@x:1", "http://:1", "http://x:99999", "http://x:1?y=1"]
)
def test_what_is_no_endpoint_is_refused(wrong: str) -> None:
    with pytest.raises(SetupError):
        Connection.of(wrong)


def test_halves_of_settings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for settings in ({"cert_file": "x"}, {"token": " "}, {"token": "a\nb"}, {"token": "a", "token_file": "b"}):
        with pytest.raises(SetupError):
            Connection.of("https://example.org", **settings)  # type: ignore[arg-type]
    with pytest.raises(SetupError, match="https"):
        Connection.of("http://127.0.0.1:1", ca_file="x")


def test_details_that_cannot_be_read_hide_nothing() -> None:
    for junk in (b"\xff" * 20, b"\x1a\xff", b"", b"\x1a\x03abc"):
        assert _status.read([("grpc-status-details-bin", junk)]).reason == ""
    assert _status.read(None).violations == []


def test_generated_code_is_fresh() -> None:
    script = Path(__file__).parent.parent / "tools" / "generate.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_lower_bounds_are_those_of_the_generated_code() -> None:
    package = Path(__file__).parent.parent
    written = (package / "src/toolplane/v1/invocation_service_pb2.py").read_text()
    gencode = re.search(r"Protobuf Python Version: ([\d.]+)", written)
    stub = re.search(r"GRPC_GENERATED_VERSION = '(\d+\.\d+)", (package / "src/toolplane/v1/invocation_service_pb2_grpc.py").read_text())
    project = (package / "pyproject.toml").read_text()
    assert gencode and f"protobuf>={gencode.group(1)}," in project
    assert stub and f"grpcio>={stub.group(1)}" in project


def test_there_is_one_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", toolplane.__version__)
    assert toolplane.__version__ in (Path(__file__).parent.parent / "README.md").read_text()


def test_the_package_has_types(tmp_path: Path) -> None:
    package = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", package / "pyproject.toml", "--cache-dir", tmp_path],
        cwd=package,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr




def test_an_artifact_is_kept_under_its_name() -> None:
    payload = payload_pb2.PayloadRef(uri="toolplane://payloads/1", media_type="text/csv", size_bytes=3)
    left = refs_pb2.ArtifactRef(artifact_id="out/rows.csv", uri=payload.uri, payload=payload)
    elsewhere = refs_pb2.ArtifactRef(artifact_id="page", uri="https://example.org/a")
    content = [result_pb2.ContentBlock(artifact_ref=left), result_pb2.ContentBlock(artifact_ref=elsewhere)]
    result = Result(result_pb2.ToolResult(invocation_id="inv_1", content=content), lambda kept: kept)
    assert [(kept.name, kept.size) for kept in result.kept] == [("out/rows.csv", 3)]
    assert result.open("out/rows.csv") == result.kept[0] == result.open()
    with pytest.raises(LookupError, match="no artifact `page` is kept of this result; there is out/rows.csv"):
        result.open("page")
