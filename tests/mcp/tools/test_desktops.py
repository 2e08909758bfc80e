"""An agent sees and drives a desktop, which the first tool starts."""

import asyncio

import pytest

from hawse.client import Sandbox
from tests.support.mcp_agent import OpenAgent
from tests.support.waiting import TIMEOUT

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_agent_sees_and_drives_a_desktop(agent: OpenAgent, box: Sandbox) -> None:
    async with agent() as call:
        seen = await call.result("desktop_screenshot")
        assert seen.content[0].text.splitlines()[0] == "1280 × 800 pixels"
        assert (seen.content[1].type, seen.content[1].mime_type) == ("image", "image/png")
        assert seen.structured_content == {"width": 1280, "height": 800}
        started = await call(
            "desktop_launch", command="xterm -title shell -e sh -c 'read line; echo $line > typed.txt'"
        )
        assert started.startswith("started as process p-")
        async with asyncio.timeout(TIMEOUT):
            while "'shell'" not in (shown := await call("desktop_screenshot")):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            assert "window 'XTerm' 'shell' at" in shown
            window = next(window for window in await box.desktop.windows() if window.title == "shell")
            place = {"x": window.x + 9, "y": window.y + 9}
            assert await call("desktop_click", **place) == f"clicked at {place['x']},{place['y']}"
            assert await call("desktop_scroll", **place, dy=1) == "scrolled by 0,1"
            assert await call("desktop_type", text="hello") == "typed 5 characters"
            assert await call("desktop_key", keys="Return") == "pressed Return"
            while (await box.exec("cat typed.txt 2>/dev/null")).stdout != b"hello\n":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert "invalid_params" in await call.fails("desktop_key", keys="nothing+a")
        await box.desktop.stop()
