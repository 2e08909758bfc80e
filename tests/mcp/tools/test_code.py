import pytest

from tests.support.mcp_agent import OpenAgent

pytestmark = pytest.mark.asyncio(loop_scope="session")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="


async def test_variables_stay_and_images_are_shown(agent: OpenAgent) -> None:
    async with agent(limit=3000) as call:
        await call("code_run", source="import base64\nfrom IPython.display import Image")
        shown = await call.result("code_run", source=f"print('text')\nImage(data=base64.b64decode('{PIXEL}'))")
        assert shown.content[0].text == "text"
        assert (shown.content[1].data, shown.content[1].mime_type) == (PIXEL, "image/png")
        assert "are omitted here" in await call("code_run", source="print('x' * 100_000)")
        failed = await call.fails("code_run", source="1/0")
        assert failed.endswith("ZeroDivisionError: division by zero")
        late = await call.fails("code_run", source="while True: pass", timeout=0.3)
        assert "[interrupted at its time limit of 0.3 s" in late
        if "the executor has ended" in late:  # on a busy machine: it has not handled the interrupt in time
            await call("code_run", source="", restart=True)
        assert "the executor has ended" in await call.fails("code_run", source="import os; os._exit(1)")
        assert await call("code_run", source="'base64' in dir()", restart=True) == "False"
        assert "language_unavailable" in await call.fails("code_run", source="x", language="cobol")


async def test_code_that_ignores_its_interrupt_ends_its_executor_and_that_is_reported(agent: OpenAgent) -> None:
    async with agent() as call:
        ignoring = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
        late = await call.fails("code_run", source=ignoring, timeout=0.3)
        assert "[interrupted at its time limit of 0.3 s; the executor has ended; `restart` starts a new one]" in late
        assert await call("code_run", source="6 * 7", restart=True) == "42"
