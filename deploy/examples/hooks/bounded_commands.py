#!/usr/bin/env python3
"""Gives every command line a minute: `sleep 900` becomes `timeout 60 bash -c 'sleep 900'`.

The new command is checked against the schema and the rules like the first one.
"""

import json
import shlex
import sys

call = json.load(sys.stdin)
given = call["tool_input"]
command = given.get("command", "")
if command and not command.startswith("timeout "):
    changed = {**given, "command": f"timeout 60 bash -c {shlex.quote(command)}"}
    print(
        json.dumps(
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "updatedInput": changed,
                    "additionalContext": "commands of this session end after a minute",
                }
            }
        )
    )
