"""The declaration of tools: a struct carries the arguments of a tool, their documentation and its action.

The modules of `hawse.mcp.tools` do not depend on the MCP library: `hawse.mcp.server` translates.
"""

import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from hawse.api.documentation import documentation
from hawse.client import Sandbox
from hawse.wire import HawseError

OUTPUT_LIMIT: Final = 32 << 10  # bytes of text in the answer of a tool, unless the server was started with another
PROGRESS_INTERVAL: Final = 1.0  # seconds between two reports of progress
PROGRESS_TEXT: Final = 200  # characters of one report


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """The tools of a server, and limits.

    Attributes:
        every_method: Whether to offer a tool for each method of a sandbox, except streams.
        limit: Maximum number of bytes of text in the answer of a tool.
    """

    every_method: bool = False
    limit: int = OUTPUT_LIMIT


Report = Callable[[float, str], Awaitable[None]]  # sends progress: an increasing number, and a text
Offered = Callable[[Sandbox], Awaitable[bool]]  # whether a sandbox has the feature that a tool needs


class Image(NamedTuple):
    """An image in an answer."""

    data: bytes
    mime_type: str


@dataclass(frozen=True)
class Answer:
    """The result of a tool.

    Attributes:
        text: The text that the agent reads.
        images: Images that it sees.
        data: The same as JSON, for programs; None if the text is complete.
        failed: Whether the tool has failed, for the reason in `text`.
    """

    text: str
    images: tuple[Image, ...] = ()
    data: dict[str, Any] | None = None
    failed: bool = False


@dataclass
class ToolCall:
    """One call of a tool.

    Attributes:
        box: The sandbox to work in.
        limit: Maximum number of bytes of text in the answer.
        report: Sends progress to the client; None if it did not ask for it.
    """

    box: Sandbox
    limit: int = OUTPUT_LIMIT
    report: Report | None = None
    _reported: float = field(default=0.0, init=False)

    async def progress(self, done: float, text: str) -> None:
        """Report progress, at most once per second. `done` must increase; the last line of `text` is sent."""
        now = time.monotonic()
        if self.report is not None and now - self._reported >= PROGRESS_INTERVAL:
            self._reported = now
            line = text.rstrip().rpartition("\n")[2]
            await self.report(done, line[-PROGRESS_TEXT:])

    async def ensure(self, method: str, **params: str) -> None:
        """Call a method that creates an object, unless it exists. Raises the call's errors except `conflict`."""
        try:
            await self.box.call(method, params)
        except HawseError as error:
            if error.code != "conflict":
                raise


class Arguments(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The arguments of a tool. Undeclared ones are refused."""

    async def run(self, call: ToolCall) -> Answer:
        """Perform the action of the tool.

        Raises:
            HawseError: A call to the sandbox failed; the agent gets its code and its message.
        """
        raise NotImplementedError


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool.

    Attributes:
        name: Its name.
        arguments: The type of its arguments.
        run: Runs it with arguments of this type.
        safe: Whether it changes nothing.
        destructive: Whether it can change or remove existing objects, rather than only add new ones.
        idempotent: Whether repeating the call has no further effect.
        offered: Returns whether a sandbox has the feature that the tool needs; None means that all have it.
        hidden: Parameters that agents do not see.
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
        """Its description for the agent: the docstring of the arguments."""
        return documentation(self.arguments).text

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its arguments, an object, with a description of each."""
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
        """Return the arguments as their type. Raises `msgspec.ValidationError`, which names the wrong one."""
        try:
            return msgspec.convert(arguments, self.arguments)
        except msgspec.ValidationError as error:
            fields = [field.encode_name for field in msgspec.structs.fields(self.arguments)]
            if not set(arguments) - set(fields):
                raise
            known = ", ".join(fields) or "none"
            raise msgspec.ValidationError(f"{error}; the arguments of {self.name} are: {known}") from None


TOOLS: Final[dict[str, Tool]] = {}  # the tools that every server has, by name


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
        safe: Whether it changes nothing, so that a client can run it without asking.
        destructive: See `Tool`; a client asks before it runs such a tool.
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
    """Write `$` for `$(?!\\n)`, which means the same in JSON Schema: some models cannot read the longer form."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _plain_patterns(inner)
    if isinstance(value, dict) and isinstance(value.get("pattern"), str):
        value["pattern"] = value["pattern"].replace(r"$(?!\n)", "$")
