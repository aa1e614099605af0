"""Clients of MCP as people use them: the Python SDK in both generations of the protocol, over HTTP and as a program, and fastmcp.

Arguments: the URL, the URL of a door that lists few tools, the program, the endpoint of the cluster. Says a line for each step."""

import asyncio
import sys

import anyio
from fastmcp import Client as FastClient
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import ElicitResult

URL, FEW, PROGRAM, ENDPOINT = sys.argv[1:5]


def told(result):
    return "".join(block.text for block in result.content if block.type == "text")


async def whole(name, server, mode):
    """Everything a client does with a door that lists all tools."""
    asked = []

    async def answer(_context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={"username": "ann", "email": "ann@example.com"})

    async with Client(server, mode=mode, elicitation_callback=answer) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "test_simple_text" in tools and "tool_result" in tools, list(tools)
        assert tools["test_simple_text"].annotations.read_only_hint is True, tools["test_simple_text"]
        print(name, "listed", len(tools))

        result = await client.call_tool("test_simple_text", {})
        assert told(result) == "This is a simple text response for testing." and not result.is_error, result
        kinds = [block.type for block in (await client.call_tool("test_multiple_content_types", {})).content]
        assert kinds == ["text", "image", "resource"], kinds
        print(name, "called")

        seen = []

        async def progress(progress, total, message):
            seen.append((progress, total))

        await client.call_tool("test_tool_with_progress", {}, progress_callback=progress)
        assert seen[0][0] == 0 and seen[-1] == (100, 100) and seen == sorted(set(seen)), seen
        print(name, "progressed", len(seen))

        result = await client.call_tool("test_elicitation", {"message": "Who?"})
        assert asked == ["Who?"] and "ann@example.com" in told(result), (asked, result)
        print(name, "asked")

        result = await client.call_tool("test_error_handling", {})
        assert result.is_error and "intentionally" in told(result), result
        result = await client.call_tool("test_elicitation", {"message": 5})
        assert result.is_error and "must be of type" in told(result) and "What to do" in told(result), result
        try:
            result = await client.call_tool("no_such_tool", {})
            raise AssertionError(result)
        except MCPError as error:
            assert error.error.code == -32602, error
        print(name, "failed")

        result = await client.call_tool("test_large", {})
        link = next(block for block in result.content if block.type == "resource_link")
        contents = (await client.read_resource(f"{link.uri}?offset=0&limit=24")).contents
        assert contents[0].text == "line of a large output\nl", contents
        print(name, "read")

        with anyio.move_on_after(2):
            await client.call_tool("test_wait", {})
            raise AssertionError("a call that never ends has ended")
        print(name, "canceled")


async def many():
    """A door that lists few tools: they are found, loaded and called."""
    async with Client(FEW, mode="legacy") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["tool_search", "tool_load", "tool_call", "tool_result"], names
        found = (await client.call_tool("tool_search", {"query": "simple text"})).structured_content
        name = found["tools"][0]["name"]
        assert name == "conf__test_simple_text", found
        refused = await client.call_tool("tool_search", {"query": "kind:nonsense"})
        assert refused.is_error and "nonsense" in told(refused), refused
        result = await client.call_tool("tool_call", {"name": name, "arguments": {}})
        assert told(result).startswith("This is a simple text"), result
        loaded = (await client.call_tool("tool_load", {"names": [name, "nothing"]})).structured_content
        assert loaded["tools"][0]["inputSchema"]["type"] == "object" and loaded["failed"][0]["name"] == "nothing", loaded
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names[4:] == [name], names
        assert not (await client.call_tool(name, {})).is_error
    print("few found loaded called")


async def two_servers():
    """One client with two servers configured: each has its own names there."""
    servers = {"web": {"url": URL}, "local": {"command": PROGRAM, "args": ["mcp", "--endpoint", ENDPOINT]}}
    async with FastClient({"mcpServers": servers}) as client:
        names = {tool.name for tool in await client.list_tools()}
        assert {"web_test_simple_text", "local_conf__test_simple_text"} <= names, sorted(names)
        for name in ("web_test_simple_text", "local_conf__test_simple_text"):
            result = await client.call_tool(name, {})
            assert result.content[0].text.startswith("This is a simple text"), result
    print("fastmcp two servers", len(names))


async def main():
    await whole("sdk-2025", URL, "legacy")
    await whole("sdk-2026", URL, "2026-07-28")
    program = StdioServerParameters(command=PROGRAM, args=["mcp", "--short-names", "--endpoint", ENDPOINT])
    await whole("stdio-2025", program, "legacy")
    await whole("stdio-2026", program, "2026-07-28")
    await many()
    await two_servers()
    print("done")


asyncio.run(main())
