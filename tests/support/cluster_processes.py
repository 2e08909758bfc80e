"""The processes of a cluster on this machine, which tests kill and restart.

The scheduler exits if it detects that its cache is wrong, which can happen after the API server was killed, and expects
to be restarted. In a real cluster, the kubelet does that; here, `supervised` does.

A cluster for tests keeps the process id of each component in `run/NAME.pid`, next to its kubeconfig. Such tests need
exclusive use of the cluster, because other tests would see it fail.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, Literal

import psutil
import pytest

from tests.support import kubernetes
from tests.support.waiting import gone

Component = Literal["kubelet", "apiserver", "scheduler", "controller-manager"]
SUPERVISED: Final[tuple[Component, ...]] = ("scheduler", "controller-manager")

FOLDER: Final = Path(os.environ.get("KUBECONFIG", "/nonexistent/config")).absolute().parent
needs_processes = pytest.mark.skipif(
    not kubernetes.HAS_CLUSTER or not (FOLDER / "run" / "kubelet.pid").exists(),
    reason="no Kubernetes cluster whose processes are on this machine, with their ids beside KUBECONFIG",
)


class ClusterProcess:
    """One component. A machine can have only one cluster, so all tests share it."""

    def __init__(self, name: Component) -> None:
        self._name = name
        self._file = FOLDER / "run" / f"{name}.pid"
        self._process = psutil.Process(int(self._file.read_text()))
        self._command = self._process.cmdline()
        self._folder = self._process.cwd()
        self._environment = self._process.environ()

    @property
    def pid(self) -> int:
        return self._process.pid

    def suspend(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    async def kill(self) -> None:
        """Send SIGKILL, and wait until the process has ended."""
        self._process.kill()
        await asyncio.to_thread(self._process.wait)

    async def start(self) -> None:
        """Restart the process with the same arguments. It ends with the cluster."""
        with (FOLDER / "log" / f"{self._name}.log").open("ab") as log:
            started = await asyncio.create_subprocess_exec(
                *self._command,
                cwd=self._folder,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._process = psutil.Process(started.pid)
        self._file.write_text(f"{started.pid}\n")


@asynccontextmanager
async def supervised() -> AsyncIterator[None]:
    """Restart components that exit on their own, until the end of the block."""
    components = [ClusterProcess(name) for name in SUPERVISED]
    async with asyncio.TaskGroup() as tasks:
        following = [tasks.create_task(_supervise(each)) for each in components]
        try:
            yield
        finally:
            for each in following:
                each.cancel()


async def _supervise(component: ClusterProcess) -> None:
    while True:
        with suppress(TimeoutError):  # of `gone`
            await gone(component.pid)
            await component.start()
