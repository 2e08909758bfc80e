"""A preview: a real gateway, a real runtime, and tests/support/site.py in the sandbox."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
from websockets.asyncio.client import connect

import hawse
from hawse.client import Sandbox
from tests.support import site
from tests.support.http_clients import http_client
from tests.support.stack import Stack

TIMEOUT = 20.0  # seconds after which a waiting test fails


class Previewed:
    """The site. `path` and `name` are its two addresses, and `http` is a client for the first address."""

    def __init__(self, stack: Stack, sandbox: Sandbox, exposed: dict[str, Any]) -> None:
        self.stack = stack
        self.sandbox = sandbox
        self.port: int = exposed["port"]
        self.token: str = exposed["token"]
        self.path = f"/p/local/{self.token}"
        self.name = f"{self.port}-local-{self.token}.localhost:{stack.port}"
        self.http = http_client(stack.base + self.path, timeout=TIMEOUT)

    def socket(self, target: str = "/socket", **options: Any) -> connect:
        url = f"ws://127.0.0.1:{self.stack.port}{self.path}{target}"
        return connect(url, **{"proxy": None, "max_size": None, "compression": None, **options})

    async def until_left(self, what: str) -> None:
        """Wait until the site reports that the client left `what` early. Polls, because the site is another process."""
        async with asyncio.timeout(TIMEOUT):
            while what not in (await self.http.get("/left")).json():  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def held(self) -> tuple[int, int, int]:
        """Return the number of the gateway's descriptors, and of the runtime's descriptors and tasks."""
        info = await self.sandbox.call("runtime.info")
        return psutil.Process(self.stack.pid).num_fds(), info["open_fds"], info["tasks"]

    async def until_held(self, before: tuple[int, int, int]) -> None:
        """Wait until `held` is at most `before`. Polls, since other processes release descriptors without an event."""
        async with asyncio.timeout(TIMEOUT):
            while any(now > then for now, then in zip(await self.held(), before, strict=True)):  # noqa: ASYNC110
                await asyncio.sleep(0.01)


@asynccontextmanager
async def previewed(folder: Path) -> AsyncIterator[Previewed]:
    async with Stack(folder / "state") as stack, hawse.connect(stack.base, token=stack.token) as hw:
        sandbox = hw.sandbox()
        async with sandbox.processes.start([sys.executable, site.__file__]):
            port = await opened(sandbox)
            exposed = await sandbox.call("port.expose", {"port": port})
            preview = Previewed(stack, sandbox, exposed)
            try:
                yield preview
            finally:
                await preview.http.aclose()  # the current client, which the test may have replaced


async def opened(sandbox: Sandbox) -> int:
    """Wait for an open port and return the first. Polls, because the kernel has no event for new listeners."""
    async with asyncio.timeout(TIMEOUT):
        while not (ports := (await sandbox.call("port.list"))["ports"]):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return int(ports[0]["port"])


def fields(answer: httpx.Response) -> dict[str, str]:
    """Return the headers that the site received."""
    return dict(json.loads(answer.text)["headers"])
