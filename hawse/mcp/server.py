"""The MCP server: translates between the MCP library and this package's tools and resources."""

import asyncio
import base64
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

import anyio
import mcp_types as types
import msgspec
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

import hawse.mcp.tools  # noqa: F401  # declares the tools
from hawse import __version__
from hawse.client import Sandbox
from hawse.mcp import resources
from hawse.mcp.methods import method_tools
from hawse.mcp.screens import Screens
from hawse.mcp.tool import TOOLS, Answer, Offered, Report, ServerOptions, Tool, ToolCall
from hawse.wire import HawseError

INSTRUCTIONS: Final = (
    "Tools that work in a hawse sandbox, a separate machine: exec runs a command, session_exec runs one in a shell "
    "that keeps its state, process_* manage long-running programs, terminal_* control programs that need a terminal, "
    "code_run runs code and returns tables and images, file_* work with files. Users can work in the same sandbox, "
    "and see the same terminals and files."
)
OFFER_TIMEOUT: Final = 5.0  # timeout for querying a sandbox's features, in seconds
PARALLEL: Final = 32  # maximum number of concurrent tool calls; further calls wait

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]
FindSandbox = Callable[[Context], Sandbox]  # returns the sandbox for a request


def all_tools(*, every_method: bool = False) -> dict[str, Tool]:
    """Return a server's tools by name: the agent tools, plus one for each curated method (or for every method)."""
    return method_tools(every=every_method) | TOOLS


class Handlers:
    """The handlers for MCP requests."""

    def __init__(self, find_sandbox: FindSandbox, tools: dict[str, Tool], limit: int) -> None:
        """Create the handlers.

        Args:
            find_sandbox: Returns the sandbox for a request.
            tools: The tools, keyed by name.
            limit: Maximum size of the text in a tool's response, in bytes.
        """
        self._find_sandbox = find_sandbox
        self._tools = tools
        self._limit = limit
        self._screens = Screens()
        self._running = asyncio.Semaphore(PARALLEL)

    async def list_tools(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        offered = await _finished(_offered(self._find_sandbox(context), list(self._tools.values())))
        return types.ListToolsResult(tools=[_described(tool) for tool in offered])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"no tool {params.name[:100]!r}")
        try:
            given = tool.decode(params.arguments or {})
        except msgspec.ValidationError as error:
            return _result(Answer(f"invalid arguments: {error}", failed=True))
        call = ToolCall(self._find_sandbox(context), self._limit, _reporter(context), self._screens)
        async with self._running:
            try:
                answer = await _finished(tool.run(call, given))
            except HawseError as error:
                answer = Answer(f"{error.code}: {error.message}", failed=True)
        return _result(answer)

    async def list_resources(
        self, context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        found = await _or_error(resources.resources(self._find_sandbox(context)))
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=uri, name=name, description=text, mime_type="text/plain")
                for uri, name, text in found
            ]
        )

    async def list_templates(
        self, context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        found = resources.templates(self._find_sandbox(context).id)
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(uri_template=uri, name=name, description=text) for uri, name, text in found
            ]
        )

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        mime_type, content = await _or_error(resources.read(self._find_sandbox(context), params.uri))
        if isinstance(content, str):
            text = types.TextResourceContents(uri=params.uri, mime_type=mime_type, text=content)
            return types.ReadResourceResult(contents=[text])
        blob = types.BlobResourceContents(
            uri=params.uri, mime_type=mime_type, blob=base64.b64encode(content).decode("ascii")
        )
        return types.ReadResourceResult(contents=[blob])


def make_server(find_sandbox: FindSandbox, options: ServerOptions) -> Server[dict[str, Any]]:
    """Return an unconnected server.

    Args:
        find_sandbox: Returns the sandbox for a request.
        options: The tools to offer, and limits.
    """
    handlers = Handlers(find_sandbox, all_tools(every_method=options.every_method), options.limit)
    return Server(
        "hawse",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
    )


async def _finished(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` in a separate task. If the request is cancelled, cancel the task and wait for it to end.

    A separate task is needed because the library also cancels a request's later `await`s, even during a tool's
    clean-up.

    Raises:
        HawseError: Any error that `work` raises.
    """
    outcome: list[T | HawseError] = []

    async def run() -> None:
        try:
            outcome.append(await work)
        except HawseError as error:
            outcome.append(error)

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(run(), name="mcp tool")
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([task])
            raise
    if isinstance(outcome[0], HawseError):
        raise outcome[0]
    return outcome[0]


async def _or_error(work: Coroutine[Any, Any, T]) -> T:
    """Await `work`, and convert errors from the sandbox to MCP library errors."""
    try:
        return await _finished(work)
    except HawseError as error:
        code = types.INVALID_PARAMS if error.code == "not_found" else types.INTERNAL_ERROR
        raise MCPError(code, f"{error.code}: {error.message}") from error


async def _offered(box: Sandbox, tools: list[Tool]) -> list[Tool]:
    """Return the tools that a sandbox supports. If the sandbox does not respond, return all tools."""
    found: dict[Offered, bool] = {}
    for check in {tool.offered for tool in tools if tool.offered is not None}:
        try:
            async with asyncio.timeout(OFFER_TIMEOUT):
                found[check] = await check(box)
        except (HawseError, TimeoutError):
            found[check] = True
    return [tool for tool in tools if tool.offered is None or found[tool.offered]]


def _described(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=tool.safe, destructive_hint=tool.destructive, idempotent_hint=tool.idempotent
    )
    return types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema(), annotations=hints)


def _reporter(context: Context) -> Report:
    """Return a function that reports a request's progress. The library drops the reports if the client did not request
    them.
    """

    async def report(done: float, text: str) -> None:
        await context.session.report_progress(done, message=text)

    return report


def _result(answer: Answer) -> types.CallToolResult:
    images = [
        types.ImageContent(data=base64.b64encode(image.data).decode("ascii"), mime_type=image.mime_type)
        for image in answer.images
    ]
    return types.CallToolResult(
        content=[types.TextContent(text=answer.text), *images],
        structured_content=answer.data,
        is_error=answer.failed,
    )
