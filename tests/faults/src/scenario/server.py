"""An MCP server of the storm: writes into the workspace when a call begins and when it is done."""

import json
import os
import sys
import threading
import time

lock = threading.Lock()
ledger = os.open("/workspace/servers.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)


def say(message):
    with lock:
        print(json.dumps(message), flush=True)


def note(key, step):
    os.write(ledger, (json.dumps({"key": key, "step": step}) + "\n").encode())


def call(message):
    arguments = message["params"]["arguments"]
    note(arguments["mark"], "start")
    time.sleep(arguments["ms"] / 1000)
    note(arguments["mark"], "end")
    result = {"content": [{"type": "text", "text": arguments["mark"]}]}
    say({"jsonrpc": "2.0", "id": message["id"], "result": result})


for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "tools/call":
        threading.Thread(target=call, args=[message], daemon=True).start()
    elif method == "initialize":
        server = {"name": "storm", "version": "1"}
        version = message["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
        say({"jsonrpc": "2.0", "id": message["id"], "result": result})
    elif "id" in message:
        say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}})
