"""A sandbox's tools as a pydantic-ai toolset."""

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from hawse.adapters.extra import extra
from hawse.adapters.tools import BoundTool, bound_tools
from hawse.client import Sandbox

with extra("pydantic-ai"):
    from pydantic_ai import BinaryContent, FunctionToolset, Tool, ToolFailed, ToolReturn

__all__ = ["toolset"]


def toolset(box: Sandbox, names: Collection[str] | None = None) -> FunctionToolset[Any]:
    """Return the `hawse mcp` tools that work in one sandbox, for `Agent(toolsets=[…])`.

    Failures raise `ToolFailed`, so that the model can read the reason and react.

    Args:
        box: The sandbox, from a client opened in the current event loop.
        names: Names of the tools to include; None means all.

    Raises:
        ValueError: There is no tool with one of these names.
    """
    tools = [
        Tool.from_schema(_function(tool), tool.name, tool.description, dict(tool.schema))
        for tool in bound_tools(box, names)
    ]
    return FunctionToolset(tools, id=f"hawse-{box.id}")


def _function(tool: BoundTool) -> Callable[..., Awaitable[Any]]:
    async def run(**arguments: Any) -> Any:
        answer = await tool.call(arguments)
        if answer.failed:
            raise ToolFailed(answer.text)
        if not answer.images:
            return answer.text
        images = [BinaryContent(image.data, media_type=image.mime_type) for image in answer.images]
        return ToolReturn(answer.text, content=images)

    return run
