"""A real gateway, started as a user starts it, with real runtimes; and an end to all of it."""

import asyncio
import os
import random
import re
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

import psutil

START_SECONDS = 30


# Below the ports that the kernel gives to outgoing connections (ip_local_port_range starts at 32768): a port of that
# range could be taken by a connection of another test before the server of this one listens on it.
PORTS = range(10_240, 32_768)


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nothing listens on. Random, so that tests in other processes choose others."""
    chance = random.SystemRandom()  # hypothesis seeds the module's own generator alike in each process
    while True:
        port = chance.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Stack:
    """`hawse serve` on a port and state directory of its own. A killed gateway can be started again."""

    def __init__(self, state: Path, *arguments: str, isolation: str = "none") -> None:
        self.state = state
        self._arguments = arguments
        self.port = free_port()
        self.isolation = isolation
        self.url = ""  # what it printed: http://127.0.0.1:PORT/#token=…
        self._process: asyncio.subprocess.Process | None = None
        self._output: asyncio.Task[None] | None = None
        self.printed: list[str] = []

    async def __aenter__(self) -> "Stack":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return self.url.partition("#token=")[2]

    @property
    def viewer_token(self) -> str:
        """Of those who may only look."""
        found = re.search(r"read-only: \S+#token=(\S+)", "\n".join(self.printed))
        assert found is not None, self.printed
        return found[1]

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        argv = ["-m", "hawse.cli", "serve", "--port", str(self.port), "--state", str(self.state)]
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            *argv,
            "--isolation",
            self.isolation,
            *self._arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={k: v for k, v in os.environ.items() if not k.startswith("HAWSE_")},
        )
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._output = asyncio.create_task(self._follow(self._process, ready))
        async with asyncio.timeout(START_SECONDS):
            self.url = await ready

    async def kill(self) -> None:
        """kill -9 of the gateway; its runtimes live on."""
        assert self._process is not None
        assert self._output is not None
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await self._output

    async def terminate(self) -> int:
        """Ask it to stop, as Ctrl-C or a service manager does; return its exit code."""
        assert self._process is not None
        assert self._output is not None
        self._process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(15):
            code = await self._process.wait()
        await self._output
        return code

    async def close(self) -> None:
        if self._process is not None and self._process.returncode is None:
            await self.kill()
        runtimes = self.runtimes()
        for process in runtimes:
            with suppress(psutil.NoSuchProcess):
                process.terminate()
        _, alive = await asyncio.to_thread(psutil.wait_procs, runtimes, 10)
        for process in alive:
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def runtimes(self) -> list[psutil.Process]:
        """The runtimes of this state directory, whether bubblewrap is around them or not."""
        ours = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                words = process.cmdline()
                if "runtime" in words and any(str(self.state) in word for word in words):
                    ours += [process, *process.children(recursive=True)]
        return [p for p in dict.fromkeys(ours) if _is_runtime(p)]

    async def _follow(self, process: asyncio.subprocess.Process, ready: asyncio.Future[str]) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            text = line.decode(errors="replace").rstrip()
            self.printed.append(text)
            if "read-only: " in text and not ready.done():  # the last line that it prints
                ready.set_result(re.findall(r"http://\S+#token=\S+", "\n".join(self.printed))[0])
        if not ready.done():
            ready.set_exception(RuntimeError("the gateway did not start:\n" + "\n".join(self.printed)))


def _is_runtime(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        words = process.cmdline()
        return "python" in words[0] and "runtime" in words
    return False
