"""A small MCP server for tests: over its standard streams, or over HTTP with `--http ADDRESS` (it prints its port)."""

import base64
import json
import os
import socket
import subprocess
import sys
import threading
import urllib.parse

calls = 0
cancelled = []
waiting = {}
presented = "-"


def text(said):
    return {"type": "text", "text": str(said)}


def result(*content, **more):
    return {"content": list(content), **more}


def image(arguments):
    data = base64.b64encode(bytes(range(256)) * arguments.get("times", 1)).decode()
    return result(text("before"), {"type": "image", "data": data, "mimeType": "image/png"}, text("after"))


def fetch(arguments):
    """What the proxy of the sandbox says to a tunnel."""
    try:
        with socket.create_connection(("127.0.0.1", 3128), 20) as proxy:
            proxy.sendall(f"CONNECT {arguments['place']} HTTP/1.1\r\n\r\n".encode())
            return result(text(proxy.makefile("rb").readline().decode().strip()))
    except OSError as error:
        return result(text(error))


def get(arguments):
    """What the proxy of the sandbox answers to a request; from its end to its beginning no mask finds anything in it."""
    with socket.create_connection(("127.0.0.1", 3128), 20) as proxy:
        proxy.sendall(arguments["request"].encode())
        said = proxy.makefile("rb").read().decode("latin-1")
        return result(text(said if arguments.get("forward") else said[::-1]))


def holds(arguments):
    """Whether its environment or a file that it may have been given holds a text."""
    files = [os.path.join(folder, name) for top in ("/run", "/tmp", "/dev/shm") for folder, _, names in os.walk(top) for name in names]
    said = [open(file, "rb").read() for file in [*files, "/proc/self/environ", "/proc/1/cmdline"]]
    return result(text(any(arguments["text"].encode() in bytes for bytes in said)))


def read(arguments):
    try:
        return result(text(open(arguments["path"]).read()))
    except OSError as error:
        return result(text(os.strerror(error.errno)), isError=True)


def write(arguments):
    try:
        open(arguments["path"], "w").write("written")
        return result(text("done"))
    except OSError as error:
        return result(text(os.strerror(error.errno)), isError=True)


def kept():
    """The file that it was given, if any."""
    file = os.path.join(os.environ.get("CREDENTIALS_DIRECTORY", "/nowhere"), "token")
    return open(file).read() if os.path.exists(file) else None


def fork(arguments):
    subprocess.Popen(["sleep", arguments["seconds"]], start_new_session=True)
    return result(text("forked"))


TOOLS = {
    "echo": lambda arguments: result(text(arguments["text"]), structuredContent={"said": arguments["text"]}),
    "image": image,
    "fail": lambda arguments: result(text("it is broken"), isError=True),
    "who": lambda arguments: result(structuredContent={"pid": os.getpid(), "calls": calls, "cancelled": cancelled}),
    "env": lambda arguments: result(text(os.environ.get(arguments["name"], "-"))),
    "fetch": fetch,
    "get": get,
    "holds": holds,
    "read": read,
    "write": write,
    "fork": fork,
    "link": lambda arguments: result({"type": "resource_link", "uri": "file:///a", "name": "a"}),
}


def begin(version):
    server = {"name": "small", "version": "1.2"}
    return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}


def listed():
    schema = {"type": "object", "b": 1e2}
    reading = ["get", "die", "grow", "leak", *(["grown"] if os.path.exists("/workspace/grown") else [])]
    more = [{"name": name, "inputSchema": schema, "annotations": {"readOnlyHint": True}} for name in reading]
    plain = [{"name": name, "inputSchema": schema} for name in TOOLS if name not in reading]
    return {"tools": plain + more + [{"name": "bad"}]}


def call(params, say, meta):
    """The result of a call; nothing when it is answered later."""
    global calls
    calls += 1
    name, arguments = params["name"], params.get("arguments", {})
    if name == "meta":
        return result(text(json.dumps(meta)))
    if name == "steps":
        for step in range(1, 5):
            notice = {"progressToken": meta["progressToken"], "progress": step, "total": 4, "message": f"step {step}"}
            say({"jsonrpc": "2.0", "method": "notifications/progress", "params": notice})
        return result(text("stepped"))
    if name == "grow":
        say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return result(text("grown"))
    if name == "leak":
        secret = os.environ.get("TOKEN") or kept() or presented
        print(f"the log of the server holds {secret}", file=sys.stderr, flush=True)
        notice = {"progressToken": meta.get("progressToken"), "progress": 1, "message": f"with {secret}"}
        say({"jsonrpc": "2.0", "method": "notifications/progress", "params": notice})
        coded = [base64.b64encode(secret.encode()).decode(), secret.encode().hex(), urllib.parse.quote(secret, safe="")]
        said = [text(secret), text(" ".join(coded)), text(f"{'x' * arguments.get('pad', 0)}{secret}")]
        return result(*said, structuredContent={"said": secret, secret: 1}, isError=arguments.get("fails", False))
    if name == "die":
        print("about to die", file=sys.stderr, flush=True)
        os._exit(3)
    if name not in TOOLS:
        raise KeyError(name)
    return TOOLS[name](arguments)


