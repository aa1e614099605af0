"""A proxy of fastmcp over its standard streams, before the server whose source is the first argument. It keeps one connection to the
server: the fastest way it has."""

import asyncio
import sys

from fastmcp import Client

try:
    from fastmcp.server.providers.proxy import FastMCPProxy
except ImportError:
    from fastmcp.server.proxy import FastMCPProxy

SERVERS = {"mcpServers": {"small": {"command": "/usr/bin/python3", "args": ["-c", sys.argv[1]]}}}


async def main():
    async with Client(SERVERS) as client:
        proxy = FastMCPProxy(client_factory=lambda: client, name="proxy")
        await proxy.run_async(transport="stdio", show_banner=False)


asyncio.run(main())
