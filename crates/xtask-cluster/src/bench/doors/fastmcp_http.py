"""A proxy of fastmcp over HTTP, before the server at the address given first; it prints its port and ends with its input. It keeps one
connection to the server: the fastest way it has."""

import asyncio
import os
import socket
import sys
import threading

from fastmcp import Client

try:
    from fastmcp.server.providers.proxy import FastMCPProxy
except ImportError:
    from fastmcp.server.proxy import FastMCPProxy

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    PORT = free.getsockname()[1]


async def ready():
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", PORT)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            print(PORT, flush=True)
            return


async def main():
    async with Client(sys.argv[1]) as client:
        proxy = FastMCPProxy(client_factory=lambda: client, name="proxy")
        serving = proxy.run_async(transport="http", host="127.0.0.1", port=PORT, show_banner=False, log_level="error")
        await asyncio.gather(serving, ready())


threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
asyncio.run(main())
