"""Tool declarations. A struct carries a tool's arguments, documentation and action.

The modules of `hawse.mcp.tools` do not depend on the MCP library; `hawse.mcp.server` converts between the two.
"""

import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from hawse.api.documentation import documentation
from hawse.client import Sandbox
from hawse.mcp.screens import Screens
from hawse.wire import HawseError

OUTPUT_LIMIT: Final = 32 << 10  # default maximum size of the text in a tool's response, in bytes
PROGRESS_INTERVAL: Final = 1.0  # seconds between progress reports
PROGRESS_TEXT: Final = 200  # maximum length of a report, in characters


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """A server's options: its tools and limits.

    Attributes:
        every_method: Whether to offer a tool for each of the sandbox's methods, except streams.
        limit: Maximum size of the text in a tool's response, in bytes.
    """

    every_method: bool = False
    limit: int = OUTPUT_LIMIT


Report = Callable[[float, str], Awaitable[None]]  # reports progress, as an increasing number and a message
Offered = Callable[[Sandbox], Awaitable[bool]]  # returns whether a sandbox has the feature a tool needs


class Image(NamedTuple):
    """An image in a response."""

    data: bytes
    mime_type: str


@dataclass(frozen=True)
class Answer:
    """A tool's result.

    Attributes:
        text: The text for the agent to read.
        images: The images for the agent to see.
        data: The result as JSON, for programs; None if the text says everything.
        failed: Whether the tool failed. If so, `text` is the reason.
    """

    text: str
    images: tuple[Image, ...] = ()
    data: dict[str, Any] | None = None
    failed: bool = False


@dataclass
class ToolCall:
    """A call to a tool.

    Attributes:
        box: The sandbox to work in.
        limit: Maximum size of the text in the response, in bytes.
        report: Sends progress to the client; None if the client did not request it.
        screens: The screens of terminals that agents have seen, shared by the calls of a server.
    """

    box: Sandbox
    limit: int = OUTPUT_LIMIT
    report: Report | None = None
    screens: Screens = field(default_factory=Screens)
    _reported: float = field(default=0.0, init=False)

    async def progress(self, done: float, text: str) -> None:
        """Report progress, at most once per second. `done` must increase. The last line of `text` is sent."""
        now = time.monotonic()
        if self.report is not None and now - self._reported >= PROGRESS_INTERVAL:
            self._reported = now
            line = text.rstrip().rpartition("\n")[2]
            await self.report(done, line[-PROGRESS_TEXT:])

    async def ensure(self, method: str, **params: Any) -> None:
        """Make sure that an object exists by calling the method that creates it. Ignores `conflict` and raises all
        other errors.
        """
        try:
            await self.box.call(method, params)
        except HawseError as error:
            if error.code != "conflict":
                raise


class Arguments(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The arguments of a tool. Undeclared arguments are rejected."""

    async def run(self, call: ToolCall) -> Answer:
        """Perform the tool's action.

        Raises:
            HawseError: A call to the sandbox failed. The agent gets the code and the message.
        """
        raise NotImplementedError


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool.

    Attributes:
        name: Its name.
        arguments: The type of its arguments.
        run: Runs the tool with arguments of this type.
        safe: Whether the tool has no side effects.
        destructive: Whether the tool can change or remove existing objects, not just add new ones.
        idempotent: Whether repeating the call has no additional effect.
        offered: Returns whether a sandbox has the feature the tool needs; None if all sandboxes have it.
        hidden: Parameters not shown to agents.
    """

    name: str
    arguments: type
    run: Callable[[ToolCall, Any], Coroutine[Any, Any, Answer]]
    safe: bool = False
    destructive: bool = True
    idempotent: bool = False
    offered: Offered | None = None
    hidden: frozenset[str] = frozenset()

    @property
    def description(self) -> str:
        """The tool's description for agents, taken from the arguments' docstring."""
        return documentation(self.arguments).text

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments, with a description of each argument."""
        (reference,), definitions = msgspec.json.schema_components([self.arguments], ref_template="#/$defs/{name}")
        own = reference["$ref"].rpartition("/")[2]
        schema: dict[str, Any] = definitions.pop(own)
        schema.pop("description", None)
        schema.pop("title", None)
        _plain_patterns([schema, definitions])
        for name in self.hidden & schema["properties"].keys():
            del schema["properties"][name]
        for name, text in documentation(self.arguments).fields.items():
            if name in schema["properties"]:
                schema["properties"][name]["description"] = text
        return schema | ({"$defs": definitions} if definitions else {})

    def decode(self, arguments: dict[str, Any]) -> Any:
        """Convert the arguments to their type. Raises `msgspec.ValidationError`, which names the invalid argument."""
        try:
            return msgspec.convert(arguments, self.arguments)
        except msgspec.ValidationError as error:
            fields = [field.encode_name for field in msgspec.structs.fields(self.arguments)]
            if not set(arguments) - set(fields):
                raise
            known = ", ".join(fields) or "none"
            raise msgspec.ValidationError(f"{error}; the arguments of {self.name} are: {known}") from None


TOOLS: Final[dict[str, Tool]] = {}  # the tools that every server has, keyed by name


def tool(
    name: str,
    *,
    safe: bool = False,
    destructive: bool = True,
    idempotent: bool = False,
    offered: Offered | None = None,
) -> Callable[[type[A]], type[A]]:
    """Declare the decorated struct as the arguments of a tool, and its method `run` as the tool's action.

    Args:
        name: The name of the tool.
        safe: Whether the tool has no side effects, so that a client can run it without confirmation.
        destructive: See `Tool`. Clients ask for confirmation before running a destructive tool.
        idempotent: See `Tool`.
        offered: See `Tool`.
    """

    def declare(arguments: type[A]) -> type[A]:
        async def run(call: ToolCall, given: A) -> Answer:
            return await given.run(call)

        TOOLS[name] = Tool(
            name=name,
            arguments=arguments,
            run=run,
            safe=safe,
            destructive=destructive and not safe,
            idempotent=idempotent or safe,
            offered=offered,
        )
        return arguments

    return declare


def _plain_patterns(value: Any) -> None:
    """Replace `$(?!\\n)` with `$`, which is equivalent in JSON Schema; some models cannot read the longer form."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _plain_patterns(inner)
    if isinstance(value, dict) and isinstance(value.get("pattern"), str):
        value["pattern"] = value["pattern"].replace(r"$(?!\n)", "$")
