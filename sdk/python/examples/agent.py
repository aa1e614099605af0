"""The shortest agent: one call, and what can go wrong with it."""

from toolplane import ToolError, Toolplane

tools = Toolplane.connect()
print(tools.call("text.word_count", {"path": "words.txt"}).text)
try:
    tools.call("text.word_count", {"path": 7})
except ToolError as error:
    print(error.code, error.retry)
