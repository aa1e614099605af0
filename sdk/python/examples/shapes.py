"""Tools as a vendor's strict mode takes them, what was lost, and a model's call back to the tool it means. Needs text.word_count."""

import json

from toolplane import Toolplane

with Toolplane.connect() as tools:
    made = tools.export("openai-responses", "text.word_count", strict=True)
    print(made.tools[0]["name"], "strict" if made.details[0].strict else "not strict")
    for loss in made.details[0].losses:
        print(loss.pointer, loss.done)

    # What a model would say.
    arguments = json.dumps({"path": "words.txt"})
    said = {"output": [{"type": "function_call", "call_id": "call_1", "name": made.tools[0]["name"], "arguments": arguments}]}
    for call in tools.map_calls(said, strict=True):
        result = tools.call(call.name, call.args, declaration_digest=call.digest, native_call_id=call.call_id)
        print(call.name, result.model_text.strip())

    print(tools.cards("text.word_count")[0].text)
