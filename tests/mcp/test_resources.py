import base64

import pytest
from mcp.shared.exceptions import MCPError

from hawse.client import Sandbox
from tests.support.mcp_agent import OpenAgent

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_files_and_terminals_are_resources(agent: OpenAgent, box: Sandbox) -> None:
    await box.files.write_text("ä b.txt", "text")
    await box.files.write("x.png", b"\x89PNG\xff")
    async with (
        agent() as call,
        box.terminals.open("shown", argv=["sh", "-c", "echo on screen; exec sleep 100"]) as terminal,
    ):
        await terminal.expect("on screen")
        listed = (await call.client.list_resources()).resources
        assert "hawse://local/terminals/shown" in [item.uri for item in listed]
        templates = (await call.client.list_resource_templates()).resource_templates
        assert templates[0].uri_template == "hawse://local/files/{+path}"
        shown = await call.read("hawse://local/terminals/shown")
        assert shown.text.startswith("on screen")
        text = await call.read("hawse://local/files/%C3%A4%20b.txt")
        assert (text.text, text.mime_type) == ("text", "text/plain")
        image = await call.read("hawse://local/files/x.png")
        assert (base64.b64decode(image.blob), image.mime_type) == (b"\x89PNG\xff", "image/png")
        await terminal.kill()


@pytest.mark.parametrize("uri", ["hawse://other/files/x", "hawse://local/processes/x", "hawse://local/files/missing"])
async def test_other_addresses_are_no_resources(agent: OpenAgent, uri: str) -> None:
    async with agent() as call:
        with pytest.raises(MCPError, match="not_found"):
            await call.client.read_resource(uri)
