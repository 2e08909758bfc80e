"""Fixtures of the tests with programs of others: they run in the sandbox of a real gateway and are exposed."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

import hawse
from hawse.client import Sandbox
from hawse.client.ports import Preview
from tests.support.stack import Stack, free_port

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).parent / "programs"
PYTHON = ROOT / "build" / "apps" / "venv" / "bin" / "python"
NODE_MODULES = ROOT / "build" / "apps" / "node" / "node_modules"
START = 150.0  # s for a program to answer its first request: some compile or import for long on a busy machine
STEP = 30_000  # ms for one step of a page


class Programs:
    """Starts programs in a sandbox. They end with the test."""

    def __init__(self, stack: Stack, sandbox: Sandbox, exits: AsyncExitStack) -> None:
        self.stack = stack
        self.sandbox = sandbox
        self._exits = exits

    async def python(
        self, *arguments: str | Path, ready: str = "/", cwd: Path = SOURCES, status: tuple[int, int] = (200, 399)
    ) -> Preview:
        """Run a Python program of build/apps/venv; for the rest see `start`."""
        return await self.start([str(PYTHON), *map(str, arguments)], ready=ready, cwd=cwd, status=status)

    async def start(
        self, argv: Sequence[str], *, cwd: Path, ready: str = "/", status: tuple[int, int] = (200, 399)
    ) -> Preview:
        """Run a program, wait until it answers, and make a preview of it.

        Args:
            argv: The program and its arguments. `PORT` is replaced by a free port, on which it has to listen.
            cwd: Its working directory.
            ready: The path to request until it answers.
            status: The lowest and the highest status of the answer.
        """
        port = free_port()
        words = [word.replace("PORT", str(port)) for word in argv]
        process = await self._exits.enter_async_context(self.sandbox.processes.start(words, cwd=str(cwd)))
        await process.wait_for_port(port, path=ready, status=status, timeout=START)
        return await self.sandbox.ports.expose(port)


@pytest_asyncio.fixture(loop_scope="session")
async def programs(tmp_path: Path) -> AsyncIterator[Programs]:
    async with (
        Stack(tmp_path / "state") as stack,
        hawse.connect(stack.base, token=stack.token) as hw,
        AsyncExitStack() as exits,
    ):
        yield Programs(stack, hw.sandbox(), exits)


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    context = await browser.new_context()
    context.set_default_timeout(STEP)
    context.set_default_navigation_timeout(2 * STEP)
    yield await context.new_page()
    await context.close()


@pytest.fixture(autouse=True)
def quiet_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs must not wait for addresses that the machine may not reach."""
    for name, value in (
        ("GRADIO_ANALYTICS_ENABLED", "False"),
        ("HF_HUB_OFFLINE", "1"),
        ("NEXT_TELEMETRY_DISABLED", "1"),
        ("DO_NOT_TRACK", "1"),
    ):
        monkeypatch.setenv(name, value)
