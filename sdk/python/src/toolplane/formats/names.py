"""Names that every vendor takes, and the way back."""

from __future__ import annotations

import hashlib
import re

# What all of them allow: OpenAI and Anthropic 64 characters of this kind, Gemini a letter or `_` first.
_PORTABLE = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
_LONGEST = 64


def alias(name: str, tool_id: str) -> str:
    """The portable name of a tool: `namespace__name`. One that is too long is cut, and a digest of the tool's id added."""
    text = re.sub(r"[^a-zA-Z0-9_-]", "_", name.replace(".", "__"))
    if not re.match(r"[a-zA-Z_]", text):
        text = f"_{text}"
    if len(text) <= _LONGEST:
        return text
    return f"{text[:55]}_{hashlib.sha256(tool_id.encode()).hexdigest()[:8]}"


def is_portable(text: str) -> bool:
    """Whether every vendor takes this name."""
    return _PORTABLE.fullmatch(text) is not None


class Aliases:
    """The names in use and the tools they mean."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def add(self, name: str, tool_id: str) -> str:
        """The alias of a tool, kept for the way back. Two tools never share one: the later gets a digest of its id."""
        text = alias(name, tool_id)
        if self._names.get(text, name) != name:
            text = f"{text[:55]}_{hashlib.sha256(tool_id.encode()).hexdigest()[:8]}"
        self._names[text] = name
        return text

    def name(self, text: str) -> str:
        """The tool a model means. A name that was never offered is taken as it is, so that the server says what is wrong with it."""
        return self._names.get(text, text.replace("__", "."))
