"""An MCP server over its standard streams with one tool, which does next to nothing: the hardest case for whoever is between."""

import json
import sys

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = {"tools": [{"name": "echo", "description": "Says it again.", "inputSchema": SCHEMA}]}


def begin(version):
    server = {"name": "small", "version": "1.0"}
    return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}


def answer(method, params):
    if method == "initialize":
        return {"result": begin(params["protocolVersion"])}
    if method == "tools/list":
        return {"result": TOOLS}
    if method == "tools/call" and params["name"] == "echo":
        return {"result": {"content": [{"type": "text", "text": params["arguments"]["text"]}]}}
    if method == "ping":
        return {"result": {}}
    return {"error": {"code": -32601, "message": "no such method"}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"], **answer(message["method"], message.get("params", {}))}
        print(json.dumps(reply), flush=True)
