#!/usr/bin/env python3
"""Keeps keys and passwords out of calls and results.

Before a call: refuses arguments that hold one. After it: replaces every one in the output, also when the tool failed.
Reads the call as JSON on standard input; answers with JSON, or with exit code 2 and a reason.
"""

import json
import re
import sys

SECRET = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{36,}\b"
    r"|(?i:\b(?:password|passwd|secret|api_key)\s*[=:]\s*)[^\s\"']{6,}",
    re.DOTALL,
)
MARK = "[redacted]"


def texts(value):
    """Every text of a JSON value, names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from texts(item)


def cleaned(value):
    if isinstance(value, str):
        return SECRET.sub(MARK, value)
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    if isinstance(value, dict):
        return {cleaned(name): cleaned(item) for name, item in value.items()}
    return value


def main():
    call = json.load(sys.stdin)
    event = call["hook_event_name"]
    if event == "PreToolUse":
        if any(SECRET.search(text) for text in texts(call["tool_input"])):
            print("the arguments hold a key or a password; refer to it by name", file=sys.stderr)
            sys.exit(2)
        return
    # Blocks as they are, so that logs stay logs; what refers to bytes kept elsewhere cannot be given back.
    given = [block for block in call.get("tool_content", []) if block["type"] in ("text", "log", "diff")]
    output = {"content": given}
    if isinstance(call.get("tool_response"), (dict, list)):
        output["structured_content"] = call["tool_response"]
    clean = cleaned(output)
    if clean != output:
        print(json.dumps({"hookSpecificOutput": {"hookEventName": event, "updatedToolOutput": clean}}))


main()
