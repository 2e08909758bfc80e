"""Tools derived from the method table. Each tool takes its method's parameters and returns the result as JSON."""

from typing import Final

import msgspec

from hawse.api import METHODS
from hawse.api.spec import Spec
from hawse.mcp.tool import Answer, Tool, ToolCall
from hawse.plain.excerpt import excerpt

# Methods with simple results that are useful to agents. Every server offers them.
CURATED: Final = (
    "terminal.list",
    "terminal.kill",
    "process.list",
    "process.kill",
    "port.list",
    "file.rename",
    "file.delete",
)
IDEMPOTENT: Final = ("terminal.kill", "process.kill", "file.delete")
HIDDEN: Final = frozenset({"root", "instance", "grace", "session"})  # parameters that agents don't need


def tool_of(spec: Spec, *, hidden: frozenset[str] = frozenset()) -> Tool:
    """Return a tool that calls a method.

    Args:
        spec: The method, which must not be a stream. The tool for `file.stat` is named `file_stat`.
        hidden: Parameters not shown to agents.
    """

    async def run(call: ToolCall, given: msgspec.Struct) -> Answer:
        result = await call.box.call(spec.name, msgspec.to_builtins(given))
        text = msgspec.json.format(msgspec.json.encode(result)).decode()
        short = excerpt(text, call.limit, "ask for less")
        return Answer(short, data=result if short is text else None)

    return Tool(
        name=spec.name.replace(".", "_"),
        arguments=spec.params,
        run=run,
        safe=spec.safe,
        destructive=not spec.safe,
        idempotent=spec.safe or spec.name in IDEMPOTENT,
        hidden=hidden,
    )


def method_tools(*, every: bool = False) -> dict[str, Tool]:
    """Return the tools for the curated methods or for all methods except streams, keyed by name."""
    if every:
        made = [tool_of(spec) for spec in METHODS.values() if not spec.stream]
    else:
        made = [tool_of(METHODS[name], hidden=HIDDEN) for name in CURATED]
    return {tool.name: tool for tool in made}
