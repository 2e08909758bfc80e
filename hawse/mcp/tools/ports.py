"""`port_expose`: an address under which people open what a program of the sandbox serves."""

from typing import Annotated

from msgspec import Meta

from hawse.mcp.tool import Answer, Arguments, ToolCall, tool


@tool("port_expose", destructive=False, idempotent=True)
class PortExposeTool(Arguments):
    """Return the address of a preview of a port: whoever has it can open what a program serves there, in a browser.

    Args:
        port: The TCP port on which a program of the sandbox listens.
    """

    port: Annotated[int, Meta(ge=1, le=65_535)]

    async def run(self, call: ToolCall) -> Answer:
        preview = await call.box.ports.expose(self.port)
        return Answer(preview.url, data={"url": preview.url, "path_url": preview.path_url})
