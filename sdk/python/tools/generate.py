"""Writes the generated code of this package from `proto/`, or proves that what is checked in is fresh (`--check`).

Needs exactly the version of `grpcio-tools` named below: another one writes other code, with other lower bounds of what it
runs with (`dependencies` in `pyproject.toml`).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import shutil
import sys
import tempfile
from pathlib import Path

GENERATOR = "1.74.0"
PACKAGE = Path(__file__).resolve().parent.parent
PROTO = PACKAGE.parent.parent / "proto"
PLACE = Path("toolplane/v1")


def generate(into: Path) -> dict[Path, bytes]:
    """The generated files by their path below `src`, made in the folder `into`."""
    found = importlib.metadata.version("grpcio-tools")
    if found != GENERATOR:
        raise SystemExit(f"grpcio-tools is {found}: install grpcio-tools=={GENERATOR}, which the checked-in code was made with")
    from grpc_tools import protoc

    sources = sorted(PROTO.glob(f"{PLACE}/*.proto"))
    include = Path(protoc.__file__).parent / "_proto"
    outputs = [f"--{kind}_out={into}" for kind in ("python", "pyi", "grpc_python")]
    if protoc.main(["protoc", f"-I{PROTO}", f"-I{include}", *outputs, *map(str, sources)]) != 0:
        raise SystemExit("the protos cannot be compiled")
    services = {source.stem for source in sources if "\nservice " in source.read_text()}
    files = {}
    for file in sorted(into.glob(f"{PLACE}/*_pb2*")):
        # The generator writes an empty stub file for each proto that has no service.
        if not file.name.endswith("_pb2_grpc.py") or file.name.removesuffix("_pb2_grpc.py") in services:
            files[file.relative_to(into)] = file.read_bytes()
    return files


def differences(files: dict[Path, bytes]) -> list[str]:
    """What of the checked-in code is not what the protos say now."""
    source = PACKAGE / "src"
    there = {file.relative_to(source) for file in source.glob(f"{PLACE}/*_pb2*")}
    stale = [f"{name}: no longer generated" for name in sorted(there - set(files))]
    for name, content in files.items():
        place = source / name
        if not place.is_file():
            stale.append(f"{name}: missing")
        elif place.read_bytes() != content:
            stale.append(f"{name}: stale")
    return stale


def write(files: dict[Path, bytes]) -> None:
    """Replaces the checked-in code."""
    source = PACKAGE / "src"
    for file in source.glob(f"{PLACE}/*_pb2*"):
        if file.relative_to(source) not in files:
            file.unlink()
    for name, content in files.items():
        (source / name).write_bytes(content)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, and fail when something is stale")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="toolplane-stubs-"))
    try:
        files = generate(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    stale = differences(files)
    if arguments.check and stale:
        sys.exit("\n".join(["generated code is not fresh; run `cargo xtask sdk python`:", *stale]))
    write(files)
    print(f"{len(files)} generated files, {len(stale)} of them were stale" if stale else f"{len(files)} generated files are fresh")


if __name__ == "__main__":
    main()
