"""What a docstring says: what a function is for, and what its parameters are."""

from __future__ import annotations

import inspect
import re

_SECTION = re.compile(r"(Args|Arguments|Parameters|Returns?|Raises|Yields|Examples?|Notes?|Attributes|See Also|Todo):?\s*$")
# Where a sentence ends: what follows "e.g." or a number goes on in lower case.
_SENTENCE = re.compile(r"[.!?](?=\s+[^a-z\s]|\s*$)|\n\s*\n")
# Most characters of a search hint; the server takes 400.
_HINT = 200
_FIELD = re.compile(r"\s*:(\w+)(?:\s+[^:]*?)?\s*(\w*):\s*(.*)")
_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")


def read(function: object) -> tuple[str, dict[str, str]]:
    """The description of a function, and of each parameter it names: in Google's style (`Args:`), or as `:param name: text`."""
    text = inspect.getdoc(function) or ""
    described: list[str] = []
    parameters: dict[str, str] = {}
    section, entry = "", ""
    for number, line in enumerate(text.splitlines()):
        started = _SECTION.fullmatch(line)
        # What a function is for may be one of these words; a section at the very beginning has its colon.
        if started and number == 0 and not line.rstrip().endswith(":"):
            started = None
        marked = _FIELD.fullmatch(line)
        if started:
            section, entry = started.group(1), ""
        elif marked:
            section, entry = "field", marked.group(2) if marked.group(1) == "param" else ""
            if entry:
                parameters[entry] = marked.group(3)
        elif section == "":
            described.append(line)
        elif line and not line[0].isspace() and section != "field":
            # A section ends where the text goes on at the margin.
            section, entry = "", ""
            described.append(line)
        else:
            entry = _in_section(section, line, entry, parameters)
    return "\n".join(described).strip(), parameters


def hint(description: str) -> str:
    """What a search shows of a tool that says nothing else: the first sentence of its description, in one line."""
    text = description.strip()
    ended = _SENTENCE.search(text)
    line = " ".join((text[: ended.start()] if ended else text).split())
    return line if len(line) <= _HINT else f"{line[: _HINT - 3].rsplit(' ', 1)[0]}..."


def _in_section(section: str, line: str, entry: str, parameters: dict[str, str]) -> str:
    """Reads a line of a section; gives the parameter that is being described."""
    if section in ("Args", "Arguments", "Parameters"):
        indent = len(line) - len(line.lstrip())
        named = _ENTRY.fullmatch(line.strip())
        if named and indent <= 4:
            parameters[named.group(1)] = named.group(2)
            return named.group(1)
    if entry and line.strip():
        parameters[entry] = f"{parameters[entry]} {line.strip()}".strip()
    return entry
