"""The tools as LangChain takes them. Imports `langchain_core` only when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolplane.tools import Tool

if TYPE_CHECKING:
    from toolplane.client import Toolplane


def tools(client: Toolplane, offered: list[tuple[str, Tool]]) -> list[Any]:
    """One `StructuredTool` for each tool. What goes wrong is raised as `ToolException`, which LangChain can tell the model."""
    return [_tool(client, alias, tool) for alias, tool in offered]


def _tool(client: Toolplane, alias: str, tool: Tool) -> Any:
    from langchain_core.tools import StructuredTool, ToolException

    def run(**args: Any) -> tuple[str, Any]:
        item = client.answer({"type": "tool_use", "id": "", "name": alias, "input": args})
        if item.get("is_error"):
            raise ToolException(item["content"])
        return item["content"], None

    schema = {"title": alias, "description": tool.description, **tool.schema}
    return StructuredTool(
        name=alias,
        description=tool.description or tool.name,
        args_schema=schema,
        func=run,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
