"""A loop with a model. The model here is a few lines that call a tool once; a real one is asked with the same two values."""

from typing import Any

from toolplane import Toolplane


def model(tools: list[dict[str, Any]], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """What `anthropic.Anthropic().messages.create(tools=tools, messages=messages, ...)` gives, in short."""
    if messages[-1]["role"] == "user" and isinstance(messages[-1]["content"], str):
        name = next(tool["name"] for tool in tools if tool["name"] == "text__word_count")
        return {"content": [{"type": "tool_use", "id": "toolu_1", "name": name, "input": {"path": "words.txt"}}]}
    return {"content": [{"type": "text", "text": f"The file: {messages[-1]['content'][0]['content']}"}]}


tools = Toolplane.connect().surface(["text.word_count", "native.echo"])
messages: list[dict[str, Any]] = [{"role": "user", "content": "How many words are in words.txt?"}]
while True:
    said = model(tools.for_anthropic(), messages)
    messages.append({"role": "assistant", "content": said["content"]})
    answers = tools.answer(said)
    if not answers:
        break
    messages += answers
print(said["content"][0]["text"])
