"""The tools that the conformance suite of MCP asks for, as a small MCP server over its standard streams."""

import base64
import json
import sys
import time

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SOUND = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\0\0\0\0").decode()
OBJECT = {"type": "object", "properties": {}}

USER = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
    "required": [],
}
NAMES = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{at}", "title": f"{word} Option"} for at, word in enumerate(["First", "Second", "Third"], 1)]
ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": NAMES},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": NAMES}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
    "required": [],
}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ASKED = {
    "test_elicitation": USER,
    "test_elicitation_sep1034_defaults": DEFAULTS,
    "test_elicitation_sep1330_enums": ENUMS,
    "test_input_required_result_elicitation": NAME,
    "test_input_required_result_tampered_state": NAME,
    "confirm_delete": {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]},
    "test_streaming_elicitation": NAME,
    "test_input_required_result_request_state": {
        "type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"],
    },
}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        },
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def text(said):
    return {"type": "text", "text": said}


def resource(uri, kind, said):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": said}}


def compute(say, meta, arguments):
    time.sleep(arguments.get("seconds", 0))
    return [text(f"computed {arguments.get('label', '')}")]


def slow(say, meta, arguments):
    """Long enough for a client to lose its stream and come back."""
    progress(say, meta, 1, "working", 2)
    time.sleep(2.5)
    return [text("Reconnection test completed successfully. If you received this, the client came back.")]


def progress(say, meta, at, message, total=100):
    notice = {"progressToken": meta.get("progressToken"), "progress": at, "total": total, "message": message}
    say({"jsonrpc": "2.0", "method": "notifications/progress", "params": notice})


def steps(say, meta, arguments):
    for at in (0, 50, 100):
        progress(say, meta, at, f"Completed step {at} of 100")
        # Reports that come closer than this may be told as one.
        time.sleep(0.3)
    return [text(str(meta.get("progressToken")))]


def logs(say, meta, arguments):
    for at, message in enumerate(["Tool execution started", "Tool processing data", "Tool execution completed"]):
        progress(say, meta, at, message, 2)
        # Reports that come closer than this may be told as one.
        time.sleep(0.3)
    return [text("logged")]


PLAIN = {
    "test_simple_text": lambda: [text("This is a simple text response for testing.")],
    "test_image_content": lambda: [{"type": "image", "data": PIXEL, "mimeType": "image/png"}],
    "test_audio_content": lambda: [{"type": "audio", "data": SOUND, "mimeType": "audio/wav"}],
    "test_embedded_resource": lambda: [
        resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    ],
    "test_multiple_content_types": lambda: [
        text("Multiple content types test:"),
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "json_schema_2020_12_tool": lambda: [text("called")],
    "test_large": lambda: [text("line of a large output\n" * 20_000)],
}
FOLLOWED = {
    "test_tool_with_progress": steps,
    "test_tool_with_logging": logs,
    "test_reconnection": slow,
    "test_logging_tool": lambda say, meta, arguments: [text("logged nothing")],
    "greet": lambda say, meta, arguments: [text(f"Hello, {arguments.get('name', 'nobody')}!")],
    "slow_compute": compute,
}
NAMES_OF_ALL = [*PLAIN, *FOLLOWED, *ASKED, "test_error_handling", "failing_job", "test_wait"]


def listed():
    def tool(name):
        schema = SCHEMA if name == "json_schema_2020_12_tool" else OBJECT
        if name == "test_elicitation":
            schema = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
        return {"name": name, "description": f"Fixture {name}", "inputSchema": schema}

    return {"tools": [tool(name) for name in NAMES_OF_ALL]}


def call(params, say):
    name, meta = params["name"], params.get("_meta", {})
    if name == "failing_job":
        time.sleep(1)
        return {"content": [text("This job fails")], "isError": True}
    if name == "test_error_handling":
        return {"content": [text("This tool intentionally returns an error for testing")], "isError": True}
    content = PLAIN[name]() if name in PLAIN else FOLLOWED[name](say, meta, params.get("arguments", {}))
    return {"content": content}


def answer(message, say):
    method, params = message.get("method"), message.get("params", {})
    reply = {"jsonrpc": "2.0", "id": message.get("id")}
    if method == "initialize":
        server = {"name": "conformance", "version": "1.0"}
        return {**reply, "result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}}
    if method == "tools/list":
        return {**reply, "result": listed()}
    if method == "tools/call" and params["name"] == "test_wait":
        progress(say, params.get("_meta", {}), 1, "waiting")
        return None
    if method == "tools/call" and params["name"] in ASKED:
        asked = {"message": params.get("arguments", {}).get("message", "Please answer"), "requestedSchema": ASKED[params["name"]]}
        say({"jsonrpc": "2.0", "id": f"q{message['id']}", "method": "elicitation/create", "params": asked})
        return None
    if method == "tools/call":
        return {**reply, "result": call(params, say)}
    if method is None and str(message.get("id", "")).startswith("q"):
        said = message.get("result", {})
        told = f"User response: action={said.get('action')}, content={json.dumps(said.get('content'))}"
        return {"jsonrpc": "2.0", "id": int(message["id"][1:]), "result": {"content": [text(told)]}}
    if method and "id" in message:
        return {**reply, "error": {"code": -32601, "message": "no such method"}}
    return None


def say(message):
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    reply = answer(json.loads(line), say)
    if reply:
        say(reply)
