"""How a tool is declared: a struct carries its name, its arguments, their documentation and what it does.

The modules of `hawse.mcp.tools` know nothing of the MCP library: `hawse.mcp.server` translates.
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
    """What a server offers.

    Attributes:
        every_method: Whether there is a tool for each method of a sandbox that is no stream.
        limit: Bytes of text that the answer of a tool may have.
    """

    every_method: bool = False
    limit: int = OUTPUT_LIMIT


Report = Callable[[float, str], Awaitable[None]]  # sends progress: a number that grows, and a text
Offered = Callable[[Sandbox], Awaitable[bool]]  # whether a sandbox has what a tool is for


class Image(NamedTuple):
    """An image in an answer."""

    data: bytes
    mime_type: str


@dataclass(frozen=True)
class Answer:
    """What a tool returns.

    Attributes:
        text: The text that the agent reads.
        images: Images that it sees.
        data: The same as JSON, for programs; None means nothing more than the text.
        failed: Whether the tool has failed; `text` says why.
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
        limit: Bytes of text that the answer may have.
        report: Sends progress to the client; None means it wants none.
    """

    box: Sandbox
    limit: int = OUTPUT_LIMIT
    report: Report | None = None
    _reported: float = field(default=0.0, init=False)

    async def progress(self, done: float, text: str) -> None:
        """Report progress, at most once a second. `done` must grow; of `text` the last line is sent."""
        now = time.monotonic()
        if self.report is not None and now - self._reported >= PROGRESS_INTERVAL:
            self._reported = now
            line = text.rstrip().rpartition("\n")[2]
            await self.report(done, line[-PROGRESS_TEXT:])

    async def ensure(self, method: str, **params: str) -> None:
        """Call a method that creates something, unless it exists. Raises what the call raises but `conflict`."""
        try:
            await self.box.call(method, params)
        except HawseError as error:
            if error.code != "conflict":
                raise


class Arguments(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The arguments of a tool. One that is not declared is refused."""

    async def run(self, call: ToolCall) -> Answer:
        """Do what the tool is for.

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
        destructive: Whether it may change or remove what exists, rather than only add something.
        idempotent: Whether the same call again has no further effect.
        offered: Returns whether a sandbox has what the tool is for; None means each has it.
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
        """What the agent reads about it: the docstring of the arguments."""
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
    """Declare the decorated struct as the arguments of a tool, and its method `run` as what the tool does.

    Args:
        name: The name of the tool.
        safe: Whether it changes nothing, so that a client may run it without asking.
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