def answer(message, say):
    method, params = message.get("method"), message.get("params", {})
    reply = {"jsonrpc": "2.0", "id": message.get("id")}
    if method == "initialize":
        return {**reply, "result": begin(params["protocolVersion"])}
    if method == "tools/list":
        return {**reply, "result": listed()}
    if method == "tools/call":
        meta = params.get("_meta", {})
        if params["name"] in ("wait", "ask"):
            waiting[message["id"]] = params["name"]
            if params["name"] == "wait":
                notice = {"progressToken": meta["progressToken"], "progress": 1}
                say({"jsonrpc": "2.0", "method": "notifications/progress", "params": notice})
            else:
                schema = {"type": "object", "properties": {"color": {"type": "string"}}}
                asked = {"message": "Which color?", "requestedSchema": schema}
                say({"jsonrpc": "2.0", "id": f"q{message['id']}", "method": "elicitation/create", "params": asked})
            return None
        try:
            return {**reply, "result": call(params, say, meta)}
        except KeyError as error:
            return {**reply, "error": {"code": -32602, "message": f"unknown tool {error}"}}
    if method == "notifications/cancelled":
        waiting.pop(params["requestId"], None)
        cancelled.append(params["requestId"])
        return None
    if method is None and str(message.get("id", "")).startswith("q"):
        said = message.get("result", {})
        id = int(message["id"][1:])
        done = result(text(f"{said.get('action')} {said.get('content', {}).get('color')}"))
        return {"jsonrpc": "2.0", "id": id, "result": done}
    if method and "id" in message:
        return {**reply, "error": {"code": -32601, "message": "no such method"}}
    return None


def serve_streams():
    def say(message):
        print(json.dumps(message), flush=True)

    for line in sys.stdin:
        reply = answer(json.loads(line), say)
        if reply:
            say(reply)


def serve_http(address):
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def send(self, status, body=b"", kind="application/json", **headers):
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self.send(405)

        do_DELETE = do_GET

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/redirect":
                return self.send(302, Location="/mcp")
            wants = {"/secret": "Bearer x", "/renewed": "Bearer the-second-secret"}.get(self.path)
            if wants and self.headers.get("Authorization") != wants:
                return self.send(401, b"who are you", "text/plain", WWW_Authenticate="Bearer")
            if self.path.startswith("/keyed"):
                key = "small-placed-secret"
                shown = [self.path, self.headers.get("Cookie"), self.headers.get("X-Key")]
                if shown != [f"/keyed?team=1&apiKey={key}", f"session={key}", f"Token {key}"]:
                    return self.send(401, b"who are you", "text/plain", WWW_Authenticate="Bearer")
            global presented
            presented = self.headers.get("Authorization", "-").removeprefix("Bearer ")
            message = json.loads(body)
            if message.get("method") == "tools/call" and message["params"]["name"] == "header":
                said = self.headers.get(message["params"]["arguments"]["name"], "-")
                done = {"jsonrpc": "2.0", "id": message["id"], "result": result(text(said))}
                return self.send(200, json.dumps(done).encode())
            events = []
            reply = answer(message, events.append)
            if reply is None:
                return self.send(202)
            if events:
                stream = "".join(f"data: {json.dumps(event)}\n\n" for event in [*events, reply])
                return self.send(200, stream.encode(), "text/event-stream")
            id = {"/long-session": "s" * (1 << 20), "/odd-session": "a session\u00e9"}.get(self.path, "session-1")
            session = {"Mcp-Session-Id": id} if message.get("method") == "initialize" else {}
            self.send(200, json.dumps(reply).encode(), **session)

    server = ThreadingHTTPServer((address, 0), Handler)
    print(server.server_address[1], flush=True)
    # Ends with the test that started it.
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    server.serve_forever()


if len(sys.argv) > 2:
    serve_http(sys.argv[2])
else:
    serve_streams()
