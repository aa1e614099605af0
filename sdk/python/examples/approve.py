"""Answers in a person's place: a command is asked about, looked at, and approved. Its large output is read back as a file."""

import io

from toolplane import Approval, Approve, Deny, Toolplane


def look(approval: Approval) -> Approve | Deny:
    command = approval.input.get("command", "")
    return Approve("counting is fine") if command.startswith("seq ") else Deny("only counting")


tools = Toolplane.connect(actor="example")
result = tools.call("local.shell.exec", {"command": "seq 1 200000"}, on_approval=look)
lines = io.TextIOWrapper(result.open())
print(sum(1 for _ in lines), "lines in", result.kept[0].size, "bytes")
