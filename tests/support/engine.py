"""A separate Docker Engine for a test, which can be killed, suspended and restarted with its data."""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import psutil
import pytest

from tests.support import docker
from tests.support.client import eventually
from tests.support.lifecycle import suspend

# The programs that it starts itself (containerd, runc, docker-init) come from packages that docker.io depends on.
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
needs_dockerd = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("dockerd", path=PATH) is None or not docker.answers(),
    reason="a separate engine needs root, dockerd, and a machine where an engine works (DOCKER_HOST)",
)


class EngineProcess:
    """dockerd with its data in one directory. It does not change the machine's network."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        self.address = f"unix://{folder}/docker.sock"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Start it and wait until it answers."""
        (self._folder / "pid").unlink(missing_ok=True)  # left by a killed engine
        with (self._folder / "log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *("env", f"PATH={PATH}", "dockerd"),
                *("--host", self.address, "--pidfile", str(self._folder / "pid")),
                *("--data-root", str(self._folder / "data"), "--exec-root", str(self._folder / "exec")),
                *("--bridge=none", "--iptables=false", "--ip6tables=false"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        while not await asyncio.to_thread(docker.answers, self.address):  # until it listens
            assert self._process.returncode is None, (self._folder / "log").read_text()[-2000:]
            await asyncio.sleep(0.05)

    async def suspend(self) -> None:
        await suspend(self.pid)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    async def kill(self) -> None:
        """Kill the engine and its containerd. Programs in containers keep running until the engine is restarted."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()
        await eventually(lambda: not any(process.name() == "containerd" for process in self._processes()))
        # Unless an init process reaps the zombie, the next engine would mistake it for a running containerd.
        (self._folder / "exec" / "containerd" / "containerd.pid").unlink(missing_ok=True)

    async def close(self) -> None:
        """Stop the engine with all containers, and end the remains of a killed engine."""
        assert self._process is not None
        if self._process.returncode is None:
            self.resume()
            self._process.terminate()
            await self._process.wait()
        for process in self._processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        for line in docker.mounts(self._folder):
            unmounting = await asyncio.create_subprocess_exec("umount", "--lazy", line.split()[4])
            await unmounting.wait()
        shutil.rmtree(self._folder)

    def _processes(self) -> list[psutil.Process]:
        """Return the engine's programs, whose command lines contain a path in the directory."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if any(str(self._folder) in word for word in process.cmdline()):  # empty if the process has ended
                    found.append(process)
        return found


@asynccontextmanager
async def engine_process() -> AsyncIterator[EngineProcess]:
    """Start an engine. Its directory has a short path, because containerd creates sockets deep below it."""
    engine = EngineProcess(Path(tempfile.mkdtemp(prefix="hawse-engine-", dir="/tmp")))
    try:
        await engine.start()
        yield engine
    finally:
        await engine.close()
