"""Follows a call while it runs: every event, then the result."""

from toolplane import Event, Toolplane

tools = Toolplane.connect()
for said in tools.stream("text.word_count", {"path": "words.txt"}):
    if isinstance(said, Event):
        print(said.sequence, said.type, said.data.get("message", ""))
    else:
        print(said.status, said.text)
