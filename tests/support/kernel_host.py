"""A kernel host, started as by the runtime, and its messages."""

import asyncio
import json
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import msgspec

from hawse_runtime.code.host_protocol import (
    CONTROL,
    MESSAGE_LIMIT,
    OWN_PYTHON,
    Execute,
    Exited,
    HostMessage,
    Kernel,
    Reply,
    RunDone,
    Start,
    encode,
    from_host,
    split,
)
from hawse_runtime.core.framing import FrameDecoder
from tests.support.waiting import TIMEOUT

Received = Any  # (kind, run, bytes) or a message


class HostProcess:
    """`async with HostProcess() as host`. Output is `(kind, run, bytes)`, everything else is a message."""

    def __init__(self, env: dict[str, str] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kh-"))
        self.env = {**os.environ, **(env or {})}
        self.received: list[Received] = []
        self._decoder = FrameDecoder(MESSAGE_LIMIT)
        self._unread: list[Received] = []

    async def __aenter__(self) -> Self:
        ours, theirs = socket.socketpair()
        with theirs:
            command = 'exec "$0" -P -m hawse_runtime.code.host "$1" "$3" 3<&"$2"'
            python = json.dumps(OWN_PYTHON)
            self.process = await asyncio.create_subprocess_exec(
                *("bash", "-c", command, sys.executable, str(self.folder), str(theirs.fileno()), python),
                pass_fds=[theirs.fileno()],
                env=self.env,
            )
        self._reader, self._writer = await asyncio.open_unix_connection(sock=ours)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        async with asyncio.timeout(TIMEOUT):
            await self.process.wait()
        assert list(self.folder.iterdir()) == [], "sockets or connection files are left"
        self.folder.rmdir()

    def send(self, message: HostMessage) -> None:
        self._writer.write(encode(message))

    async def until(self, done: Callable[[Received], bool]) -> list[Received]:
        """Return the received messages, up to the first one where `done` returns true."""
        got: list[Received] = []
        async with asyncio.timeout(TIMEOUT):
            while True:
                while self._unread:
                    got.append(self._unread.pop(0))
                    if done(got[-1]):
                        return got
                data = await self._reader.read(1 << 16)
                assert data, "the host has ended"
                for kind, run, body in map(split, self._decoder.feed(data)):
                    self._unread.append(from_host.decode(body) if kind == CONTROL else (kind, run, body))

    async def reply(self) -> Reply:
        """Return the next reply."""
        reply: Reply = (await self.until(lambda message: isinstance(message, Reply)))[-1]
        return reply

    async def start(self, executor: int = 1, timeout: float = 60.0, **params: Any) -> Kernel:
        """Start a kernel. Raises `AssertionError` with its failure."""
        self.send(
            Start(
                request=executor,
                executor=executor,
                cwd=str(self.folder.parent),
                env=self.env,
                timeout=timeout,
                **params,
            )
        )
        reply = await self.reply()
        assert reply.failure is None, reply.failure
        return msgspec.json.decode(reply.value, type=Kernel)

    async def run(self, source: str, executor: int = 1, run: int = 1) -> list[Received]:
        """Run code; return the received messages, including the end of the run."""
        self.send(Execute(executor=executor, run=run, source=source))
        return await self.until(lambda message: isinstance(message, RunDone | Exited))
