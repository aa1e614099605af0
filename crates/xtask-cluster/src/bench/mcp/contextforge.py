"""Starts ContextForge before the MCP server at the address given first, and prints where calls go and with what. It ends with its
input."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

folder = tempfile.mkdtemp()
os.chdir(folder)
run = [sys.executable, "-m"]
subprocess.run([*run, "mcpgateway.scripts.init_secrets"], check=True, capture_output=True)
os.rename(".env.secrets", ".env")
lines = [line.split("=", 1) for line in open(".env").read().splitlines() if "=" in line and not line.startswith("#")]
secrets = {name: value.strip("'\"") for name, value in lines}
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
environment = {
    **os.environ, "AUTH_REQUIRED": "false", "SSRF_ALLOW_LOCALHOST": "true", "SSRF_ALLOW_PRIVATE_NETWORKS": "true",
    "CACHE_TYPE": "memory", "DATABASE_URL": f"sqlite:///{folder}/gateway.db", "LOG_LEVEL": "ERROR",
    "MCPGATEWAY_UI_ENABLED": "false", "MCPGATEWAY_ADMIN_API_ENABLED": "true",
}
program = os.path.join(os.path.dirname(sys.executable), "mcpgateway")
log = open("log", "w")
gateway = subprocess.Popen([program, "--host", "127.0.0.1", "--port", str(port)], env=environment, stdout=log, stderr=log)
try:
    token = subprocess.run(
        [*run, "mcpgateway.utils.create_jwt_token", "--username", "admin@example.com", "--exp", "600", "--admin",
         "--secret", secrets["JWT_SECRET_KEY"]], check=True, capture_output=True, text=True, env=environment,
    ).stdout.split()[-1]
    base = f"http://127.0.0.1:{port}"

    def ask(path, body=None):
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        request = urllib.request.Request(base + path, json.dumps(body).encode() if body else None, headers)
        return json.load(urllib.request.urlopen(request, timeout=30))

    for _ in range(120):
        try:
            ask("/health")
            break
        except OSError:
            time.sleep(0.5)
    ask("/gateways", {"name": "small", "url": sys.argv[1], "transport": "STREAMABLEHTTP"})
    tool = next(tool["name"] for tool in ask("/tools") if tool["originalName"] == "echo")
    print(json.dumps({"url": f"{base}/rpc", "token": token, "tool": tool}), flush=True)
    sys.stdin.read()
finally:
    gateway.terminate()
