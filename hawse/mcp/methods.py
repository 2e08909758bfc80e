"""Tools that are made from the method table: one method each, with its own parameters and its result as JSON."""

from typing import Final

import msgspec

from hawse.api import METHODS
from hawse.api.spec import Spec
from hawse.mcp.excerpt import excerpt
from hawse.mcp.tool import Answer, Tool, ToolCall

# Methods whose parameters and results suit an agent as they are. Every server has them.
CURATED: Final = (
    "terminal.list",
    "terminal.kill",
    "process.list",
    "process.kill",
    "session.list",
    "session.delete",
    "code.list",
    "code.restart",
    "code.delete",
    "port.list",
    "file.stat",
    "file.mkdir",
    "file.rename",
    "file.delete",
)


def tool_of(spec: Spec) -> Tool:
    """Return the tool that calls the method `spec`, which must not be a stream. `file.stat` becomes `file_stat`."""

    async def run(call: ToolCall, given: msgspec.Struct) -> Answer:
        result = await call.box.call(spec.name, msgspec.to_builtins(given))
        text = msgspec.json.format(msgspec.json.encode(result)).decode()
        short = excerpt(text, call.limit, "ask for less")
        return Answer(short, data=result if short is text else None)

    return Tool(name=spec.name.replace(".", "_"), arguments=spec.params, run=run, safe=spec.safe)


def method_tools(*, every: bool = False) -> dict[str, Tool]:
    """Return the tools of the curated methods by name, or of all that are no streams."""
    chosen = [spec for spec in METHODS.values() if not spec.stream] if every else [METHODS[name] for name in CURATED]
    return {tool.name: tool for tool in map(tool_of, chosen)}
