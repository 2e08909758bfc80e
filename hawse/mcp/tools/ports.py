"""`port_expose`: an address where users can reach a server in the sandbox."""

from typing import Annotated

from msgspec import Meta

from hawse.mcp.tool import Answer, Arguments, ToolCall, tool


@tool("port_expose", destructive=False, idempotent=True)
class PortExposeTool(Arguments):
    """Return a port's preview address. Anyone with the address can open the program's pages in a browser.

    Args:
        port: The TCP port that a program in the sandbox is listening on.
    """

    port: Annotated[int, Meta(ge=1, le=65_535)]

    async def run(self, call: ToolCall) -> Answer:
        preview = await call.box.ports.expose(self.port)
        return Answer(preview.url, data={"url": preview.url, "path_url": preview.path_url})
