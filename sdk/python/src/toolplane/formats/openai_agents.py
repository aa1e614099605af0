"""The tools as the OpenAI Agents SDK takes them. Imports `agents` only when it is used."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from toolplane.tools import Tool

if TYPE_CHECKING:
    from toolplane.client import Toolplane


def tools(client: Toolplane, offered: list[tuple[str, Tool]]) -> list[Any]:
    """One `FunctionTool` for each tool. What goes wrong is told to the model as the tool's output."""
    return [_tool(client, alias, tool) for alias, tool in offered]


def _tool(client: Toolplane, alias: str, tool: Tool) -> Any:
    from agents import FunctionTool

    async def invoke(_context: Any, arguments: str) -> str:
        call = {"type": "function_call", "call_id": "", "name": alias, "arguments": arguments}
        item = await asyncio.to_thread(client.answer, call)
        return str(item["output"])

    return FunctionTool(
        name=alias,
        description=tool.description,
        params_json_schema={"type": "object", "properties": {}, **tool.schema},
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )
