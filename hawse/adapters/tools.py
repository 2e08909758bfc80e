"""The `hawse mcp` tools for any framework, without the MCP library."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

import hawse.mcp.tools  # noqa: F401  # declares the tools
from hawse.client import Sandbox
from hawse.mcp.screens import Screens
from hawse.mcp.tool import OUTPUT_LIMIT, TOOLS, Answer, Tool, ToolCall
from hawse.wire import HawseError

__all__ = ["Answer", "BoundTool", "bound_tools"]


@dataclass(frozen=True)
class BoundTool:
    """A tool that works in one sandbox.

    Attributes:
        name: Its name, such as `exec`.
        description: Its description for the model.
        schema: The JSON Schema of its arguments.
        safe: Whether the tool has no side effects.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    safe: bool
    _tool: Tool
    _box: Sandbox
    _limit: int
    _screens: Screens

    async def call(self, arguments: Mapping[str, Any]) -> Answer:
        """Run the tool. Invalid arguments and errors from the sandbox are returned as results with `failed` set, so
        that the model can read them.
        """
        try:
            given = self._tool.decode(dict(arguments))
            return await self._tool.run(ToolCall(self._box, self._limit, screens=self._screens), given)
        except msgspec.ValidationError as error:
            return Answer(f"invalid arguments: {error}", failed=True)
        except HawseError as error:
            return Answer(f"{error.code}: {error.message}", failed=True)


def bound_tools(box: Sandbox, names: Collection[str] | None = None, *, limit: int = OUTPUT_LIMIT) -> list[BoundTool]:
    """Return the tools for a sandbox.

    Args:
        box: The sandbox, from a client opened in the current event loop.
        names: Names of the tools to include; None means all.
        limit: Maximum size of the text in a tool's response, in bytes. Only the beginning and end of longer text are
            kept.

    Raises:
        ValueError: There is no tool with one of these names.
    """
    unknown = sorted(set(names or ()) - TOOLS.keys())
    if unknown:
        raise ValueError(f"no tool {unknown[0]!r}; the tools are {', '.join(sorted(TOOLS))}")
    chosen = [tool for name, tool in TOOLS.items() if names is None or name in names]
    screens = Screens()
    return [
        BoundTool(tool.name, tool.description, tool.schema(), tool.safe, tool, box, limit, screens) for tool in chosen
    ]
